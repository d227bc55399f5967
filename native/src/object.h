/* The members of the few objects that routing looks into, taken during the walk that validates them. */
#ifndef ACP_OBJECT_H
#define ACP_OBJECT_H
#include "json.h"

#define ACP_OBJECT_KEYS 8         /* names that one kind of object is asked for */
#define ACP_OBJECT_OTHERS 64      /* other names that are told apart; beyond, one counts as repeated */

typedef struct acp_token {        /* a value as it stands in the text; first is 0 if it is missing or cut */
  uint32_t off, len;
  uint32_t first, escaped;
} acp_token;

typedef struct acp_object {
  uint32_t seen;                  /* one bit a name asked for */
  uint32_t count;                 /* members in all, repeated ones included */
  uint32_t others;
  uint32_t repeated;
  acp_token value[ACP_OBJECT_KEYS];
  uint64_t other[ACP_OBJECT_OTHERS];
} acp_object;

/* The place of a name in value, or -1. The name is unescaped. */
typedef int (*acp_key_of)(const uint8_t *name, uint32_t len);

/* Only seen says which values there are, so nothing else needs clearing. */
static inline void acp_object_reset(acp_object *o) { o->seen = o->count = o->others = o->repeated = 0; }

/* Notes a name that nobody asked for, given as it stands in the text. */
void acp_object_note_other(acp_object *o, const uint8_t *key, uint32_t len);

/* The place of a name that is written with escapes. */
int acp_object_escaped_key(acp_key_of key_of, const uint8_t *key, uint32_t len);

/* The value is missing until it is stored. */
static inline void acp_object_note_key(acp_object *o, int place) {
  o->repeated |= (o->seen >> place) & 1u;
  o->seen |= 1u << place;
  o->value[place].first = 0;
}

/* Walks the value at p and stores it in *token once it is whole. */
static inline const uint8_t *acp_object_take(acp_walk *w, const uint8_t *p, uint32_t open, acp_token *token) {
  int string = p < w->end && *p == '"';
  const uint8_t *after = string ? acp_walk_string(w, p + 1) : acp_walk_value(w, p, open);
  if (!after) return NULL;
  after += string;
  *token = (acp_token){(uint32_t)(p - w->base), (uint32_t)(after - p), *p, string ? w->escaped : 0};
  return after;
}

/* A value that is missing is like one that was cut. */
static inline const acp_token *acp_object_get(const acp_object *o, int key) {
  static const acp_token missing = {0, 0, 0, 0};
  return (o->seen >> key) & 1 ? &o->value[key] : &missing;
}

static inline int acp_object_has(const acp_object *o, int key) { return (o->seen >> key) & 1; }
static inline int acp_token_is_string(const acp_token *t) { return t->first == '"'; }

/* What stands between the quotes. */
static inline acp_span acp_token_inside(const acp_token *t) { return (acp_span){t->off + 1, t->len - 2}; }

/* Whether these bytes stand at p. With a length that is known it becomes a few comparisons of words, without a call. */
static inline int acp_stands(const uint8_t *p, const char *literal, size_t len) {
  uint64_t differs = 0, there, here;
  if (len < sizeof there) return memcmp(p, literal, len) == 0;
  for (size_t at = 0; at < len; at += sizeof there) {
    size_t from = at + sizeof there <= len ? at : len - sizeof there;
    memcpy(&there, p + from, sizeof there);
    memcpy(&here, literal + from, sizeof here);
    differs |= there ^ here;
  }
  return differs == 0;
}

/* The shortest way to say "this text": sizeof of a literal is known when it is compared. */
#define ACP_SAME(name, len, literal) ((len) == sizeof(literal) - 1 && acp_stands((name), (literal), sizeof(literal) - 1))
#endif
