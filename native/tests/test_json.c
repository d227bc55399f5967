#include <stdlib.h>

#include "acpcore.h"
#include "check.h"

/* The verdict on a text in memory of exactly its size. */
static uint32_t verdict_of(const char *text, size_t size, uint32_t *at) {
  uint8_t *copy = malloc(size ? size : 1);
  uint32_t reason = 99;
  memcpy(copy, text, size);
  int32_t status = acp_check(copy, (uint32_t)size, at, &reason);
  CHECK_NUMBER(status, reason == ACP_R_NONE ? ACP_OK : ACP_E_JSON);
  free(copy);
  return reason;
}

static void expect(int line, const char *text, size_t size, uint32_t want, uint32_t want_at) {
  uint32_t at = 0, reason = verdict_of(text, size, &at);
  if (reason == want && (want == ACP_R_NONE || at == want_at)) return;
  fprintf(stderr, "%s:%d: %s: reason %u at %u, not %u at %u\n", __FILE__, line, text, reason, at, want, want_at);
  check_failures++;
}

#define GOOD(text) expect(__LINE__, text, sizeof(text) - 1, ACP_R_NONE, 0)
#define BAD(text, at) expect(__LINE__, text, sizeof(text) - 1, ACP_R_JSON, at)
#define WRONG(text, reason, at) expect(__LINE__, text, sizeof(text) - 1, reason, at)

static void values(void) {
  GOOD("null"); GOOD("true"); GOOD("false"); GOOD("0"); GOOD("\"\""); GOOD("[]"); GOOD("{}");
  GOOD(" \t\r\n null \t\r\n ");
  GOOD("[1, \"a\" ,null,true,false,{},[]]");
  GOOD("{\"a\":1 , \"b\" : [ ] , \"\":{ \"c\":\"d\" } }");
  GOOD("[[],[[]],{\"a\":[{}]}]");
  BAD("", 0); BAD(" ", 1); BAD("nul", 3); BAD("nulL", 3); BAD("nullx", 4); BAD("True", 0); BAD("tru", 3); BAD("fals", 4);
  BAD("NaN", 0); BAD("Infinity", 0); BAD("-Infinity", 1); BAD("undefined", 0); BAD("'a'", 0); BAD("a", 0); BAD("1 2", 2);
  BAD("{}{}", 2); BAD("null,", 4); BAD(",", 0); BAD(":", 0); BAD("]", 0); BAD("}", 0); BAD("/**/1", 0); BAD("#", 0);
  BAD("\x0C" "1", 0); BAD("\x0B", 0); BAD("\0", 0); BAD("1\0", 1); BAD("\x7F", 0);
}

static void containers(void) {
  BAD("[", 1); BAD("[1", 2); BAD("[1,", 3); BAD("[1,]", 3); BAD("[,1]", 1); BAD("[1 2]", 3); BAD("[1:2]", 2); BAD("[1}", 2);
  BAD("{", 1); BAD("{\"a\"", 4); BAD("{\"a\":", 5); BAD("{\"a\":1", 6); BAD("{\"a\":1,", 7); BAD("{\"a\":1,}", 7);
  BAD("{,}", 1); BAD("{1:2}", 1); BAD("{a:1}", 1); BAD("{\"a\" 1}", 5); BAD("{\"a\",1}", 4); BAD("{\"a\":}", 5);
  BAD("{\"a\":1]", 6); BAD("{\"a\":1 \"b\":2}", 7); BAD("{null:1}", 1); BAD("[{]}", 2); BAD("[1,2}", 4); BAD("{\"a\":[}]", 6);
  BAD("[\"a\"\"b\"]", 4); BAD("[]]", 2); BAD("{}}", 2); BAD("{{}:1}", 1); BAD("{[]:1}", 1);
}

