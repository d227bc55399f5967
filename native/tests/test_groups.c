#include <stdlib.h>

#include "check.h"
#include "feed.h"

#define UPDATE(session, inside) \
  "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"" session "\",\"update\":{" inside "}}}\n"
#define CHUNK(session, terminal, data) \
  UPDATE(session, "\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"" terminal "\",\"data\":\"" data "\"")
#define TEXT(session) \
  UPDATE(session, "\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\",\"content\":{\"type\":\"text\",\"text\":\"x\"}")
#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\"}\n"

static void expect_groups(int line, const char *stream, const feed_options *options, const char *want) {
  feed_log log = feed_cut(stream, strlen(stream), NULL, 0, options);
  if (strcmp(log.groups, want) != 0) {
    fprintf(stderr, "%s:%d: got\n%swant\n%s", __FILE__, line, log.groups, want);
    check_failures++;
  }
  feed_free(&log);
  log = feed_every_way(stream, strlen(stream), options);
  feed_free(&log);
}

#define GROUPS(stream, want)                            \
  do {                                                  \
    feed_options group_options = feed_defaults();       \
    expect_groups(__LINE__, stream, &group_options, want); \
  } while (0)

#define TERMINAL(count, session, terminal, data) \
  "terminal " count " tag=terminal_output_chunk session=" session " entity=" terminal " data=" data "\n"

static void neighbours_of_one_terminal_join(void) {
  GROUPS(CHUNK("s", "t", "aGVsbG8=") CHUNK("s", "t", "IHdv") CHUNK("s", "t", "cmxkIQ=="), TERMINAL("3", "s", "t", "hello world!"));
  GROUPS(CHUNK("s", "t", "aA==") "\n \r\n" CHUNK("s", "t", "aQ=="), TERMINAL("2", "s", "t", "hi"));
  GROUPS(CHUNK("s", "t", "") CHUNK("s", "t", "aQ==") CHUNK("s", "t", ""), TERMINAL("3", "s", "t", "i"));
  GROUPS(CHUNK("s", "t", ""), TERMINAL("1", "s", "t", ""));
  GROUPS(CHUNK("", "", "aQ=="), TERMINAL("1", "", "", "i"));
}

static void others_do_not(void) {
  GROUPS(CHUNK("s", "t", "aA==") CHUNK("s", "u", "aQ==") CHUNK("r", "u", "IQ=="),
         TERMINAL("1", "s", "t", "h") TERMINAL("1", "s", "u", "i") TERMINAL("1", "r", "u", "!"));
  GROUPS(CHUNK("s", "t", "aA==") PING CHUNK("s", "t", "aQ=="), TERMINAL("1", "s", "t", "h") "one 1\n" TERMINAL("1", "s", "t", "i"));
  GROUPS(CHUNK("s", "t", "aA==") TEXT("s") CHUNK("s", "t", "aQ=="),
         TERMINAL("1", "s", "t", "h") "updates 1 tag=agent_message_chunk\n" TERMINAL("1", "s", "t", "i"));
  GROUPS(CHUNK("s", "t", "aA==") "{\n" CHUNK("s", "t", "aQ=="), TERMINAL("1", "s", "t", "h") "one 1\n" TERMINAL("1", "s", "t", "i"));
  GROUPS(CHUNK("s", "t", "aA==") "[1]\n" CHUNK("s", "t", "aQ=="), TERMINAL("1", "s", "t", "h") "one 1\n" TERMINAL("1", "s", "t", "i"));
}

static void escapes_in_data_are_read(void) {
  GROUPS(CHUNK("s", "t", "Pz8\\/") CHUNK("s", "t", "\\u0050z8\\u002f"), TERMINAL("2", "s", "t", "???" "???"));
  GROUPS(CHUNK("s", "t", "Pz8\\u002F") CHUNK("s", "t", "P\\u003d=="), TERMINAL("1", "s", "t", "???") "one 1 tag=terminal_output_chunk\n");
}

static void members_in_any_order(void) {
  GROUPS("{\"params\":{\"update\":{\"data\":\"aGk=\",\"terminalId\":\"t\",\"sessionUpdate\":\"terminal_output_chunk\"},\"sessionId\":\"s\"},"
         "\"method\":\"session/update\",\"jsonrpc\":\"2.0\"}\n" CHUNK("s", "t", "IQ=="), TERMINAL("2", "s", "t", "hi!"));
  GROUPS("{\"jsonrpc\":\"2.0\",\"method\":\"session\\/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"terminal_output_chunk\","
         "\"terminalId\":\"t\",\"data\":\"\"}}}\n", "one 1 tag=terminal_output_chunk\n");
  GROUPS("{\"jsonrpc\":\"2.0\",\"m\\u0065thod\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
         "\"terminal\\u005foutput_chunk\",\"terminalId\":\"t\",\"d\\u0061ta\":\"aQ==\"}}}\n", TERMINAL("1", "s", "t", "i"));
}

