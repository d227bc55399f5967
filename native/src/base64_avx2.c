/* Base64 with AVX2, compiled whatever the compiler's flags are. Bytes are looked up by their upper half: within one the
 * values of the alphabet are those of the bytes plus a constant. */
#include "base64_wide.h"

#ifdef ACP_CPU_X86
#  include <immintrin.h>

#  define AVX2_IN 32u               /* characters of one block */
#  define AVX2_OUT 24u              /* bytes it decodes to */
#  define AVX2_REACH 28u            /* bytes that are written for it */

/* ---- decoding */

ACP_TARGET_AVX2 static inline __m256i avx2_both(__m128i half) { return _mm256_broadcastsi128_si256(half); }

/* Not zero where a byte is outside the alphabet: what its two halves are looked up as has a bit in common then. */
ACP_TARGET_AVX2 static inline __m256i avx2_wrong(__m256i text, __m256i upper) {
  const __m256i of_lower = avx2_both(_mm_setr_epi8(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1A,
                                                   0x1B, 0x1B, 0x1B, 0x1A));
  const __m256i of_upper = avx2_both(_mm_setr_epi8(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10,
                                                   0x10, 0x10, 0x10, 0x10));
  __m256i lower = _mm256_and_si256(text, _mm256_set1_epi8(0x0F));
  return _mm256_and_si256(_mm256_shuffle_epi8(of_lower, lower), _mm256_shuffle_epi8(of_upper, upper));
}

/* What to add to a character of the alphabet to get its value. Only '/' shares its upper half with another class. */
ACP_TARGET_AVX2 static inline __m256i avx2_distance(__m256i text, __m256i upper) {
  const __m256i distance = avx2_both(_mm_setr_epi8(0, '?' - '/', 62 - '+', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0,
                                                   0, 0, 0, 0, 0));
  __m256i slash = _mm256_cmpeq_epi8(text, _mm256_set1_epi8('/'));
  return _mm256_shuffle_epi8(distance, _mm256_add_epi8(upper, slash));
}

/* Thirty-two values of six bits to twelve bytes at the start of each half. */
ACP_TARGET_AVX2 static inline __m256i avx2_join(__m256i values) {
  const __m256i order = avx2_both(_mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
  __m256i pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi32(0x01400140));
  __m256i quanta = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
  return _mm256_shuffle_epi8(quanta, order);
}

/* Two stores are cheaper than moving the halves together: the second one overwrites what the first one has too much. */
ACP_TARGET_AVX2 static inline void avx2_store(uint8_t *dst, __m256i joined) {
  _mm_storeu_si128((__m128i *)(void *)dst, _mm256_castsi256_si128(joined));
  _mm_storeu_si128((__m128i *)(void *)(dst + AVX2_OUT / 2), _mm256_extracti128_si256(joined, 1));
}

/* Decodes one block, whatever it holds; not zero where a byte is outside the alphabet. */
ACP_TARGET_AVX2 static inline __m256i avx2_decode_block(uint8_t *dst, const uint8_t *src) {
  __m256i text = _mm256_loadu_si256((const __m256i *)(const void *)src);
  __m256i upper = _mm256_and_si256(_mm256_srli_epi32(text, 4), _mm256_set1_epi8(0x0F));
  __m256i values = _mm256_add_epi8(text, avx2_distance(text, upper));
  avx2_store(dst, avx2_join(values));
  return avx2_wrong(text, upper);
}

/* How many quanta of a block stand before the first wrong one. */
ACP_TARGET_AVX2 static inline uint32_t avx2_right_quanta(__m256i wrong) {
  uint32_t right = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(wrong, _mm256_setzero_si256()));
  return right == UINT32_MAX ? AVX2_IN / 4 : (uint32_t)__builtin_ctz(~right) / 4;
}

