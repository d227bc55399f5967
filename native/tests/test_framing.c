#include <stdlib.h>

#include "check.h"
#include "feed.h"

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\"}"
#define PING_FRAME "request integer id=1 method=p\n"
#define BOM "\xEF\xBB\xBF"

static feed_options route(void) {
  feed_options o = feed_defaults();
  o.flags = ACP_ROUTE;
  return o;
}

static feed_options with_max(uint32_t max_frame) {
  feed_options o = feed_defaults();
  o.max_frame = max_frame;
  return o;
}

static void only_line_feeds_end_lines(void) {
  feed_options o = feed_defaults();
  FEED_EXPECT("", &o, "");
  FEED_EXPECT(PING "\n", &o, PING_FRAME);
  FEED_EXPECT(PING "\n" PING "\n", &o, PING_FRAME PING_FRAME);
  FEED_EXPECT(PING "\r\n", &o, PING_FRAME);
  FEED_EXPECT(PING "\r\r\n", &o, PING_FRAME);
  FEED_EXPECT(PING "\r" PING "\n", &o, "bad json\n");
  FEED_EXPECT(PING PING "\n", &o, "bad json\n");
}

static void blank_lines_are_nothing(void) {
  feed_options o = feed_defaults();
  FEED_EXPECT("\n", &o, "");
  FEED_EXPECT("\n\r\n \t\r \n", &o, "");
  FEED_EXPECT("\n \t\n" PING "\n\r\n" PING "\n  ", &o, PING_FRAME PING_FRAME);
  FEED_EXPECT(" \t", &o, "");
}

static void one_mark_is_skipped(void) {
  feed_options o = feed_defaults();
  FEED_EXPECT(BOM PING "\n", &o, PING_FRAME);
  FEED_EXPECT("\n \n" BOM PING "\n", &o, PING_FRAME);
  FEED_EXPECT(BOM "\n" BOM PING "\n", &o, "bad json\n");
  FEED_EXPECT(BOM BOM PING "\n", &o, "bad json\n");
  FEED_EXPECT(PING "\n" BOM PING "\n", &o, PING_FRAME "bad json\n");
  FEED_EXPECT(" " BOM PING "\n", &o, "bad json\n");
  FEED_EXPECT(BOM PING, &o, PING_FRAME);
  FEED_EXPECT("\xEF\xBB\n" PING "\n", &o, "bad utf8\n" PING_FRAME);
}

static void frames_leave_mark_and_ending_out(void) {
  feed_options o = feed_defaults();
  feed_log log = feed_every_way(BOM " {}\r\n[]\n", 11, &o);
  CHECK_TEXT(log.places, "bad version @3+3 wrong@4 m0\nbad empty_array @8+2 wrong@8 m0\n");
  CHECK_NUMBER(log.count, 2);
  CHECK_NUMBER(log.bad, 2);
  CHECK_NUMBER(log.taken, 11);
  feed_free(&log);
}

static void the_end_of_the_stream(void) {
  feed_options o = feed_defaults();
  FEED_EXPECT(PING, &o, PING_FRAME);
  FEED_EXPECT(PING "\r", &o, PING_FRAME);
  FEED_EXPECT("[" PING "]", &o, "array\n  " PING_FRAME);
  FEED_EXPECT(PING "\n{\"jsonrpc\":\"2.0\",\"id\":1", &o, PING_FRAME "bad truncated\n");
  FEED_EXPECT("{\"jsonrpc\":\"1.0\"}", &o, "bad truncated\n");
  FEED_EXPECT("noise", &o, "bad truncated\n");
  o.open = 1;
  FEED_EXPECT(PING, &o, "");
  FEED_EXPECT(PING "\nnoise", &o, PING_FRAME);
}

static void lines_level_looks_into_nothing(void) {
  feed_options o = feed_defaults();
  o.flags = ACP_LINES;
  FEED_EXPECT("\xFF\xFE\n\n{}\nrest", &o, "line\nline\nline\n");
  o.max_frame = 3;
  FEED_EXPECT("{\"id\":1}\n{}\n", &o, "bad too_large\nskipped integer id=1\nline\n");
}

static void small_arrays_ask_for_more(void) {
  feed_options o = feed_defaults();
  o.frames_cap = 1;
  FEED_EXPECT(PING "\n\n" PING "\n" PING, &o, PING_FRAME PING_FRAME PING_FRAME);
  o.frames_cap = 8;
  o.groups_cap = 1;
  FEED_EXPECT(PING "\n\n" PING "\n" PING, &o, PING_FRAME PING_FRAME PING_FRAME);
  o = route();
  o.groups_cap = 0;
  FEED_EXPECT(PING "\n" PING "\n", &o, PING_FRAME PING_FRAME);
}

