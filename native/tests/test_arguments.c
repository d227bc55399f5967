/* What the caller does wrong is refused, and nothing is written or read then. */
#include "acpcore.h"
#include "check.h"

#define TOO_MUCH (ACP_MAX_SIZE + 1u)

static uint8_t byte[64] = "{}";
static acp_scanner scanner;
static acp_frame frames[4];
static acp_group groups[4];
static acp_taken taken;

static void sizes_of_structs(void) {
  CHECK_NUMBER(sizeof(acp_frame), 64);
  CHECK_NUMBER(sizeof(acp_group), 48);
  CHECK_NUMBER(sizeof(acp_scanner), 128);
  CHECK_NUMBER(sizeof(acp_taken), 32);
}

static void init(void) {
  CHECK_NUMBER(acp_scanner_init(NULL, 100, ACP_HOT), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_scanner_init(&scanner, 0, ACP_HOT), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_scanner_init(&scanner, TOO_MUCH, ACP_HOT), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_scanner_init(&scanner, 100, 0), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_scanner_init(&scanner, 100, ACP_ROUTE | ACP_HOT), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_scanner_init(&scanner, 100, ACP_HOT | ACP_EOF), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_scanner_init(&scanner, 100, ACP_HOT | 1024), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_scanner_init(&scanner, ACP_MAX_SIZE, ACP_LINES), ACP_OK);
  CHECK_NUMBER(acp_scanner_init(&scanner, 1, ACP_ROUTE | ACP_NO_ARRAYS), ACP_OK);
  CHECK_NUMBER(acp_scanner_init(&scanner, 100, ACP_HOT), ACP_OK);
  CHECK_NUMBER(scanner.max_frame, 100);
}

static int32_t scan(acp_scanner *s, const uint8_t *data, uint32_t size, uint32_t flags, acp_frame *f, uint32_t fc, acp_group *g, uint32_t gc,
                    uint8_t *arena, uint32_t ac) {
  return acp_scan(s, data, size, flags, f, fc, g, gc, arena, ac, &taken);
}

static void scanning(void) {
  CHECK_NUMBER(acp_scanner_init(&scanner, 100, ACP_HOT), ACP_OK);
  CHECK_NUMBER(scan(NULL, byte, 2, 0, frames, 4, groups, 4, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, NULL, 2, 0, frames, 4, groups, 4, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, TOO_MUCH, 0, frames, 4, groups, 4, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, 2, ACP_HOT, frames, 4, groups, 4, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, 2, 32, frames, 4, groups, 4, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, 2, 0, NULL, 4, groups, 4, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, 2, 0, frames, 0, groups, 4, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, 2, 0, frames, 4, NULL, 4, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, 2, 0, frames, 4, groups, 0, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, 2, 0, frames, 4, NULL, 0, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, 2, 0, frames, 4, groups, 4, NULL, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, 2, 0, frames, 4, groups, 4, byte, TOO_MUCH), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_scan(&scanner, byte, 2, 0, frames, 4, groups, 4, byte, 1, NULL), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, NULL, 0, 0, frames, 4, groups, 4, NULL, 0), ACP_OK);
  CHECK_NUMBER(taken.consumed + taken.frames + taken.groups + taken.want, 0);
  CHECK_NUMBER(scanner.position + scanner.looked, 0);
}

/* The bytes that were not consumed must be given again. */
static void what_was_not_consumed(void) {
  CHECK_NUMBER(acp_scanner_init(&scanner, 100, ACP_ROUTE), ACP_OK);
  CHECK_NUMBER(scan(&scanner, byte, 2, 0, frames, 4, NULL, 0, NULL, 0), ACP_OK);
  CHECK_NUMBER(taken.consumed, 0);
  CHECK_NUMBER(taken.want, 3);
  CHECK_NUMBER(scanner.searched, 2);
  CHECK_NUMBER(scan(&scanner, byte, 1, 0, frames, 4, NULL, 0, NULL, 0), ACP_E_ARGUMENT);
  CHECK_NUMBER(scan(&scanner, byte, 2, ACP_EOF, frames, 4, NULL, 0, NULL, 0), ACP_OK);
  CHECK_NUMBER(taken.consumed, 2);
  CHECK_NUMBER(taken.want, 0);
}

