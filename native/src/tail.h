/* The end of a line that is thrown away: it may still show the id. */
#ifndef ACP_TAIL_H
#define ACP_TAIL_H
#include "acpcore.h"

void acp_tail_clear(acp_scanner *s);
void acp_tail_add(acp_scanner *s, const uint8_t *p, uint32_t size);

/* The token of a last member "id" of the object that ends the line: its type, and its place in s->tail. */
uint8_t acp_tail_id(const acp_scanner *s, acp_span *id);
#endif
