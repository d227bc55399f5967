/* Feeds a stream to a scanner the way a host does, cut in any way, and writes down what came out.
 *
 * All memory is allocated at its exact size, so that a sanitizer sees every byte read or written beside it. */
#ifndef ACP_TEST_FEED_H
#define ACP_TEST_FEED_H
#include <stddef.h>

#include "acpcore.h"

typedef struct feed_options {
  uint32_t flags, max_frame, frames_cap, groups_cap, arena_cap;
  int open;                       /* the stream does not end */
} feed_options;

typedef struct feed_log {
  char *frames;                   /* one line a frame: what it is and what its spans hold */
  char *places;                   /* the same with offsets and flags */
  char *groups;                   /* one line a group; not independent of the cuts */
  uint64_t looked, taken;
  uint32_t count, bad;            /* the scanner's own counters */
} feed_log;

feed_options feed_defaults(void); /* ACP_HOT, room for everything */

/* cuts: ascending places in the stream. Free with feed_free. */
feed_log feed_cut(const char *stream, size_t size, const size_t *cuts, size_t count, const feed_options *options);
void feed_free(feed_log *log);

/* Whole, byte by byte, and at every cut (pairs of cuts too for short streams): must give the same frames. Returns the whole one. */
feed_log feed_every_way(const char *stream, size_t size, const feed_options *options);

/* The frames of a stream that was fed in every way, compared with what is expected. */
void feed_expect(const char *file, int line, const char *stream, size_t size, const feed_options *options, const char *want);

#define FEED_EXPECT(stream, options, want) feed_expect(__FILE__, __LINE__, stream, sizeof(stream) - 1, options, want)

/* One message: kind, or reason if it is bad, and what its spans hold, as one line. Static storage. */
const char *feed_message(const char *line, size_t size, uint32_t flags);

extern int feed_failures;
#endif
