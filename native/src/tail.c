#include "tail.h"

#include <string.h>

#include "json.h"
#include "judge.h"

void acp_tail_clear(acp_scanner *s) {
  s->tail_len = 0;
  s->skipped = 0;
}

/* How much of the old tail stays when size bytes follow. */
static uint32_t tail_kept(const acp_scanner *s, uint32_t size) {
  uint32_t room = ACP_TAIL - size;
  return s->tail_len < room ? s->tail_len : room;
}

void acp_tail_add(acp_scanner *s, const uint8_t *p, uint32_t size) {
  uint32_t fresh = size < ACP_TAIL ? size : ACP_TAIL, kept = tail_kept(s, fresh);
  memmove(s->tail, s->tail + (s->tail_len - kept), kept);
  memcpy(s->tail + kept, p + (size - fresh), fresh);
  s->tail_len = (uint8_t)(kept + fresh);
  s->skipped = size > UINT32_MAX - s->skipped ? UINT32_MAX : s->skipped + size;
}

/* ---- read backwards: every function takes the number of bytes still to the left and returns what is left of them */

static uint32_t tail_spaces(const uint8_t *t, uint32_t n) {
  while (n && (t[n - 1] == ' ' || t[n - 1] == '\t' || t[n - 1] == '\r')) n--;
  return n;
}

/* One byte with white space in front of it; UINT32_MAX: it is not there. */
static uint32_t tail_byte(const uint8_t *t, uint32_t n, uint8_t byte) {
  n = tail_spaces(t, n);
  return n && t[n - 1] == byte ? n - 1 : UINT32_MAX;
}

static uint32_t tail_string_start(const uint8_t *t, uint32_t n) {
  uint32_t first = n - 1;
  while (first && t[first - 1] != '"' && t[first - 1] != '\\') first--;
  return first && t[first - 1] == '"' ? first - 1 : n;
}

static uint32_t tail_number_start(const uint8_t *t, uint32_t n) {
  while (n && ((t[n - 1] >= '0' && t[n - 1] <= '9') || t[n - 1] == '-')) n--;
  return n;
}

static uint32_t tail_token_start(const uint8_t *t, uint32_t n) {
  if (!n) return n;
  return t[n - 1] == '"' ? tail_string_start(t, n) : tail_number_start(t, n);
}

/* A key "id" with its colon in front of the token, behind a comma or the bracket that opens the object. */
static int tail_has_key(const uint8_t *t, uint32_t n) {
  n = tail_byte(t, n, ':');
  if (n == UINT32_MAX) return 0;
  n = tail_spaces(t, n);
  if (n < 4 || memcmp(t + n - 4, "\"id\"", 4) != 0) return 0;
  n = tail_spaces(t, n - 4);
  return n && (t[n - 1] == ',' || t[n - 1] == '{');
}

static uint8_t tail_token_type(const uint8_t *token, uint32_t len) {
  acp_walk w = {token, token + len, token + len, NULL, ACP_R_NONE, 0, 0};
  if (!len || acp_walk_value(&w, token, 0) != w.end) return ACP_ID_NONE;
  if (token[0] == '"') return ACP_ID_STRING;
  return acp_is_int64(token, len) ? ACP_ID_INTEGER : ACP_ID_NONE;
}

uint8_t acp_tail_id(const acp_scanner *s, acp_span *id) {
  uint32_t end = tail_byte(s->tail, s->tail_len, '}');
  if (end == UINT32_MAX) return ACP_ID_NONE;
  end = tail_spaces(s->tail, end);
  uint32_t start = tail_token_start(s->tail, end);
  uint8_t type = tail_token_type(s->tail + start, end - start);
  if (type == ACP_ID_NONE || !tail_has_key(s->tail, start)) return ACP_ID_NONE;
  *id = (acp_span){start, end - start};
  return type;
}
