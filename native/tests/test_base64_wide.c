/* Every way to code base64 that this machine has says the same as a slow one written here. */
#include <stdlib.h>

#include "acpcore.h"
#include "base64.h"
#include "check.h"
#include "cpu.h"

#define LONGEST 300u
#define PLACES 40u                       /* more than every offset within a vector */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const uint32_t levels[] = {ACP_CPU_PLAIN, ACP_CPU_WIDE};
static uint32_t seed = 7;

static uint8_t any_byte(void) { return (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24); }

/* ---- the slow one: bit by bit */

static uint32_t slow_encode(char *text, const uint8_t *raw, uint32_t size) {
  uint32_t len = 0, bits = size * 8;
  for (uint32_t bit = 0; bit < bits; bit += 6) {
    uint32_t value = 0;
    for (uint32_t i = bit; i < bit + 6; i++) value = value * 2 + (i < bits ? (raw[i / 8] >> (7 - i % 8)) & 1u : 0);
    text[len++] = letters[value];
  }
  while (len % 4) text[len++] = '=';
  return len;
}

static int32_t slow_value(uint8_t c) {
  const char *found = c ? strchr(letters, c) : NULL;
  return found ? (int32_t)(found - letters) : -1;
}

/* The length, or -1: what it decodes to must encode to the same text again. */
static int32_t slow_decode(uint8_t *raw, const uint8_t *text, uint32_t size) {
  uint32_t held = 0, bits = 0, len = 0, end = size;
  char again[LONGEST * 2];
  while (end && size - end < 2 && text[end - 1] == '=') end--;
  for (uint32_t i = 0; i < end; i++) {
    int32_t value = slow_value(text[i]);
    if (value < 0) return -1;
    held = (held * 64 + (uint32_t)value) & 0xFFFFu;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    raw[len++] = (uint8_t)(held >> bits);
  }
  return slow_encode(again, raw, len) == size && memcmp(again, text, size) == 0 ? (int32_t)len : -1;
}

/* ---- memory of exact size, at every alignment */

typedef struct block {
  uint8_t *memory, *at;
} block;

static block block_new(const void *bytes, uint32_t size, uint32_t place) {
  size_t exact = (size_t)place + size;   /* so that a sanitizer sees what is touched behind it */
  block b = {malloc(exact ? exact : 1), NULL};
  if (!b.memory) abort();
  b.at = b.memory + place;
  if (size && bytes) memcpy(b.at, bytes, size);
  return b;
}

/* ---- checks */

static void check_decode(const uint8_t *text, uint32_t size, uint32_t place) {
  uint8_t want[LONGEST * 2];
  int32_t expected = slow_decode(want, text, size);
  block from = block_new(text, size, place), to = block_new(NULL, expected > 0 ? (uint32_t)expected : size, place / 3);
  int32_t got = acp_base64_decode(to.at, expected > 0 ? (uint32_t)expected : size, from.at, size);
  CHECK_NUMBER(got, expected < 0 ? ACP_E_BASE64 : expected);
  if (got == expected && got > 0) CHECK(memcmp(to.at, want, (size_t)got) == 0);
  free(from.memory);
  free(to.memory);
}

static void check_encode(const uint8_t *raw, uint32_t size, uint32_t place) {
  char want[LONGEST * 2];
  uint32_t expected = slow_encode(want, raw, size);
  block from = block_new(raw, size, place), to = block_new(NULL, expected, place / 3);
  CHECK_NUMBER(acp_base64_encode(to.at, expected, from.at, size), expected);
  CHECK(memcmp(to.at, want, expected) == 0);
  free(from.memory);
  free(to.memory);
}

