/* The short cuts for what is written as usual change nothing: random messages, judged with and without them. */
#include <stdlib.h>

#include "acpcore.h"
#include "check.h"
#include "cpu.h"
#include "flags.h"
#include "judge.h"

#define ROUNDS 60000
#define ROOM 4096

static uint32_t seed = 20240229;
static uint32_t hits, chunks;               /* how often the short cut was taken; how many chunks were decoded during the walk */

static uint32_t any(uint32_t below) { return ((seed = seed * 1664525u + 1013904223u) >> 8) % below; }
static int one_in(uint32_t times) { return any(times) == 0; }
#define PICK(list) list[any((uint32_t)(sizeof(list) / sizeof *(list)))]

/* ---- a message, usual or not */

typedef struct message {
  char text[ROOM];
  uint32_t len;
  int wild;                                 /* spaces, escapes, other orders */
  int chunk;                                /* of a terminal */
} message;

static void put(message *m, const char *text) {
  size_t len = strlen(text);
  if (m->len + len >= ROOM / 2) return;
  memcpy(m->text + m->len, text, len);
  m->len += (uint32_t)len;
}

static void put_space(message *m) {
  static const char *const spaces[] = {" ", "  ", "\t", "\r", " \t "};
  if (m->wild && one_in(8)) put(m, PICK(spaces));
}

static void put_token(message *m, const char *text) {
  put_space(m);
  put(m, text);
  put_space(m);
}

/* A name in quotes, now and then with one letter as an escape. */
static void put_name(message *m, const char *name) {
  char spelled[160];
  size_t len = strlen(name), at = len ? any((uint32_t)len) : 0;
  if (m->wild && len && one_in(10))
    snprintf(spelled, sizeof spelled, "\"%.*s\\u%04x%s\"", (int)at, name, (unsigned)name[at], name + at + 1);
  else
    snprintf(spelled, sizeof spelled, "\"%s\"", name);
  put_token(m, spelled);
}

static const char *const odd_values[] = {
  "null", "1", "-0.5e3", "true", "\"\"", "\"a\\nb\"", "{}", "[]", "[{\"a\":[]}]", "{\"_meta\":1}", "\"caf\xC3\xA9\"", "\"\\ud83d\\ude00\"",
  "{\"sessionId\":\"x\",\"update\":{\"sessionUpdate\":\"plan_update\"}}", "9223372036854775808", "\"session/update\"", "\"2.0\"",
};
static const char *const odd_names[] = {
  "_meta", "id", "result", "error", "x", "", "jsonrpc", "method", "params", "sessionId", "update", "sessionUpdate", "data", "content",
};
static const char *const tags[] = {
  "terminal_output_chunk", "terminal_output_chunk", "agent_message_chunk", "agent_message_chunk", "user_message", "tool_call_update",
  "plan_update", "terminal_update", "usage_update", "unheard_of", "", "agent_thought_chunk",
};
static const char *const contents[] = {
  "{\"type\":\"text\",\"text\":\"hello\"}", "{\"type\":\"text\",\"text\":\"\"}", "{\"type\":\"text\",\"text\":\"a long text that needs more than a block, \\\"quoted\\\"\"}",
  "{\"type\":\"text\",\"text\":\"x\",\"annotations\":{\"a\":[1,{}]}}", "{\"type\":\"text\",\"text\":\"x\" , \"y\":1 }", "{\"type\":\"text\",\"text\":\"x\",}", "{\"type\":\"text\",\"text\":\"x\"]",
  "{\"type\":\"text\",\"text\":\"\\ud800\"}", "{\"type\":\"text\",\"text\":\"\xFF\"}", "{\"type\":\"text\",\"text\":1}", "{\"type\":\"image\",\"data\":\"QUJD\"}", "[{\"type\":\"text\",\"text\":\"x\"}]", "\"x\"",
};

