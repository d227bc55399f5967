#include "group.h"

#include <string.h>

/* ---- terminal bytes */

static int is_terminal_chunk(const acp_frame *f) {
  uint8_t clean = f->flags & (ACP_F_EXACT | ACP_F_META | ACP_F_ESCAPED | ACP_F_REPEATED);
  return f->tag == ACP_T_TERMINAL_OUTPUT_CHUNK && clean == ACP_F_EXACT;
}

acp_early *acp_group_early(acp_grouping *g) {
  if (!g->hot) return NULL;
  g->early = (acp_early){g->arena + g->arena_used, g->arena_cap - g->arena_used, 0, 0};
  return &g->early;
}

static void group_decoded(const acp_grouping *g, acp_frame *f, uint32_t len) {
  f->data = (acp_span){g->arena_used, len};
  f->flags |= ACP_F_DECODED;
}

/* The size is exact unless the text holds escapes: those are tried. */
static int surely_too_large(const uint8_t *body, uint32_t len, uint32_t room) {
  return acp_terminal_size(body, len) > room && len && !memchr(body, '\\', len);
}

/* Decodes the chunk behind what the arena holds, if the walk has not done so. 0: it needs an emptier arena. One that does
 * not even fit into an empty one, or is not base64, stays as it is. */
static int group_decode(acp_grouping *g, acp_frame *f) {
  if (g->early.off == f->data.off) {
    group_decoded(g, f, g->early.len);
    return 1;
  }
  const uint8_t *body = g->data + f->data.off;
  uint32_t room = g->arena_cap - g->arena_used, used = 0;
  if (surely_too_large(body, f->data.len, room)) return g->arena_used == 0;
  int32_t got = acp_decode_body(g->arena + g->arena_used, room, body, f->data.len, &used);
  if (got < 0) return 1;
  if (used < f->data.len) return g->arena_used == 0;
  group_decoded(g, f, (uint32_t)got);
  return 1;
}

/* ---- groups */

static uint32_t group_kind_of(const acp_grouping *g, const acp_frame *f) {
  if (!g->hot || f->kind != ACP_NOTIFICATION || f->tag <= ACP_T_OTHER) return ACP_G_ONE;
  if (f->flags & ACP_F_DECODED) return ACP_G_TERMINAL;
  if (is_terminal_chunk(f) || (f->flags & (ACP_F_ESCAPED | ACP_F_REPEATED))) return ACP_G_ONE;
  return ACP_G_UPDATES;
}

static int same_bytes(const uint8_t *data, acp_span a, acp_span b) {
  return a.len == b.len && memcmp(data + a.off, data + b.off, a.len) == 0;
}

static int group_takes(const acp_grouping *g, uint32_t kind, const acp_frame *f, const acp_frame *previous) {
  const acp_group *last = &g->groups[g->count - 1];
  if (kind == ACP_G_ONE || last->kind != kind) return 0;
  if (kind == ACP_G_UPDATES) return last->count < ACP_MAX_RUN;
  return same_bytes(g->data, f->session, previous->session) && same_bytes(g->data, f->entity, previous->entity);
}

static void group_extend(acp_group *last, const acp_frame *f, uint32_t end) {
  last->count++;
  last->len = end - last->off;
  if (last->tag != f->tag) last->tag = ACP_T_OTHER;
  if (last->kind == ACP_G_TERMINAL) last->data.len += f->data.len;
}

static void group_begin(acp_group *fresh, uint32_t kind, const acp_frame *f, uint32_t number, uint32_t off,
                        uint32_t len) {
  memset(fresh, 0, sizeof *fresh);
  fresh->first = number;
  fresh->count = 1;
  fresh->off = off;
  fresh->len = len;
  fresh->kind = kind;
  fresh->tag = f->tag;
  if (kind != ACP_G_TERMINAL) return;
  fresh->session = f->session;
  fresh->entity = f->entity;
  fresh->data = f->data;
}

int acp_group_add(acp_grouping *g, acp_frame *frame, const acp_frame *previous, uint32_t number, uint32_t off,
                  uint32_t len) {
  if (!g->groups) return 1;
  if (g->hot && is_terminal_chunk(frame) && !group_decode(g, frame)) return 0;
  uint32_t kind = group_kind_of(g, frame);
  if (g->count && group_takes(g, kind, frame, previous)) group_extend(&g->groups[g->count - 1], frame, off + len);
  else if (g->count == g->cap) return 0;
  else group_begin(&g->groups[g->count++], kind, frame, number, off, len);
  if (frame->flags & ACP_F_DECODED) g->arena_used += frame->data.len;
  return 1;
}
