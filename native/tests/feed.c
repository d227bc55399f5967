#include "feed.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEED_TWO_CUTS 100         /* longer streams are not fed at every pair of cuts */

int feed_failures;

static void feed_fail(const char *what, const char *detail) {
  fprintf(stderr, "feed: %s %s\n", what, detail);
  feed_failures++;
}

static void feed_require(int condition, const char *what) {
  if (!condition) feed_fail(what, "");
}

/* ---- text that grows */

typedef struct text_out {
  char *text;
  size_t len, cap;
} text_out;

static void out_bytes(text_out *out, const void *bytes, size_t size) {
  if (out->len + size + 1 > out->cap) {
    out->cap = (out->len + size + 1) * 2;
    out->text = realloc(out->text, out->cap);
    if (!out->text) abort();
  }
  if (size) memcpy(out->text + out->len, bytes, size);
  out->len += size;
  out->text[out->len] = 0;
}

static void out_format(text_out *out, const char *format, ...) {
  char piece[256];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  out_bytes(out, piece, size < (int)sizeof piece ? (size_t)size : sizeof piece - 1);
}

/* ---- frames as text */

static const char *const kinds[] = {"none", "request", "notification", "result", "error", "array", "line", "skipped", "bad"};
static const char *const reasons[] = {"none",   "too_large", "truncated",  "utf8",   "json",     "surrogate", "depth",
                                      "not_object", "version", "id", "method", "params", "response", "empty_array"};

static void out_span(text_out *out, const char *name, const uint8_t *bytes, acp_span span) {
  if (!span.off && !span.len) return;
  out_format(out, " %s=", name);
  out_bytes(out, bytes + span.off, span.len);
}

static void out_flags(text_out *out, uint8_t flags) {
  static const char *const names[] = {"ESCAPED", "REPEATED", "META", "DECODED", "RESPONSE", "EXACT", "CALL"};
  for (int i = 0; i < 7; i++)
    if (flags & (1 << i)) out_format(out, " %s", names[i]);
}

typedef struct frame_source {
  const uint8_t *data, *arena, *tail;
  uint64_t position;
} frame_source;

static void out_frame(text_out *out, const acp_frame *f, const frame_source *from) {
  static const char *const ids[] = {"", " null", " integer", " string"};
  out_bytes(out, kinds[f->kind], strlen(kinds[f->kind]));
  if (f->kind == ACP_BAD) out_format(out, " %s", reasons[f->reason]);
  if (f->id_type) out_format(out, "%s", ids[f->id_type]);
  out_span(out, "id", f->kind == ACP_SKIPPED ? from->tail : from->data, f->id_type ? f->id : (acp_span){0, 0});
  out_span(out, "method", from->data, f->method);
  if (f->tag) out_format(out, " tag=%s", f->tag == ACP_T_OTHER ? "other" : acp_tag_name(f->tag));
  if (f->kind != ACP_BAD) out_span(out, "body", from->data, f->body);
  out_span(out, "session", from->data, f->session);
  out_span(out, "entity", from->data, f->entity);
  int decoded = f->flags & ACP_F_DECODED;
  if (decoded) out_format(out, " decoded=");
  if (decoded) out_bytes(out, from->arena + f->data.off, f->data.len);
  else out_span(out, "data", from->data, f->data);
}

/* An ACP_SKIPPED ends where its line ends, which is the same however the stream is cut. */
static void out_place(text_out *out, const acp_frame *f, const frame_source *from) {
  out_frame(out, f, from);
  out_format(out, " @%llu+%u", (unsigned long long)(from->position + f->off), f->len);
  if (f->kind == ACP_BAD) out_format(out, " wrong@%llu", (unsigned long long)(from->position + f->body.off));
  out_format(out, " m%u", f->method_id);
  out_flags(out, f->flags);
  out_bytes(out, "\n", 1);
}

/* ---- one stream */

typedef struct feed_state {
  const feed_options *options;
  acp_scanner *scanner;
  text_out frames, places, groups;
  uint8_t *held;                  /* what was not consumed yet */
  size_t held_size;
  uint64_t fed;
} feed_state;

static void *exact(size_t size) {
  void *memory = malloc(size ? size : 1);
  if (!memory) abort();
  return memory;
}

static uint8_t *exact_copy(const void *bytes, size_t size) {
  uint8_t *memory = exact(size);
  if (size) memcpy(memory, bytes, size);
  return memory;
}

