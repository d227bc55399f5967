/* What a session/update is about, so that hosts can group and route it without decoding. */
#include <string.h>

#include "envelope.h"
#include "strings.h"

#define UPDATE_TAG 32             /* longer than any tag this library knows */

/* The two that come by the thousand need no search. */
static uint8_t update_known_tag(const uint8_t *name, uint32_t len) {
  if (ACP_SAME(name, len, "terminal_output_chunk")) return ACP_T_TERMINAL_OUTPUT_CHUNK;
  if (ACP_SAME(name, len, "agent_message_chunk")) return ACP_T_AGENT_MESSAGE_CHUNK;
  return (uint8_t)acp_tag_id(name, len);
}

static uint8_t update_tag(const acp_capture *c) {
  const acp_token *t = acp_object_get(&c->update, ACP_K_TAG);
  uint8_t name[UPDATE_TAG];
  if (!acp_token_is_string(t)) return ACP_T_NONE;
  acp_span inside = acp_token_inside(t);
  if (!t->escaped) return update_known_tag(c->w.base + inside.off, inside.len);
  int32_t len = acp_unescape(name, sizeof name, c->w.base + inside.off, inside.len);
  return len < 0 ? ACP_T_OTHER : (uint8_t)acp_tag_id(name, (uint32_t)len);
}

/* The member that says which message, tool call or terminal an update belongs to; -1: none does. */
static int update_entity_key(uint8_t tag) {
  switch (tag) {
    case ACP_T_USER_MESSAGE_CHUNK: case ACP_T_USER_MESSAGE: case ACP_T_AGENT_MESSAGE_CHUNK: case ACP_T_AGENT_MESSAGE:
    case ACP_T_AGENT_THOUGHT_CHUNK: case ACP_T_AGENT_THOUGHT: return ACP_K_MESSAGE_ID;
    case ACP_T_TOOL_CALL_CONTENT_CHUNK: case ACP_T_TOOL_CALL_UPDATE: return ACP_K_TOOL_CALL;
    case ACP_T_TERMINAL_UPDATE: case ACP_T_TERMINAL_OUTPUT_CHUNK: return ACP_K_TERMINAL;
    default: return -1;
  }
}

/* Each returns how many members it found a span for. */
static uint32_t update_set_entity(const acp_capture *c, acp_frame *frame) {
  int key = update_entity_key(frame->tag);
  if (key < 0 || !acp_token_is_string(acp_object_get(&c->update, key))) return 0;
  frame->entity = acp_token_inside(acp_object_get(&c->update, key));
  if (acp_object_get(&c->update, key)->escaped) frame->flags |= ACP_F_ESCAPED;
  return 1;
}

static uint32_t update_set_data(const acp_capture *c, acp_frame *frame) {
  const acp_token *data = acp_object_get(&c->update, ACP_K_DATA), *content = acp_object_get(&c->update, ACP_K_CONTENT);
  int terminal = frame->tag == ACP_T_TERMINAL_OUTPUT_CHUNK;
  if (terminal && acp_token_is_string(data)) {
    frame->data = acp_token_inside(data);
    return 1;
  }
  if (!content->first) return 0;
  frame->data = (acp_span){content->off, content->len};
  return !terminal;
}

/* Every member is one that a span or the tag stands for, so nothing is lost when only those are kept. */
static int update_is_exact(const acp_capture *c, const acp_frame *frame, uint32_t spans) {
  const acp_token *session = acp_object_get(&c->params, ACP_K_SESSION);
  if (c->top.count != 3 || c->params.count != 2 || !acp_token_is_string(session)) return 0;
  if (frame->tag == ACP_T_NONE || c->update.count != spans + 1) return 0;
  return frame->tag != ACP_T_TERMINAL_OUTPUT_CHUNK || spans == 2;
}

static int update_has_meta(const acp_capture *c) {
  return acp_object_has(&c->params, ACP_K_PARAMS_META) || acp_object_has(&c->update, ACP_K_UPDATE_META);
}

void acp_update_describe(const acp_capture *c, acp_frame *frame) {
  if (frame->method_id != ACP_M_SESSION_UPDATE) return;
  if (acp_object_get(&c->top, ACP_K_PARAMS)->first != '{') return;
  if (acp_object_get(&c->params, ACP_K_UPDATE)->first != '{') return;
  frame->tag = update_tag(c);
  uint32_t spans = update_set_entity(c, frame);
  spans += update_set_data(c, frame);
  if (c->update.repeated) frame->flags |= ACP_F_REPEATED;
  if (update_has_meta(c)) frame->flags |= ACP_F_META;
  if (update_is_exact(c, frame, spans)) frame->flags |= ACP_F_EXACT;
}