static void a_longest_line(void) {
  feed_options o = with_max(sizeof PING - 1);
  FEED_EXPECT(PING "\n" PING, &o, PING_FRAME PING_FRAME);
  FEED_EXPECT(PING "\r\n", &o, "bad too_large integer id=1 method=p\nskipped\n");
  o = with_max(sizeof PING);
  FEED_EXPECT(PING "\r\n", &o, PING_FRAME);
  FEED_EXPECT("                                                 \n" PING "\n", &o, "bad too_large\nskipped\n" PING_FRAME);
}

static void too_large_shows_its_beginning(void) {
  feed_options o = with_max(40);
  FEED_EXPECT("{\"id\":7,\"method\":\"m\",\"params\":{\"a\":[1,2,3,4,5]},\"x\":0}\n" PING "\n", &o,
              "bad too_large integer id=7 method=m\nskipped\n" PING_FRAME);
  FEED_EXPECT("{\"method\":\"m\",\"id\":7,\"id\":\"cut here it goes on\"}\n", &o, "bad too_large method=m\nskipped string id=\"cut here it goes on\"\n");
  FEED_EXPECT("{\"id\":12345678901234567,  \"x\":0.0,\"y\":111111}\n", &o, "bad too_large integer id=12345678901234567\nskipped\n");
  FEED_EXPECT("[{\"id\":7,\"method\":\"m\"}                                 ]\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n" PING "\n", &o, "bad too_large\nskipped\n" PING_FRAME);
}

static void a_number_that_may_go_on_is_no_id(void) {
  feed_options o = with_max(8);
  FEED_EXPECT("{\"id\":123456}\n", &o, "bad too_large\nskipped integer id=123456\n");
  o = with_max(12);
  FEED_EXPECT("{\"id\":123456}\n", &o, "bad too_large\nskipped integer id=123456\n");
  FEED_EXPECT("{\"id\":12345,}\n", &o, "bad too_large integer id=12345\nskipped\n");
}

static void response_flag(const char *stream, const char *want) {
  feed_options o = with_max(30);
  feed_log log = feed_every_way(stream, strlen(stream), &o);
  CHECK_TEXT(log.places, want);
  feed_free(&log);
}

static void too_large_tells_responses(void) {
  response_flag("{\"id\":1,\"result\":\"0123456789012345678901234567890\"}\n",
                "bad too_large integer id=1 @0+0 wrong@30 m0 RESPONSE\nskipped @51+0 m0\n");
  response_flag("{\"id\":1,\"method\":\"012345678901234567890123\"}\n",
                "bad too_large integer id=1 @0+0 wrong@30 m0 CALL\nskipped @44+0 m0\n");
  response_flag("{\"id\":1,\"params\":\"0123456789012345678901234\"}\n",
                "bad too_large integer id=1 @0+0 wrong@30 m0 CALL\nskipped @45+0 m0\n");
  response_flag("{\"id\":1,\"other\":\"0123456789012345678901234567890\"}\n",
                "bad too_large integer id=1 @0+0 wrong@30 m0\nskipped @50+0 m0\n");
}

#define LONG "{\"result\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\""

static void the_tail_shows_the_id(void) {
  feed_options o = with_max(16);
  FEED_EXPECT(LONG ",\"id\":5}\n", &o, "bad too_large\nskipped integer id=5\n");
  FEED_EXPECT(LONG " ,\t\"id\" : -5 } \r\n", &o, "bad too_large\nskipped integer id=-5\n");
  FEED_EXPECT(LONG ",\"id\":\"a b\"}\n", &o, "bad too_large\nskipped string id=\"a b\"\n");
  FEED_EXPECT(LONG ",\"id\":\"\"}\n", &o, "bad too_large\nskipped string id=\"\"\n");
  FEED_EXPECT("{            \"id\":5}\n", &o, "bad too_large\nskipped integer id=5\n");
}