static void note_entries(feed_state *f, const acp_frame *array, const frame_source *from) {
  acp_frame *entry = exact(sizeof *entry);
  uint32_t cursor = 0, count = 0;
  while (acp_entries(f->scanner, from->data, array, &cursor, entry, 1) == 1) {
    count++;
    feed_require(entry->off >= array->off && entry->off + entry->len <= array->off + array->len, "entry outside of its array");
    out_bytes(&f->frames, "  ", 2);
    out_frame(&f->frames, entry, from);
    out_bytes(&f->frames, "\n", 1);
    out_bytes(&f->places, "  ", 2);
    out_place(&f->places, entry, from);
  }
  feed_require(count > 0, "an array without entries");
  free(entry);
}

static void note_frame(feed_state *f, const acp_frame *frame, const frame_source *from) {
  out_frame(&f->frames, frame, from);
  out_bytes(&f->frames, "\n", 1);
  out_place(&f->places, frame, from);
  if (frame->kind == ACP_ARRAY) note_entries(f, frame, from);
}

static void check_terminal(const acp_group *g, const acp_frame *frames) {
  uint32_t at = g->data.off;
  for (uint32_t i = 0; i < g->count; i++) {
    const acp_frame *frame = &frames[g->first + i];
    feed_require(frame->flags & ACP_F_DECODED, "a terminal group holds what is not decoded");
    feed_require(frame->data.off == at, "terminal bytes do not follow each other");
    at += frame->data.len;
  }
  feed_require(at == g->data.off + g->data.len, "terminal bytes are missing");
}

static void note_groups(feed_state *f, const acp_taken *taken, const acp_group *groups, const acp_frame *frames,
                        const frame_source *from) {
  static const char *const names[] = {"one", "terminal", "updates"};
  uint32_t next = 0;
  for (uint32_t i = 0; i < taken->groups; i++) {
    const acp_group *g = &groups[i];
    feed_require(g->first == next && g->count > 0, "groups do not partition the frames");
    feed_require(g->off + g->len <= taken->consumed, "a group reaches beyond what was consumed");
    next += g->count;
    out_format(&f->groups, "%s %u", names[g->kind], g->count);
    if (g->tag) out_format(&f->groups, " tag=%s", g->tag == ACP_T_OTHER ? "other" : acp_tag_name(g->tag));
    out_span(&f->groups, "session", from->data, g->session);
    out_span(&f->groups, "entity", from->data, g->entity);
    if (g->kind == ACP_G_TERMINAL) {
      check_terminal(g, frames);
      out_format(&f->groups, " data=");
      out_bytes(&f->groups, from->arena + g->data.off, g->data.len);
    }
    out_bytes(&f->groups, "\n", 1);
  }
  if (f->options->groups_cap) feed_require(next == taken->frames, "groups leave frames out");
}

static void hold_rest(feed_state *f, uint8_t *data, size_t size, uint32_t consumed) {
  f->held = exact_copy(data + consumed, size - consumed);
  f->held_size = size - consumed;
}

/* One call of acp_scan on all that is held; ACP_MORE asks for another one. */
static int32_t scan_once(feed_state *f, int eof) {
  const feed_options *o = f->options;
  uint8_t *data = f->held, *arena = exact(o->arena_cap);
  size_t size = f->held_size;
  acp_frame *frames = exact(o->frames_cap * sizeof *frames);
  acp_group *groups = exact(o->groups_cap * sizeof *groups);
  acp_taken *taken = exact(sizeof *taken);
  frame_source from = {data, arena, f->scanner->tail, f->scanner->position};
  int32_t status = acp_scan(f->scanner, data, (uint32_t)size, eof ? ACP_EOF : 0, frames, o->frames_cap,
                            o->groups_cap ? groups : NULL, o->groups_cap, arena, o->arena_cap, taken);
  feed_require(status == ACP_OK || status == ACP_MORE, "acp_scan refused its arguments");
  feed_require(status == ACP_OK || taken->consumed > 0, "ACP_MORE without progress");
  feed_require(f->scanner->position == from.position + taken->consumed, "position is not what was consumed");
  feed_require(!taken->want || taken->want == size - taken->consumed + 1, "want is not one byte more");
  for (uint32_t i = 0; i < taken->frames; i++) note_frame(f, &frames[i], &from);
  note_groups(f, taken, groups, frames, &from);
  hold_rest(f, data, size, taken->consumed);
  free(data);
  free(frames);
  free(groups);
  free(arena);
  free(taken);
  return status;
}