#define PLAIN "one 1 tag=terminal_output_chunk\n"

static void what_is_not_base64_stands_alone(void) {
  GROUPS(CHUNK("s", "t", "aQ==") CHUNK("s", "t", "aQ") CHUNK("s", "t", "aQ=="), TERMINAL("1", "s", "t", "i") PLAIN TERMINAL("1", "s", "t", "i"));
  GROUPS(CHUNK("s", "t", "a"), PLAIN);
  GROUPS(CHUNK("s", "t", "aQ="), PLAIN);
  GROUPS(CHUNK("s", "t", "===="), PLAIN);
  GROUPS(CHUNK("s", "t", "a==="), PLAIN);
  GROUPS(CHUNK("s", "t", "aQ=a"), PLAIN);
  GROUPS(CHUNK("s", "t", "aQ==aQ=="), PLAIN);
  GROUPS(CHUNK("s", "t", "aR=="), PLAIN);
  GROUPS(CHUNK("s", "t", "aGl="), PLAIN);
  GROUPS(CHUNK("s", "t", "aG-_"), PLAIN);
  GROUPS(CHUNK("s", "t", "aG k"), PLAIN);
  GROUPS(CHUNK("s", "t", "aGk=\\n"), PLAIN);
  GROUPS(CHUNK("s", "t", "aGk\xC3\xA9"), PLAIN);
  GROUPS(CHUNK("s", "t", "aGkh\\u0100"), PLAIN);
}

