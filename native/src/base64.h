/* RFC 4648 section 4, strict. */
#ifndef ACP_BASE64_H
#define ACP_BASE64_H
#include "acpcore.h"

/* The inside of a JSON string to bytes: as many whole quanta as fit into room. The number of bytes, *used of body taken;
 * or -1 if it is not base64. Any bytes may be given. */
int32_t acp_decode_body(uint8_t *dst, uint32_t room, const uint8_t *body, uint32_t size, uint32_t *used);

/* All of src; dst has acp_base64_size(size) bytes of room. */
void acp_encode_all(uint8_t *dst, const uint8_t *src, uint32_t size);
#endif
