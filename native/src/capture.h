/* One message read once: validated, and the members that routing needs kept as tokens. */
#ifndef ACP_CAPTURE_H
#define ACP_CAPTURE_H
#include "base64.h"
#include "flags.h"
#include "object.h"

enum acp_top_key { ACP_K_JSONRPC, ACP_K_ID, ACP_K_METHOD, ACP_K_PARAMS, ACP_K_RESULT, ACP_K_ERROR };
enum acp_params_key { ACP_K_SESSION, ACP_K_UPDATE, ACP_K_PARAMS_META };
enum acp_update_key {
  ACP_K_TAG, ACP_K_TERMINAL, ACP_K_MESSAGE_ID, ACP_K_TOOL_CALL, ACP_K_DATA, ACP_K_CONTENT, ACP_K_UPDATE_META
};
enum acp_error_key { ACP_K_CODE, ACP_K_MESSAGE };

typedef struct acp_capture {
  acp_walk w;
  int hot;                        /* look into params.update */
  int plainly;                    /* no short cuts */
  int usual;                      /* the message begins as a session/update usually does, up to its params */
  acp_early *early;               /* null: update.data is not decoded during the walk */
  acp_object top, params, result, update, error;
} acp_capture;

/* base, end and limit as in acp_walk; flags: those of a scanner, ACP_PLAINLY; early as in acp_capture. */
void acp_capture_start(acp_capture *c, const uint8_t *base, const uint8_t *end, const uint8_t *limit, uint32_t flags,
                       acp_early *early);

/* Behind the bracket that opens a message -> behind the one that closes it, or null with w.at and w.reason. */
const uint8_t *acp_capture_message(acp_capture *c, const uint8_t *p);

/* At the bracket that opens the error of a response -> behind the one that closes it. */
const uint8_t *acp_capture_error(acp_capture *c, const uint8_t *p);
#endif
