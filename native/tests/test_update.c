/* What is told about a session/update. */
#include "check.h"
#include "feed.h"

#define START "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":"
#define UPDATE(inside) START "{\"sessionId\":\"s\",\"update\":{" inside "}}}"

/* From the tag on. */
static const char *described(const char *line, size_t size) {
  const char *text = feed_message(line, size, ACP_HOT), *tag = strstr(text, "tag="), *after = strstr(text, "session=s");
  static char out[512];
  if (!tag) return "nothing";
  snprintf(out, sizeof out, "%.*s%s", (int)(strchr(tag, ' ') - tag), tag, after ? after + 9 : " -");
  return out;
}

#define EXPECT(line, want) CHECK_TEXT(described(line, sizeof(line) - 1), want)

static void entities(void) {
  EXPECT(UPDATE("\"sessionUpdate\":\"terminal_update\",\"terminalId\":\"t\",\"messageId\":\"m\",\"toolCallId\":\"c\""), "tag=terminal_update entity=t");
  EXPECT(UPDATE("\"terminalId\":\"t\",\"messageId\":\"m\",\"toolCallId\":\"c\",\"sessionUpdate\":\"tool_call_update\""), "tag=tool_call_update entity=c");
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_thought\",\"terminalId\":\"t\",\"messageId\":\"m\",\"toolCallId\":\"c\""), "tag=agent_thought entity=m");
  EXPECT(UPDATE("\"sessionUpdate\":\"user_message_chunk\",\"messageId\":\"m\""), "tag=user_message_chunk entity=m EXACT");
  EXPECT(UPDATE("\"sessionUpdate\":\"tool_call_content_chunk\",\"toolCallId\":\"c\""), "tag=tool_call_content_chunk entity=c EXACT");
  EXPECT(UPDATE("\"sessionUpdate\":\"state_update\",\"messageId\":\"m\""), "tag=state_update");
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_message\",\"messageId\":5"), "tag=agent_message");
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_message\",\"messageId\":\"a\\nb\""), "tag=agent_message entity=a\\nb ESCAPED EXACT");
}

static void data(void) {
  EXPECT(UPDATE("\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":\"aGk=\""), "tag=terminal_output_chunk entity=t data=aGk= EXACT");
  EXPECT(UPDATE("\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":1,\"content\":[2]"), "tag=terminal_output_chunk entity=t data=[2]");
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\",\"content\":{\"a\":[1]}"), "tag=agent_message_chunk entity=m data={\"a\":[1]} EXACT");
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_message\",\"messageId\":\"m\",\"content\":null"), "tag=agent_message entity=m data=null EXACT");
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_message\",\"messageId\":\"m\",\"content\":\"x\",\"data\":\"y\""), "tag=agent_message entity=m data=\"x\"");
}

static void flags(void) {
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_message\",\"messageId\":\"m\",\"_meta\":null"), "tag=agent_message entity=m META");
  EXPECT(START "{\"_meta\":{},\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"agent_message\",\"messageId\":\"m\"}}}", "tag=agent_message entity=m META");
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_message\",\"messageId\":\"m\",\"messageId\":\"n\""), "tag=agent_message entity=n REPEATED");
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_message\",\"sessionUpdate\":\"plan_update\",\"messageId\":\"m\""), "tag=plan_update REPEATED");
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_message\",\"messageId\":\"m\",\"x\":{\"_meta\":1}"), "tag=agent_message entity=m");
  EXPECT(UPDATE("\"sessionUpdate\":\"agent_message\",\"update\":{\"messageId\":\"m\"}"), "tag=agent_message");
}

static void tags(void) {
  EXPECT(UPDATE("\"sessionUpdate\":\"future_thing\""), "tag=other EXACT");
  EXPECT(UPDATE("\"sessionUpdate\":\"\""), "tag=other EXACT");
  EXPECT(UPDATE("\"sessionUpdate\":\"plan\\u005fremoved\""), "tag=plan_removed EXACT");
  EXPECT(UPDATE("\"sessionUpdate\":\"a tag that is longer, \\u0061 lot longer, than any that is known\""), "tag=other EXACT");
  EXPECT(UPDATE("\"sessionUpdate\":null"), "nothing");
  EXPECT(UPDATE("\"messageId\":\"m\""), "nothing");
}

static void other_shapes(void) {
  EXPECT(START "[]}", "nothing");
  EXPECT(START "null}", "nothing");
  EXPECT(START "{\"sessionId\":\"s\",\"update\":[]}}", "nothing");
  EXPECT(START "{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"plan_update\"},\"update\":1}}", "nothing");
  EXPECT("{\"jsonrpc\":\"2.0\",\"method\":\"session/updated\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"plan_update\"}}}", "nothing");
  EXPECT("{\"jsonrpc\":\"2.0\",\"params\":{\"update\":{\"sessionUpdate\":\"plan_update\"},\"sessionId\":\"s\"},\"method\":\"session\\/update\"}",
         "tag=plan_update ESCAPED EXACT");
  EXPECT("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"plan_update\"}},\"params\":{}}",
         "nothing");
  EXPECT(START "{\"sessionId\":1,\"update\":{\"sessionUpdate\":\"plan_removed\"}}}", "tag=plan_removed -");
}

int main(void) {
  entities();
  data();
  flags();
  tags();
  other_shapes();
  check_failures += feed_failures;
  return CHECK_DONE();
}