static void inexact_chunks_are_ordinary_updates(void) {
  GROUPS(UPDATE("s", "\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":\"aQ==\",\"_meta\":{}"), "updates 1 tag=terminal_output_chunk\n");
  GROUPS(UPDATE("s", "\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":\"aQ==\",\"x\":1"), "updates 1 tag=terminal_output_chunk\n");
  GROUPS(UPDATE("s", "\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":5"), "updates 1 tag=terminal_output_chunk\n");
  GROUPS(UPDATE("s", "\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"content\":\"aQ==\""), "updates 1 tag=terminal_output_chunk\n");
  GROUPS(UPDATE("s", "\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":5,\"data\":\"aQ==\""), "updates 1 tag=terminal_output_chunk\n");
  GROUPS(UPDATE("s", "\"sessionUpdate\":\"terminal_output_chunk\",\"data\":\"aQ==\""), "updates 1 tag=terminal_output_chunk\n");
  GROUPS("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"x\":1,\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
         "\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":\"\"}}}\n", "updates 1 tag=terminal_output_chunk\n");
  GROUPS(CHUNK("s", "t\\n", "aQ=="), PLAIN);
  GROUPS(CHUNK("s\\u0041", "t", "aQ=="), PLAIN);
  GROUPS(UPDATE("s", "\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":\"aQ==\",\"data\":\"aQ==\""), PLAIN);
}

static void requests_are_never_updates(void) {
  GROUPS("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
         "\"agent_message\",\"messageId\":\"m\"}}}\n", "one 1\n");
}

static void known_updates_run_together(void) {
  GROUPS(TEXT("s") TEXT("r") TEXT("s"), "updates 3 tag=agent_message_chunk\n");
  GROUPS(TEXT("s") UPDATE("s", "\"sessionUpdate\":\"usage_update\",\"used\":1") TEXT("s"), "updates 3 tag=other\n");
  GROUPS(TEXT("s") UPDATE("s", "\"sessionUpdate\":\"future\"") TEXT("s"),
         "updates 1 tag=agent_message_chunk\none 1 tag=other\nupdates 1 tag=agent_message_chunk\n");
  GROUPS(TEXT("s") UPDATE("s", "\"sessionUpdate\":1"), "updates 1 tag=agent_message_chunk\none 1\n");
  GROUPS(TEXT("s") TEXT("a\\tb"), "updates 1 tag=agent_message_chunk\none 1 tag=agent_message_chunk\n");
  GROUPS(TEXT("s") UPDATE("s", "\"sessionUpdate\":\"agent_message_chunk\",\"x\":1,\"x\":1"),
         "updates 1 tag=agent_message_chunk\none 1 tag=agent_message_chunk\n");
}

static void runs_are_cut_at_their_longest(void) {
  feed_options o = feed_defaults();
  char stream[(ACP_MAX_RUN + 1) * sizeof TEXT("s")] = "";
  for (int i = 0; i <= ACP_MAX_RUN; i++) memcpy(stream + (size_t)i * (sizeof TEXT("s") - 1), TEXT("s"), sizeof TEXT("s"));
  expect_groups(__LINE__, stream, &o, "updates 32 tag=agent_message_chunk\nupdates 1 tag=agent_message_chunk\n");
}

static void a_full_arena_ends_the_call(void) {
  feed_options o = feed_defaults();
  o.arena_cap = 7;
  expect_groups(__LINE__, CHUNK("s", "t", "aGVs") CHUNK("s", "t", "bG8h") CHUNK("s", "t", "IQ==") CHUNK("s", "t", "IQ=="), &o,
                TERMINAL("3", "s", "t", "hello!!") TERMINAL("1", "s", "t", "!"));
  o.arena_cap = 3;
  expect_groups(__LINE__, CHUNK("s", "t", "aGVs") CHUNK("s", "t", "bG8h") CHUNK("s", "t", ""), &o,
                TERMINAL("1", "s", "t", "hel") TERMINAL("2", "s", "t", "lo!"));
}

static void escapes_do_not_confuse_the_room(void) {
  feed_options o = feed_defaults();
  o.arena_cap = 6;
  expect_groups(__LINE__, CHUNK("s", "t", "aGVs") CHUNK("s", "t", "Pz8\\/") CHUNK("s", "t", "Pz8\\/"), &o,
                TERMINAL("2", "s", "t", "hel???") TERMINAL("1", "s", "t", "???"));
}

static void a_chunk_beyond_the_arena_comes_undecoded(void) {
  feed_options o = feed_defaults();
  o.arena_cap = 4;
  expect_groups(__LINE__, CHUNK("s", "t", "aGVs") CHUNK("s", "t", "aGVsbG8=") CHUNK("s", "t", "aGVs"), &o,
                TERMINAL("1", "s", "t", "hel") PLAIN TERMINAL("1", "s", "t", "hel"));
  o.arena_cap = 0;
  expect_groups(__LINE__, CHUNK("s", "t", "aGVs") CHUNK("s", "t", "") CHUNK("s", "t", "Pz8\\/"), &o,
                PLAIN TERMINAL("1", "s", "t", "") PLAIN);
}

static void below_hot_every_frame_is_alone(void) {
  feed_options o = feed_defaults();
  o.flags = ACP_ROUTE;
  expect_groups(__LINE__, TEXT("s") TEXT("s") CHUNK("s", "t", ""), &o, "one 1\none 1\none 1\n");
  o.flags = ACP_LINES;
  expect_groups(__LINE__, TEXT("s") "x\n", &o, "one 1\none 1\n");
}

/* A group's bytes begin at its first line and end behind its last newline. */
static void places(void) {
  static const char stream[] = "\xEF\xBB\xBF" TEXT("s") "\n" TEXT("s") "\n" PING "   " PING;
  acp_scanner s;
  acp_taken taken;
  acp_frame frames[8];
  acp_group groups[8];
  CHECK_NUMBER(acp_scanner_init(&s, 1000, ACP_HOT), ACP_OK);
  CHECK_NUMBER(acp_scan(&s, (const uint8_t *)stream, sizeof stream - 2, ACP_EOF, frames, 8, groups, 8, NULL, 0, &taken), ACP_OK);
  CHECK_NUMBER(taken.groups, 3);
  uint32_t text = sizeof TEXT("s") - 1, ping = sizeof PING - 1;
  CHECK_NUMBER(groups[0].off, 3);
  CHECK_NUMBER(groups[0].len, 2 * text + 1);
  CHECK_NUMBER(groups[1].off, 3 + 2 * text + 2);
  CHECK_NUMBER(groups[1].len, ping);
  CHECK_NUMBER(groups[2].off, groups[1].off + ping);
  CHECK_NUMBER(groups[2].len, 3 + ping - 1);
  CHECK_NUMBER(taken.consumed, sizeof stream - 2);
}

int main(void) {
  neighbours_of_one_terminal_join();
  others_do_not();
  escapes_in_data_are_read();
  members_in_any_order();
  what_is_not_base64_stands_alone();
  inexact_chunks_are_ordinary_updates();
  requests_are_never_updates();
  known_updates_run_together();
  runs_are_cut_at_their_longest();
  a_full_arena_ends_the_call();
  escapes_do_not_confuse_the_room();
  a_chunk_beyond_the_arena_comes_undecoded();
  below_hot_every_frame_is_alone();
  places();
  check_failures += feed_failures;
  return CHECK_DONE();
}
