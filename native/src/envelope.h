/* From the tokens of a message to its frame. */
#ifndef ACP_ENVELOPE_H
#define ACP_ENVELOPE_H
#include "capture.h"

#define ACP_M_SESSION_UPDATE 1    /* its acp_method_id */

/* Sets kind, id, method, body and session; ACP_BAD with its reason if the envelope breaks a rule. start: of the object. */
void acp_envelope_judge(const acp_capture *c, uint32_t start, acp_frame *frame);

/* id, method and ACP_F_RESPONSE as far as they are known. */
void acp_envelope_identify(const acp_capture *c, acp_frame *frame);
/* ... and what a line whose end is missing seems to be. */
void acp_envelope_guess(const acp_capture *c, acp_frame *frame);

/* The last "code" an int64 and the last "message" a string. */
int acp_envelope_error_fits(const acp_capture *c);

/* Sets tag, entity, data and their flags on a session/update; see acp_tag. */
void acp_update_describe(const acp_capture *c, acp_frame *frame);

static inline const uint8_t *acp_token_text(const acp_capture *c, const acp_token *t) { return c->w.base + t->off; }
#endif
