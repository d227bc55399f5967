#include "base64.h"

#include <string.h>

#include "base64_wide.h"

#define BASE64_WIDE_FROM 8u       /* quanta (groups) below which a vector cannot be filled */

/* ---- tables: each character at its place in the 24 bits of a quantum; the top bit marks what is no such character */

#define BASE64_BAD 0x80000000u
#define BASE64_VALUE(c)                                                                                                \
  ((c) >= 'A' && (c) <= 'Z' ? (c) - 'A' : (c) >= 'a' && (c) <= 'z' ? (c) - 'a' + 26                                    \
   : (c) >= '0' && (c) <= '9' ? (c) - '0' + 52 : (c) == '+' ? 62 : (c) == '/' ? 63 : -1)
#define BASE64_CELL(c, shift) (BASE64_VALUE(c) < 0 ? BASE64_BAD : (uint32_t)(BASE64_VALUE(c) & 63) << (shift))
#define BASE64_4(c, s) BASE64_CELL(c, s), BASE64_CELL((c) + 1, s), BASE64_CELL((c) + 2, s), BASE64_CELL((c) + 3, s)
#define BASE64_16(c, s) BASE64_4(c, s), BASE64_4((c) + 4, s), BASE64_4((c) + 8, s), BASE64_4((c) + 12, s)
#define BASE64_64(c, s) BASE64_16(c, s), BASE64_16((c) + 16, s), BASE64_16((c) + 32, s), BASE64_16((c) + 48, s)
#define BASE64_256(s) BASE64_64(0, s), BASE64_64(64, s), BASE64_64(128, s), BASE64_64(192, s)

static const uint32_t base64_decode_table[4][256] = {
  {BASE64_256(18)}, {BASE64_256(12)}, {BASE64_256(6)}, {BASE64_256(0)},
};
static const char base64_alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* ---- decoding */

static inline uint32_t base64_word(const uint8_t *p) {
  return base64_decode_table[0][p[0]] | base64_decode_table[1][p[1]] | base64_decode_table[2][p[2]] |
         base64_decode_table[3][p[3]];
}

static inline void base64_put(uint8_t *dst, uint32_t word) {
  dst[0] = (uint8_t)(word >> 16);
  dst[1] = (uint8_t)(word >> 8);
  dst[2] = (uint8_t)word;
}

#ifdef ACP_BASE64_WIDE
static uint32_t base64_wide_quanta(uint8_t *dst, uint32_t room, const uint8_t *src, uint32_t most, uint32_t readable) {
  if (most < BASE64_WIDE_FROM || acp_cpu_level() != ACP_CPU_WIDE) return 0;
  return acp_base64_wide_decode(dst, room, src, most, readable);
}

static uint32_t base64_wide_groups(uint8_t *dst, const uint8_t *src, uint32_t size) {
  if (size < BASE64_WIDE_FROM * 3 || acp_cpu_level() != ACP_CPU_WIDE) return 0;
  return acp_base64_wide_encode(dst, src, size);
}
#else
static uint32_t base64_wide_quanta(uint8_t *dst, uint32_t room, const uint8_t *src, uint32_t most, uint32_t readable) {
  (void)dst, (void)room, (void)src, (void)most, (void)readable;
  return 0;
}

static uint32_t base64_wide_groups(uint8_t *dst, const uint8_t *src, uint32_t size) {
  (void)dst, (void)src, (void)size;
  return 0;
}
#endif

/* At most this many quanta without padding, as long as they are of the alphabet: how many there were. dst has room for
 * all; all but the last that fits may write one byte too many: the next one overwrites it, and four bytes are one store. */
static uint32_t base64_plain_quanta(uint8_t *dst, const uint8_t *src, uint32_t most) {
  uint32_t done = 0;
  for (; done < most; done++, src += 4, dst += 3) {
    uint32_t word = base64_word(src);
    if (word & BASE64_BAD) break;
    base64_put(dst, word);
    if (done + 1 < most) dst[3] = 0;
  }
  return done;
}

/* All quanta from src on, up to most, that stand there plainly and fit into room: how many. src is read up to readable,
 * which is at least all of most. */
static uint32_t base64_quanta(uint8_t *dst, uint32_t room, const uint8_t *src, uint32_t most, uint32_t readable) {
  if (most > room / 3) most = room / 3;
  uint32_t wide = base64_wide_quanta(dst, room, src, most, readable);
  return wide + base64_plain_quanta(dst + (size_t)wide * 3, src + (size_t)wide * 4, most - wide);
}

/* One quantum, which may be padded if it is the last. The number of bytes, or -1. */
static int32_t base64_quantum(uint8_t out[3], const uint8_t q[4], int last) {
  uint8_t full[4] = {q[0], q[1], q[2], q[3]};
  int padding = last && q[3] == '=' ? (q[2] == '=' ? 2 : 1) : 0;
  for (int i = 0; i < padding; i++) full[3 - i] = 'A';
  uint32_t word = base64_word(full);
  if (word & BASE64_BAD || word & ((1u << (8 * padding)) - 1)) return -1;
  base64_put(out, word);
  return 3 - padding;
}

