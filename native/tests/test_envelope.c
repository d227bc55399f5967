/* A line for each rule of the envelope: what kind it is, why it is bad, and what is shown of it all the same. */
#include <stdlib.h>

#include "check.h"
#include "feed.h"

static uint32_t level = ACP_ROUTE;

#define EXPECT(line, want) CHECK_TEXT(feed_message(line, sizeof(line) - 1, level), want)
#define V "\"jsonrpc\":\"2.0\""

static void kinds(void) {
  EXPECT("{" V ",\"id\":1,\"method\":\"m\"}", "request integer id=1 method=m");
  EXPECT("{" V ",\"method\":\"m\"}", "notification method=m");
  EXPECT("{" V ",\"id\":1,\"result\":{}}", "result integer id=1 body={}");
  EXPECT("{" V ",\"id\":1,\"result\":null}", "result integer id=1 body=null");
  EXPECT("{" V ",\"id\":null,\"result\":1}", "result null id=null body=1");
  EXPECT("{" V ",\"id\":1,\"error\":{\"code\":-1,\"message\":\"x\"}}", "error integer id=1 body={\"code\":-1,\"message\":\"x\"}");
  EXPECT("{" V ",\"id\":null,\"error\":{\"message\":\"\",\"code\":0,\"data\":[]}}", "error null id=null body={\"message\":\"\",\"code\":0,\"data\":[]}");
  EXPECT(" \t{ \"id\" : \"a\" ,\t\"method\" : \"m\" , " V " } \r\r\n", "request string id=\"a\" method=m");
  EXPECT("{" V ",\"method\":\"m\",\"extra\":{\"id\":5,\"result\":1},\"\":0}", "notification method=m");
  EXPECT("[1]", "array");
  EXPECT("[{}]", "array");
}

static void nothing(void) {
  EXPECT("", "none");
  EXPECT("\n", "none");
  EXPECT(" \t\r\n", "none");
}

static void not_an_object(void) {
  EXPECT("42", "bad not_object");
  EXPECT("\"hello\"", "bad not_object");
  EXPECT(" null ", "bad not_object");
  EXPECT("true", "bad not_object");
  EXPECT("[]", "bad empty_array");
  EXPECT(" [ \t] ", "bad empty_array");
  level |= ACP_NO_ARRAYS;
  EXPECT("[1]", "bad not_object");
  EXPECT("[]", "bad empty_array");
  level &= ~(uint32_t)ACP_NO_ARRAYS;
}

static void version(void) {
  EXPECT("{}", "bad version");
  EXPECT("{\"id\":1,\"method\":\"m\"}", "bad version integer id=1 method=m");
  EXPECT("{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":0}", "bad version integer id=1 RESPONSE");
  EXPECT("{\"jsonrpc\":2.0,\"method\":\"m\"}", "bad version method=m");
  EXPECT("{\"jsonrpc\":2,\"id\":\"x\"}", "bad version string id=\"x\" RESPONSE");
  EXPECT("{\"jsonrpc\":\"2.0 \",\"method\":\"m\"}", "bad version method=m");
  EXPECT("{\"jsonrpc\":\"2.\",\"method\":\"m\"}", "bad version method=m");
  EXPECT("{\"jsonrpc\":null,\"method\":\"m\"}", "bad version method=m");
  EXPECT("{\"jsonrpc\":\"\\u0032\\u002E0\",\"method\":\"m\"}", "notification method=m");
  EXPECT("{\"JSONRPC\":\"2.0\",\"method\":\"m\"}", "bad version method=m");
}

