#include <stdlib.h>

#include "acpcore.h"
#include "check.h"

static char built[1024];

/* Builds into memory of exactly cap bytes. */
static int32_t build_cap(uint32_t cap, uint32_t kind, const char *id, const char *method, const char *body) {
  uint8_t *out = malloc(cap ? cap : 1);
  int32_t len = acp_build(out, cap, kind, (const uint8_t *)id, (uint32_t)strlen(id), (const uint8_t *)method, (uint32_t)strlen(method),
                          (const uint8_t *)body, (uint32_t)strlen(body));
  if (len > 0) memcpy(built, out, (size_t)len);
  built[len > 0 ? len : 0] = 0;
  free(out);
  return len;
}

static int32_t build(uint32_t kind, const char *id, const char *method, const char *body) {
  uint32_t room = acp_build_size((uint32_t)strlen(id), (uint32_t)strlen(method), (uint32_t)strlen(body));
  return build_cap(room, kind, id, method, body);
}

static void expect(int line, uint32_t kind, const char *id, const char *method, const char *body, const char *want) {
  int32_t len = build(kind, id, method, body);
  acp_frame frame;
  if (len != (int32_t)strlen(want) || strcmp(built, want) != 0) {
    fprintf(stderr, "%s:%d: %d %s", __FILE__, line, (int)len, built);
    check_failures++;
    return;
  }
  CHECK_NUMBER(acp_message((uint8_t *)built, (uint32_t)len, ACP_ROUTE, &frame), ACP_OK);
  CHECK_NUMBER(frame.kind, kind);
  CHECK_NUMBER(build_cap((uint32_t)len, kind, id, method, body), len);
  CHECK_NUMBER(build_cap((uint32_t)len - 1, kind, id, method, body), ACP_E_ROOM);
}

#define V "{\"jsonrpc\":\"2.0\""

static void lines(void) {
  expect(__LINE__, ACP_REQUEST, "1", "session/new", "{\"cwd\":\"/\"}", V ",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/\"}}\n");
  expect(__LINE__, ACP_REQUEST, "\"a\"", "m", "", V ",\"id\":\"a\",\"method\":\"m\"}\n");
  expect(__LINE__, ACP_NOTIFICATION, "", "m", "[]", V ",\"method\":\"m\",\"params\":[]}\n");
  expect(__LINE__, ACP_NOTIFICATION, "", "_m", "1", V ",\"method\":\"_m\",\"params\":1}\n");
  expect(__LINE__, ACP_NOTIFICATION, "", "a\"b\\c\n\x01\xC3\xA9", "", V ",\"method\":\"a\\\"b\\\\c\\n\\u0001\xC3\xA9\"}\n");
  expect(__LINE__, ACP_RESULT, "-9223372036854775808", "", "null", V ",\"id\":-9223372036854775808,\"result\":null}\n");
  expect(__LINE__, ACP_RESULT, "null", "", "0", V ",\"id\":null,\"result\":0}\n");
  expect(__LINE__, ACP_ERROR, "null", "", "{\"code\":-32700,\"message\":\"x\"}", V ",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}\n");
}

static void line_breaks_become_spaces(void) {
  expect(__LINE__, ACP_RESULT, "1", "", "\n{\r\n\t\"a\":\n[1,\n\"\\n\"]\n}\n", V ",\"id\":1,\"result\": {  \t\"a\": [1, \"\\n\"] } }\n");
  expect(__LINE__, ACP_ERROR, "1", "", "\n{\n\"code\":1,\n\"message\":\"\"}", V ",\"id\":1,\"error\": { \"code\":1, \"message\":\"\"}}\n");
  expect(__LINE__, ACP_NOTIFICATION, "", "m", "\n[\n]", V ",\"method\":\"m\",\"params\": [ ]}\n");
}

static void bodies_are_checked(void) {
  CHECK_NUMBER(build(ACP_RESULT, "1", "", "{"), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_RESULT, "1", "", " "), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_RESULT, "1", "", "1,\"id\":2"), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_RESULT, "1", "", "{}}\n{"), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_RESULT, "1", "", "\"\n\""), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_RESULT, "1", "", "\"\xFF\""), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_RESULT, "1", "", "\"\\ud800\""), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_RESULT, "1", "", "NaN"), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_NOTIFICATION, "", "m", "1"), ACP_E_ARGUMENT);
  CHECK_NUMBER(build(ACP_ERROR, "1", "", "{\"code\":1}"), ACP_E_ARGUMENT);
  CHECK_NUMBER(build(ACP_ERROR, "1", "", "[]"), ACP_E_ARGUMENT);
  CHECK_NUMBER(build(ACP_ERROR, "1", "", "{\"code\":1.5,\"message\":\"x\"}"), ACP_E_ARGUMENT);
}

static void ids_and_methods_are_checked(void) {
  CHECK_NUMBER(build(ACP_REQUEST, "1.5", "m", ""), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_REQUEST, "9223372036854775808", "m", ""), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_REQUEST, " 1", "m", ""), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_REQUEST, "\"a", "m", ""), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_REQUEST, "true", "m", ""), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_REQUEST, "{}", "m", ""), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_REQUEST, "1", "\xFF", ""), ACP_E_JSON);
  CHECK_NUMBER(build(ACP_REQUEST, "", "m", ""), ACP_E_ARGUMENT);
  CHECK_NUMBER(build(ACP_REQUEST, "1", "", ""), ACP_E_ARGUMENT);
  CHECK_NUMBER(build(ACP_NOTIFICATION, "1", "m", ""), ACP_E_ARGUMENT);
  CHECK_NUMBER(build(ACP_RESULT, "1", "m", "1"), ACP_E_ARGUMENT);
  CHECK_NUMBER(build(ACP_RESULT, "1", "", ""), ACP_E_ARGUMENT);
  CHECK_NUMBER(build(ACP_RESULT, "", "", "1"), ACP_E_ARGUMENT);
  CHECK_NUMBER(build(ACP_ARRAY, "1", "", "1"), ACP_E_ARGUMENT);
  CHECK_NUMBER(build(ACP_BAD, "1", "", "1"), ACP_E_ARGUMENT);
}

/* What can be built can be read: the body may nest one level less than the line. */
static void depth(void) {
  for (size_t deep = 126; deep < 130; deep++) {
    char body[300] = "";
    memset(body, '[', deep);
    memset(body + deep, ']', deep);
    CHECK_NUMBER(build(ACP_RESULT, "1", "", body) > 0, deep < ACP_MAX_DEPTH);
  }
}

int main(void) {
  lines();
  line_breaks_become_spaces();
  bodies_are_checked();
  ids_and_methods_are_checked();
  depth();
  CHECK_NUMBER(acp_build_size(UINT32_MAX, UINT32_MAX, UINT32_MAX), UINT32_MAX);
  return CHECK_DONE();
}
