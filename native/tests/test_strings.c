#include <stdlib.h>

#include "acpcore.h"
#include "check.h"

static int32_t spell(const char *body, size_t size, char *out, uint32_t cap) {
  uint8_t *from = malloc(size ? size : 1), *to = malloc(cap ? cap : 1);
  memcpy(from, body, size);
  int32_t len = acp_string(to, cap, from, (uint32_t)size);
  if (len > 0) memcpy(out, to, (size_t)len);
  free(from);
  free(to);
  return len;
}

static void expect(int line, const char *body, size_t size, const char *want, size_t want_len) {
  char out[256];
  int32_t len = spell(body, size, out, (uint32_t)want_len);
  if (len != (int32_t)want_len || memcmp(out, want, want_len) != 0) {
    fprintf(stderr, "%s:%d: %s gives %d\n", __FILE__, line, body, (int)len);
    check_failures++;
  }
  if (want_len) CHECK_NUMBER(spell(body, size, out, (uint32_t)want_len - 1), ACP_E_ROOM);
}

#define SPELLS(body, want) expect(__LINE__, body, sizeof(body) - 1, want, sizeof(want) - 1)
#define REFUSED(body) CHECK_NUMBER(spell(body, sizeof(body) - 1, (char[64]){0}, 64), ACP_E_JSON)

static void what_strings_spell(void) {
  SPELLS("", "");
  SPELLS("plain", "plain");
  SPELLS("na\xC3\xAFve \xE7\x95\x8C \xF0\x9F\x99\x82", "na\xC3\xAFve \xE7\x95\x8C \xF0\x9F\x99\x82");
  SPELLS("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
  SPELLS("\\u0041\\u00e9\\u754C\\uFFFF", "A\xC3\xA9\xE7\x95\x8C\xEF\xBF\xBF");
  SPELLS("\\u0000", "\0");
  SPELLS("a\\ud83d\\ude42b", "a\xF0\x9F\x99\x82" "b");
  SPELLS("\\uD800\\uDC00\\uDBFF\\uDFFF", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
  SPELLS("\\u007f\\u0080\\u07ff\\u0800", "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80");
}

static void what_is_no_inside_of_a_string(void) {
  REFUSED("\"");
  REFUSED("a\"b");
  REFUSED("\\");
  REFUSED("abc\\");
  REFUSED("\\x");
  REFUSED("\\u12");
  REFUSED("\\u12g4");
  REFUSED("\\ud800");
  REFUSED("\\udc00");
  REFUSED("\\ud800\\u0041");
  REFUSED("\n");
  REFUSED("\x1F");
  REFUSED("\xFF");
  REFUSED("\xC3");
  REFUSED("\xED\xA0\x80");
}

int main(void) {
  what_strings_spell();
  what_is_no_inside_of_a_string();
  return CHECK_DONE();
}