static void ids(void) {
  EXPECT("{" V ",\"id\":0,\"method\":\"m\"}", "request integer id=0 method=m");
  EXPECT("{" V ",\"id\":-0,\"method\":\"m\"}", "request integer id=-0 method=m");
  EXPECT("{" V ",\"id\":9223372036854775807,\"method\":\"m\"}", "request integer id=9223372036854775807 method=m");
  EXPECT("{" V ",\"id\":-9223372036854775808,\"method\":\"m\"}", "request integer id=-9223372036854775808 method=m");
  EXPECT("{" V ",\"id\":9223372036854775808,\"method\":\"m\"}", "bad id method=m");
  EXPECT("{" V ",\"id\":-9223372036854775809,\"method\":\"m\"}", "bad id method=m");
  EXPECT("{" V ",\"id\":18446744073709551615,\"method\":\"m\"}", "bad id method=m");
  EXPECT("{" V ",\"id\":1.0,\"method\":\"m\"}", "bad id method=m");
  EXPECT("{" V ",\"id\":1e3,\"method\":\"m\"}", "bad id method=m");
  EXPECT("{" V ",\"id\":true,\"method\":\"m\"}", "bad id method=m");
  EXPECT("{" V ",\"id\":[],\"method\":\"m\"}", "bad id method=m");
  EXPECT("{" V ",\"id\":{},\"result\":1}", "bad id RESPONSE");
  EXPECT("{" V ",\"id\":null,\"method\":\"m\"}", "request null id=null method=m");
  EXPECT("{" V ",\"id\":\"\",\"method\":\"m\"}", "request string id=\"\" method=m");
  EXPECT("{" V ",\"id\":\"a\\\"\\u00e9\",\"method\":\"m\"}", "request string id=\"a\\\"\\u00e9\" method=m");
  EXPECT("{" V ",\"result\":1}", "bad id RESPONSE");
  EXPECT("{" V ",\"error\":{\"code\":-1,\"message\":\"x\"}}", "bad id RESPONSE");
}

static void methods(void) {
  EXPECT("{" V ",\"method\":1}", "bad method");
  EXPECT("{" V ",\"id\":1,\"method\":null}", "bad method integer id=1");
  EXPECT("{" V ",\"id\":1,\"method\":{},\"result\":0}", "bad method integer id=1 RESPONSE");
  EXPECT("{" V "}", "bad method");
  EXPECT("{" V ",\"params\":{}}", "bad method");
  EXPECT("{" V ",\"method\":\"\"}", "notification method=");
  EXPECT("{" V ",\"method\":\"a\\/b\"}", "notification method=a\\/b ESCAPED");
}

static void params(void) {
  EXPECT("{" V ",\"method\":\"m\",\"params\":{\"a\":1}}", "notification method=m body={\"a\":1}");
  EXPECT("{" V ",\"method\":\"m\",\"params\":[]}", "notification method=m body=[]");
  EXPECT("{" V ",\"method\":\"m\",\"params\":null}", "notification method=m body=null");
  EXPECT("{" V ",\"method\":\"m\",\"params\":1}", "bad params method=m");
  EXPECT("{" V ",\"id\":1,\"method\":\"m\",\"params\":\"s\"}", "bad params integer id=1 method=m");
  EXPECT("{" V ",\"id\":1,\"method\":\"m\",\"params\":false}", "bad params integer id=1 method=m");
  EXPECT("{" V ",\"method\":\"_m\",\"params\":1}", "notification method=_m body=1");
  EXPECT("{" V ",\"method\":\"\\u005fm\",\"params\":true}", "notification method=\\u005fm body=true ESCAPED");
  EXPECT("{" V ",\"method\":\"m_\",\"params\":true}", "bad params method=m_");
  EXPECT("{" V ",\"method\":\"\",\"params\":true}", "bad params method=");
}