/* Four blocks with one look at what is wrong; the caller finds out where. */
ACP_TARGET_AVX2 static inline int avx2_decode_four(uint8_t *dst, const uint8_t *src) {
  __m256i first = avx2_decode_block(dst, src);
  __m256i second = avx2_decode_block(dst + AVX2_OUT, src + AVX2_IN);
  __m256i third = avx2_decode_block(dst + 2 * AVX2_OUT, src + 2 * AVX2_IN);
  __m256i fourth = avx2_decode_block(dst + 3 * AVX2_OUT, src + 3 * AVX2_IN);
  __m256i wrong = _mm256_or_si256(_mm256_or_si256(first, second), _mm256_or_si256(third, fourth));
  return _mm256_testz_si256(wrong, wrong);
}

/* How often a step over whole blocks fits; step: blocks at once. */
static uint32_t avx2_steps(uint32_t step, uint32_t room, uint32_t most, uint32_t readable) {
  uint32_t by_text = (most < readable / 4 ? most : readable / 4) / (step * AVX2_IN / 4);
  uint32_t spare = AVX2_REACH - AVX2_OUT, by_room = room < spare ? 0 : (room - spare) / (step * AVX2_OUT);
  return by_text < by_room ? by_text : by_room;
}

ACP_TARGET_AVX2 uint32_t acp_base64_wide_decode(uint8_t *dst, uint32_t room, const uint8_t *src, uint32_t most,
                                                uint32_t readable) {
  const uint8_t *start = src;
  uint32_t quanta = AVX2_IN / 4;
  for (uint32_t left = avx2_steps(4, room, most, readable); left && avx2_decode_four(dst, src); left--)
    src += 4 * AVX2_IN, dst += 4 * AVX2_OUT;
  uint32_t done = (uint32_t)(src - start) / 4;
  readable -= done * 4, room -= done * 3;
  for (; quanta == AVX2_IN / 4 && done < most && readable >= AVX2_IN && room >= AVX2_REACH; done += quanta) {
    quanta = avx2_right_quanta(avx2_decode_block(dst, src));
    src += AVX2_IN, dst += AVX2_OUT;
    readable -= AVX2_IN, room -= AVX2_OUT;
  }
  return done < most ? done : most;
}

/* ---- encoding */

#  define AVX2_RAW 28u              /* bytes that are loaded to encode twenty-four */

/* Each half of the vector holds twelve bytes to encode: four values of six bits for every three of them. */
ACP_TARGET_AVX2 static inline __m256i avx2_split(__m256i raw) {
  const __m256i order = avx2_both(_mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10));
  __m256i spread = _mm256_shuffle_epi8(raw, order);
  __m256i even = _mm256_and_si256(spread, _mm256_set1_epi32(0x0FC0FC00));
  __m256i odd = _mm256_and_si256(spread, _mm256_set1_epi32(0x003F03F0));
  even = _mm256_mulhi_epu16(even, _mm256_set1_epi32(0x04000040));
  odd = _mm256_mullo_epi16(odd, _mm256_set1_epi32(0x01000010));
  return _mm256_or_si256(even, odd);
}

/* Classes of values: 0 from 26 to 51 (small letters), 1 to 10 digits, 11 plus, 12 slash, 13 capitals. */
ACP_TARGET_AVX2 static inline __m256i avx2_letters(__m256i values) {
  const __m256i distance = avx2_both(_mm_setr_epi8('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                                                   '0' - 52, '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0));
  __m256i classes = _mm256_subs_epu8(values, _mm256_set1_epi8(51));
  __m256i capitals = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), values);
  classes = _mm256_or_si256(classes, _mm256_and_si256(capitals, _mm256_set1_epi8(13)));
  return _mm256_add_epi8(values, _mm256_shuffle_epi8(distance, classes));
}

ACP_TARGET_AVX2 static inline __m256i avx2_load_raw(const uint8_t *src) {
  __m128i first = _mm_loadu_si128((const __m128i *)(const void *)src);
  __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(src + 12));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

ACP_TARGET_AVX2 uint32_t acp_base64_wide_encode(uint8_t *dst, const uint8_t *src, uint32_t size) {
  uint32_t done = 0;
  for (; size >= AVX2_RAW; size -= AVX2_OUT, src += AVX2_OUT, dst += AVX2_IN) {
    __m256i text = avx2_letters(avx2_split(avx2_load_raw(src)));
    _mm256_storeu_si256((__m256i *)(void *)dst, text);
    done += AVX2_OUT / 3;
  }
  return done;
}
#endif
