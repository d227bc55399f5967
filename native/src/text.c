#include "acpcore.h"

#define TEXT_COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

static const char *const reason_texts[] = {
  "no error",
  "the line is longer than max_frame",
  "the stream ended inside a line",
  "not valid UTF-8",
  "not valid JSON",
  "a lone surrogate in a \\u escape",
  "nested deeper than 128 levels",
  "a message must be an object",
  "jsonrpc must be \"2.0\"",
  "id must be null, a 64-bit integer or a string",
  "method must be a string",
  "params must be an object, an array or null",
  "not a valid response",
  "a batch must not be empty",
};

ACP_API uint32_t acp_abi(void) { return ACP_ABI; }

ACP_API const char *acp_version(void) { return ACP_VERSION; }

ACP_API const char *acp_strerror(int32_t status) {
  switch (status) {
    case ACP_OK: return "ok";
    case ACP_MORE: return "an array was full: call again with what is left";
    case ACP_OPENED: return "the gate opened";
    case ACP_SHUT: return "the gate shut";
    case ACP_E_ARGUMENT: return "an argument is null, too large or unknown";
    case ACP_E_ROOM: return "the destination is too small";
    case ACP_E_JSON: return "the text given is not valid JSON";
    case ACP_E_BASE64: return "the text given is not valid base64";
    case ACP_E_OVERRUN: return "past the hard cap: nothing was taken";
    default: return status > 0 ? "ok" : "unknown error";
  }
}

ACP_API const char *acp_reason_text(uint32_t reason) {
  return reason < TEXT_COUNT(reason_texts) ? reason_texts[reason] : "unknown reason";
}