static void messages(void) {
  uint32_t at, reason;
  CHECK_NUMBER(acp_message(NULL, 1, ACP_HOT, frames), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_message(byte, 2, ACP_HOT, NULL), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_message(byte, TOO_MUCH, ACP_HOT, frames), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_message(byte, 2, 0, frames), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_message(byte, 2, ACP_HOT | ACP_EOF, frames), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_message(NULL, 0, ACP_HOT, frames), ACP_OK);
  CHECK_NUMBER(acp_message(byte, 2, ACP_LINES, frames), ACP_OK);
  CHECK_NUMBER(frames[0].kind, ACP_LINE);
  CHECK_NUMBER(acp_check(NULL, 1, &at, &reason), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_check(byte, TOO_MUCH, &at, &reason), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_check(byte, 2, NULL, &reason), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_check(byte, 2, &at, NULL), ACP_E_ARGUMENT);
}

static void entries(void) {
  uint32_t cursor = 0;
  acp_frame array;
  static const uint8_t text[] = "[1]";
  CHECK_NUMBER(acp_scanner_init(&scanner, 100, ACP_ROUTE), ACP_OK);
  CHECK_NUMBER(acp_message(text, 3, ACP_ROUTE, &array), ACP_OK);
  CHECK_NUMBER(acp_entries(NULL, text, &array, &cursor, frames, 4), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_entries(&scanner, NULL, &array, &cursor, frames, 4), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_entries(&scanner, text, NULL, &cursor, frames, 4), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_entries(&scanner, text, &array, NULL, frames, 4), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_entries(&scanner, text, &array, &cursor, NULL, 4), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_entries(&scanner, text, &array, &cursor, frames, 0), ACP_E_ARGUMENT);
  cursor = 4;
  CHECK_NUMBER(acp_entries(&scanner, text, &array, &cursor, frames, 4), ACP_E_ARGUMENT);
  cursor = 0;
  array.kind = ACP_REQUEST;
  CHECK_NUMBER(acp_entries(&scanner, text, &array, &cursor, frames, 4), ACP_E_ARGUMENT);
}

static void text(void) {
  uint32_t used;
  CHECK_NUMBER(acp_string(NULL, 1, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_string(byte, 1, NULL, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_string(byte, TOO_MUCH, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_string(byte, 1, byte, TOO_MUCH), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_string(NULL, 0, NULL, 0), 0);
  CHECK_NUMBER(acp_string(NULL, 0, byte, 1), ACP_E_ROOM);
  CHECK_NUMBER(acp_base64_encode(NULL, 1, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_base64_encode(byte, 1, NULL, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_base64_encode(byte, TOO_MUCH, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_base64_encode(byte, 1, byte, TOO_MUCH), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_base64_encode(byte, ACP_MAX_SIZE, byte, ACP_MAX_SIZE), ACP_E_ROOM);
  CHECK_NUMBER(acp_base64_decode(NULL, 1, byte, 4), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_base64_decode(byte, 1, NULL, 4), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_base64_decode(NULL, 0, NULL, 0), 0);
  CHECK_NUMBER(acp_terminal_data(byte, 1, byte, 4, NULL), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_data(NULL, 1, byte, 4, &used), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_data(byte, 1, NULL, 4, &used), ACP_E_ARGUMENT);
}

static void sending(void) {
  CHECK_NUMBER(acp_terminal_head(NULL, 1, byte, 1, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_head(byte, 1, NULL, 1, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_head(byte, 1, byte, 1, NULL, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_head(byte, 1, byte, TOO_MUCH, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_chunk(NULL, 1, byte, 1, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_chunk(byte, 1, NULL, 1, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_chunk(byte, 1, byte, 0, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_chunk(byte, 1, byte, 1, NULL, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_chunk(byte, 1, byte, 1, byte, TOO_MUCH), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_terminal_chunk(byte, ACP_MAX_SIZE, byte, 1, byte, ACP_MAX_SIZE), ACP_E_ROOM);
  CHECK_NUMBER(acp_build(NULL, 1, ACP_RESULT, byte, 1, NULL, 0, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_build(byte, 1, ACP_RESULT, NULL, 1, NULL, 0, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_build(byte, 1, ACP_RESULT, byte, 1, NULL, 0, NULL, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_build(byte, TOO_MUCH, ACP_RESULT, byte, 1, NULL, 0, byte, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_build(byte, 1, ACP_RESULT, byte, TOO_MUCH, NULL, 0, byte, 1), ACP_E_ARGUMENT);
}

int main(void) {
  sizes_of_structs();
  init();
  scanning();
  what_was_not_consumed();
  messages();
  entries();
  text();
  sending();
  return CHECK_DONE();
}
