#include "object.h"

#include "strings.h"

#define OBJECT_NAME 32            /* longer than any name that is asked for */

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
void acp_object_note_other(acp_object *o, const uint8_t *key, uint32_t len) {
  if (o->repeated) return;
  uint64_t hash = object_hash(key, len);
  for (uint32_t i = 0; i < o->others; i++) o->repeated |= o->other[i] == hash;
  if (o->others == ACP_OBJECT_OTHERS) o->repeated = 1;
  else o->other[o->others++] = hash;
}

int acp_object_escaped_key(acp_key_of key_of, const uint8_t *key, uint32_t len) {
  uint8_t name[OBJECT_NAME];
  int32_t spelled = acp_unescape(name, sizeof name, key, len);
  return spelled < 0 ? -1 : key_of(name, (uint32_t)spelled);
}
