#include "judge.h"

#include <string.h>

#include "envelope.h"
#include "flags.h"

static const uint8_t *text_start(const acp_text *t) { return t->base + t->start; }
static const uint8_t *text_end(const acp_text *t) { return t->base + t->end; }

int acp_is_blank(const uint8_t *p, const uint8_t *end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
  return p == end;
}

static void judge_refuse(acp_frame *frame, uint32_t reason, uint32_t off) {
  frame->kind = ACP_BAD;
  frame->reason = (uint8_t)reason;
  frame->body = (acp_span){off, 0};
}

/* Noise in front of a message is common: point to where JSON may begin. */
static const uint8_t *judge_hint(const acp_walk *w, const uint8_t *first) {
  if (first < w->end && (*first == '{' || *first == '[')) return w->at;
  const uint8_t *brace = first < w->end ? memchr(first, '{', (size_t)(w->end - first)) : NULL;
  return brace ? brace : w->at;
}

static int array_is_empty(const acp_walk *w, const uint8_t *p) {
  p = acp_walk_space(w, p + 1);
  return p < w->end && *p == ']';
}

/* An array is one frame; what it holds is judged when its entries are asked for. */
static void judge_array(const acp_walk *w, const uint8_t *p, uint32_t flags, acp_frame *frame) {
  uint32_t off = (uint32_t)(p - w->base);
  if (array_is_empty(w, p)) judge_refuse(frame, ACP_R_EMPTY_ARRAY, off);
  else if (flags & ACP_NO_ARRAYS) judge_refuse(frame, ACP_R_NOT_OBJECT, off);
  else frame->kind = ACP_ARRAY;
}

static void judge_value(const acp_capture *c, const uint8_t *p, uint32_t flags, acp_frame *frame) {
  uint32_t off = (uint32_t)(p - c->w.base);
  if (*p == '{') acp_envelope_judge(c, off, frame);
  else if (*p == '[') judge_array(&c->w, p, flags, frame);
  else judge_refuse(frame, ACP_R_NOT_OBJECT, off);
}

/* At a value -> behind it. */
static const uint8_t *judge_walk(acp_capture *c, const uint8_t *p) {
  return p < c->w.end && *p == '{' ? acp_capture_message(c, p + 1) : acp_walk_value(&c->w, p, 0);
}

static const uint8_t *judge_walk_line(acp_capture *c, const uint8_t *p) {
  p = judge_walk(c, p);
  if (!p) return NULL;
  p = acp_walk_space(&c->w, p);
  return p == c->w.end ? p : acp_walk_unexpected(&c->w, p);
}

void acp_judge_line(const acp_text *text, uint32_t flags, acp_early *early, acp_frame *frame) {
  acp_capture c;
  memset(frame, 0, sizeof *frame);
  frame->off = text->start;
  frame->len = text->end - text->start;
  if (flags & ACP_LINES) {
    frame->kind = ACP_LINE;
    return;
  }
  acp_capture_start(&c, text->base, text_end(text), text->base + text->limit, flags, early);
  const uint8_t *first = acp_walk_space(&c.w, text_start(text));
  if (judge_walk_line(&c, first)) judge_value(&c, first, flags, frame);
  else judge_refuse(frame, c.w.reason, (uint32_t)(judge_hint(&c.w, first) - text->base));
}

uint32_t acp_judge_entry(const acp_text *text, uint32_t flags, acp_frame *frame) {
  acp_capture c;
  memset(frame, 0, sizeof *frame);
  acp_capture_start(&c, text->base, text_end(text), text->base + text->limit, flags, NULL);
  const uint8_t *first = text_start(text), *after = judge_walk(&c, first);
  if (!after) return 0;
  frame->off = text->start;
  frame->len = (uint32_t)(after - first);
  if (*first == '[') judge_refuse(frame, ACP_R_NOT_OBJECT, text->start);
  else judge_value(&c, first, flags, frame);
  return (uint32_t)(after - text->base);
}

/* A number may go on behind the cut: its id is not whole unless something follows that ends it. */
static void judge_drop_open_number(acp_capture *c, uint32_t end) {
  acp_token *id = &c->top.value[ACP_K_ID];
  if (!acp_object_has(&c->top, ACP_K_ID) || id->first == '"' || id->first == 'n') return;
  uint32_t after = id->off + id->len;
  int refused = c->w.reason == ACP_R_UTF8 && c->w.at == c->w.base + after;
  if (after == end || refused) id->first = 0;
}

void acp_judge_beginning(const acp_text *text, uint32_t flags, acp_frame *frame) {
  acp_capture c;
  memset(frame, 0, sizeof *frame);
  acp_capture_start(&c, text->base, text_end(text), text->base + text->limit, flags & ACP_PLAINLY, NULL);
  const uint8_t *p = acp_walk_space(&c.w, text_start(text));
  if (p < c.w.end && *p == '{') (void)acp_capture_message(&c, p + 1);
  judge_drop_open_number(&c, text->end);
  acp_envelope_identify(&c, frame);
  acp_envelope_guess(&c, frame);
}

ACP_API int32_t acp_message(const uint8_t *line, uint32_t size, uint32_t flags, acp_frame *frame) {
  if (!frame || (!line && size) || size > ACP_MAX_SIZE || !acp_flags_fit(flags)) return ACP_E_ARGUMENT;
  memset(frame, 0, sizeof *frame);
  if (!size) return ACP_OK;
  uint32_t end = size;
  if (line[end - 1] == '\n') end--;
  if (acp_is_blank(line, line + end)) return ACP_OK;
  if (end && line[end - 1] == '\r') end--;
  acp_judge_line(&(acp_text){line, 0, end, size}, flags, NULL, frame);
  return ACP_OK;
}