static void feed_piece(feed_state *f, const char *piece, size_t size, int eof) {
  uint8_t *joined = exact(f->held_size + size);
  if (f->held_size) memcpy(joined, f->held, f->held_size);
  if (size) memcpy(joined + f->held_size, piece, size);
  free(f->held);
  f->held = joined;
  f->held_size += size;
  f->fed += size;
  while (scan_once(f, eof) == ACP_MORE) {
  }
}

feed_options feed_defaults(void) { return (feed_options){ACP_HOT, 1 << 20, 64, 64, 4096, 0}; }

feed_log feed_cut(const char *stream, size_t size, const size_t *cuts, size_t count, const feed_options *options) {
  feed_state f;
  memset(&f, 0, sizeof f);
  f.options = options;
  f.scanner = exact(sizeof *f.scanner);
  feed_require(acp_scanner_init(f.scanner, options->max_frame, options->flags) == ACP_OK, "acp_scanner_init");
  out_bytes(&f.frames, "", 0);
  out_bytes(&f.places, "", 0);
  out_bytes(&f.groups, "", 0);
  size_t at = 0;
  for (size_t i = 0; i <= count; i++) {
    size_t to = i < count ? cuts[i] : size;
    feed_piece(&f, stream + at, to - at, i == count && !options->open);
    at = to;
  }
  feed_require(options->open || f.held_size == 0, "bytes are left over");
  feed_require(f.scanner->looked < 3 * f.fed + 1, "looked at too many bytes");
  feed_log log = {f.frames.text, f.places.text, f.groups.text, f.scanner->looked, f.scanner->position, (uint32_t)f.scanner->frames,
                  (uint32_t)f.scanner->bad};
  free(f.held);
  free(f.scanner);
  return log;
}

void feed_free(feed_log *log) {
  free(log->frames);
  free(log->places);
  free(log->groups);
}

/* ---- every way */

static void compare_cut(const feed_log *whole, const char *stream, size_t size, const size_t *cuts, size_t count,
                        const feed_options *options) {
  feed_log cut = feed_cut(stream, size, cuts, count, options);
  if (strcmp(cut.places, whole->places) != 0) {
    fprintf(stderr, "feed: %zu cuts, the first at %zu, give\n%sinstead of\n%s", count, cuts[0], cut.places, whole->places);
    feed_failures++;
  }
  feed_require(cut.count == whole->count && cut.bad == whole->bad, "the counters differ");
  feed_free(&cut);
}

static void compare_bytes(const feed_log *whole, const char *stream, size_t size, const feed_options *options) {
  size_t *cuts = exact(size * sizeof *cuts);
  for (size_t i = 1; i < size; i++) cuts[i - 1] = i;
  if (size > 1) compare_cut(whole, stream, size, cuts, size - 1, options);
  free(cuts);
}

feed_log feed_every_way(const char *stream, size_t size, const feed_options *options) {
  feed_log whole = feed_cut(stream, size, NULL, 0, options);
  compare_bytes(&whole, stream, size, options);
  for (size_t i = 1; i < size; i++) compare_cut(&whole, stream, size, &i, 1, options);
  for (size_t i = 1; size <= FEED_TWO_CUTS && i < size; i++)
    for (size_t j = i + 1; j < size; j++) compare_cut(&whole, stream, size, (size_t[]){i, j}, 2, options);
  return whole;
}

void feed_expect(const char *file, int line, const char *stream, size_t size, const feed_options *options, const char *want) {
  feed_log log = feed_every_way(stream, size, options);
  if (strcmp(log.frames, want) != 0) {
    fprintf(stderr, "%s:%d: got\n%swant\n%s", file, line, log.frames, want);
    feed_failures++;
  }
  feed_free(&log);
}

const char *feed_message(const char *line, size_t size, uint32_t flags) {
  static char text[4096];
  text_out out = {NULL, 0, 0};
  acp_frame *frame = exact(sizeof *frame);
  uint8_t *copy = exact_copy(line, size);
  feed_require(acp_message(copy, (uint32_t)size, flags, frame) == ACP_OK, "acp_message");
  out_frame(&out, frame, &(frame_source){copy, NULL, NULL, 0});
  out_flags(&out, frame->flags);
  snprintf(text, sizeof text, "%s", out.text);
  free(out.text);
  free(copy);
  free(frame);
  return text;
}
