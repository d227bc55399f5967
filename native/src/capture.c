#include "capture.h"

#include <string.h>

void acp_capture_start(acp_capture *c, const uint8_t *base, const uint8_t *end, const uint8_t *limit, uint32_t flags,
                       acp_early *early) {
  c->w = (acp_walk){base, end, limit, NULL, ACP_R_NONE, 0, 0};
  c->hot = (flags & ACP_HOT) != 0;
  c->plainly = (flags & ACP_PLAINLY) != 0;
  c->usual = 0;
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

/* Behind the bracket that opens an object (begun: behind one of its values) -> behind the bracket that closes it. */
static inline const uint8_t *capture_members(acp_capture *c, const uint8_t *p, acp_object *o, acp_key_of key_of,
                                             capture_value_of value_of, int begun) {
  acp_walk *w = &c->w;
  int place = -1;
  for (;; begun = 1) {
    p = acp_walk_space(w, p);
    if (p < w->end && *p == '}') return p + 1;
    if (begun && (p == w->end || *p != ',')) return acp_walk_unexpected(w, p);
    if (begun) p = acp_walk_space(w, p + 1);
    p = capture_key(c, p, o, key_of, &place);
    if (p) p = value_of(c, p, place);
    if (!p) return NULL;
  }
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

/* Whether this text stands at p. */
#define CAPTURE_STANDS(c, p, literal) \
  ((size_t)((c)->w.end - (p)) >= sizeof(literal) - 1 && acp_stands((p), (literal), sizeof(literal) - 1))

#define CAPTURE_TEXT "{\"type\":\"text\",\"text\":\""

/* Most contents are one block of text. */
static const uint8_t *capture_content(acp_capture *c, const uint8_t *p) {
  if (c->plainly || !CAPTURE_STANDS(c, p, CAPTURE_TEXT)) return acp_walk_value(&c->w, p, 3);
  const uint8_t *quote = acp_walk_prose(&c->w, p + sizeof(CAPTURE_TEXT) - 1);
  if (!quote) return NULL;
  return quote + 1 < c->w.end && quote[1] == '}' ? quote + 2 : acp_walk_members(&c->w, quote + 1, 3);
}

/* Base64 is plain text: what decodes up to the closing quote needs no other validation. */
static const uint8_t *capture_data(acp_capture *c, const uint8_t *p) {
  acp_early *early = c->early;
  uint32_t len = 0;
  early->off = early->len = 0;    /* a member that is repeated writes over what the one before it left */
  const uint8_t *quote = acp_decode_string(early->dst, early->room, &(acp_stretch){p + 1, c->w.end, c->w.limit}, &len);
  if (!quote) return NULL;
  early->off = (uint32_t)(p + 1 - c->w.base);
  early->len = len;
  c->update.value[ACP_K_DATA] = (acp_token){early->off - 1, (uint32_t)(quote + 1 - p), '"', 0};
  return quote + 1;
}

static const uint8_t *value_of_update(acp_capture *c, const uint8_t *p, int place) {
  const uint8_t *after = NULL;
  if (place == ACP_K_CONTENT && opens_object(c, p)) {
    after = capture_content(c, p);
    return capture_store(c, p, after, &c->update.value[place]);
  }
  if (place == ACP_K_DATA && c->early && p < c->w.end && *p == '"') after = capture_data(c, p);
  return after ? after : capture_value(c, p, &c->update, place, 3);
}

static const uint8_t *capture_update(acp_capture *c, const uint8_t *p, int begun) {
  return capture_members(c, p, &c->update, key_of_update, value_of_update, begun);
}

static const uint8_t *value_of_params(acp_capture *c, const uint8_t *p, int place) {
  if (place != ACP_K_UPDATE || !c->hot || !opens_object(c, p)) return capture_value(c, p, &c->params, place, 2);
  acp_object_reset(&c->update);
  const uint8_t *after = capture_update(c, p + 1, 0);
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
  const uint8_t *after = capture_members(c, p + 1, &c->params, key_of_params, value_of_params, 0);
  return capture_store(c, p, after, &c->top.value[ACP_K_PARAMS]);
}

static const uint8_t *capture_result(acp_capture *c, const uint8_t *p) {
  acp_object_reset(&c->result);
  const uint8_t *after = capture_members(c, p + 1, &c->result, key_of_params, value_of_result, 0);
  return capture_store(c, p, after, &c->top.value[ACP_K_RESULT]);
}

const uint8_t *acp_capture_error(acp_capture *c, const uint8_t *p) {
  acp_object_reset(&c->error);
  const uint8_t *after = capture_members(c, p + 1, &c->error, key_of_error, value_of_error, 0);
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

static const uint8_t *capture_top(acp_capture *c, const uint8_t *p, int begun) {
  return capture_members(c, p, &c->top, key_of_top, value_of_top, begun);
}

/* ---- how nearly every line begins: what is compared at once is noted as if it had been read */

#define USUAL_VERSION "\"jsonrpc\":\"2.0\","
#define USUAL_METHOD "\"method\":\"session/update\","
/* With the first byte of the value: white space may stand in front of it. */
#define USUAL_PARAMS "\"params\":{\"sessionId\":\""
#define USUAL_UPDATE ",\"update\":{\"sessionUpdate\":\""
#define USUAL_LENGTH(literal) ((uint32_t)(sizeof(literal) - 1))

static inline void usual_note(acp_object *o, int key) {
  acp_object_note_key(o, key);
  o->count++;
}

/* A member with its comma whose value is a string. name: bytes up to the value. */
static const uint8_t *usual_member(acp_capture *c, const uint8_t *p, int key, uint32_t name, uint32_t len) {
  usual_note(&c->top, key);
  c->top.value[key] = (acp_token){(uint32_t)(p - c->w.base) + name, len - 1 - name, '"', 0};
  return p + len;
}

static const uint8_t *usual_version(acp_capture *c, const uint8_t *p) {
  return usual_member(c, p, ACP_K_JSONRPC, USUAL_LENGTH("\"jsonrpc\":"), USUAL_LENGTH(USUAL_VERSION));
}

static const uint8_t *usual_method(acp_capture *c, const uint8_t *p) {
  return usual_member(c, p, ACP_K_METHOD, USUAL_LENGTH("\"method\":"), USUAL_LENGTH(USUAL_METHOD));
}

/* If a member of an update stands at p, with the comma in front of it: behind it, otherwise p. */
static inline const uint8_t *usual_of_update(acp_capture *c, const uint8_t *p, int key, uint32_t name) {
  usual_note(&c->update, key);
  return value_of_update(c, p + name, key);
}

#define USUAL_IF_STANDS(c, p, key, name) \
  (CAPTURE_STANDS(c, p, name) ? usual_of_update(c, p, key, USUAL_LENGTH(name) - 1) : (p))

/* What a message or a terminal is known by, and what is new of it. */
static const uint8_t *usual_chunk(acp_capture *c, const uint8_t *p) {
  p = USUAL_IF_STANDS(c, p, ACP_K_TERMINAL, ",\"terminalId\":\"");
  if (p) p = USUAL_IF_STANDS(c, p, ACP_K_MESSAGE_ID, ",\"messageId\":\"");
  if (p) p = USUAL_IF_STANDS(c, p, ACP_K_DATA, ",\"data\":\"");
  return p ? USUAL_IF_STANDS(c, p, ACP_K_CONTENT, ",\"content\":{") : NULL;
}

/* At the tag of an update -> behind the update. open: where the update begins. */
static const uint8_t *usual_update(acp_capture *c, const uint8_t *p, const uint8_t *open) {
  usual_note(&c->params, ACP_K_UPDATE);
  usual_note(&c->update, ACP_K_TAG);
  p = acp_object_take(&c->w, p, 3, &c->update.value[ACP_K_TAG]);
  if (p) p = usual_chunk(c, p);
  if (p) p = capture_update(c, p, 1);
  return p ? capture_store(c, open, p, &c->params.value[ACP_K_UPDATE]) : NULL;
}

/* At the session's name -> behind params. open: where params begins. */
static const uint8_t *usual_params(acp_capture *c, const uint8_t *p, const uint8_t *open) {
  usual_note(&c->top, ACP_K_PARAMS);
  usual_note(&c->params, ACP_K_SESSION);
  p = acp_object_take(&c->w, p, 2, &c->params.value[ACP_K_SESSION]);
  if (p && c->hot && CAPTURE_STANDS(c, p, USUAL_UPDATE))
    p = usual_update(c, p + USUAL_LENGTH(USUAL_UPDATE) - 1, p + USUAL_LENGTH(",\"update\":"));
  if (p) p = capture_members(c, p, &c->params, key_of_params, value_of_params, 1);
  return p ? capture_store(c, open, p, &c->top.value[ACP_K_PARAMS]) : NULL;
}

static const uint8_t *usual_message(acp_capture *c, const uint8_t *p) {
  c->usual = 1;
  p = usual_method(c, usual_version(c, p));
  p = usual_params(c, p + USUAL_LENGTH(USUAL_PARAMS) - 1, p + USUAL_LENGTH("\"params\":"));
  return p ? capture_top(c, p, 1) : NULL;
}

const uint8_t *acp_capture_message(acp_capture *c, const uint8_t *p) {
  if (!c->plainly && CAPTURE_STANDS(c, p, USUAL_VERSION USUAL_METHOD USUAL_PARAMS)) return usual_message(c, p);
  return capture_top(c, p, 0);
}
