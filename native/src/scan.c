/* Cuts a stream into lines. The scanner keeps no bytes but the tail of a line that is thrown away. */
#include <string.h>

#include "flags.h"
#include "group.h"
#include "judge.h"
#include "tail.h"

enum scan_state {
  SCAN_STARTED = 1,                  /* a line that is not blank was seen */
  SCAN_SKIPPING = 2                  /* the rest of a line is thrown away */
};
enum scan_step { SCAN_ON, SCAN_WAIT, SCAN_FULL };

typedef struct scan_run {            /* one call of acp_scan */
  acp_scanner *s;
  const uint8_t *data;
  uint32_t size, at;                 /* at: first byte not consumed */
  acp_frame *frames;
  uint32_t cap, count;
  acp_grouping grouping;
  int eof;
  int tail_shown;                    /* a frame of this call points into the tail */
} scan_run;

ACP_API int32_t acp_scanner_init(acp_scanner *s, uint32_t max_frame, uint32_t flags) {
  if (!s || !max_frame || max_frame > ACP_MAX_SIZE || !acp_flags_fit(flags)) return ACP_E_ARGUMENT;
  memset(s, 0, sizeof *s);
  /* A line that is one byte too long must still fit into the largest buffer. */
  s->max_frame = max_frame < ACP_MAX_SIZE ? max_frame : ACP_MAX_SIZE - 1;
  s->flags = flags;
  return ACP_OK;
}

/* ---- taking what was found */

static void scan_consume(scan_run *r, uint32_t to) {
  r->at = to;
  r->s->searched = 0;
}

/* Keeps the frame in the next place of the array if it finds its group. */
static int scan_keep(scan_run *r, uint32_t off, uint32_t len) {
  acp_frame *frame = &r->frames[r->count];
  if (!acp_group_add(&r->grouping, frame, r->count ? frame - 1 : NULL, r->count, off, len)) return 0;
  r->count++;
  if (frame->kind == ACP_SKIPPED) return 1;
  r->s->frames++;
  r->s->bad += frame->kind == ACP_BAD;
  return 1;
}

static enum scan_step scan_full(scan_run *r, uint32_t searched) {
  r->s->searched = searched;
  return SCAN_FULL;
}

/* The length of a byte-order mark at the start of the stream's first line that is not blank. */
static uint32_t scan_mark(const scan_run *r, uint32_t end) {
  static const uint8_t mark[] = {0xEF, 0xBB, 0xBF};
  if ((r->s->state & SCAN_STARTED) || end - r->at < sizeof mark) return 0;
  return memcmp(r->data + r->at, mark, sizeof mark) == 0 ? (uint32_t)sizeof mark : 0;
}

/* ---- a line that is too long */

static enum scan_step scan_too_large(scan_run *r) {
  acp_scanner *s = r->s;
  acp_frame *frame = &r->frames[r->count];
  uint32_t start = r->at, end = start + s->max_frame;
  if (r->count == r->cap || r->tail_shown) return scan_full(r, s->max_frame + 1);
  uint32_t mark = scan_mark(r, end);
  if (!(s->flags & ACP_LINES)) acp_judge_beginning(&(acp_text){r->data, start + mark, end, end}, s->flags, frame);
  else memset(frame, 0, sizeof *frame);
  s->looked += s->max_frame;
  frame->kind = ACP_BAD;
  frame->reason = ACP_R_TOO_LARGE;
  frame->off = start;
  frame->body = (acp_span){end, 0};
  if (!scan_keep(r, start, s->max_frame)) return scan_full(r, s->max_frame + 1);
  s->state = SCAN_STARTED | SCAN_SKIPPING;
  acp_tail_clear(s);
  acp_tail_add(s, r->data + start, s->max_frame);
  scan_consume(r, end);
  return SCAN_ON;
}

static enum scan_step scan_skipped(scan_run *r) {
  acp_frame *frame = &r->frames[r->count];
  if (r->count == r->cap) return SCAN_FULL;
  memset(frame, 0, sizeof *frame);
  frame->kind = ACP_SKIPPED;
  frame->off = r->at;
  frame->id_type = acp_tail_id(r->s, &frame->id);
  if (!scan_keep(r, r->at, 1)) return SCAN_FULL;
  r->tail_shown |= frame->id_type != ACP_ID_NONE;
  r->s->state &= (uint8_t)~SCAN_SKIPPING;
  scan_consume(r, r->at + 1);
  return SCAN_ON;
}

static enum scan_step scan_skip(scan_run *r) {
  const uint8_t *p = r->data + r->at;
  uint32_t left = r->size - r->at;
  const uint8_t *newline = memchr(p, '\n', left);
  uint32_t len = newline ? (uint32_t)(newline - p) : left;
  r->s->looked += len;
  acp_tail_add(r->s, p, len);
  scan_consume(r, r->at + len);
  return newline ? scan_skipped(r) : SCAN_WAIT;
}

/* ---- a line */

static enum scan_step scan_blank(scan_run *r, uint32_t end, uint32_t next, int marked) {
  r->s->looked += end - r->at;
  if (marked) r->s->state |= SCAN_STARTED;
  scan_consume(r, next);
  return SCAN_ON;
}

