#include "json.h"

#include <stddef.h>
#include <string.h>

#include "utf8.h"

/* ---- errors and white space */

const uint8_t *acp_walk_fail(acp_walk *w, const uint8_t *p, uint32_t reason) {
  w->at = p;
  w->reason = reason;
  return NULL;
}

const uint8_t *acp_walk_unexpected(acp_walk *w, const uint8_t *p) {
  int utf8 = p >= w->end || acp_utf8_length(p, w->end) != 0;
  return acp_walk_fail(w, p, utf8 ? ACP_R_JSON : ACP_R_UTF8);
}

const uint8_t *acp_walk_spaces(const acp_walk *w, const uint8_t *p) {
  while (p < w->end && (*p == ' ' || *p == '\t' || *p == '\r' || (*p == '\n' && w->breaks))) p++;
  return p;
}

/* ---- strings */

static int32_t hex_digit(uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  byte |= 0x20;
  return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The four digits at p: their value, or -1 and *bad where they end. */
static int32_t walk_hex4(const uint8_t *p, const uint8_t *end, const uint8_t **bad) {
  int32_t code = 0;
  for (int i = 0; i < 4; i++) {
    int32_t digit = p + i < end ? hex_digit(p[i]) : -1;
    if (digit < 0) {
      *bad = p + i;
      return -1;
    }
    code = code * 16 + digit;
  }
  return code;
}

static int is_high(int32_t code) { return code >= 0xD800 && code <= 0xDBFF; }
static int is_low(int32_t code) { return code >= 0xDC00 && code <= 0xDFFF; }

/* A high surrogate without its low one is the earlier mistake, whatever else is wrong behind it. */
static const uint8_t *walk_unicode(acp_walk *w, const uint8_t *p) {
  const uint8_t *bad = NULL;
  int32_t code = walk_hex4(p + 2, w->end, &bad);
  if (code < 0) return acp_walk_unexpected(w, bad);
  if (is_low(code)) return acp_walk_fail(w, p, ACP_R_SURROGATE);
  if (!is_high(code)) return p + 6;
  if (w->end - p < 12 || p[6] != '\\' || p[7] != 'u') return acp_walk_fail(w, p, ACP_R_SURROGATE);
  if (!is_low(walk_hex4(p + 8, w->end, &bad))) return acp_walk_fail(w, p, ACP_R_SURROGATE);
  return p + 12;
}

static inline int is_short_escape(uint8_t letter) {
  switch (letter) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't': return 1;
    default: return 0;
  }
}

static inline const uint8_t *walk_escape(acp_walk *w, const uint8_t *p) {
  if (w->end - p < 2) return acp_walk_fail(w, w->end, ACP_R_JSON);
  w->escaped = 1;
  if (is_short_escape(p[1])) return p + 2;
  return p[1] == 'u' ? walk_unicode(w, p) : acp_walk_unexpected(w, p + 1);
}

static const uint8_t *walk_wide(acp_walk *w, const uint8_t *p) {
  while (p < w->end && *p >= 0x80) {
    uint32_t length = acp_utf8_length(p, w->end);
    if (!length) return acp_walk_fail(w, p, ACP_R_UTF8);
    p += length;
  }
  return p;
}

/* Behind a special byte that is not the quote, and what belongs to it. */
static inline const uint8_t *walk_special(acp_walk *w, const uint8_t *p) {
  if (*p == '\\') return walk_escape(w, p);
  return *p >= 0x80 ? walk_wide(w, p) : acp_walk_fail(w, p, ACP_R_JSON);
}

#ifdef ACP_PLAIN_SSE2
/* Window by window: *done if the place returned is the last one. */
static const uint8_t *walk_windows(acp_walk *w, const uint8_t *p, int *done) {
  while (w->limit - p >= ACP_PLAIN_WINDOW) {
    const uint8_t *window = p;
    uint64_t special = acp_special64(window);
    int found = 0;
    p = special ? p : acp_plain_long(p + ACP_PLAIN_WINDOW, w->limit, &found);
    while (special) {
      p = window + __builtin_ctzll(special);
      *done = p >= w->end || *p == '"';
      if (*done) return p < w->end ? p : w->end;
      p = walk_special(w, p);
      *done = !p;
      if (!p) return NULL;
      ptrdiff_t passed = p - window;
      special = passed < ACP_PLAIN_WINDOW ? special >> passed << passed : 0;
      if (!special && passed < ACP_PLAIN_WINDOW) p = window + ACP_PLAIN_WINDOW;
    }
  }
  return p;
}
#else
static const uint8_t *walk_windows(acp_walk *w, const uint8_t *p, int *done) {
  (void)w, (void)done;
  return p;
}
#endif

const uint8_t *acp_walk_inside(acp_walk *w, const uint8_t *p) {
  int done = 0;
  w->escaped = 0;
  p = walk_windows(w, p, &done);
  while (!done) {
    p = acp_plain_run(p, w->end, w->limit);
    done = p == w->end || *p == '"';
    if (!done) p = walk_special(w, p);
    done |= !p;
  }
  return p;
}

const uint8_t *acp_walk_long_string(acp_walk *w, const uint8_t *p) {
  w->escaped = 0;
  p = acp_plain_run(p, w->end, w->limit);
  return p < w->end && *p == '"' ? p : acp_walk_prose(w, p);
}

const uint8_t *acp_walk_prose(acp_walk *w, const uint8_t *p) {
  p = acp_walk_inside(w, p);
  return p == w->end ? acp_walk_fail(w, p, ACP_R_JSON) : p;
}

/* ---- numbers and names */

static const uint8_t *walk_digits(acp_walk *w, const uint8_t *p) {
  const uint8_t *first = p;
  while (p < w->end && *p >= '0' && *p <= '9') p++;
  return p == first ? acp_walk_unexpected(w, p) : p;
}

