/* Methods and tags of the protocol by number. Append only: hosts keep the numbers. */
#include <string.h>

#include "acpcore.h"

typedef struct names_entry {
  const char *text;
  uint32_t len;
} names_entry;

#define NAME(text) {text, (uint32_t)(sizeof(text) - 1)}
#define NAMES_COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

/* The number of a method is its place, from 1; the commonest one stands first (ACP_M_SESSION_UPDATE). */
static const names_entry names_methods[] = {
  NAME("session/update"), NAME("initialize"), NAME("auth/login"), NAME("auth/logout"), NAME("session/new"),
  NAME("session/prompt"), NAME("session/cancel"), NAME("session/list"), NAME("session/delete"), NAME("session/fork"),
  NAME("session/resume"), NAME("session/close"), NAME("session/set_config_option"), NAME("session/request_permission"),
  NAME("$/cancel_request"), NAME("elicitation/create"), NAME("elicitation/complete"), NAME("providers/list"),
  NAME("providers/set"), NAME("providers/disable"), NAME("mcp/connect"), NAME("mcp/message"), NAME("mcp/disconnect"),
  NAME("nes/start"), NAME("nes/suggest"), NAME("nes/accept"), NAME("nes/reject"), NAME("nes/close"),
  NAME("document/didOpen"), NAME("document/didChange"), NAME("document/didClose"), NAME("document/didSave"),
  NAME("document/didFocus"),
};

/* The number of a tag is its place + ACP_T_USER_MESSAGE_CHUNK, in the order of acp_tag. */
static const names_entry names_tags[] = {
  NAME("user_message_chunk"), NAME("user_message"), NAME("agent_message_chunk"), NAME("agent_message"),
  NAME("agent_thought_chunk"), NAME("agent_thought"), NAME("state_update"), NAME("tool_call_content_chunk"),
  NAME("tool_call_update"), NAME("terminal_update"), NAME("terminal_output_chunk"), NAME("plan_update"),
  NAME("plan_removed"), NAME("available_commands_update"), NAME("config_option_update"), NAME("session_info_update"),
  NAME("usage_update"),
};

/* The place from 1, or 0. */
static uint32_t names_find(const names_entry *list, uint32_t count, const uint8_t *name, uint32_t len) {
  for (uint32_t i = 0; i < count; i++)
    if (list[i].len == len && memcmp(list[i].text, name, len) == 0) return i + 1;
  return 0;
}

ACP_API uint32_t acp_method_id(const uint8_t *name, uint32_t len) {
  return name ? names_find(names_methods, NAMES_COUNT(names_methods), name, len) : 0;
}

ACP_API const char *acp_method_name(uint32_t id) {
  return id >= 1 && id <= NAMES_COUNT(names_methods) ? names_methods[id - 1].text : NULL;
}

ACP_API uint32_t acp_tag_id(const uint8_t *name, uint32_t len) {
  uint32_t place = name ? names_find(names_tags, NAMES_COUNT(names_tags), name, len) : 0;
  return place ? place - 1 + ACP_T_USER_MESSAGE_CHUNK : ACP_T_OTHER;
}

ACP_API const char *acp_tag_name(uint32_t tag) {
  uint32_t place = tag - ACP_T_USER_MESSAGE_CHUNK;
  return tag >= ACP_T_USER_MESSAGE_CHUNK && place < NAMES_COUNT(names_tags) ? names_tags[place].text : NULL;
}
