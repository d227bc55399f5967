/* RFC 4648 section 4, strict. */
#ifndef ACP_BASE64_H
#define ACP_BASE64_H
#include "acpcore.h"

/* The inside of a JSON string to bytes: as many whole quanta as fit into room. The number of bytes, *used of body taken;
 * or -1 if it is not base64. Any bytes may be given. */
int32_t acp_decode_body(uint8_t *dst, uint32_t room, const uint8_t *body, uint32_t size, uint32_t *used);

/* The inside of a string from its first byte on: end is that of the text it lies in, limit is how far may be read ahead. */
typedef struct acp_stretch {
  const uint8_t *start, *end, *limit;
} acp_stretch;

/* Behind a string's opening quote: if its inside is base64 without an escape and all of it fits into room, the closing
 * quote, and *len bytes were written; otherwise null. Room may be written to in any case. */
const uint8_t *acp_decode_string(uint8_t *dst, uint32_t room, const acp_stretch *text, uint32_t *len);

/* Room for the bytes of one string, and what was decoded into it while the string was validated. */
typedef struct acp_early {
  uint8_t *dst;
  uint32_t room;
  uint32_t off, len;               /* off: where the string's inside begins, never 0; 0 if none was decoded */
} acp_early;

/* All of src; dst has acp_base64_size(size) bytes of room. */
void acp_encode_all(uint8_t *dst, const uint8_t *src, uint32_t size);
#endif