static const uint8_t *walk_exponent(acp_walk *w, const uint8_t *p) {
  if (p < w->end && (*p == '+' || *p == '-')) p++;
  return walk_digits(w, p);
}

static const uint8_t *walk_number(acp_walk *w, const uint8_t *p) {
  if (*p == '-') p++;
  if (p < w->end && *p == '0') p++;
  else p = walk_digits(w, p);
  if (p && p < w->end && *p == '.') p = walk_digits(w, p + 1);
  if (p && p < w->end && (*p == 'e' || *p == 'E')) p = walk_exponent(w, p + 1);
  return p;
}

static const uint8_t *walk_name(acp_walk *w, const uint8_t *p, const char *name) {
  for (; *name; name++, p++)
    if (p >= w->end || *p != (uint8_t)*name) return acp_walk_unexpected(w, p);
  return p;
}

/* A value that is not a container. */
static const uint8_t *walk_leaf(acp_walk *w, const uint8_t *p) {
  switch (*p) {
    case '"': p = acp_walk_string(w, p + 1); return p ? p + 1 : NULL;
    case 't': return walk_name(w, p, "true");
    case 'f': return walk_name(w, p, "false");
    case 'n': return walk_name(w, p, "null");
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
      return walk_number(w, p);
    default: return acp_walk_unexpected(w, p);
  }
}

/* ---- containers */

typedef struct walk_nest {           /* which of the open containers are objects: one bit a level */
  uint64_t object[ACP_MAX_DEPTH / 64];
  uint32_t level;
} walk_nest;

static int nest_is_object(const walk_nest *n) { return (n->object[(n->level - 1) >> 6] >> ((n->level - 1) & 63)) & 1; }

static void nest_push(walk_nest *n, int object) {
  uint64_t bit = UINT64_C(1) << (n->level & 63);
  uint64_t *word = &n->object[n->level >> 6];
  *word = object ? *word | bit : *word & ~bit;
  n->level++;
}

static const uint8_t *walk_key(acp_walk *w, const uint8_t *p) {
  if (p == w->end || *p != '"') return acp_walk_unexpected(w, p);
  p = acp_walk_string(w, p + 1);
  return p ? acp_walk_colon(w, p + 1) : NULL;
}

/* At the bracket that opens a container -> at what comes first inside. */
static const uint8_t *walk_open(acp_walk *w, const uint8_t *p, walk_nest *n) {
  if (n->level >= ACP_MAX_DEPTH) return acp_walk_fail(w, p, ACP_R_DEPTH);
  nest_push(n, *p == '{');
  return acp_walk_space(w, p + 1);
}

static int walk_closes(const acp_walk *w, const uint8_t *p, const walk_nest *n) {
  return p < w->end && *p == (nest_is_object(n) ? '}' : ']');
}

/* Behind a value, or at the end of an empty container: closes what ends here and goes on to the next value. */
static const uint8_t *walk_next(acp_walk *w, const uint8_t *p, walk_nest *n, uint32_t open) {
  while (n->level > open) {
    p = acp_walk_space(w, p);
    int object = nest_is_object(n);
    if (p < w->end && *p == ',') {
      p = acp_walk_space(w, p + 1);
      return object ? walk_key(w, p) : p;
    }
    if (p == w->end || *p != (object ? '}' : ']')) return acp_walk_unexpected(w, p);
    p++;
    n->level--;
  }
  return p;
}

/* At a value within nest -> behind the container it lies in that is the last above open. */
static const uint8_t *walk_values(acp_walk *w, const uint8_t *p, walk_nest *n, uint32_t open) {
  do {
    if (p == w->end) return acp_walk_fail(w, p, ACP_R_JSON);
    if (*p == '{' || *p == '[') {
      p = walk_open(w, p, n);
      if (!p) return NULL;
      if (!walk_closes(w, p, n)) {
        if (nest_is_object(n)) p = walk_key(w, p);
        continue;
      }
    } else {
      p = walk_leaf(w, p);
      if (!p) return NULL;
    }
    p = walk_next(w, p, n, open);
  } while (p && n->level > open);
  return p;
}

const uint8_t *acp_walk_value(acp_walk *w, const uint8_t *p, uint32_t open) {
  if (p < w->end && *p != '{' && *p != '[') return walk_leaf(w, p);
  walk_nest nest;
  memset(&nest, 0, sizeof nest);
  nest.level = open;
  return walk_values(w, p, &nest, open);
}

const uint8_t *acp_walk_members(acp_walk *w, const uint8_t *p, uint32_t open) {
  walk_nest nest;
  memset(&nest, 0, sizeof nest);
  nest.level = open;
  nest_push(&nest, 1);
  p = walk_next(w, p, &nest, open);
  return p && nest.level > open ? walk_values(w, p, &nest, open) : p;
}

const uint8_t *acp_walk_text(acp_walk *w, uint32_t open) {
  const uint8_t *p = acp_walk_space(w, w->base);
  p = acp_walk_value(w, p, open);
  if (!p) return NULL;
  p = acp_walk_space(w, p);
  return p == w->end ? p : acp_walk_unexpected(w, p);
}

ACP_API int32_t acp_check(const uint8_t *json, uint32_t size, uint32_t *error_at, uint32_t *reason) {
  if (!json || size > ACP_MAX_SIZE || !error_at || !reason) return ACP_E_ARGUMENT;
  acp_walk w = {json, json + size, json + size, NULL, ACP_R_NONE, 1, 0};
  int valid = acp_walk_text(&w, 0) != NULL;
  *error_at = valid ? 0 : (uint32_t)(w.at - json);
  *reason = w.reason;
  return valid ? ACP_OK : ACP_E_JSON;
}
