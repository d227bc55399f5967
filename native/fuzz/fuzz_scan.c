/* Any stream, cut anywhere, with any room: the frames are those of the whole stream, and every span lies in memory that
 * was given (everything is allocated at its exact size). The first bytes choose limits and cuts, the rest is the stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"

#define CHOICES 8
#define MAX_CUTS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static feed_options choose_options(const uint8_t *c) {
  static const uint32_t levels[] = {ACP_HOT, ACP_HOT, ACP_ROUTE, ACP_LINES};
  static const uint32_t arenas[] = {4096, 16, 3, 0};
  feed_options o = feed_defaults();
  o.flags = levels[c[0] & 3] | (c[0] & 4 ? ACP_NO_ARRAYS : 0u);
  o.open = (c[0] & 8) != 0;
  o.arena_cap = arenas[(c[0] >> 4) & 3];
  if (c[1]) o.max_frame = c[1];
  o.frames_cap = 1 + (c[2] & 15);
  o.groups_cap = 1 + (c[2] >> 4);
  return o;
}

static int compare_sizes(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

static size_t choose_cuts(const uint8_t *c, size_t size, size_t *cuts) {
  size_t count = c[0] % (MAX_CUTS + 1);
  for (size_t i = 0; i < count; i++) cuts[i] = ((size_t)c[1 + i % 4] * (i + 1) * 257) % (size + 1);
  qsort(cuts, count, sizeof *cuts, compare_sizes);
  return count;
}

static void compare(const feed_log *whole, const feed_log *cut) {
  if (strcmp(whole->places, cut->places) == 0 && whole->count == cut->count && whole->bad == cut->bad) return;
  fprintf(stderr, "whole:\n%scut:\n%s", whole->places, cut->places);
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t cuts[MAX_CUTS];
  if (size < CHOICES) return 0;
  const char *stream = (const char *)data + CHOICES;
  size_t length = size - CHOICES;
  feed_options options = choose_options(data), roomy = options;
  roomy.frames_cap = roomy.groups_cap = 64;
  feed_log whole = feed_cut(stream, length, NULL, 0, &roomy);
  feed_log cut = feed_cut(stream, length, cuts, choose_cuts(data + 3, length, cuts), &options);
  compare(&whole, &cut);
  if (feed_failures) abort();
  feed_free(&whole);
  feed_free(&cut);
  return 0;
}
