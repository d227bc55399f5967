#include <stdlib.h>

#include "acpcore.h"
#include "check.h"

/* Decodes in pieces of at most cap bytes, from memory of exact size; the length of all, or the error. */
static int32_t decode_in_pieces(const char *body, size_t size, uint32_t cap, char *out) {
  size_t at = 0;
  int32_t total = 0;
  while (at < size) {
    uint8_t *from = malloc(size - at), *to = malloc(cap ? cap : 1);
    uint32_t used = 0;
    memcpy(from, body + at, size - at);
    int32_t got = acp_terminal_data(to, cap, from, (uint32_t)(size - at), &used);
    if (got > 0) memcpy(out + total, to, (size_t)got);
    free(from);
    free(to);
    if (got < 0) return got;
    total += got;
    at += used;
  }
  return total;
}

static void expect(int line, const char *body, const char *want) {
  char out[256];
  size_t len = strlen(want);
  CHECK(acp_terminal_size((const uint8_t *)body, (uint32_t)strlen(body)) >= len);
  for (uint32_t cap = 3; cap < len + 4; cap++) {
    int32_t got = decode_in_pieces(body, strlen(body), cap, out);
    if (got == (int32_t)len && memcmp(out, want, len) == 0) continue;
    fprintf(stderr, "%s:%d: %s in pieces of %u gives %d\n", __FILE__, line, body, cap, (int)got);
    check_failures++;
  }
}

#define DECODES(body, want) expect(__LINE__, body, want)
#define REFUSED(body) CHECK_NUMBER(decode_in_pieces(body, sizeof(body) - 1, 100, (char[100]){0}), ACP_E_BASE64)

static void data_in_pieces(void) {
  DECODES("", "");
  DECODES("aGVsbG8=", "hello");
  DECODES("aGVsbG8gd29ybGQhIGhlbGxvIHdvcmxkIQ==", "hello world! hello world!");
  DECODES("Pz8\\/Pz8\\/Pz8\\/", "?????????");
  DECODES("\\u0061GVsbG8\\u003d", "hello");
  DECODES("aGVsbG\\u0038\\u003D", "hello");
  DECODES("\\/\\/\\/\\/aGk=", "\xFF\xFF\xFFhi");
}

static void data_that_is_refused(void) {
  REFUSED("a"); REFUSED("aGk"); REFUSED("aGk=a"); REFUSED("aGk=aGk="); REFUSED("aR=="); REFUSED("aG\\n="); REFUSED("aGk\\"); REFUSED("\\");
  REFUSED("aGk\\u003"); REFUSED("aGk\\u013d"); REFUSED("aGk\\u00zz"); REFUSED("aG k"); REFUSED("aGk\"aGk="); REFUSED("\\\\GVs"); REFUSED("aGVs\xFFGVs");
  REFUSED("aGk\\u");
}

static void room_for_nothing(void) {
  uint8_t out[4];
  uint32_t used = 9;
  CHECK_NUMBER(acp_terminal_data(out, 2, (const uint8_t *)"aGVs", 4, &used), ACP_E_ROOM);
  CHECK_NUMBER(used, 0);
  CHECK_NUMBER(acp_terminal_data(out, 1, (const uint8_t *)"aA==", 4, &used), 1);
  CHECK_NUMBER(used, 4);
  CHECK_NUMBER(acp_terminal_data(NULL, 0, (const uint8_t *)"", 0, &used), 0);
}

static void sizes(void) {
  CHECK_NUMBER(acp_terminal_size((const uint8_t *)"aGVs", 4), 3);
  CHECK_NUMBER(acp_terminal_size((const uint8_t *)"aGVsbG8=", 8), 5);
  CHECK_NUMBER(acp_terminal_size((const uint8_t *)"aA==", 4), 1);
  CHECK_NUMBER(acp_terminal_size((const uint8_t *)"=", 1), 2);
  CHECK_NUMBER(acp_terminal_size(NULL, 0), 0);
}

/* A chunk that is built is one that the scan joins and decodes. */
static void chunks_are_read_back(void) {
  uint8_t raw[400], line[1200], arena[400];
  acp_scanner s;
  acp_taken taken;
  acp_frame frame;
  acp_group group;
  for (uint32_t i = 0; i < sizeof raw; i++) raw[i] = (uint8_t)(i * 7);
  for (uint32_t size = 0; size < sizeof raw; size += 13) {
    uint8_t head[300];
    int32_t head_len = acp_terminal_head(head, sizeof head, (const uint8_t *)"s-1", 3, (const uint8_t *)"t \xC3\xA9", 4);
    uint32_t room = (uint32_t)head_len + acp_base64_size(size) + 8;
    CHECK(head_len > 0);
    int32_t len = acp_terminal_chunk(line, room, head, (uint32_t)head_len, raw, size);
    CHECK(len > 0 && line[len - 1] == '\n');
    CHECK_NUMBER(acp_scanner_init(&s, 2000, ACP_HOT), ACP_OK);
    CHECK_NUMBER(acp_scan(&s, line, (uint32_t)len, 0, &frame, 1, &group, 1, arena, sizeof arena, &taken), ACP_OK);
    CHECK_NUMBER(group.kind, ACP_G_TERMINAL);
    CHECK_NUMBER(group.data.len, size);
    CHECK(memcmp(arena + group.data.off, raw, size) == 0);
    CHECK_NUMBER(acp_terminal_chunk(line, (uint32_t)len - 1, head, (uint32_t)head_len, raw, size), ACP_E_ROOM);
  }
}

static void names_are_escaped(void) {
  static const uint8_t session[] = "a\"b\\c\n\x01", terminal[] = "\xE7\x95\x8C\t";
  uint8_t head[300];
  int32_t len = acp_terminal_head(head, sizeof head, session, sizeof session - 1, terminal, sizeof terminal - 1);
  CHECK(len > 0);
  head[len] = 0;
  CHECK_TEXT((char *)head, "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"a\\\"b\\\\c\\n\\u0001\",\"update\":"
                           "{\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"\xE7\x95\x8C\\t\",\"data\":\"");
  CHECK_NUMBER(acp_terminal_head(head, (uint32_t)len, session, sizeof session - 1, terminal, sizeof terminal - 1), len);
  CHECK_NUMBER(acp_terminal_head(head, (uint32_t)len - 1, session, sizeof session - 1, terminal, sizeof terminal - 1), ACP_E_ROOM);
  CHECK_NUMBER(acp_terminal_head(head, sizeof head, (const uint8_t *)"\xFF", 1, terminal, 1), ACP_E_JSON);
  CHECK_NUMBER(acp_terminal_head(head, sizeof head, session, 1, (const uint8_t *)"\xC3", 1), ACP_E_JSON);
  CHECK(acp_terminal_head(head, sizeof head, NULL, 0, NULL, 0) > 0);
}

int main(void) {
  data_in_pieces();
  data_that_is_refused();
  room_for_nothing();
  sizes();
  chunks_are_read_back();
  names_are_escaped();
  return CHECK_DONE();
}