/* At the end of the stream only a whole message counts as a line. */
static void scan_judge(scan_run *r, uint32_t start, uint32_t end, int ended) {
  acp_frame *frame = &r->frames[r->count];
  uint32_t body_end = r->data[end - 1] == '\r' ? end - 1 : end;
  acp_judge_line(&(acp_text){r->data, start, body_end, r->size}, r->s->flags,
                 acp_group_early(&r->grouping), frame);
  r->s->looked += end - start;
  if (ended || frame->kind != ACP_BAD) return;
  uint32_t wrong = frame->body.off;
  memset(frame, 0, sizeof *frame);
  frame->off = start;
  frame->len = body_end - start;
  frame->kind = ACP_BAD;
  frame->reason = ACP_R_TRUNCATED;
  frame->body.off = wrong;
}

/* next: behind the newline; equal to end for what is left at the end of the stream. */
static enum scan_step scan_line(scan_run *r, uint32_t end, uint32_t next) {
  uint32_t mark = scan_mark(r, end), start = r->at + mark;
  if (acp_is_blank(r->data + start, r->data + end)) return scan_blank(r, end, next, mark != 0);
  if (r->count == r->cap) return scan_full(r, end - r->at);
  scan_judge(r, start, end, next != end);
  if (!scan_keep(r, start, next - start)) return scan_full(r, end - r->at);
  r->s->state |= SCAN_STARTED;
  scan_consume(r, next);
  return SCAN_ON;
}

/* The part that was searched before has no newline; neither has anything that counts beyond max_frame. */
static const uint8_t *scan_newline(scan_run *r, uint32_t window) {
  const uint8_t *p = r->data + r->at + r->s->searched;
  uint32_t len = window - r->s->searched;
  const uint8_t *newline = len ? memchr(p, '\n', len) : NULL;
  r->s->looked += newline ? (uint32_t)(newline - p) + 1 : len;
  return newline;
}

static enum scan_step scan_next(scan_run *r) {
  uint32_t left = r->size - r->at, most = r->s->max_frame;
  uint32_t window = left > most ? most + 1 : left;
  const uint8_t *newline = scan_newline(r, window);
  if (newline) return scan_line(r, (uint32_t)(newline - r->data), (uint32_t)(newline - r->data) + 1);
  r->s->searched = window;
  if (left > most) return scan_too_large(r);
  return r->eof ? scan_line(r, r->size, r->size) : SCAN_WAIT;
}

/* ---- one call */

static enum scan_step scan_all(scan_run *r) {
  enum scan_step step = SCAN_ON;
  while (step == SCAN_ON && r->at < r->size) step = r->s->state & SCAN_SKIPPING ? scan_skip(r) : scan_next(r);
  return step;
}

static void scan_report(const scan_run *r, enum scan_step step, acp_taken *taken) {
  int unfinished = step == SCAN_WAIT && !(r->s->state & SCAN_SKIPPING);
  memset(taken, 0, sizeof *taken);
  taken->consumed = r->at;
  taken->frames = r->count;
  taken->groups = r->grouping.count;
  taken->arena = r->grouping.arena_used;
  taken->want = unfinished ? r->size - r->at + 1 : 0;
}

static int scan_room_fits(const acp_scanner *s, const acp_frame *frames, uint32_t frames_cap, const acp_group *groups,
                          uint32_t groups_cap, const uint8_t *arena, uint32_t arena_cap) {
  if (!frames || !frames_cap || (groups_cap && !groups) || (arena_cap && !arena) || arena_cap > ACP_MAX_SIZE) return 0;
  return !(s->flags & ACP_HOT) || groups_cap;
}

ACP_API int32_t acp_scan(acp_scanner *s, const uint8_t *data, uint32_t size, uint32_t flags, acp_frame *frames,
                         uint32_t frames_cap, acp_group *groups, uint32_t groups_cap, uint8_t *arena, uint32_t arena_cap,
                         acp_taken *taken) {
  if (!s || !taken || (!data && size) || size > ACP_MAX_SIZE || (flags & ~(uint32_t)ACP_EOF)) return ACP_E_ARGUMENT;
  if (!scan_room_fits(s, frames, frames_cap, groups, groups_cap, arena, arena_cap)) return ACP_E_ARGUMENT;
  if (size < s->searched) return ACP_E_ARGUMENT;
  uint8_t nowhere;  /* an arena of no bytes still needs an address to count from */
  scan_run r = {s, data, size, 0, frames, frames_cap, 0, {0}, (flags & ACP_EOF) != 0, 0};
  r.grouping = (acp_grouping){data, groups_cap ? groups : NULL, groups_cap, 0, arena ? arena : &nowhere, arena_cap, 0,
                              (s->flags & ACP_HOT) != 0, {NULL, 0, 0, 0}};
  enum scan_step step = scan_all(&r);
  scan_report(&r, step, taken);
  s->position += r.at;
  return step == SCAN_FULL ? ACP_MORE : ACP_OK;
}