static void responses(void) {
  EXPECT("{" V ",\"id\":1}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"params\":{}}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"result\":1,\"error\":{\"code\":1,\"message\":\"x\"}}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"result\":1,\"error\":null}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"method\":\"m\",\"result\":1}", "bad response integer id=1 method=m RESPONSE");
  EXPECT("{" V ",\"method\":\"m\",\"error\":1}", "bad response method=m RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":null}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":\"x\"}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":[]}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":{}}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":{\"code\":1}}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":{\"message\":\"x\"}}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":{\"code\":1.0,\"message\":\"x\"}}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":{\"code\":\"1\",\"message\":\"x\"}}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":{\"code\":9223372036854775808,\"message\":\"x\"}}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":{\"code\":1,\"message\":null}}", "bad response integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"error\":{\"code\":\"x\",\"c\\u006fde\":1,\"message\":\"x\"}}",
         "error integer id=1 body={\"code\":\"x\",\"c\\u006fde\":1,\"message\":\"x\"}");
  EXPECT("{" V ",\"id\":1,\"error\":{\"code\":1,\"message\":\"x\"},\"error\":{\"code\":1}}", "bad response integer id=1 REPEATED RESPONSE");
}

static void the_order_of_the_rules(void) {
  EXPECT("{\"jsonrpc\":1,\"id\":1.5,\"method\":1,\"params\":1,\"result\":1}", "bad version RESPONSE");
  EXPECT("{" V ",\"id\":1.5,\"method\":1,\"params\":1,\"result\":1}", "bad id RESPONSE");
  EXPECT("{" V ",\"id\":1,\"method\":1,\"params\":1,\"result\":1}", "bad method integer id=1 RESPONSE");
  EXPECT("{" V ",\"id\":1,\"method\":\"m\",\"params\":1,\"result\":1}", "bad response integer id=1 method=m RESPONSE");
  EXPECT("{" V ",\"result\":1,\"error\":1}", "bad response RESPONSE");
}

static void repeated_members(void) {
  EXPECT("{" V ",\"id\":1,\"method\":\"a\",\"id\":2,\"method\":\"b\"}", "request integer id=2 method=b REPEATED");
  EXPECT("{" V ",\"id\":1.5,\"method\":\"a\",\"id\":2}", "request integer id=2 method=a REPEATED");
  EXPECT("{" V ",\"\\u0069d\":1,\"method\":\"a\",\"id\":2}", "request integer id=2 method=a REPEATED");
  EXPECT("{" V ",\"id\":2,\"method\":\"a\",\"\\u0069\\u0064\":1}", "request integer id=1 method=a REPEATED");
  EXPECT("{" V ",\"method\":\"a\",\"x\":1,\"y\":2}", "notification method=a");
  EXPECT("{" V ",\"method\":\"a\",\"x\":1,\"\\u0078\":2}", "notification method=a REPEATED");
  EXPECT("{" V ",\"method\":\"a\",\"params\":{\"x\":1,\"x\":2}}", "notification method=a body={\"x\":1,\"x\":2} REPEATED");
  EXPECT("{" V ",\"method\":\"a\",\"params\":1,\"params\":{}}", "notification method=a body={} REPEATED");
  EXPECT("{" V ",\"method\":\"a\",\"params\":{\"x\":{\"y\":1,\"y\":2}}}", "notification method=a body={\"x\":{\"y\":1,\"y\":2}}");
  EXPECT("{" V ",\"id\":1,\"result\":{\"x\":1,\"x\":2}}", "result integer id=1 body={\"x\":1,\"x\":2} REPEATED");
}

static void sessions(void) {
  EXPECT("{" V ",\"method\":\"m\",\"params\":{\"sessionId\":\"s\"}}", "notification method=m body={\"sessionId\":\"s\"} session=s");
  EXPECT("{" V ",\"id\":1,\"result\":{\"a\":1,\"sessionId\":\"s\"}}", "result integer id=1 body={\"a\":1,\"sessionId\":\"s\"} session=s");
  EXPECT("{" V ",\"id\":1,\"result\":{\"sessionId\":\"s\"},\"params\":{\"sessionId\":\"t\"}}", "result integer id=1 body={\"sessionId\":\"s\"} session=s");
  EXPECT("{" V ",\"method\":\"m\",\"params\":{\"sessionId\":1}}", "notification method=m body={\"sessionId\":1}");
  EXPECT("{" V ",\"method\":\"m\",\"params\":[\"sessionId\"]}", "notification method=m body=[\"sessionId\"]");
  EXPECT("{" V ",\"method\":\"m\",\"params\":{\"sessionId\":\"a\\nb\"}}", "notification method=m body={\"sessionId\":\"a\\nb\"} session=a\\nb ESCAPED");
  EXPECT("{" V ",\"method\":\"m\",\"params\":{\"session\\u0049d\":\"s\"}}", "notification method=m body={\"session\\u0049d\":\"s\"} session=s");
  EXPECT("{" V ",\"method\":\"m\",\"params\":{\"sessionId\":\"s\"},\"params\":{}}", "notification method=m body={} REPEATED");
  EXPECT("{" V ",\"method\":\"m\",\"params\":{\"sessionId\":\"s\",\"sessionId\":\"t\"}}",
         "notification method=m body={\"sessionId\":\"s\",\"sessionId\":\"t\"} session=t REPEATED");
  EXPECT("{" V ",\"id\":1,\"method\":\"m\",\"params\":{\"x\":{\"sessionId\":\"no\"}}}", "request integer id=1 method=m body={\"x\":{\"sessionId\":\"no\"}}");
}

static void many_members_stay_linear(void) {
  size_t size = 0, room = 1 << 20;
  char *line = malloc(room);
  size += (size_t)snprintf(line, room, "{" V ",\"method\":\"m\",\"params\":{\"sessionId\":\"s\"");
  for (int i = 0; i < 60000; i++) size += (size_t)snprintf(line + size, room - size, ",\"k%d\":0", i);
  size += (size_t)snprintf(line + size, room - size, "}}");
  acp_frame frame;
  CHECK_NUMBER(acp_message((uint8_t *)line, (uint32_t)size, ACP_ROUTE, &frame), ACP_OK);
  CHECK_NUMBER(frame.kind, ACP_NOTIFICATION);
  CHECK_NUMBER(frame.flags, ACP_F_REPEATED);
  CHECK_NUMBER(frame.session.len, 1);
  free(line);
}

/* Where it went wrong. */
static void wrong_at(const char *line, uint32_t reason, uint32_t at) {
  acp_frame frame;
  CHECK_NUMBER(acp_message((const uint8_t *)line, (uint32_t)strlen(line), ACP_HOT, &frame), ACP_OK);
  CHECK_NUMBER(frame.kind, ACP_BAD);
  CHECK_NUMBER(frame.reason, reason);
  CHECK_NUMBER(frame.body.off, at);
  CHECK_NUMBER(frame.body.len, 0);
}

static void places(void) {
  wrong_at("noise {\"a\":1}", ACP_R_JSON, 6);
  wrong_at("noise", ACP_R_JSON, 1);
  wrong_at("\"text\" {", ACP_R_JSON, 7);
  wrong_at("  x [1]", ACP_R_JSON, 2);
  wrong_at("\xFF\xFE{", ACP_R_UTF8, 2);
  wrong_at("{\"a\":1}{\"b\":2}", ACP_R_JSON, 7);
  wrong_at("[1,2,{}", ACP_R_JSON, 7);
  wrong_at("  42", ACP_R_NOT_OBJECT, 2);
  wrong_at(" {\"id\":1}", ACP_R_VERSION, 1);
  wrong_at("{\"jsonrpc\":1}", ACP_R_VERSION, 11);
  wrong_at("{" V ",\"id\":1.5,\"method\":\"m\"}", ACP_R_ID, 22);
  wrong_at("{" V ",\"method\":\"m\",\"params\":1}", ACP_R_PARAMS, 39);
}

static void method_numbers(void) {
  acp_frame frame;
  static const uint8_t line[] = "{" V ",\"method\":\"session\\/\\u0075pdate\"}";
  CHECK_NUMBER(acp_message(line, sizeof line - 1, ACP_ROUTE, &frame), ACP_OK);
  CHECK_NUMBER(frame.method_id, acp_method_id((const uint8_t *)"session/update", 14));
  CHECK(frame.method_id != 0);
}

static void all(void) {
  kinds();
  nothing();
  not_an_object();
  version();
  ids();
  methods();
  params();
  responses();
  the_order_of_the_rules();
  repeated_members();
  sessions();
}

int main(void) {
  all();
  level = ACP_HOT;
  all();
  many_members_stay_linear();
  places();
  method_numbers();
  check_failures += feed_failures;
  return CHECK_DONE();
}
