/* What the inside of a JSON string spells. */
#ifndef ACP_STRINGS_H
#define ACP_STRINGS_H
#include "acpcore.h"

/* Reads one escape, or one byte as it is, at *p (< end) of a string that was found valid. Writes at most 4 bytes. */
uint32_t acp_unescape_step(const uint8_t **p, const uint8_t *end, uint8_t out[4]);

/* The whole of a valid string's inside if it fits into cap bytes: its length, else -1. */
int32_t acp_unescape(uint8_t *dst, uint32_t cap, const uint8_t *body, uint32_t size);

int acp_is_utf8(const uint8_t *src, uint32_t size);

/* How many bytes acp_escape writes, at most 6 * size. */
uint64_t acp_escape_size(const uint8_t *src, uint32_t size);

/* Raw UTF-8 as the inside of a JSON string; returns the end of what was written. */
uint8_t *acp_escape(uint8_t *dst, const uint8_t *src, uint32_t size);
#endif
