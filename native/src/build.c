/* Lines to send: only what a strict receiver takes can be built. */
#include <string.h>

#include "capture.h"
#include "envelope.h"
#include "judge.h"
#include "strings.h"

#define BUILD_SLACK 64            /* more than all that is constant in a line */
#define BUILD_START "{\"jsonrpc\":\"2.0\""
#define BUILD_ID ",\"id\":"
#define BUILD_METHOD ",\"method\":\""
#define BUILD_PARAMS ",\"params\":"
#define BUILD_RESULT ",\"result\":"
#define BUILD_ERROR ",\"error\":"
#define BUILD_END "}\n"

typedef struct build_part {
  const uint8_t *text;
  uint32_t len;
} build_part;

typedef struct build_message {
  uint32_t kind;
  build_part id, method, body;
} build_message;

/* ---- what is given */

static int build_is_call(const build_message *m) { return m->kind == ACP_REQUEST || m->kind == ACP_NOTIFICATION; }

static int build_part_fits(build_part part) { return part.len <= ACP_MAX_SIZE && (part.text || !part.len); }

/* Which parts there must be. */
static int build_parts_fit(const build_message *m) {
  if (!build_part_fits(m->id) || !build_part_fits(m->method) || !build_part_fits(m->body)) return 0;
  switch (m->kind) {
    case ACP_REQUEST: return m->id.len && m->method.len;
    case ACP_NOTIFICATION: return !m->id.len && m->method.len;
    case ACP_RESULT: case ACP_ERROR: return m->id.len && !m->method.len && m->body.len;
    default: return 0;
  }
}

static int build_id_is_valid(build_part id) {
  if (!id.len) return 1;
  acp_walk w = {id.text, id.text + id.len, id.text + id.len, NULL, ACP_R_NONE, 0, 0};
  if (acp_walk_value(&w, id.text, 1) != w.end) return 0;
  return id.text[0] == '"' || id.text[0] == 'n' || acp_is_int64(id.text, id.len);
}

static int build_body_is_valid(build_part body) {
  if (!body.len) return 1;
  acp_walk w = {body.text, body.text + body.len, body.text + body.len, NULL, ACP_R_NONE, 1, 0};
  return acp_walk_text(&w, 1) != NULL;
}

/* The first byte of a valid body that is not white space. */
static const uint8_t *build_body_start(build_part body) {
  const uint8_t *p = body.text;
  while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') p++;
  return p;
}

static int build_error_fits(build_part body) {
  acp_capture c;
  const uint8_t *p = build_body_start(body), *end = body.text + body.len;
  acp_capture_start(&c, body.text, end, end, 0, NULL);
  c.w.breaks = 1;
  return *p == '{' && acp_capture_error(&c, p) && acp_envelope_error_fits(&c);
}

/* The shape that the kind asks of a valid body. */
static int build_body_fits(const build_message *m) {
  if (m->kind == ACP_ERROR) return build_error_fits(m->body);
  if (m->kind == ACP_RESULT || !m->body.len || m->method.text[0] == '_') return 1;
  uint8_t first = *build_body_start(m->body);
  return first == '{' || first == '[' || first == 'n';
}

/* ---- the line */

static uint64_t build_length(const build_message *m) {
  uint64_t total = sizeof BUILD_START - 1 + sizeof BUILD_END - 1;
  if (m->id.len) total += sizeof BUILD_ID - 1 + (uint64_t)m->id.len;
  if (m->method.len) total += sizeof BUILD_METHOD - 1 + acp_escape_size(m->method.text, m->method.len) + 1;
  if (!m->body.len) return total;
  total += m->body.len;
  if (build_is_call(m)) return total + sizeof BUILD_PARAMS - 1;
  return total + (m->kind == ACP_RESULT ? sizeof BUILD_RESULT - 1 : sizeof BUILD_ERROR - 1);
}

static uint8_t *build_put(uint8_t *dst, const void *text, uint32_t len) {
  memcpy(dst, text, len);
  return dst + len;
}

#define BUILD_PUT(dst, text) build_put(dst, text, (uint32_t)(sizeof(text) - 1))

/* A valid string holds no raw control byte, so every line break in a body stands between tokens. */
static uint8_t *build_put_body(uint8_t *dst, build_part body) {
  for (uint32_t i = 0; i < body.len; i++) {
    uint8_t byte = body.text[i];
    dst[i] = byte == '\n' || byte == '\r' ? ' ' : byte;
  }
  return dst + body.len;
}

static void build_write(uint8_t *p, const build_message *m) {
  p = BUILD_PUT(p, BUILD_START);
  if (m->id.len) p = build_put(BUILD_PUT(p, BUILD_ID), m->id.text, m->id.len);
  if (m->method.len) {
    p = acp_escape(BUILD_PUT(p, BUILD_METHOD), m->method.text, m->method.len);
    *p++ = '"';
  }
  if (m->body.len) {
    if (build_is_call(m)) p = BUILD_PUT(p, BUILD_PARAMS);
    else p = m->kind == ACP_RESULT ? BUILD_PUT(p, BUILD_RESULT) : BUILD_PUT(p, BUILD_ERROR);
    p = build_put_body(p, m->body);
  }
  BUILD_PUT(p, BUILD_END);
}

ACP_API uint32_t acp_build_size(uint32_t id_len, uint32_t method_len, uint32_t body_len) {
  uint64_t size = (uint64_t)BUILD_SLACK + id_len + 6 * (uint64_t)method_len + body_len;
  return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

ACP_API int32_t acp_build(uint8_t *dst, uint32_t cap, uint32_t kind, const uint8_t *id, uint32_t id_len,
                          const uint8_t *method, uint32_t method_len, const uint8_t *body, uint32_t body_len) {
  build_message m = {kind, {id, id_len}, {method, method_len}, {body, body_len}};
  if ((!dst && cap) || cap > ACP_MAX_SIZE || !build_parts_fit(&m)) return ACP_E_ARGUMENT;
  if (!build_id_is_valid(m.id) || !acp_is_utf8(method, method_len) || !build_body_is_valid(m.body)) return ACP_E_JSON;
  if (!build_body_fits(&m)) return ACP_E_ARGUMENT;
  uint64_t needed = build_length(&m);
  if (needed > cap) return ACP_E_ROOM;
  build_write(dst, &m);
  return (int32_t)needed;
}