static void numbers(void) {
  GOOD("-0"); GOOD("10"); GOOD("-12.50"); GOOD("1e5"); GOOD("1E+05"); GOOD("0e-0"); GOOD("0.0e00"); GOOD("123456789012345678901234567890");
  GOOD("1e999999"); GOOD("[1,-1,0.5]"); GOOD("{\"a\":1}");
  BAD("-", 1); BAD("+1", 0); BAD("01", 1); BAD("-01", 2); BAD("00", 1); BAD("1.", 2); BAD(".5", 0); BAD("-.5", 1); BAD("1.e5", 2);
  BAD("1e", 2); BAD("1e+", 3); BAD("1e5.5", 3); BAD("1-1", 1); BAD("--1", 1); BAD("0x10", 1); BAD("1_0", 1); BAD("- 1", 1);
  BAD("[1.]", 3); BAD("[-]", 2); BAD("[1e]", 3);
}

static void strings(void) {
  GOOD("\"abc\""); GOOD("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""); GOOD("\"\\u0000\\u00e9\\uFFFF\\uabcD\""); GOOD("\"\x7F\"");
  GOOD("\"a string that is longer than one block of sixteen bytes, and then some\"");
  BAD("\"", 1); BAD("\"abc", 4); BAD("\"\\", 2); BAD("\"\\\"", 3); BAD("\"\\x\"", 2); BAD("\"\\'\"", 2); BAD("\"\\0\"", 2); BAD("\"\\U0041\"", 2);
  BAD("\"\\u\"", 3); BAD("\"\\u12\"", 5); BAD("\"\\u123g\"", 6); BAD("\"\\u 123\"", 3); BAD("\"\\u12", 5);
  BAD("\"\n\"", 1); BAD("\"\t\"", 1); BAD("\"\r\"", 1); BAD("\"\0\"", 1); BAD("\"\x1F\"", 1); BAD("\"a long string with a control byte \x01 in it\"", 35);
  BAD("{\"a\tb\":1}", 3); BAD("[\"\\a\"]", 3);
}

static void surrogates(void) {
  GOOD("\"\\ud83d\\ude00\""); GOOD("\"\\uD800\\uDC00\\uDBFF\\uDFFF\""); GOOD("\"\\ud7ff\\ue000\"");
  WRONG("\"\\ud800\"", ACP_R_SURROGATE, 1); WRONG("\"\\udc00\"", ACP_R_SURROGATE, 1); WRONG("\"x\\uDFFFx\"", ACP_R_SURROGATE, 2);
  WRONG("\"\\ud800x\"", ACP_R_SURROGATE, 1); WRONG("\"\\ud800\\n\"", ACP_R_SURROGATE, 1); WRONG("\"\\ud800\\u0041\"", ACP_R_SURROGATE, 1);
  WRONG("\"\\ud800\\ud800\\udc00\"", ACP_R_SURROGATE, 1); WRONG("\"\\ud800\\udc0\"", ACP_R_SURROGATE, 1); WRONG("\"\\ud800", ACP_R_SURROGATE, 1);
  WRONG("\"\\ude00\\ud83d\"", ACP_R_SURROGATE, 1); WRONG("{\"\\ud800\":1}", ACP_R_SURROGATE, 2);
}

