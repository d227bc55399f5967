#include <stdlib.h>

#include "check.h"
#include "feed.h"

#define NOTE "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}"
#define CALL "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"c\",\"params\":{\"sessionId\":\"s\"}}"
#define DONE "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[1,[2]]}"

static void entries_are_judged_like_lines(void) {
  feed_options o = feed_defaults();
  FEED_EXPECT("[" NOTE "," CALL "," DONE "]\n", &o,
              "array\n  notification method=m\n  request integer id=1 method=c body={\"sessionId\":\"s\"} session=s\n"
              "  result integer id=1 body=[1,[2]]\n");
  FEED_EXPECT(" [ " NOTE "\t,\r" NOTE " ]\r\n", &o, "array\n  notification method=m\n  notification method=m\n");
  FEED_EXPECT("[1,\"a,]\",[],[1],{},null]\n", &o,
              "array\n  bad not_object\n  bad not_object\n  bad not_object\n  bad not_object\n  bad version\n  bad not_object\n");
  FEED_EXPECT("[{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"},{\"jsonrpc\":\"2.0\",\"id\":2}]", &o,
              "array\n  bad id method=m\n  bad response integer id=2\n");
  FEED_EXPECT("[" NOTE "," NOTE, &o, "bad truncated\n");
  FEED_EXPECT("[" NOTE ",]\n" NOTE "\n", &o, "bad json\nnotification method=m\n");
}

static void entries_have_places_of_their_own(void) {
  feed_options o = feed_defaults();
  static const char stream[] = "\n[1, " NOTE " ]\n";
  feed_log log = feed_every_way(stream, sizeof stream - 1, &o);
  CHECK_TEXT(log.places, "array @1+36 m0\n  bad not_object @2+1 wrong@2 m0\n  notification method=m @5+30 m0\n");
  CHECK_NUMBER(log.count, 1);
  feed_free(&log);
}

#define CHUNK "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":" \
              "{\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":\"aGk=\"}}}"

static void entries_are_described_but_not_decoded(void) {
  feed_options o = feed_defaults();
  static const char stream[] = "[" CHUNK "]\n";
  feed_log log = feed_cut(stream, sizeof stream - 1, NULL, 0, &o);
  CHECK(strstr(log.places, "tag=terminal_output_chunk") && strstr(log.places, " session=s entity=t data=aGk= @1+"));
  CHECK(strstr(log.places, "EXACT\n") && !strstr(log.places, "DECODED"));
  CHECK_TEXT(log.groups, "one 1\n");
  feed_free(&log);
  o.flags = ACP_ROUTE;
  log = feed_cut(stream, sizeof stream - 1, NULL, 0, &o);
  CHECK(!strstr(log.places, "tag="));
  feed_free(&log);
}

static void a_few_at_a_time(void) {
  static const char text[] = "[1,2,3,4,5]";
  acp_scanner s;
  CHECK_NUMBER(acp_scanner_init(&s, 100, ACP_ROUTE), ACP_OK);
  for (uint32_t cap = 1; cap < 8; cap++) {
    uint8_t *data = malloc(sizeof text - 1);
    acp_frame *frames = malloc(cap * sizeof *frames), array;
    uint32_t cursor = 0, total = 0;
    int32_t got;
    memcpy(data, text, sizeof text - 1);
    CHECK_NUMBER(acp_message(data, sizeof text - 1, ACP_ROUTE, &array), ACP_OK);
    while ((got = acp_entries(&s, data, &array, &cursor, frames, cap)) > 0) {
      for (int32_t i = 0; i < got; i++) CHECK_NUMBER(frames[i].off, 1 + 2 * (total + (uint32_t)i));
      total += (uint32_t)got;
    }
    CHECK_NUMBER(got, 0);
    CHECK_NUMBER(total, 5);
    free(frames);
    free(data);
  }
}

static void no_arrays(void) {
  feed_options o = feed_defaults();
  o.flags |= ACP_NO_ARRAYS;
  FEED_EXPECT("[" NOTE "]\n[]\n" NOTE "\n", &o, "bad not_object\nbad empty_array\nnotification method=m\n");
}

/* An array counts as a level of nesting; its entries were allowed one less. */
static void depth_of_entries(void) {
  for (int deep = 120; deep < 130; deep++) {
    char line[600] = "[{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":";
    size_t at = strlen(line);
    memset(line + at, '[', (size_t)deep);
    memset(line + at + deep, ']', (size_t)deep);
    memcpy(line + at + 2 * deep, "}]", 3);
    acp_frame frame, entry;
    uint32_t cursor = 0;
    acp_scanner s;
    CHECK_NUMBER(acp_scanner_init(&s, 600, ACP_HOT), ACP_OK);
    CHECK_NUMBER(acp_message((uint8_t *)line, (uint32_t)strlen(line), ACP_HOT, &frame), ACP_OK);
    CHECK_NUMBER(frame.reason, deep + 2 > ACP_MAX_DEPTH ? ACP_R_DEPTH : ACP_R_NONE);
    if (frame.kind != ACP_ARRAY) continue;
    CHECK_NUMBER(acp_entries(&s, (uint8_t *)line, &frame, &cursor, &entry, 1), 1);
    CHECK_NUMBER(entry.kind, ACP_NOTIFICATION);
  }
}

int main(void) {
  entries_are_judged_like_lines();
  entries_have_places_of_their_own();
  entries_are_described_but_not_decoded();
  a_few_at_a_time();
  no_arrays();
  depth_of_entries();
  check_failures += feed_failures;
  return CHECK_DONE();
}
