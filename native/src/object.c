#include "object.h"

#include <string.h>

#include "strings.h"

#define OBJECT_NAME 32            /* longer than any name that is asked for */

void acp_object_reset(acp_object *o) {
  o->seen = o->count = o->others = o->repeated = 0;
  for (int i = 0; i < ACP_OBJECT_KEYS; i++) o->value[i] = (acp_token){0, 0, 0, 0};
}

/* FNV-1a over what the key spells. Names that collide only make a message take the plain path. */
static uint64_t object_hash(const uint8_t *key, uint32_t len) {
  const uint8_t *p = key, *end = key + len;
  uint64_t hash = UINT64_C(14695981039346656037);
  uint8_t out[4];
  while (p < end) {
    uint32_t step = acp_unescape_step(&p, end, out);
    for (uint32_t i = 0; i < step; i++) hash = (hash ^ out[i]) * UINT64_C(1099511628211);
  }
  return hash;
}

/* Only a few are told apart, so that the work stays linear: one more than that counts as repeated. */
static void object_note_other(acp_object *o, const uint8_t *key, uint32_t len) {
  if (o->repeated) return;
  uint64_t hash = object_hash(key, len);
  for (uint32_t i = 0; i < o->others; i++) o->repeated |= o->other[i] == hash;
  if (o->others == ACP_OBJECT_OTHERS) o->repeated = 1;
  else o->other[o->others++] = hash;
}

static int object_key(acp_key_of key_of, const uint8_t *key, uint32_t len, int escaped) {
  uint8_t name[OBJECT_NAME];
  if (!escaped) return key_of(key, len);
  int32_t spelled = acp_unescape(name, sizeof name, key, len);
  return spelled < 0 ? -1 : key_of(name, (uint32_t)spelled);
}

int acp_object_note(acp_object *o, acp_key_of key_of, const uint8_t *key, uint32_t len, int escaped) {
  int place = object_key(key_of, key, len, escaped);
  o->count++;
  if (place < 0) {
    object_note_other(o, key, len);
    return place;
  }
  o->repeated |= (o->seen >> place) & 1u;
  o->seen |= 1u << place;
  o->value[place].first = 0;
  return place;
}

const uint8_t *acp_object_take(acp_walk *w, const uint8_t *p, uint32_t open, acp_token *token) {
  const uint8_t *after = acp_walk_value(w, p, open);
  if (!after) return NULL;
  *token = (acp_token){(uint32_t)(p - w->base), (uint32_t)(after - p), *p, *p == '"' && w->escaped};
  return after;
}
