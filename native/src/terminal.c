/* Terminal chunks: the lines that carry a terminal's output. */
#include <string.h>

#include "base64.h"
#include "strings.h"

#define TERMINAL_SESSION "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\""
#define TERMINAL_ENTITY "\",\"update\":{\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\""
#define TERMINAL_DATA "\",\"data\":\""
#define TERMINAL_END "\"}}}\n"
#define TERMINAL_LENGTH(text) ((uint32_t)(sizeof(text) - 1))

ACP_API uint32_t acp_terminal_size(const uint8_t *body, uint32_t size) {
  if (!body || !size) return 0;
  uint32_t bound = (size / 4 + (size % 4 != 0)) * 3;
  uint32_t padding = body[size - 1] == '=' ? (size > 1 && body[size - 2] == '=' ? 2 : 1) : 0;
  return bound - padding;
}

ACP_API int32_t acp_terminal_data(uint8_t *dst, uint32_t cap, const uint8_t *body, uint32_t size, uint32_t *used) {
  if (!used || size > ACP_MAX_SIZE || cap > ACP_MAX_SIZE || (!body && size) || (!dst && cap)) return ACP_E_ARGUMENT;
  uint8_t nowhere;
  *used = 0;
  if (!size) return 0;
  int32_t got = acp_decode_body(dst ? dst : &nowhere, cap, body, size, used);
  if (got < 0) return ACP_E_BASE64;
  return *used ? got : ACP_E_ROOM;
}

static uint8_t *terminal_put(uint8_t *dst, const char *text, uint32_t len) {
  memcpy(dst, text, len);
  return dst + len;
}

ACP_API int32_t acp_terminal_head(uint8_t *dst, uint32_t cap, const uint8_t *session, uint32_t session_len,
                                  const uint8_t *terminal, uint32_t terminal_len) {
  if ((!dst && cap) || (!session && session_len) || (!terminal && terminal_len)) return ACP_E_ARGUMENT;
  if (cap > ACP_MAX_SIZE || session_len > ACP_MAX_SIZE || terminal_len > ACP_MAX_SIZE) return ACP_E_ARGUMENT;
  if (!acp_is_utf8(session, session_len) || !acp_is_utf8(terminal, terminal_len)) return ACP_E_JSON;
  uint64_t needed = sizeof TERMINAL_SESSION + sizeof TERMINAL_ENTITY + sizeof TERMINAL_DATA - 3;
  needed += acp_escape_size(session, session_len) + acp_escape_size(terminal, terminal_len);
  if (needed > cap) return ACP_E_ROOM;
  uint8_t *p = terminal_put(dst, TERMINAL_SESSION, TERMINAL_LENGTH(TERMINAL_SESSION));
  p = acp_escape(p, session, session_len);
  p = terminal_put(p, TERMINAL_ENTITY, TERMINAL_LENGTH(TERMINAL_ENTITY));
  p = acp_escape(p, terminal, terminal_len);
  terminal_put(p, TERMINAL_DATA, TERMINAL_LENGTH(TERMINAL_DATA));
  return (int32_t)needed;
}

ACP_API int32_t acp_terminal_chunk(uint8_t *dst, uint32_t cap, const uint8_t *head, uint32_t head_len,
                                   const uint8_t *raw, uint32_t size) {
  if ((!dst && cap) || !head || !head_len || (!raw && size)) return ACP_E_ARGUMENT;
  if (cap > ACP_MAX_SIZE || head_len > ACP_MAX_SIZE || size > ACP_MAX_SIZE) return ACP_E_ARGUMENT;
  uint32_t encoded = acp_base64_size(size);
  uint64_t needed = (uint64_t)head_len + encoded + TERMINAL_LENGTH(TERMINAL_END);
  if (needed > cap) return ACP_E_ROOM;
  memcpy(dst, head, head_len);
  if (size) acp_encode_all(dst + head_len, raw, size);
  terminal_put(dst + head_len + encoded, TERMINAL_END, TERMINAL_LENGTH(TERMINAL_END));
  return (int32_t)needed;
}