static int32_t body_hex(uint8_t digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  digit |= 0x20;
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static int32_t body_hex2(const uint8_t *p) {
  int32_t high = body_hex(p[0]), low = body_hex(p[1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* One character, however it is written; -1: none of the alphabet. */
static int32_t body_character(const uint8_t **p, const uint8_t *end) {
  const uint8_t *q = *p;
  if (*q != '\\') {
    (*p)++;
    return *q;
  }
  if (end - q >= 2 && q[1] == '/') {
    *p += 2;
    return '/';
  }
  if (end - q < 6 || q[1] != 'u' || q[2] != '0' || q[3] != '0') return -1;
  *p += 6;
  return body_hex2(q + 4);
}

static int body_quantum(const uint8_t **p, const uint8_t *end, uint8_t q[4]) {
  for (int i = 0; i < 4; i++) {
    int32_t c = *p < end ? body_character(p, end) : -1;
    if (c < 0) return 0;
    q[i] = (uint8_t)c;
  }
  return 1;
}

int32_t acp_decode_body(uint8_t *dst, uint32_t room, const uint8_t *body, uint32_t size, uint32_t *used) {
  const uint8_t *p = body, *end = body + size, *after;
  uint32_t len = 0;
  uint8_t q[4], out[3];
  while (p < end) {
    uint32_t left = (uint32_t)(end - p), quanta = base64_quanta(dst + len, room - len, p, left / 4, left);
    p += (size_t)quanta * 4;
    len += quanta * 3;
    if (p == end) break;
    after = p;
    if (!body_quantum(&after, end, q)) return -1;
    int32_t got = base64_quantum(out, q, after == end);
    if (got < 0) return -1;
    if ((uint32_t)got > room - len) break;
    memcpy(dst + len, out, (size_t)got);
    len += (uint32_t)got;
    p = after;
  }
  *used = (uint32_t)(p - body);
  return (int32_t)len;
}

/* The last quantum in front of a quote if it is padded: 0 if it is not that, else the number of bytes. */
static uint32_t string_padded_end(uint8_t *dst, uint32_t room, const uint8_t *p, const uint8_t *end) {
  uint8_t out[3];
  if (end - p < 5 || p[3] != '=' || p[4] != '"') return 0;
  int32_t got = base64_quantum(out, p, 1);
  if (got < 1 || (uint32_t)got > room) return 0;
  dst[0] = out[0];
  if (got == 2) dst[1] = out[1];
  return (uint32_t)got;
}

const uint8_t *acp_decode_string(uint8_t *dst, uint32_t room, const acp_stretch *text, uint32_t *len) {
  const uint8_t *p = text->start;
  uint32_t size = (uint32_t)(text->end - p), readable = (uint32_t)(text->limit - p);
  uint32_t quanta = base64_quanta(dst, room, p, size / 4, readable);
  *len = quanta * 3;
  p += (size_t)quanta * 4;
  if (p < text->end && *p == '"') return p;
  uint32_t last = string_padded_end(dst + *len, room - *len, p, text->end);
  *len += last;
  return last ? p + 4 : NULL;
}

static uint32_t base64_exact_size(const uint8_t *src, uint32_t size) {
  if (!size) return 0;
  return size / 4 * 3 - (src[size - 1] == '=') - (src[size - 1] == '=' && src[size - 2] == '=');
}

ACP_API int32_t acp_base64_decode(uint8_t *dst, uint32_t cap, const uint8_t *src, uint32_t size) {
  uint8_t last[3];
  if (size > ACP_MAX_SIZE || cap > ACP_MAX_SIZE || (!src && size) || (!dst && cap)) return ACP_E_ARGUMENT;
  if (size % 4) return ACP_E_BASE64;
  uint32_t exact = base64_exact_size(src, size);
  if (exact > cap) return ACP_E_ROOM;
  if (!size) return 0;
  int32_t got = base64_quantum(last, src + size - 4, 1);
  uint32_t quanta = size / 4 - 1;
  if (got < 0 || base64_quanta(dst, exact, src, quanta, size) != quanta) return ACP_E_BASE64;
  memcpy(dst + (exact - (uint32_t)got), last, (size_t)got);
  return (int32_t)exact;
}

/* ---- encoding */

static inline void base64_encode_quantum(uint8_t *dst, uint32_t word) {
  dst[0] = (uint8_t)base64_alphabet[word >> 18];
  dst[1] = (uint8_t)base64_alphabet[(word >> 12) & 63];
  dst[2] = (uint8_t)base64_alphabet[(word >> 6) & 63];
  dst[3] = (uint8_t)base64_alphabet[word & 63];
}

static void base64_encode_rest(uint8_t *dst, const uint8_t *src, uint32_t size) {
  base64_encode_quantum(dst, (uint32_t)src[0] << 16 | (size > 1 ? (uint32_t)src[1] << 8 : 0u));
  if (size == 1) dst[2] = '=';
  dst[3] = '=';
}

void acp_encode_all(uint8_t *dst, const uint8_t *src, uint32_t size) {
  uint32_t wide = base64_wide_groups(dst, src, size);
  src += (size_t)wide * 3;
  dst += (size_t)wide * 4;
  size -= wide * 3;
  for (; size >= 3; size -= 3, src += 3, dst += 4)
    base64_encode_quantum(dst, (uint32_t)src[0] << 16 | (uint32_t)src[1] << 8 | src[2]);
  if (size) base64_encode_rest(dst, src, size);
}

ACP_API uint32_t acp_base64_size(uint32_t size) {
  uint64_t needed = ((uint64_t)size + 2) / 3 * 4;
  return needed > UINT32_MAX ? UINT32_MAX : (uint32_t)needed;
}

ACP_API int32_t acp_base64_encode(uint8_t *dst, uint32_t cap, const uint8_t *src, uint32_t size) {
  if (size > ACP_MAX_SIZE || cap > ACP_MAX_SIZE || (!src && size) || (!dst && cap)) return ACP_E_ARGUMENT;
  uint32_t needed = acp_base64_size(size);
  if (needed > cap) return ACP_E_ROOM;
  if (size) acp_encode_all(dst, src, size);
  return (int32_t)needed;
}
