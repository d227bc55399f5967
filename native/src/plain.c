#include "plain.h"

#ifdef ACP_PLAIN_SSE2
#  include "cpu.h"

#  ifdef ACP_CPU_X86
#    include <immintrin.h>

/* As acp_special16, but one byte is not zero for every special one. */
ACP_TARGET_AVX2 static inline __m256i plain_special32(const uint8_t *p) {
  __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)p);
  __m256i low = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes);
  __m256i quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
  __m256i slash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
  return _mm256_or_si256(low, _mm256_or_si256(quote, slash));
}

/* Skips what is plain, 64 bytes at once. */
ACP_TARGET_AVX2 static const uint8_t *plain_skip(const uint8_t *p, const uint8_t *limit) {
  for (; limit - p >= 64; p += 64) {
    __m256i special = _mm256_or_si256(plain_special32(p), plain_special32(p + 32));
    if (!_mm256_testz_si256(special, special)) break;
  }
  return p;
}
#  endif

const uint8_t *acp_plain_long(const uint8_t *p, const uint8_t *limit, int *found) {
#  ifdef ACP_CPU_X86
  if (acp_cpu_level() == ACP_CPU_WIDE) p = plain_skip(p, limit);
#  endif
  for (; limit - p >= 16; p += 16) {
    uint32_t special = acp_special16(p);
    if (!special) continue;
    *found = 1;
    return p + __builtin_ctz(special);
  }
  return p;
}
#endif
