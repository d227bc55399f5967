/* Finds the next byte of a JSON string that is more than itself: the quote, the backslash, a control byte, or a byte of
 * a character beyond ASCII. Everything that reads strings goes through acp_plain_run. */
#ifndef ACP_PLAIN_H
#define ACP_PLAIN_H
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) && (defined(__GNUC__) || defined(__clang__)) && !defined(ACP_SCALAR)
#  define ACP_PLAIN_SSE2 1
#  include <emmintrin.h>
#endif

static inline int acp_is_plain(uint8_t byte) { return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\'; }

#ifdef ACP_PLAIN_SSE2
/* One bit a byte. Bytes from 0x80 are negative here, so one comparison finds them together with the control bytes. */
static inline uint32_t acp_special16(const uint8_t *p) {
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
  __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
  __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  return (uint32_t)_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, slash)));
}

#  define ACP_PLAIN_WINDOW 64

/* The same for a whole window: which bytes are special is then known without a branch a block. */
static inline uint64_t acp_special64(const uint8_t *p) {
  uint64_t low = acp_special16(p) | (uint64_t)acp_special16(p + 16) << 16;
  uint64_t high = acp_special16(p + 32) | (uint64_t)acp_special16(p + 48) << 16;
  return low | high << 32;
}

/* How far the text at p is plain, within one block; may be beyond the end of the text, but not of what may be read. */
static inline const uint8_t *acp_plain_short(const uint8_t *p, const uint8_t *limit) {
  if (limit - p < 16) return p;
  uint32_t special = acp_special16(p);
  return p + (special ? __builtin_ctz(special) : 16);
}

/* The rest of a run that has become long: worth asking what the CPU can do. */
const uint8_t *acp_plain_long(const uint8_t *p, const uint8_t *limit, int *found);

static inline const uint8_t *acp_plain_blocks(const uint8_t *p, const uint8_t *limit, int *found) {
  for (int few = 0; few < 4; few++, p += 16) {
    if (limit - p < 16) return p;
    uint32_t special = acp_special16(p);
    if (!special) continue;
    *found = 1;
    return p + __builtin_ctz(special);
  }
  return acp_plain_long(p, limit, found);
}
#else
#  define ACP_EACH_BYTE(x) (UINT64_C(0x0101010101010101) * (x))
static inline uint64_t acp_zero_bytes(uint64_t word) { return (word - ACP_EACH_BYTE(1)) & ~word; }

/* Not zero if one of the eight bytes is special; which one is found byte by byte, so byte order does not matter. */
static inline uint64_t acp_special8(const uint8_t *p) {
  uint64_t word;
  memcpy(&word, p, sizeof word);
  uint64_t low = (word - ACP_EACH_BYTE(0x20)) & ~word;
  uint64_t quote = acp_zero_bytes(word ^ ACP_EACH_BYTE('"'));
  uint64_t slash = acp_zero_bytes(word ^ ACP_EACH_BYTE('\\'));
  return (word | low | quote | slash) & ACP_EACH_BYTE(0x80);
}

static inline const uint8_t *acp_plain_short(const uint8_t *p, const uint8_t *limit) {
  (void)limit;
  return p;
}

static inline const uint8_t *acp_plain_blocks(const uint8_t *p, const uint8_t *limit, int *found) {
  (void)found;
  while (limit - p >= 8 && !acp_special8(p)) p += 8;
  return p;
}
#endif

/* The first special byte of [p, end), or end. Bytes up to limit (>= end) may be read. */
static inline const uint8_t *acp_plain_run(const uint8_t *p, const uint8_t *end, const uint8_t *limit) {
  int found = 0;
  p = acp_plain_blocks(p, limit, &found);
  if (!found)
    while (p < end && acp_is_plain(*p)) p++;
  return p < end ? p : end;
}
#endif
