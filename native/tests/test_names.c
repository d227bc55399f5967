#include "acpcore.h"
#include "check.h"

static uint32_t method(const char *name) { return acp_method_id((const uint8_t *)name, (uint32_t)strlen(name)); }
static uint32_t tag(const char *name) { return acp_tag_id((const uint8_t *)name, (uint32_t)strlen(name)); }

static void methods(void) {
  uint32_t count = 0;
  for (uint32_t id = 1; acp_method_name(id); id++) {
    CHECK_NUMBER(method(acp_method_name(id)), id);
    count++;
  }
  CHECK_NUMBER(count, 33);
  CHECK(acp_method_name(0) == NULL && acp_method_name(UINT32_MAX) == NULL);
  CHECK_NUMBER(method("session/updat"), 0);
  CHECK_NUMBER(method("session/updatE"), 0);
  CHECK_NUMBER(method(""), 0);
  CHECK_NUMBER(acp_method_id(NULL, 0), 0);
}

static void tags(void) {
  for (uint32_t id = ACP_T_USER_MESSAGE_CHUNK; id <= ACP_T_USAGE_UPDATE; id++) CHECK_NUMBER(tag(acp_tag_name(id)), id);
  CHECK(acp_tag_name(ACP_T_NONE) == NULL && acp_tag_name(ACP_T_OTHER) == NULL && acp_tag_name(ACP_T_USAGE_UPDATE + 1) == NULL);
  CHECK_TEXT(acp_tag_name(ACP_T_TERMINAL_OUTPUT_CHUNK), "terminal_output_chunk");
  CHECK_TEXT(acp_tag_name(ACP_T_STATE_UPDATE), "state_update");
  CHECK_TEXT(acp_tag_name(ACP_T_USAGE_UPDATE), "usage_update");
  CHECK_NUMBER(tag("nothing"), ACP_T_OTHER);
  CHECK_NUMBER(tag(""), ACP_T_OTHER);
  CHECK_NUMBER(acp_tag_id(NULL, 0), ACP_T_OTHER);
}

static void texts(void) {
  CHECK_NUMBER(acp_abi(), ACP_ABI);
  CHECK_TEXT(acp_version(), ACP_VERSION);
  for (int32_t status = -6; status < 6; status++) CHECK(strlen(acp_strerror(status)) > 0);
  for (uint32_t reason = 0; reason < 20; reason++) CHECK(strlen(acp_reason_text(reason)) > 0);
  CHECK(strcmp(acp_reason_text(ACP_R_EMPTY_ARRAY), acp_reason_text(ACP_R_EMPTY_ARRAY + 1)) != 0);
}

int main(void) {
  methods();
  tags();
  texts();
  return CHECK_DONE();
}
