#include "strings.h"

#include <string.h>

#include "json.h"
#include "utf8.h"

/* ---- reading */

static uint32_t string_hex4(const uint8_t *p) {
  uint32_t code = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t byte = p[i];
    code = code * 16 + (byte <= '9' ? byte - '0' : (byte | 0x20u) - 'a' + 10);
  }
  return code;
}

/* The code point of a \u escape at *p, both halves of a surrogate pair at once. */
static uint32_t string_unicode(const uint8_t **p, const uint8_t *end) {
  uint32_t code = string_hex4(*p + 2);
  *p += 6;
  if (code < 0xD800 || code > 0xDBFF || end - *p < 6) return code;
  uint32_t low = string_hex4(*p + 2);
  *p += 6;
  return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
}

static uint8_t string_simple(uint8_t letter) {
  switch (letter) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return letter;
  }
}

uint32_t acp_unescape_step(const uint8_t **p, const uint8_t *end, uint8_t out[4]) {
  if (**p != '\\') {
    out[0] = *(*p)++;
    return 1;
  }
  if ((*p)[1] == 'u') return acp_utf8_put(out, string_unicode(p, end));
  out[0] = string_simple((*p)[1]);
  *p += 2;
  return 1;
}

int32_t acp_unescape(uint8_t *dst, uint32_t cap, const uint8_t *body, uint32_t size) {
  const uint8_t *p = body, *end = body + size;
  uint32_t len = 0;
  uint8_t out[4];
  while (p < end) {
    uint32_t step = acp_unescape_step(&p, end, out);
    if (step > cap - len) return -1;
    memcpy(dst + len, out, step);
    len += step;
  }
  return (int32_t)len;
}

static int string_is_valid(const uint8_t *body, uint32_t size, uint32_t *escaped) {
  acp_walk w = {body, body + size, body + size, NULL, ACP_R_NONE, 0, 0};
  int whole = acp_walk_inside(&w, body) == w.end;
  *escaped = w.escaped;
  return whole;
}

static uint32_t string_length(const uint8_t *body, uint32_t size) {
  const uint8_t *p = body, *end = body + size;
  uint32_t len = 0;
  uint8_t out[4];
  while (p < end) len += acp_unescape_step(&p, end, out);
  return len;
}

ACP_API int32_t acp_string(uint8_t *dst, uint32_t cap, const uint8_t *body, uint32_t size) {
  uint32_t escaped = 0;
  if (size > ACP_MAX_SIZE || cap > ACP_MAX_SIZE || (!body && size) || (!dst && cap)) return ACP_E_ARGUMENT;
  if (!size) return 0;
  if (!string_is_valid(body, size, &escaped)) return ACP_E_JSON;
  if (cap < size && string_length(body, size) > cap) return ACP_E_ROOM;
  if (escaped) return acp_unescape(dst, cap, body, size);
  memcpy(dst, body, size);
  return (int32_t)size;
}

/* ---- writing */

static uint8_t string_short_escape(uint8_t byte) {
  switch (byte) {
    case '"': case '\\': return byte;
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

static uint32_t string_escaped_size(uint8_t byte) {
  if (string_short_escape(byte)) return 2;
  return byte < 0x20 ? 6 : 1;
}

static uint8_t *string_put(uint8_t *dst, uint8_t byte) {
  static const char digits[] = "0123456789abcdef";
  uint8_t letter = string_short_escape(byte);
  if (letter || byte < 0x20) *dst++ = '\\';
  if (letter) {
    *dst++ = letter;
  } else if (byte < 0x20) {
    memcpy(dst, "u00", 3);
    dst[3] = (uint8_t)digits[byte >> 4];
    dst[4] = (uint8_t)digits[byte & 15];
    dst += 5;
  } else {
    *dst++ = byte;
  }
  return dst;
}

uint64_t acp_escape_size(const uint8_t *src, uint32_t size) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < size; i++) total += string_escaped_size(src[i]);
  return total;
}

int acp_is_utf8(const uint8_t *src, uint32_t size) {
  const uint8_t *p = src, *end = size ? src + size : src;
  while (p < end) {
    uint32_t length = acp_utf8_length(p, end);
    if (!length) return 0;
    p += length;
  }
  return 1;
}

uint8_t *acp_escape(uint8_t *dst, const uint8_t *src, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) dst = string_put(dst, src[i]);
  return dst;
}