static void utf8_in_strings(void) {
  GOOD("\"\xC2\x80\xDF\xBF\""); GOOD("\"\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\""); GOOD("\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"");
  GOOD("\"\xEF\xBB\xBF\""); GOOD("{\"\xC3\xA9\":\"\xE7\x95\x8C\"}"); GOOD("\"0123456789abcde\xE7\x95\x8C" "0123456789abcdef\"");
  WRONG("\"\x80\"", ACP_R_UTF8, 1); WRONG("\"\xBF\"", ACP_R_UTF8, 1); WRONG("\"\xC0\xAF\"", ACP_R_UTF8, 1); WRONG("\"\xC1\xBF\"", ACP_R_UTF8, 1);
  WRONG("\"\xC2\"", ACP_R_UTF8, 1); WRONG("\"\xC2\x41\"", ACP_R_UTF8, 1); WRONG("\"\xE0\x9F\xBF\"", ACP_R_UTF8, 1); WRONG("\"\xED\xA0\x80\"", ACP_R_UTF8, 1);
  WRONG("\"\xE7\x95\"", ACP_R_UTF8, 1); WRONG("\"\xE7\x95", ACP_R_UTF8, 1); WRONG("\"\xE7\"", ACP_R_UTF8, 1); WRONG("\"\xE7\x41\x8C\"", ACP_R_UTF8, 1);
  WRONG("\"\xF0\x8F\xBF\xBF\"", ACP_R_UTF8, 1); WRONG("\"\xF4\x90\x80\x80\"", ACP_R_UTF8, 1); WRONG("\"\xF5\x80\x80\x80\"", ACP_R_UTF8, 1);
  WRONG("\"\xF0\x9F\x99\"", ACP_R_UTF8, 1); WRONG("\"\xF0\x9F\x41\x82\"", ACP_R_UTF8, 1); WRONG("\"\xF0\x9F\x99\x41\"", ACP_R_UTF8, 1);
  WRONG("\"\xFF\"", ACP_R_UTF8, 1); WRONG("\"ok \xC3\xA9 \xFE\"", ACP_R_UTF8, 7); WRONG("\"\\\xFF\"", ACP_R_UTF8, 2); WRONG("\"\\u12\xFF\"", ACP_R_UTF8, 5);
}

static void utf8_between_tokens(void) {
  BAD("\xC3\xA9", 0); BAD("[1,\xE7\x95\x8C]", 3); BAD("\xEF\xBB\xBF{}", 0); BAD("tr\xC3\xA9", 2); BAD("{\"a\":1}\xC2\xA0", 7);
  WRONG("\xFF", ACP_R_UTF8, 0); WRONG("[1,\xE7\x95]", ACP_R_UTF8, 3); WRONG("tr\xC3", ACP_R_UTF8, 2); WRONG("1\x80", ACP_R_UTF8, 1);
}

static void the_first_error_wins(void) {
  BAD("[1,}\xFF", 3); WRONG("[\"\xFF\",}", ACP_R_UTF8, 2); WRONG("[\"\\ud800\",\"\xFF\"]", ACP_R_SURROGATE, 2); BAD("[01,\"\xFF\"]", 2);
}

/* depth containers, one inside the other: arrays, objects, or in turns. */
static char *nested(uint32_t depth, int objects, int arrays, size_t *size) {
  char *text = malloc((size_t)depth * 6 + 1), *p = text;
  for (uint32_t i = 0; i < depth; i++) {
    int object = objects && (!arrays || i % 2);
    memcpy(p, object ? "{\"a\":" : "[", object ? 5 : 1);
    p += object ? 5 : 1;
  }
  *p++ = '1';
  for (uint32_t i = depth; i-- > 0;) *p++ = objects && (!arrays || i % 2) ? '}' : ']';
  *size = (size_t)(p - text);
  return text;
}

static void depth_of(uint32_t depth, uint32_t want) {
  for (int shape = 1; shape < 4; shape++) {
    size_t size;
    uint32_t at = 0;
    char *text = nested(depth, shape & 1, shape & 2, &size);
    CHECK_NUMBER(verdict_of(text, size, &at), want);
    if (want == ACP_R_DEPTH && shape == 2) CHECK_NUMBER(at, ACP_MAX_DEPTH);
    free(text);
  }
}

static void depth(void) {
  depth_of(1, ACP_R_NONE);
  depth_of(63, ACP_R_NONE);
  depth_of(64, ACP_R_NONE);
  depth_of(65, ACP_R_NONE);
  depth_of(ACP_MAX_DEPTH, ACP_R_NONE);
  depth_of(ACP_MAX_DEPTH + 1, ACP_R_DEPTH);
  depth_of(100000, ACP_R_DEPTH);
}

/* The limit counts from the line's own outermost container, however deep routing looks. */
static void depth_of_messages(void) {
  for (uint32_t inside = 120; inside < 132; inside++) {
    char line[2048];
    acp_frame frame;
    size_t size;
    char *text = nested(inside, 0, 1, &size);
    int start = snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"update\":{\"content\":");
    memcpy(line + start, text, size);
    memcpy(line + start + size, "}}}", 3);
    CHECK_NUMBER(acp_message((uint8_t *)line, (uint32_t)(start + (int)size + 3), ACP_HOT, &frame), ACP_OK);
    CHECK_NUMBER(frame.reason, inside + 3 > ACP_MAX_DEPTH ? ACP_R_DEPTH : ACP_R_NONE);
    CHECK_NUMBER(acp_message((uint8_t *)line, (uint32_t)(start + (int)size + 3), ACP_ROUTE, &frame), ACP_OK);
    CHECK_NUMBER(frame.reason, inside + 3 > ACP_MAX_DEPTH ? ACP_R_DEPTH : ACP_R_NONE);
    free(text);
  }
}

