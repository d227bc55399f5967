#include <stdlib.h>

#include "acpcore.h"
#include "check.h"

static int32_t decode(const char *text, size_t size, char *out, uint32_t cap) {
  uint8_t *from = malloc(size ? size : 1), *to = malloc(cap ? cap : 1);
  memcpy(from, text, size);
  int32_t len = acp_base64_decode(to, cap, from, (uint32_t)size);
  if (len > 0) memcpy(out, to, (size_t)len);
  free(from);
  free(to);
  return len;
}

static void pair(const char *raw, const char *text) {
  char out[64];
  uint32_t raw_len = (uint32_t)strlen(raw), text_len = (uint32_t)strlen(text);
  CHECK_NUMBER(acp_base64_size(raw_len), text_len);
  CHECK_NUMBER(acp_base64_encode((uint8_t *)out, text_len, (const uint8_t *)raw, raw_len), text_len);
  CHECK(memcmp(out, text, text_len) == 0);
  CHECK_NUMBER(decode(text, text_len, out, raw_len), raw_len);
  CHECK(memcmp(out, raw, raw_len) == 0);
  if (!raw_len) return;
  CHECK_NUMBER(decode(text, text_len, out, raw_len - 1), ACP_E_ROOM);
  CHECK_NUMBER(acp_base64_encode((uint8_t *)out, text_len - 1, (const uint8_t *)raw, raw_len), ACP_E_ROOM);
}

/* RFC 4648, section 10. */
static void known_pairs(void) {
  pair("", "");
  pair("f", "Zg==");
  pair("fo", "Zm8=");
  pair("foo", "Zm9v");
  pair("foob", "Zm9vYg==");
  pair("fooba", "Zm9vYmE=");
  pair("foobar", "Zm9vYmFy");
  pair("\xFB\xEF\xBE\xFF\xFF\xFF", "++++////");
}

static void refused(const char *text) {
  char out[64];
  CHECK_NUMBER(decode(text, strlen(text), out, 64), ACP_E_BASE64);
}

static void strictness(void) {
  refused("Zg="); refused("Zg"); refused("Z"); refused("Zm9vY"); refused("Zg==="); refused("===="); refused("Z==="); refused("=Zg=");
  refused("Zg=a"); refused("Zg==Zg=="); refused("Zm8=Zm8="); refused("Zh=="); refused("Zm9="); refused("Zm-v"); refused("Zm_v"); refused("Zm v");
  refused("Zm9v\n   "); refused(" Zm9"); refused("Zm9\x80"); refused("\xFF\xFF\xFF\xFF"); refused("Zm9vZm9!Zm9v"); refused("Zm9vYg==Zm9v");
}

/* Every byte in every place of a quantum, in the first, a middle and the last one. */
static void alphabet(void) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int place = 0; place < 12; place++) {
    for (int byte = 0; byte < 256; byte++) {
      char text[] = "AAAAAAAAAAAA", out[9];
      int known = byte && strchr(letters, byte);
      if (byte == '=' && place == 11) known = 1;
      text[place] = (char)byte;
      CHECK_NUMBER(decode(text, 12, out, 9), !known ? ACP_E_BASE64 : byte == '=' ? 8 : 9);
    }
  }
}

static void round_trips(void) {
  uint32_t seed = 1;
  for (uint32_t size = 0; size < 300; size++) {
    uint32_t text_len = acp_base64_size(size);
    uint8_t *raw = malloc(size + 1), *text = malloc(text_len + 1), *back = malloc(size + 1);
    for (uint32_t i = 0; i < size; i++) raw[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    CHECK_NUMBER(acp_base64_encode(text, text_len, raw, size), text_len);
    CHECK_NUMBER(acp_base64_decode(back, size, text, text_len), size);
    CHECK(memcmp(raw, back, size) == 0);
    free(raw);
    free(text);
    free(back);
  }
}

static void sizes(void) {
  CHECK_NUMBER(acp_base64_size(ACP_MAX_SIZE), 2863311444u);
  CHECK_NUMBER(acp_base64_size(UINT32_MAX), UINT32_MAX);
}

int main(void) {
  known_pairs();
  strictness();
  alphabet();
  round_trips();
  sizes();
  return CHECK_DONE();
}
