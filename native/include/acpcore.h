/* acpcore: framing, routing, terminal bytes and flow control for ACP over newline-delimited JSON.
 *
 * No I/O, no allocation, no callback, no kept pointer, no lock; the only writable global is the CPU level, found once (an
 * atomic, the same whoever writes it). The caller owns all memory. Pointers are only arguments, never struct members, and
 * are used only during the call. Bytes outside [p, p + size) are never read: no padding is asked for. Sizes and offsets
 * are uint32_t, at most ACP_MAX_SIZE, so that hosts with signed integers (Java) are safe; stream positions are uint64_t.
 * Structs hold fixed-width integers only and are multiples of 8 bytes, so every host can read arrays of them as plain
 * 32-bit words. An object belongs to one thread at a time; different objects may be used by different threads at once.
 *
 * What the peer does wrong is a frame (ACP_BAD). A negative return means that the caller did something wrong.
 */
#ifndef ACPCORE_H
#define ACPCORE_H
#include <stdint.h>

#define ACP_VERSION "0.1.0"
#define ACP_ABI 1u
#if defined(ACP_STATIC)
#  define ACP_API
#elif defined(_WIN32) && defined(ACP_BUILD)
#  define ACP_API __declspec(dllexport)
#elif defined(_WIN32)
#  define ACP_API __declspec(dllimport)
#else
#  define ACP_API __attribute__((visibility("default")))
#endif
#ifdef __cplusplus
extern "C" {
#endif
/* cffi:begin */
#define ACP_MAX_SIZE 0x7FFFFFBF          /* largest buffer, line, arena */
#define ACP_MAX_DEPTH 128                /* deeper nesting is ACP_R_DEPTH; the stack use of the scan does not grow with it */
#define ACP_MAX_RUN 32                   /* most frames of one ACP_G_UPDATES group */
#define ACP_TAIL 64                      /* bytes kept of the end of a line that is being skipped */

typedef enum acp_status {                /* returned by the functions below */
  ACP_OK = 0,
  ACP_MORE = 1,                          /* frames, groups or arena were full: call again with what is left */
  ACP_OPENED = 3, ACP_SHUT = 4,          /* a gate changed its state in this call */
  ACP_E_ARGUMENT = -1,                   /* null, a size above ACP_MAX_SIZE, an unknown flag, no room for one frame */
  ACP_E_ROOM = -2,                       /* the destination is too small; nothing was written */
  ACP_E_JSON = -3,                       /* text given by the caller is not valid JSON */
  ACP_E_BASE64 = -4,                     /* text given by the caller is not valid base64 */
  ACP_E_OVERRUN = -5                     /* past the hard cap; nothing was taken */
} acp_status;

typedef enum acp_kind {
  ACP_NONE,
  ACP_REQUEST, ACP_NOTIFICATION, ACP_RESULT, ACP_ERROR,
  ACP_ARRAY,                             /* a valid, non-empty array on one line: see acp_entries */
  ACP_LINE,                              /* level ACP_LINES: not looked into */
  ACP_SKIPPED,                           /* end of a line that was ACP_R_TOO_LARGE; not an event. id: span into scanner->tail */
  ACP_BAD
} acp_kind;

typedef enum acp_reason {                /* why a frame is ACP_BAD; append only */
  ACP_R_NONE,
  ACP_R_TOO_LARGE, ACP_R_TRUNCATED,      /* framing */
  ACP_R_UTF8, ACP_R_JSON, ACP_R_SURROGATE, ACP_R_DEPTH,                 /* not JSON: answered -32700 */
  ACP_R_NOT_OBJECT, ACP_R_VERSION, ACP_R_ID, ACP_R_METHOD, ACP_R_PARAMS, ACP_R_RESPONSE, ACP_R_EMPTY_ARRAY /* -32600 */
} acp_reason;

typedef enum acp_id_type { ACP_ID_NONE, ACP_ID_NULL, ACP_ID_INTEGER, ACP_ID_STRING } acp_id_type;

typedef enum acp_tag {                   /* update.sessionUpdate of a session/update; append only */
  ACP_T_NONE,                            /* not a session/update, or its tag is missing or not a string */
  ACP_T_OTHER,                           /* a tag this library does not know: the host reads the body */
  ACP_T_USER_MESSAGE_CHUNK, ACP_T_USER_MESSAGE, ACP_T_AGENT_MESSAGE_CHUNK, ACP_T_AGENT_MESSAGE,
  ACP_T_AGENT_THOUGHT_CHUNK, ACP_T_AGENT_THOUGHT, ACP_T_STATE_UPDATE, ACP_T_TOOL_CALL_CONTENT_CHUNK,
  ACP_T_TOOL_CALL_UPDATE, ACP_T_TERMINAL_UPDATE, ACP_T_TERMINAL_OUTPUT_CHUNK, ACP_T_PLAN_UPDATE, ACP_T_PLAN_REMOVED,
  ACP_T_AVAILABLE_COMMANDS_UPDATE, ACP_T_CONFIG_OPTION_UPDATE, ACP_T_SESSION_INFO_UPDATE, ACP_T_USAGE_UPDATE
} acp_tag;

typedef enum acp_frame_flag {
  ACP_F_ESCAPED = 1,                     /* method, session or entity holds a JSON escape: use acp_string */
  ACP_F_REPEATED = 2,                    /* a member of the message, its params, update or result is repeated (or there are too
                                            many of names unknown here to tell); the spans are those of the last one */
  ACP_F_META = 4,                        /* params or update has _meta */
  ACP_F_DECODED = 8,                     /* data lies in the arena, otherwise in the scanned bytes */
  ACP_F_RESPONSE = 16,                   /* ACP_BAD: has result or error, or an id and no method (a line that was cut: result or error): never answer it */
  ACP_F_EXACT = 32,                       /* a session/update with no member beyond those of the spans: regrouping loses nothing */
  ACP_F_CALL = 64                        /* ACP_R_TOO_LARGE: its beginning shows method or params, and neither result nor error */
} acp_frame_flag;

typedef struct acp_span { uint32_t off, len; } acp_span;     /* into the scanned bytes unless said otherwise */

typedef struct acp_frame {               /* 64 bytes, one a message */
  uint32_t off, len;                     /* the line without its ending (and without a byte-order mark), or the entry of an array */
  uint8_t kind, reason, tag, flags;
  uint16_t method_id;                    /* acp_method_id of a known method, 0 otherwise */
  uint8_t id_type, reserved;
  acp_span id, method;                   /* id: the token (of a string: with its quotes); method: without quotes */
  acp_span body;                         /* params, result or error value; ACP_BAD: off is where it went wrong (TOO_LARGE: the
                                            first byte too many), len 0 */
  acp_span session, entity;              /* params.sessionId or result.sessionId; update.terminalId, messageId or toolCallId; without quotes */
  acp_span data;                         /* terminal bytes (ACP_F_DECODED: arena; else the string without quotes) or update.content */
} acp_frame;

typedef enum acp_group_kind {
  ACP_G_ONE,                             /* count is 1: read the frame */
  ACP_G_TERMINAL,                        /* neighbouring chunks of one session and terminal, all EXACT and DECODED: data is one arena span */
  ACP_G_UPDATES                          /* neighbouring session/update of known tags, none ESCAPED or REPEATED: decode at once */
} acp_group_kind;

typedef struct acp_group {               /* 48 bytes; groups partition the frames, in wire order */
  uint32_t first, count, off, len;       /* frames; bytes from the first line's start to past the last line's newline */
  uint32_t kind, tag;                    /* tag: of all frames, ACP_T_OTHER when they differ */
  acp_span session, entity, data;        /* ACP_G_TERMINAL: those of its frames; data in the arena */
} acp_group;

typedef enum acp_scan_flag {
  ACP_LINES = 1,                         /* level: framing only */
  ACP_ROUTE = 2,                         /* level: validate (JSON, UTF-8, surrogates, depth) and find the envelope */
  ACP_HOT = 4,                           /* level: ROUTE and tags, entities, groups, terminal bytes */
  ACP_NO_ARRAYS = 8,                     /* option: an array is ACP_BAD/ACP_R_NOT_OBJECT, as newer drafts have it */
  ACP_EOF = 16                           /* to acp_scan only: no byte will follow */
} acp_scan_flag;

typedef struct acp_scanner {             /* 128 bytes; ready after acp_scanner_init, nothing to free; fields are read-only */
  uint64_t position;                     /* stream offset of the first byte not consumed */
  uint64_t frames, bad;                  /* frames that are events; those of them that are ACP_BAD */
  uint64_t looked;                       /* bytes examined in all, for the promise that work is linear */
  uint32_t max_frame, flags;
  uint32_t searched;                     /* how far the unfinished line has been looked through for its newline */
  uint32_t skipped;                      /* of the line being skipped: bytes so far, saturating */
  uint8_t tail[ACP_TAIL];                /* last bytes of the line being skipped: a trailing "id" is still found */
  uint8_t state, tail_len, reserved[14];
} acp_scanner;

typedef struct acp_taken {               /* what a call of acp_scan did */
  uint32_t consumed, frames, groups, arena;
  uint32_t want;                         /* bytes of room that the unfinished line needs at least; 0: there is none */
  uint32_t reserved[3];
} acp_taken;

ACP_API uint32_t acp_abi(void);                  /* compare with ACP_ABI before anything else */
ACP_API const char *acp_version(void);
ACP_API const char *acp_strerror(int32_t status);
ACP_API const char *acp_reason_text(uint32_t reason);
/* Numbers of methods and tags are append only within an ABI; 0 (tags: ACP_T_OTHER): unknown. The name is raw UTF-8. */
ACP_API uint32_t acp_method_id(const uint8_t *name, uint32_t len);
ACP_API const char *acp_method_name(uint32_t id);                     /* null beyond the last */
ACP_API uint32_t acp_tag_id(const uint8_t *name, uint32_t len);
ACP_API const char *acp_tag_name(uint32_t tag);

/* --- receive. max_frame: bytes of a line without its newline, at least 1. flags: one level and options. ACP_OK or
 * ACP_E_ARGUMENT. */
ACP_API int32_t acp_scanner_init(acp_scanner *s, uint32_t max_frame, uint32_t flags);

/* data begins with the bytes the last call did not consume. Whole lines become frames; taken->consumed ends behind the
 * last of them. A line is reported in one call or not at all, so a full array never splits one: ACP_MORE, then call again
 * with data + consumed. A chunk that does not fit into the arena ends the call with ACP_MORE if the arena holds anything;
 * in an empty arena it comes undecoded (no ACP_F_DECODED) and acp_terminal_data takes it in pieces. The arena behind
 * taken->arena may hold anything afterwards. When a line passes
 * max_frame it becomes one ACP_BAD/ACP_R_TOO_LARGE at once, with id and method if its first max_frame bytes show them;
 * the rest is consumed and ends as one ACP_SKIPPED (a line that would overwrite its tail waits for another call: ACP_MORE).
 * The frames are the same however the stream is cut; groups differ only in where they are cut. Work is linear in the bytes
 * given, over any cuts. ACP_OK, ACP_MORE or ACP_E_ARGUMENT. */
ACP_API int32_t acp_scan(acp_scanner *s, const uint8_t *data, uint32_t size, uint32_t flags,
                         acp_frame *frames, uint32_t frames_cap, acp_group *groups, uint32_t groups_cap,
                         uint8_t *arena, uint32_t arena_cap, acp_taken *taken);

/* Entries of an ACP_ARRAY frame, from *cursor (0 at first); returns how many, 0 at the end. Never grouped, no data decoded.
 * data: the bytes the array frame points into. An entry that is not a message is ACP_BAD with its reason. */
ACP_API int32_t acp_entries(const acp_scanner *s, const uint8_t *data, const acp_frame *array, uint32_t *cursor,
                            acp_frame *frames, uint32_t frames_cap);

/* --- message. One line (or one message without a newline) without a scanner; same frame, same reasons. flags as above.
 * An empty or blank line is ACP_NONE; a line feed anywhere but at the end, or a byte-order mark, is ACP_R_JSON. ACP_OK or
 * ACP_E_ARGUMENT. */
ACP_API int32_t acp_message(const uint8_t *line, uint32_t size, uint32_t flags, acp_frame *frame);

/* One JSON value with white space around it, line feeds included: ACP_OK; or ACP_E_JSON, *reason (an acp_reason) and
 * *error_at say why and where. */
ACP_API int32_t acp_check(const uint8_t *json, uint32_t size, uint32_t *error_at, uint32_t *reason);

/* The UTF-8 of a JSON string's inside (no quotes). Returns the length, at most size; ACP_E_ROOM, ACP_E_JSON. */
ACP_API int32_t acp_string(uint8_t *dst, uint32_t cap, const uint8_t *body, uint32_t size);

/* --- terminal and base64 (RFC 4648 section 4, padded; strict: alphabet, padding, trailing bits). Lengths are returned; dst and src
 * do not overlap. acp_terminal_data: the inside of a JSON string (escapes are accepted) to bytes; decodes as much as fits
 * in whole quanta, *used says how much of body that took; call again with the rest until it is all used. An error in any
 * part is ACP_E_BASE64 (bytes of earlier calls are then to be thrown away), no room for the first quantum ACP_E_ROOM. Use
 * acp_terminal_size to size dst at once. */
ACP_API uint32_t acp_terminal_size(const uint8_t *body, uint32_t size);                 /* upper bound of the bytes */
ACP_API int32_t acp_terminal_data(uint8_t *dst, uint32_t cap, const uint8_t *body, uint32_t size, uint32_t *used);
/* The constant beginning of a terminal's chunk lines, made once a terminal from raw UTF-8 names. Length, ACP_E_ROOM, ACP_E_JSON (not UTF-8). */
ACP_API int32_t acp_terminal_head(uint8_t *dst, uint32_t cap, const uint8_t *session, uint32_t session_len,
                                  const uint8_t *terminal, uint32_t terminal_len);
/* A whole line, newline included: head, base64 of raw, end. cap of head_len + acp_base64_size(size) + 8 is enough. */
ACP_API int32_t acp_terminal_chunk(uint8_t *dst, uint32_t cap, const uint8_t *head, uint32_t head_len,
                                   const uint8_t *raw, uint32_t size);
ACP_API uint32_t acp_base64_size(uint32_t size);
ACP_API int32_t acp_base64_encode(uint8_t *dst, uint32_t cap, const uint8_t *src, uint32_t size);
ACP_API int32_t acp_base64_decode(uint8_t *dst, uint32_t cap, const uint8_t *src, uint32_t size);

/* --- send. One line, newline included. kind: ACP_REQUEST, ACP_NOTIFICATION, ACP_RESULT or ACP_ERROR. id: a JSON token
 * (integer, string or null; empty for a notification); method: raw UTF-8 (empty for a response); body: JSON, checked, line
 * breaks between tokens become spaces; may be empty (no params). Length; ACP_E_ROOM, ACP_E_JSON, ACP_E_ARGUMENT (also for
 * parts that the kind must not or must have, params that are a bare scalar, an error without code and message).
 * acp_build_size: room that is always enough. */
ACP_API uint32_t acp_build_size(uint32_t id_len, uint32_t method_len, uint32_t body_len);
ACP_API int32_t acp_build(uint8_t *dst, uint32_t cap, uint32_t kind, const uint8_t *id, uint32_t id_len,
                          const uint8_t *method, uint32_t method_len, const uint8_t *body, uint32_t body_len);

/* --- flow. A gate shuts at high, opens at low; add past hard takes nothing, but an empty gate takes anything. C has no
 * clock: the host times the pauses. shuts: how often it shut. */
typedef struct acp_gate { uint64_t used, peak, high, low, hard, shuts; uint32_t shut, reserved; } acp_gate;  /* 56 */
ACP_API int32_t acp_gate_init(acp_gate *g, uint64_t high, uint64_t low, uint64_t hard); /* ACP_E_ARGUMENT unless low <= high <= hard */
ACP_API int32_t acp_gate_add(acp_gate *g, uint64_t bytes);           /* ACP_OK, ACP_SHUT, ACP_E_OVERRUN */
ACP_API int32_t acp_gate_sub(acp_gate *g, uint64_t bytes);           /* ACP_OK, ACP_OPENED, ACP_E_ARGUMENT below zero */
/* cffi:end */
#ifdef __cplusplus
}
#endif
#endif
