/* Base64 with NEON: loads and stores that take four (three) interleaved streams apart fit the quanta exactly. */
#include "base64_wide.h"

#ifdef ACP_CPU_NEON
#  include <arm_neon.h>

#  define NEON_IN 64u               /* characters of one block */
#  define NEON_OUT 48u

static const uint8_t neon_alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#  define NO 255
/* The values of the characters from 0 and from 64 on. */
static const uint8_t neon_values[128] = {
  NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
  NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 62, NO, NO, NO, 63, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, NO, NO, NO, NO, NO, NO,
  NO, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, NO, NO, NO, NO, NO,
  NO, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, NO, NO, NO, NO, NO,
};
#  undef NO

static inline uint8x16x4_t neon_table(const uint8_t *bytes) {
  uint8x16x4_t table = {{vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
  return table;
}

/* A place outside of a table gives 0 in the first look-up and leaves the byte alone in the second one. */
static inline uint8x16_t neon_value(uint8x16x4_t low, uint8x16x4_t high, uint8x16_t text) {
  return vqtbx4q_u8(vqtbl4q_u8(low, text), high, veorq_u8(text, vdupq_n_u8(64)));
}

/* Whether all of the block is of the alphabet; only then anything is written. */
static inline int neon_decode_block(uint8x16x4_t low, uint8x16x4_t high, uint8_t *dst, const uint8_t *src) {
  uint8x16x4_t text = vld4q_u8(src);
  uint8x16_t a = neon_value(low, high, text.val[0]), b = neon_value(low, high, text.val[1]);
  uint8x16_t c = neon_value(low, high, text.val[2]), d = neon_value(low, high, text.val[3]);
  uint8x16_t values = vorrq_u8(vorrq_u8(a, b), vorrq_u8(c, d));
  uint8x16_t bytes = vorrq_u8(vorrq_u8(text.val[0], text.val[1]), vorrq_u8(text.val[2], text.val[3]));
  if (vmaxvq_u8(vorrq_u8(values, bytes)) >= 128) return 0;
  uint8x16x3_t raw = {{vorrq_u8(vshlq_n_u8(a, 2), vshrq_n_u8(b, 4)), vorrq_u8(vshlq_n_u8(b, 4), vshrq_n_u8(c, 2)),
                       vorrq_u8(vshlq_n_u8(c, 6), d)}};
  vst3q_u8(dst, raw);
  return 1;
}

uint32_t acp_base64_wide_decode(uint8_t *dst, uint32_t room, const uint8_t *src, uint32_t most, uint32_t readable) {
  uint8x16x4_t low = neon_table(neon_values), high = neon_table(neon_values + 64);
  uint32_t done = 0;
  for (; most - done >= NEON_IN / 4 && readable >= NEON_IN && room >= NEON_OUT; done += NEON_IN / 4) {
    if (!neon_decode_block(low, high, dst, src)) break;
    src += NEON_IN, dst += NEON_OUT;
    readable -= NEON_IN, room -= NEON_OUT;
  }
  return done;
}

uint32_t acp_base64_wide_encode(uint8_t *dst, const uint8_t *src, uint32_t size) {
  uint8x16x4_t alphabet = neon_table(neon_alphabet);
  uint8x16_t six = vdupq_n_u8(63);
  uint32_t done = 0;
  for (; size >= NEON_OUT; size -= NEON_OUT, src += NEON_OUT, dst += NEON_IN, done += NEON_OUT / 3) {
    uint8x16x3_t raw = vld3q_u8(src);
    uint8x16_t b = vorrq_u8(vshlq_n_u8(raw.val[0], 4), vshrq_n_u8(raw.val[1], 4));
    uint8x16_t c = vorrq_u8(vshlq_n_u8(raw.val[1], 2), vshrq_n_u8(raw.val[2], 6));
    uint8x16x4_t text = {{vqtbl4q_u8(alphabet, vshrq_n_u8(raw.val[0], 2)), vqtbl4q_u8(alphabet, vandq_u8(b, six)),
                          vqtbl4q_u8(alphabet, vandq_u8(c, six)), vqtbl4q_u8(alphabet, vandq_u8(raw.val[2], six))}};
    vst4q_u8(dst, text);
  }
  return done;
}
#endif
