/* One step of strict UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). */
#ifndef ACP_UTF8_H
#define ACP_UTF8_H
#include <stdint.h>

static inline int acp_utf8_tail(uint8_t byte) { return (byte & 0xC0u) == 0x80u; }

/* The second byte carries the rules that the first one alone cannot tell. */
static inline int acp_utf8_second(uint8_t first, uint8_t second) {
  switch (first) {
    case 0xE0: return second >= 0xA0 && second <= 0xBF;
    case 0xED: return second >= 0x80 && second <= 0x9F;
    case 0xF0: return second >= 0x90 && second <= 0xBF;
    case 0xF4: return second >= 0x80 && second <= 0x8F;
    default: return acp_utf8_tail(second);
  }
}

static inline uint32_t acp_utf8_expected(uint8_t first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

/* The length of the character at p (p < end), 0 if it is not valid or cut short. */
static inline uint32_t acp_utf8_length(const uint8_t *p, const uint8_t *end) {
  uint32_t length = acp_utf8_expected(*p);
  if (length < 2) return length;
  if ((uint64_t)(end - p) < length || !acp_utf8_second(p[0], p[1])) return 0;
  if (length > 2 && !acp_utf8_tail(p[2])) return 0;
  if (length > 3 && !acp_utf8_tail(p[3])) return 0;
  return length;
}

static inline uint32_t acp_utf8_put(uint8_t *dst, uint32_t code) {
  if (code < 0x80) {
    dst[0] = (uint8_t)code;
    return 1;
  }
  if (code < 0x800) {
    dst[0] = (uint8_t)(0xC0u | (code >> 6));
    dst[1] = (uint8_t)(0x80u | (code & 0x3Fu));
    return 2;
  }
  if (code < 0x10000) {
    dst[0] = (uint8_t)(0xE0u | (code >> 12));
    dst[1] = (uint8_t)(0x80u | ((code >> 6) & 0x3Fu));
    dst[2] = (uint8_t)(0x80u | (code & 0x3Fu));
    return 3;
  }
  dst[0] = (uint8_t)(0xF0u | (code >> 18));
  dst[1] = (uint8_t)(0x80u | ((code >> 12) & 0x3Fu));
  dst[2] = (uint8_t)(0x80u | ((code >> 6) & 0x3Fu));
  dst[3] = (uint8_t)(0x80u | (code & 0x3Fu));
  return 4;
}
#endif
