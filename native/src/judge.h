/* What one line is. */
#ifndef ACP_JUDGE_H
#define ACP_JUDGE_H
#include "base64.h"

/* A stretch of the scanned bytes: [start, end), of which bytes up to limit may be read ahead. */
typedef struct acp_text {
  const uint8_t *base;
  uint32_t start, end, limit;
} acp_text;

/* Fills *frame for a line without its ending; flags: the level and options of a scanner. Never ACP_NONE. early (may be
 * null): update.data was decoded into it if early->off is the offset of frame->data. */
void acp_judge_line(const acp_text *text, uint32_t flags, acp_early *early, acp_frame *frame);

/* The same for one entry of an array that was found valid; returns where it ends, 0 if it is not valid after all. */
uint32_t acp_judge_entry(const acp_text *text, uint32_t flags, acp_frame *frame);

/* ACP_R_TOO_LARGE: text is what was looked at of the line, cut anywhere. */
void acp_judge_beginning(const acp_text *text, uint32_t flags, acp_frame *frame);

int acp_is_int64(const uint8_t *token, uint32_t len);   /* token: a JSON number */
int acp_is_blank(const uint8_t *p, const uint8_t *end);
#endif