/* Base64 most of the time; sometimes with an escape, or wrong. */
static void put_data(message *m) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static const char *const ends[] = {"", "", "Zg==", "Zm8=", "Zh==", "=", "\\/AAA", "A", "AA\\u0041A", "AA-A", "\xC3\xA9", "===="};
  char text[400];
  uint32_t len = (one_in(3) ? any(80) : any(12)) * 4;
  text[0] = '"';
  for (uint32_t i = 1; i <= len; i++) text[i] = letters[any(64)];
  snprintf(text + 1 + len, 16, "%s\"", PICK(ends));
  put_token(m, text);
}

typedef void (*put_members)(message *m, int place);

/* The members by their places, in order unless the message is wild; some left out, repeated or joined by odd ones. */
static void put_object(message *m, put_members member, int count) {
  int first = 1;
  put_token(m, "{");
  for (int i = 0; i < count; i++) {
    int place = m->wild && one_in(4) ? (int)any((uint32_t)count) : i;
    if (m->wild && one_in(12)) continue;
    if (!first) put(m, ",");
    first = 0;
    if (!one_in(m->wild ? 10 : 60)) {
      member(m, place);
      continue;
    }
    put_name(m, PICK(odd_names));
    put(m, ":");
    put_token(m, PICK(odd_values));
    if (!one_in(3)) i--;
  }
  put_token(m, "}");
}

/* What a value usually is, or anything. */
static int is_odd(message *m) {
  if (!one_in(m->wild ? 12 : 40)) return 0;
  put_token(m, PICK(odd_values));
  return 1;
}

static void update_member(message *m, int place) {
  static const char *const entities[] = {"terminalId", "messageId", "toolCallId"};
  const char *entity = m->chunk ? entities[0] : PICK(entities);
  int data = m->chunk || one_in(4);
  put_name(m, place == 0 ? "sessionUpdate" : place == 1 ? entity : data ? "data" : "content");
  put(m, ":");
  if (is_odd(m)) return;
  if (place == 0) put_name(m, m->chunk ? tags[0] : PICK(tags));
  else if (place == 1) put_name(m, one_in(2) ? "0123456789abcdef0123456789abcdef" : "m1");
  else if (data) put_data(m);
  else put_token(m, PICK(contents));
}

static void params_member(message *m, int place) {
  put_name(m, place == 0 ? "sessionId" : "update");
  put(m, ":");
  if (is_odd(m)) return;
  if (place == 0) put_name(m, one_in(2) ? "s1" : "sess_0123456789abcdef0123456789abcdef");
  else put_object(m, update_member, 3);
}

static void top_member(message *m, int place) {
  static const char *const names[] = {"jsonrpc", "method", "params"};
  static const char *const methods[] = {"session/update", "session/update", "session/update", "session/prompt", "_x", ""};
  put_name(m, names[place]);
  put(m, ":");
  if (is_odd(m)) return;
  if (place == 0) put_name(m, "2.0");
  else if (place == 1) put_name(m, m->wild ? PICK(methods) : "session/update");
  else put_object(m, params_member, 2);
}

/* One byte changed, or a part lost or doubled. */
static void spoil(message *m) {
  static const char bytes[] = "\"\\{}[]:,0 \x01\x7F\x80\xE2\xFF\r=/a";
  uint32_t at = any(m->len), len = 1 + any(4);
  if (at + len > m->len) return;
  switch (any(3)) {
    case 0: m->text[at] = bytes[any(sizeof bytes - 1)]; return;
    case 1: memmove(m->text + at, m->text + at + len, m->len - at - len); m->len -= len; return;
    default: memmove(m->text + at + len, m->text + at, m->len - at); m->len += len; return;
  }
}

static void make(message *m) {
  m->len = 0;
  m->wild = one_in(2);
  m->chunk = one_in(3);
  put_object(m, top_member, 3);
  if (one_in(4)) spoil(m);
  if (one_in(10)) m->len = any(m->len + 1);
  if (!m->len) put(m, "{}");
}

/* ---- both ways */

static void check_same(const char *what, const message *m, const acp_frame *usual, const acp_frame *plain) {
  if (memcmp(usual, plain, sizeof *usual) == 0) return;
  fprintf(stderr, "%s differs: %.*s\n", what, (int)m->len, m->text);
  check_failures++;
}

