/* The members of the few objects that routing looks into, taken during the walk that validates them. */
#ifndef ACP_OBJECT_H
#define ACP_OBJECT_H
#include "json.h"

#define ACP_OBJECT_KEYS 8         /* names that one kind of object is asked for */
#define ACP_OBJECT_OTHERS 64      /* other names that are told apart; beyond, one counts as repeated */

typedef struct acp_token {        /* a value as it stands in the text; first is 0 if it is missing or cut */
  uint32_t off, len;
  uint8_t first, escaped;
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

void acp_object_reset(acp_object *o);

/* Counts the member whose key stands at [key, key + len): the place of its name, or -1. The value is missing until it is stored. */
int acp_object_note(acp_object *o, acp_key_of key_of, const uint8_t *key, uint32_t len, int escaped);

/* Walks the value at p and stores it in *token once it is whole. */
const uint8_t *acp_object_take(acp_walk *w, const uint8_t *p, uint32_t open, acp_token *token);

static inline int acp_object_has(const acp_object *o, int key) { return (o->seen >> key) & 1; }
static inline int acp_token_is_string(const acp_token *t) { return t->first == '"'; }

/* What stands between the quotes. */
static inline acp_span acp_token_inside(const acp_token *t) { return (acp_span){t->off + 1, t->len - 2}; }

/* The shortest way to say "this text": sizeof of a literal is known when it is compared. */
#define ACP_SAME(name, len, literal) ((len) == sizeof(literal) - 1 && memcmp((name), (literal), sizeof(literal) - 1) == 0)
#endif