static void the_tail_shows_nothing_else(void) {
  feed_options o = with_max(16);
  FEED_EXPECT(LONG ",\"id\":5}}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT(LONG ",\"id\":5,\"x\":1}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT(LONG ",\"id\":9223372036854775808}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT(LONG ",\"id\":1.5}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT(LONG ",\"id\":01}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT(LONG ",\"id\":null}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT(LONG ",\"id\":\"a\\\"b\"}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT(LONG ",\"id\":\"\xFF\"}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT(LONG "x\"id\":5}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT(LONG ",\"id\"5}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT(LONG ",\"ix\":5}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT("xxxxxxxxxxxxxxxxxxxxx:5}\n", &o, "bad too_large\nskipped\n");
  FEED_EXPECT("xxxxxxxxxxxxxxxxxxxxxxxx}\n", &o, "bad too_large\nskipped\n");
}

/* The second line's tail must not overwrite what a frame of the same call points at. */
static void two_tails_in_one_read(void) {
  feed_options o = with_max(16);
  FEED_EXPECT(LONG ",\"id\":5}\n" LONG ",\"id\":6}\n" LONG "}\n" LONG ",\"id\":7}\n", &o,
              "bad too_large\nskipped integer id=5\nbad too_large\nskipped integer id=6\nbad too_large\nskipped\nbad too_large\nskipped integer id=7\n");
}

static void the_stream_ends_while_skipping(void) {
  feed_options o = with_max(16);
  FEED_EXPECT(LONG ",\"id\":5}", &o, "bad too_large\n");
  FEED_EXPECT("{\"id\":1,\"x\":1234}", &o, "bad too_large integer id=1\n");
}

static void a_mark_counts_as_bytes_of_the_line(void) {
  feed_options o = with_max(9);
  FEED_EXPECT(BOM "{\"id\":1}\n", &o, "bad too_large\nskipped integer id=1\n");
  FEED_EXPECT(BOM "[{  }]\n", &o, "array\n  bad version\n");
  FEED_EXPECT("xxxxxxxxxxxxxxx\n" BOM "[{}]\n", &o, "bad too_large\nskipped\nbad json\n");
  o = with_max(2);
  FEED_EXPECT(BOM "{\"id\":1}\n{}\n", &o, "bad too_large\nskipped integer id=1\nbad version\n");
}

static void small_arrays_while_skipping(void) {
  feed_options o = with_max(16);
  o.frames_cap = 1;
  FEED_EXPECT(LONG ",\"id\":5}\n[1]\n" LONG ",\"id\":6}\n", &o,
              "bad too_large\nskipped integer id=5\narray\n  bad not_object\nbad too_large\nskipped integer id=6\n");
  o.frames_cap = 8;
  o.groups_cap = 1;
  FEED_EXPECT(LONG ",\"id\":5}\n[1]\n", &o, "bad too_large\nskipped integer id=5\narray\n  bad not_object\n");
}

static void too_large_comes_before_the_newline(void) {
  feed_options o = with_max(16);
  o.open = 1;
  FEED_EXPECT(LONG, &o, "bad too_large\n");
}

/* Reads of 4 KiB into a line of 1 MiB: no byte is looked through again for its newline. */
static void long_lines_cost_what_they_are_long(void) {
  size_t size = 1 << 20, count = size / 4096 - 1;
  char *stream = malloc(size);
  size_t *cuts = malloc(count * sizeof *cuts);
  memset(stream, 'x', size);
  memcpy(stream, "{\"jsonrpc\":\"2.0\",\"method\":\"_\",\"params\":\"", 40);
  memcpy(stream + size - 3, "\"}\n", 3);
  for (size_t i = 0; i < count; i++) cuts[i] = (i + 1) * 4096;
  feed_options o = feed_defaults();
  feed_log log = feed_cut(stream, size, cuts, count, &o);
  CHECK(log.looked <= 2 * size);
  CHECK_NUMBER(log.count, 1);
  CHECK_NUMBER(log.bad, 0);
  feed_free(&log);
  free(cuts);
  free(stream);
}

int main(void) {
  only_line_feeds_end_lines();
  blank_lines_are_nothing();
  one_mark_is_skipped();
  frames_leave_mark_and_ending_out();
  the_end_of_the_stream();
  lines_level_looks_into_nothing();
  small_arrays_ask_for_more();
  a_longest_line();
  too_large_shows_its_beginning();
  a_number_that_may_go_on_is_no_id();
  too_large_tells_responses();
  the_tail_shows_the_id();
  the_tail_shows_nothing_else();
  two_tails_in_one_read();
  the_stream_ends_while_skipping();
  a_mark_counts_as_bytes_of_the_line();
  small_arrays_while_skipping();
  too_large_comes_before_the_newline();
  long_lines_cost_what_they_are_long();
  check_failures += feed_failures;
  return CHECK_DONE();
}