/* The blocks that strings are scanned in must not change what is found, wherever it stands. */
static void every_place_in_a_block(void) {
  for (size_t before = 0; before < 70; before++) {
    for (size_t behind = 0; behind < 40; behind++) {
      char text[128];
      uint32_t at = 0;
      memset(text, 'x', sizeof text);
      text[0] = '"';
      text[before + 1] = 1;
      text[before + behind + 2] = '"';
      CHECK_NUMBER(verdict_of(text, before + behind + 3, &at), ACP_R_JSON);
      CHECK_NUMBER(at, before + 1);
      text[before + 1] = 'y';
      CHECK_NUMBER(verdict_of(text, before + behind + 3, &at), ACP_R_NONE);
      text[before + 1] = (char)0xFF;
      CHECK_NUMBER(verdict_of(text, before + behind + 3, &at), ACP_R_UTF8);
      CHECK_NUMBER(at, before + 1);
    }
  }
}

/* Each byte alone in a string: plain, special, or half a character. */
static void every_byte(void) {
  for (int byte = 0; byte < 256; byte++) {
    char text[3] = {'"', (char)byte, '"'};
    uint32_t at, want = byte < 0x20 || byte == '"' || byte == '\\' ? ACP_R_JSON : byte < 0x80 ? ACP_R_NONE : ACP_R_UTF8;
    CHECK_NUMBER(verdict_of(text, 3, &at), want);
  }
}

static int is_a_character(const uint8_t *b, int size) {
  uint32_t code;
  if (size == 2) return b[0] >= 0xC2 && b[0] <= 0xDF && (b[1] & 0xC0) == 0x80;
  if ((b[0] & 0xF0) != 0xE0 || (b[1] & 0xC0) != 0x80 || (b[2] & 0xC0) != 0x80) return 0;
  code = (uint32_t)(b[0] & 15) << 12 | (uint32_t)(b[1] & 63) << 6 | (b[2] & 63u);
  return code >= 0x800 && (code < 0xD800 || code > 0xDFFF);
}

/* All pairs from 0x80, and all triples of the first bytes that have rules of their own. */
static void every_short_character(void) {
  static const uint8_t thirds[] = {0x00, 0x22, 0x7F, 0x80, 0xBF, 0xC0, 0xFF};
  for (int a = 0x80; a < 256; a++) {
    for (int b = 0x80; b < 256; b++) {
      uint8_t text[5] = {'"', (uint8_t)a, (uint8_t)b, '"', 0};
      uint32_t at;
      CHECK_NUMBER(verdict_of((char *)text, 4, &at), is_a_character(text + 1, 2) ? ACP_R_NONE : ACP_R_UTF8);
      text[4] = '"';
      for (size_t i = 0; i < sizeof thirds; i++) {
        text[3] = thirds[i];
        if (is_a_character(text + 1, 3)) CHECK_NUMBER(verdict_of((char *)text, 5, &at), ACP_R_NONE);
        else if (!is_a_character(text + 1, 2)) CHECK_NUMBER(verdict_of((char *)text, 5, &at), ACP_R_UTF8);
      }
    }
  }
}

/* In a line only the other white space counts; a text of its own may hold line breaks. */
static void line_feeds(void) {
  acp_frame frame;
  static const uint8_t line[] = "{\"jsonrpc\":\"2.0\",\n\"method\":\"m\"}";
  CHECK_NUMBER(acp_message(line, sizeof line - 1, ACP_ROUTE, &frame), ACP_OK);
  CHECK_NUMBER(frame.reason, ACP_R_JSON);
  CHECK_NUMBER(frame.body.off, 17);
  GOOD("{\"jsonrpc\":\"2.0\",\n\"method\":\"m\"}");
}

int main(void) {
  values();
  containers();
  numbers();
  strings();
  surrogates();
  utf8_in_strings();
  utf8_between_tokens();
  the_first_error_wins();
  depth();
  depth_of_messages();
  every_place_in_a_block();
  every_byte();
  every_short_character();
  line_feeds();
  return CHECK_DONE();
}
