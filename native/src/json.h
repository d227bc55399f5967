/* The JSON validator: RFC 8259 to the letter, UTF-8, no lone surrogates, nesting of at most ACP_MAX_DEPTH. It keeps its
 * place in a walk, never calls itself and stops at the first error in byte order. */
#ifndef ACP_JSON_H
#define ACP_JSON_H
#include "acpcore.h"
#include "plain.h"

typedef struct acp_walk {
  const uint8_t *base;    /* offsets count from here */
  const uint8_t *end;     /* the text ends here */
  const uint8_t *limit;   /* bytes up to here may be read ahead; at least end */
  const uint8_t *at;      /* where it went wrong */
  /* Not bytes: a store of a byte could be one to anything, and compilers would fetch the rest again after each. */
  uint32_t reason;        /* acp_reason of that */
  uint32_t breaks;        /* line feeds count as white space */
  uint32_t escaped;       /* the last string holds a backslash */
} acp_walk;

/* All of these take and return places in the text; null means that at and reason are set. */
const uint8_t *acp_walk_fail(acp_walk *w, const uint8_t *p, uint32_t reason);
const uint8_t *acp_walk_unexpected(acp_walk *w, const uint8_t *p);           /* ACP_R_UTF8 or ACP_R_JSON */
const uint8_t *acp_walk_long_string(acp_walk *w, const uint8_t *p);          /* inside, all plain up to p -> at the closing quote */
const uint8_t *acp_walk_prose(acp_walk *w, const uint8_t *p);                /* the same for what is hardly a plain name */
const uint8_t *acp_walk_inside(acp_walk *w, const uint8_t *p);               /* the same; the end of the text may end it */
const uint8_t *acp_walk_value(acp_walk *w, const uint8_t *p, uint32_t open); /* open: containers around the value */
/* Behind the value of a member -> behind the object it belongs to; open: containers around that object. */
const uint8_t *acp_walk_members(acp_walk *w, const uint8_t *p, uint32_t open);
const uint8_t *acp_walk_spaces(const acp_walk *w, const uint8_t *p);

static inline const uint8_t *acp_walk_space(const acp_walk *w, const uint8_t *p) {
  if (p < w->end && *p > ' ') return p;
  return acp_walk_spaces(w, p);
}

/* Behind a key -> at its value. */
static inline const uint8_t *acp_walk_colon(acp_walk *w, const uint8_t *p) {
  p = acp_walk_space(w, p);
  if (p == w->end || *p != ':') return acp_walk_unexpected(w, p);
  return acp_walk_space(w, p + 1);
}

/* Most strings are short and plain: those end here, without a call. */
static inline const uint8_t *acp_walk_string(acp_walk *w, const uint8_t *p) {
  p = acp_plain_short(p, w->limit);
  if (p >= w->end || *p != '"') return acp_walk_long_string(w, p);
  w->escaped = 0;
  return p;
}

/* A whole text: one value with white space around it, inside of open containers. */
const uint8_t *acp_walk_text(acp_walk *w, uint32_t open);
#endif