/* A string is decoded up to its quote exactly if it is base64 without an escape and fits. */
static void check_string(const uint8_t *text, uint32_t size, uint32_t behind, uint32_t place) {
  uint8_t want[LONGEST * 2];
  int32_t expected = slow_decode(want, text, size);
  uint32_t room = expected > 0 ? (uint32_t)expected : 0;
  for (uint32_t less = 0; less <= (room > 0); less++) {
    block from = block_new(NULL, size + 1 + behind, place), to = block_new(NULL, room - less, place / 3);
    uint32_t len = 0;
    memset(from.at, '"', size + 1 + behind);
    memcpy(from.at, text, size);
    acp_stretch stretch = {from.at, from.at + size + 1 + behind / 2, from.at + size + 1 + behind};
    const uint8_t *quote = acp_decode_string(to.at, room - less, &stretch, &len);
    CHECK(quote == (expected < 0 || less ? NULL : from.at + size));
    if (quote) CHECK(len == room && memcmp(to.at, want, len) == 0);
    free(from.memory);
    free(to.memory);
  }
}

static void every_length(void) {
  uint8_t raw[LONGEST];
  char text[LONGEST * 2];
  for (uint32_t size = 0; size <= LONGEST; size++) {
    for (uint32_t i = 0; i < size; i++) raw[i] = any_byte();
    uint32_t len = slow_encode(text, raw, size);
    for (uint32_t place = 0; place < PLACES; place += size < 100 ? 1 : 13) {
      check_encode(raw, size, place);
      check_decode((const uint8_t *)text, len, place);
      check_string((const uint8_t *)text, len, size % 7 * 9, place);
    }
    check_decode((const uint8_t *)text, len ? len - 1 : 0, 0);
  }
}

/* Every byte at every place of a few lengths: within a vector, across two, in the rest behind them. */
static void every_byte(void) {
  static const uint32_t lengths[] = {4, 32, 36, 64, 72, 132};
  for (uint32_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
    uint8_t text[256];
    for (uint32_t i = 0; i < lengths[n]; i++) text[i] = (uint8_t)letters[any_byte() & 63];
    for (uint32_t place = 0; place < lengths[n]; place++) {
      uint8_t kept = text[place];
      for (uint32_t byte = 0; byte < 256; byte++) {
        text[place] = (uint8_t)byte;
        check_decode(text, lengths[n], byte % 3);
        if (byte != '"') check_string(text, lengths[n], byte % 40, byte % 3);
      }
      text[place] = kept;
    }
  }
}

static void every_letter(void) {
  uint8_t raw[48];
  for (uint32_t shift = 0; shift < 64; shift++) {
    char text[65];
    for (uint32_t i = 0; i < 64; i++) text[i] = letters[(i + shift) & 63];
    CHECK_NUMBER(slow_decode(raw, (const uint8_t *)text, 64), 48);
    check_decode((const uint8_t *)text, 64, shift % 3);
    check_encode(raw, 48, shift % 3);
  }
}

/* Padding belongs to the end, wherever a vector ends. */
static void padding_inside(void) {
  for (uint32_t at = 0; at < 128; at++) {
    uint8_t text[132];
    memset(text, 'A', sizeof text);
    text[at] = '=';
    check_decode(text, 132, 0);
    text[at + 1] = '=';
    check_decode(text, 132, 0);
    check_string(text, 132, 3, 0);
  }
}

/* A shorter room takes whole quanta from the front, and no byte behind it is written. */
static void pieces(void) {
  uint8_t text[256], want[192];
  for (uint32_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)letters[any_byte() & 63];
  CHECK_NUMBER(slow_decode(want, text, sizeof text), 192);
  for (uint32_t room = 3; room <= 192; room++) {
    block to = block_new(NULL, room, 0);
    uint32_t used = 0;
    CHECK_NUMBER(acp_terminal_data(to.at, room, text, sizeof text, &used), room / 3 * 3);
    CHECK_NUMBER(used, room / 3 * 4);
    CHECK(memcmp(to.at, want, room / 3 * 3) == 0);
    free(to.memory);
  }
}

int main(void) {
  CHECK(acp_cpu_level() == acp_cpu_limit(ACP_CPU_WIDE));
  for (uint32_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    CHECK(acp_cpu_limit(levels[i]) <= levels[i]);
    every_length();
    every_byte();
    every_letter();
    padding_inside();
    pieces();
  }
  return CHECK_DONE();
}
