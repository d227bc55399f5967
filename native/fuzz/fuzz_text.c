/* The functions on one text: what one of them promises, another must confirm. */
#include <stdlib.h>
#include <string.h>

#include "acpcore.h"
#include "cpu.h"
#include "flags.h"
#include "judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition) {
  if (!condition) abort();
}

static void *exact(const void *bytes, size_t size) {
  void *copy = malloc(size ? size : 1);
  require(copy != NULL);
  if (size) memcpy(copy, bytes, size);
  return copy;
}

/* A string is valid between quotes exactly if its inside can be read; and it never grows. */
static void strings(const uint8_t *text, uint32_t size) {
  uint8_t *out = malloc(size + 1), *quoted = malloc(size + 2);
  uint32_t at, reason;
  int32_t len = acp_string(out, size, text, size);
  quoted[0] = quoted[size + 1] = '"';
  memcpy(quoted + 1, text, size);
  require((len >= 0) == (acp_check(quoted, size + 2, &at, &reason) == ACP_OK));
  require(len <= (int32_t)size);
  if (len > 0) require(acp_string(out, (uint32_t)len - 1, text, size) == ACP_E_ROOM);
  free(out);
  free(quoted);
}

/* Data in pieces is the data at once, and what decodes encodes back. */
static void terminal(const uint8_t *text, uint32_t size) {
  uint32_t bound = acp_terminal_size(text, size), used = 0, at = 0, total = 0;
  uint8_t *whole = malloc(bound + 1), *pieces = malloc(bound + 8);
  int32_t len = acp_terminal_data(whole, bound, text, size, &used);
  require(len < 0 || used == size);
  while (len >= 0 && at < size) {
    int32_t got = acp_terminal_data(pieces + total, 5, text + at, size - at, &used);
    require(got >= 0 && used > 0);
    total += (uint32_t)got;
    at += used;
  }
  require(len < 0 || ((uint32_t)len == total && memcmp(whole, pieces, total) == 0));
  free(whole);
  free(pieces);
}

static void base64(const uint8_t *text, uint32_t size) {
  uint8_t *raw = malloc(size + 1), *back = malloc(size + 1);
  int32_t len = acp_base64_decode(raw, size, text, size);
  if (len >= 0) {
    require(acp_base64_encode(back, size, raw, (uint32_t)len) == (int32_t)size);
    require(memcmp(back, text, size) == 0);
  }
  free(raw);
  free(back);
}

/* What can be built is a message of its kind on one line. */
static void build(const uint8_t *text, uint32_t size) {
  uint32_t room = acp_build_size(1, 1, size);
  uint8_t *line = malloc(room);
  acp_frame frame;
  for (uint32_t kind = ACP_REQUEST; kind <= ACP_ERROR; kind++) {
    uint32_t call = kind <= ACP_NOTIFICATION, id = kind != ACP_NOTIFICATION;
    int32_t len = acp_build(line, room, kind, (const uint8_t *)"1", id, (const uint8_t *)"m", call, text, size);
    if (len < 0) continue;
    require(memchr(line, '\n', (size_t)len) == line + len - 1);
    require(acp_message(line, (uint32_t)len, ACP_HOT, &frame) == ACP_OK && frame.kind == kind);
  }
  free(line);
}

/* A line is the same message with and without a scanner. */
static void message(const uint8_t *text, uint32_t size) {
  acp_scanner s;
  acp_taken taken;
  acp_frame alone, scanned[1];
  acp_group group;
  if (memchr(text, '\n', size)) return;
  require(acp_message(text, size, ACP_HOT, &alone) == ACP_OK);
  require(acp_scanner_init(&s, 1 << 20, ACP_HOT) == ACP_OK);
  uint8_t *line = malloc(size + 2);
  line[0] = '\n'; /* so that the line cannot begin with a mark that is skipped */
  memcpy(line + 1, text, size);
  line[size + 1] = '\n';
  require(acp_scan(&s, line, size + 2, 0, scanned, 1, &group, 1, NULL, 0, &taken) == ACP_OK);
  int marked = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
  free(line);
  if (marked) return;
  require(taken.frames == (alone.kind != ACP_NONE));
  if (!taken.frames) return;
  require(alone.kind == scanned[0].kind && alone.reason == scanned[0].reason && alone.len == scanned[0].len);
}

#define USUAL "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\""
#define USUAL_CHUNK USUAL "s\",\"update\":{\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":\""
#define USUAL_TEXT USUAL "s\",\"update\":{\"sessionUpdate\":\"user_message\",\"content\":{\"type\":\"text\",\"text\":\""

/* Short cuts and vectors change nothing, however a line goes on that begins as usual. */
static void short_cuts(const uint8_t *text, uint32_t size) {
  static const char *const heads[] = {"", USUAL, USUAL_CHUNK, USUAL_TEXT};
  acp_frame usual, plain;
  for (int i = 0; i < 4; i++) {
    uint32_t head = (uint32_t)strlen(heads[i]), len = head + size;
    uint8_t *line = malloc(len ? len : 1), *early_room = malloc(size + 1), *later_room = malloc(size + 1);
    acp_early early = {early_room, size, 0, 0}, later = {later_room, size, 0, 0};
    acp_text whole = {line, 0, len, len};
    memcpy(line, heads[i], head);
    if (size) memcpy(line + head, text, size);
    acp_cpu_limit(ACP_CPU_WIDE);
    acp_judge_line(&whole, ACP_HOT, &early, &usual);
    acp_cpu_limit(ACP_CPU_PLAIN);
    acp_judge_line(&whole, ACP_HOT | ACP_PLAINLY, &later, &plain);
    acp_cpu_limit(ACP_CPU_WIDE);
    require(memcmp(&usual, &plain, sizeof usual) == 0);
    require(early.off == later.off && early.len == later.len && memcmp(early_room, later_room, early.len) == 0);
    free(line);
    free(early_room);
    free(later_room);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *text = exact(data, size);
  uint32_t length = (uint32_t)size;
  strings(text, length);
  terminal(text, length);
  base64(text, length);
  build(text, length);
  message(text, length);
  short_cuts(text, length);
  free(text);
  return 0;
}