/* What was decoded during the walk is what the string decodes to; what was not, does not fit or is not plain base64. */
static void check_early(const acp_text *text, const acp_early *early, const acp_frame *frame) {
  uint8_t bytes[ROOM];
  uint32_t used = 0;
  if (frame->tag != ACP_T_TERMINAL_OUTPUT_CHUNK || !(frame->flags & ACP_F_EXACT)) return;
  const uint8_t *body = text->base + frame->data.off;
  int32_t len = acp_terminal_data(bytes, ROOM, body, frame->data.len, &used);
  int expected = len >= 0 && (uint32_t)len <= early->room && !(frame->data.len && memchr(body, '\\', frame->data.len));
  CHECK_NUMBER(early->off == frame->data.off, expected);
  if (early->off != frame->data.off) return;
  CHECK_NUMBER(early->len, len);
  CHECK(len < 0 || memcmp(early->dst, bytes, (size_t)len) == 0);
  chunks++;
}

static int begins_as_usual(const message *m) {
  static const char usual[] = "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"";
  return m->len >= sizeof usual - 1 && memcmp(m->text, usual, sizeof usual - 1) == 0;
}

static void check_message(const message *m) {
  static const uint32_t levels[] = {ACP_HOT, ACP_HOT, ACP_ROUTE, ACP_HOT | ACP_NO_ARRAYS};
  uint32_t flags = PICK(levels), behind = one_in(2) ? any(70) : 0, room = one_in(2) ? any(40) : ROOM;
  uint8_t *bytes = malloc(m->len + behind), *arena = malloc(room ? room : 1);
  acp_frame usual, plain;
  if (!bytes || !arena) abort();
  memcpy(bytes, m->text, m->len);
  if (behind) memset(bytes + m->len, 'A', behind);
  if (behind) bytes[m->len] = '\n';
  acp_text text = {bytes, 0, m->len, m->len + behind};
  acp_early early = {arena, room, 0, 0};
  acp_judge_line(&text, flags, flags & ACP_HOT ? &early : NULL, &usual);
  acp_judge_line(&text, flags | ACP_PLAINLY, NULL, &plain);
  check_same("the frame", m, &usual, &plain);
  if (flags & ACP_HOT) check_early(&text, &early, &usual);
  text.limit = text.end;
  acp_judge_beginning(&text, flags, &usual);
  acp_judge_beginning(&text, flags | ACP_PLAINLY, &plain);
  check_same("the beginning", m, &usual, &plain);
  hits += begins_as_usual(m) && usual.method_id == 1;
  free(bytes);
  free(arena);
}

static void random_messages(void) {
  static message m;
  for (int i = 0; i < ROUNDS && check_failures < 20; i++) {
    make(&m);
    check_message(&m);
  }
}

/* Every cut, and every byte changed, of the two that come by the thousand. */
static void usual_messages(void) {
  static const char *const lines[] = {
    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":\"aGVsbG8gd29ybGQhIGhlbGxvIHdvcmxkIQ==\"}}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\",\"content\":{\"type\":\"text\",\"text\":\"a \\\"b\\\"\"}}}}",
  };
  static const char bytes[] = "\"\\{}[]:,0 \x01\x80=A";
  static message m;
  for (uint32_t n = 0; n < 2; n++) {
    uint32_t len = (uint32_t)strlen(lines[n]);
    for (uint32_t at = 1; at <= len; at++) {
      memcpy(m.text, lines[n], len);
      m.len = at;
      check_message(&m);
      m.len = len;
      for (uint32_t i = 0; i < sizeof bytes - 1; i++) {
        m.text[at - 1] = bytes[i];
        check_message(&m);
      }
    }
  }
}

int main(void) {
  for (uint32_t level = ACP_CPU_PLAIN; level <= ACP_CPU_WIDE; level++) {
    acp_cpu_limit(level);
    hits = chunks = 0;
    random_messages();
    usual_messages();
    CHECK(hits > ROUNDS / 4);
    CHECK(chunks > ROUNDS / 100);
    printf("%u usual beginnings, %u chunks decoded at once\n", hits, chunks);
  }
  return CHECK_DONE();
}
