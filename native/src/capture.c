#include "capture.h"

#include <string.h>

void acp_capture_start(acp_capture *c, const uint8_t *base, const uint8_t *end, const uint8_t *limit, int hot,
                       acp_early *early) {
  c->w = (acp_walk){base, end, limit, NULL, ACP_R_NONE, 0, 0};
  c->hot = hot;
  c->early = early;
  acp_object_reset(&c->top);
  acp_object_reset(&c->params);
  acp_object_reset(&c->result);
  acp_object_reset(&c->update);
  acp_object_reset(&c->error);
}

/* ---- names */

static inline int key_of_top(const uint8_t *name, uint32_t len) {
  switch (len) {
    case 2: return ACP_SAME(name, len, "id") ? ACP_K_ID : -1;
    case 5: return ACP_SAME(name, len, "error") ? ACP_K_ERROR : -1;
    case 7: return ACP_SAME(name, len, "jsonrpc") ? ACP_K_JSONRPC : -1;
    case 6:
      if (ACP_SAME(name, len, "method")) return ACP_K_METHOD;
      if (ACP_SAME(name, len, "params")) return ACP_K_PARAMS;
      return ACP_SAME(name, len, "result") ? ACP_K_RESULT : -1;
    default: return -1;
  }
}

static inline int key_of_params(const uint8_t *name, uint32_t len) {
  switch (len) {
    case 5: return ACP_SAME(name, len, "_meta") ? ACP_K_PARAMS_META : -1;
    case 6: return ACP_SAME(name, len, "update") ? ACP_K_UPDATE : -1;
    case 9: return ACP_SAME(name, len, "sessionId") ? ACP_K_SESSION : -1;
    default: return -1;
  }
}

static inline int key_of_update(const uint8_t *name, uint32_t len) {
  switch (len) {
    case 4: return ACP_SAME(name, len, "data") ? ACP_K_DATA : -1;
    case 5: return ACP_SAME(name, len, "_meta") ? ACP_K_UPDATE_META : -1;
    case 7: return ACP_SAME(name, len, "content") ? ACP_K_CONTENT : -1;
    case 9: return ACP_SAME(name, len, "messageId") ? ACP_K_MESSAGE_ID : -1;
    case 13: return ACP_SAME(name, len, "sessionUpdate") ? ACP_K_TAG : -1;
    case 10:
      if (ACP_SAME(name, len, "terminalId")) return ACP_K_TERMINAL;
      return ACP_SAME(name, len, "toolCallId") ? ACP_K_TOOL_CALL : -1;
    default: return -1;
  }
}

static int key_of_error(const uint8_t *name, uint32_t len) {
  if (ACP_SAME(name, len, "code")) return ACP_K_CODE;
  return ACP_SAME(name, len, "message") ? ACP_K_MESSAGE : -1;
}

/* ---- objects, from the inside out */

/* Walks the value of the member that was just noted; the place of its name is -1 if nobody asked for it. */
typedef const uint8_t *(*capture_value_of)(acp_capture *c, const uint8_t *p, int place);

/* Counts a member: the place of its name, or -1. */
static inline int capture_note(acp_object *o, acp_key_of key_of, const uint8_t *key, uint32_t len, int escaped) {
  int place = escaped ? acp_object_escaped_key(key_of, key, len) : key_of(key, len);
  o->count++;
  if (place < 0) acp_object_note_other(o, key, len);
  else acp_object_note_key(o, place);
  return place;
}

/* At a key -> at its value. */
static inline const uint8_t *capture_key(acp_capture *c, const uint8_t *p, acp_object *o, acp_key_of key_of,
                                         int *place) {
  if (p == c->w.end || *p != '"') return acp_walk_unexpected(&c->w, p);
  const uint8_t *key = p + 1;
  p = acp_walk_string(&c->w, key);
  if (!p) return NULL;
  int escaped = c->w.escaped;
  const uint8_t *value = acp_walk_colon(&c->w, p + 1);
  if (value) *place = capture_note(o, key_of, key, (uint32_t)(p - key), escaped);
  return value;
}

/* At a key, the first one or one behind a comma -> behind the bracket that closes the object. */
static inline const uint8_t *capture_rest(acp_capture *c, const uint8_t *p, acp_object *o, acp_key_of key_of,
                                          capture_value_of value_of) {
  acp_walk *w = &c->w;
  int place = -1;
  for (;;) {
    p = capture_key(c, p, o, key_of, &place);
    if (p) p = value_of(c, p, place);
    if (!p) return NULL;
    p = acp_walk_space(w, p);
    if (p < w->end && *p == '}') return p + 1;
    if (p == w->end || *p != ',') return acp_walk_unexpected(w, p);
    p = acp_walk_space(w, p + 1);
  }
}

/* Behind the bracket that opens an object -> behind the one that closes it. */
static inline const uint8_t *capture_members(acp_capture *c, const uint8_t *p, acp_object *o, acp_key_of key_of,
                                             capture_value_of value_of) {
  p = acp_walk_space(&c->w, p);
  if (p < c->w.end && *p == '}') return p + 1;
  return capture_rest(c, p, o, key_of, value_of);
}

static inline const uint8_t *capture_value(acp_capture *c, const uint8_t *p, acp_object *o, int place, uint32_t open) {
  return place < 0 ? acp_walk_value(&c->w, p, open) : acp_object_take(&c->w, p, open, &o->value[place]);
}

/* An object that was looked into is stored like any other value. */
static inline const uint8_t *capture_store(const acp_capture *c, const uint8_t *p, const uint8_t *after,
                                           acp_token *token) {
  if (after) *token = (acp_token){(uint32_t)(p - c->w.base), (uint32_t)(after - p), '{', 0};
  return after;
}

static int opens_object(const acp_capture *c, const uint8_t *p) { return p < c->w.end && *p == '{'; }

/* Base64 is plain text: what decodes up to the closing quote needs no other validation. */
static const uint8_t *capture_data(acp_capture *c, const uint8_t *p) {
  acp_early *early = c->early;
  uint32_t len = 0;
  const uint8_t *quote = acp_decode_string(early->dst, early->room, &(acp_stretch){p + 1, c->w.end, c->w.limit}, &len);
  if (!quote) return NULL;
  early->off = (uint32_t)(p + 1 - c->w.base);
  early->len = len;
  c->update.value[ACP_K_DATA] = (acp_token){early->off - 1, (uint32_t)(quote + 1 - p), '"', 0};
  return quote + 1;
}

static const uint8_t *value_of_update(acp_capture *c, const uint8_t *p, int place) {
  if (place == ACP_K_DATA && c->early && p < c->w.end && *p == '"') {
    const uint8_t *after = capture_data(c, p);
    if (after) return after;
  }
  return capture_value(c, p, &c->update, place, 3);
}

static const uint8_t *value_of_params(acp_capture *c, const uint8_t *p, int place) {
  if (place != ACP_K_UPDATE || !c->hot || !opens_object(c, p)) return capture_value(c, p, &c->params, place, 2);
  acp_object_reset(&c->update);
  const uint8_t *after = capture_members(c, p + 1, &c->update, key_of_update, value_of_update);
  return capture_store(c, p, after, &c->params.value[place]);
}

static const uint8_t *value_of_result(acp_capture *c, const uint8_t *p, int place) {
  return capture_value(c, p, &c->result, place, 2);
}

static const uint8_t *value_of_error(acp_capture *c, const uint8_t *p, int place) {
  return capture_value(c, p, &c->error, place, 2);
}

/* A repeated member is read anew: what an earlier one held is forgotten. */
static const uint8_t *capture_params(acp_capture *c, const uint8_t *p) {
  acp_object_reset(&c->params);
  const uint8_t *after = capture_members(c, p + 1, &c->params, key_of_params, value_of_params);
  return capture_store(c, p, after, &c->top.value[ACP_K_PARAMS]);
}

static const uint8_t *capture_result(acp_capture *c, const uint8_t *p) {
  acp_object_reset(&c->result);
  const uint8_t *after = capture_members(c, p + 1, &c->result, key_of_params, value_of_result);
  return capture_store(c, p, after, &c->top.value[ACP_K_RESULT]);
}

const uint8_t *acp_capture_error(acp_capture *c, const uint8_t *p) {
  acp_object_reset(&c->error);
  const uint8_t *after = capture_members(c, p + 1, &c->error, key_of_error, value_of_error);
  return capture_store(c, p, after, &c->top.value[ACP_K_ERROR]);
}

static const uint8_t *value_of_top(acp_capture *c, const uint8_t *p, int place) {
  if (opens_object(c, p)) {
    switch (place) {
      case ACP_K_PARAMS: return capture_params(c, p);
      case ACP_K_RESULT: return capture_result(c, p);
      case ACP_K_ERROR: return acp_capture_error(c, p);
      default: break;
    }
  }
  return capture_value(c, p, &c->top, place, 1);
}

/* ---- how nearly every line begins */

/* If a member stands at p as it is usually written, with its comma, takes it at once. value: where its value begins. */
static inline const uint8_t *capture_usual(acp_capture *c, const uint8_t *p, const char *literal, uint32_t len, int key,
                                           uint32_t value) {
  if ((uint64_t)(c->w.end - p) < len || memcmp(p, literal, len) != 0) return p;
  acp_object_note_key(&c->top, key);
  c->top.count++;
  c->top.value[key] = (acp_token){(uint32_t)(p - c->w.base) + value, len - 1 - value, '"', 0};
  return p + len;
}

#define CAPTURE_USUAL(c, p, key, name, text) \
  capture_usual(c, p, name text ",", sizeof(name text ",") - 1, key, sizeof(name) - 1)

const uint8_t *acp_capture_message(acp_capture *c, const uint8_t *p) {
  const uint8_t *start = p;
  p = CAPTURE_USUAL(c, p, ACP_K_JSONRPC, "\"jsonrpc\":", "\"2.0\"");
  p = CAPTURE_USUAL(c, p, ACP_K_METHOD, "\"method\":", "\"session/update\"");
  if (p == start) return capture_members(c, p, &c->top, key_of_top, value_of_top);
  return capture_rest(c, acp_walk_space(&c->w, p), &c->top, key_of_top, value_of_top);
}
