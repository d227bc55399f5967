#include "envelope.h"

#include <string.h>

#include "judge.h"
#include "strings.h"

#define USUAL_MEMBERS 3           /* jsonrpc, method and params */
#define ENVELOPE_METHOD 64        /* longer than any method this library knows */

/* ---- ids */

static int int64_digits_fit(const uint8_t *digits, uint32_t len, int negative) {
  const char *most = negative ? "9223372036854775808" : "9223372036854775807";
  return len < 19 || (len == 19 && memcmp(digits, most, 19) <= 0);
}

int acp_is_int64(const uint8_t *token, uint32_t len) {
  uint32_t sign = len && token[0] == '-';
  for (uint32_t i = sign; i < len; i++)
    if (token[i] < '0' || token[i] > '9') return 0;
  return len > sign && int64_digits_fit(token + sign, len - sign, sign != 0);
}

static uint8_t id_type_of(const acp_capture *c, const acp_token *t) {
  if (t->first == '"') return ACP_ID_STRING;
  if (t->first == 'n') return ACP_ID_NULL;
  return t->first && acp_is_int64(acp_token_text(c, t), t->len) ? ACP_ID_INTEGER : ACP_ID_NONE;
}

/* ---- method */

static uint16_t method_number(const acp_capture *c, const acp_token *t) {
  uint8_t name[ENVELOPE_METHOD];
  acp_span inside = acp_token_inside(t);
  if (!t->escaped) return (uint16_t)acp_method_id(c->w.base + inside.off, inside.len);
  int32_t len = acp_unescape(name, sizeof name, c->w.base + inside.off, inside.len);
  return len < 0 ? 0 : (uint16_t)acp_method_id(name, (uint32_t)len);
}

/* Names of extensions begin with an underscore, however it is written. */
static int method_is_extension(const acp_capture *c, const acp_token *t) {
  uint8_t first[4] = {0};
  acp_span inside = acp_token_inside(t);
  const uint8_t *p = c->w.base + inside.off;
  return inside.len && acp_unescape_step(&p, p + inside.len, first) == 1 && first[0] == '_';
}

/* ---- what is shown of any object */

static int envelope_has(const acp_capture *c, int key) { return acp_object_has(&c->top, key); }

static int looks_like_response(const acp_capture *c) {
  if (envelope_has(c, ACP_K_RESULT) || envelope_has(c, ACP_K_ERROR)) return 1;
  return envelope_has(c, ACP_K_ID) && !envelope_has(c, ACP_K_METHOD);
}

static void identify_id(const acp_capture *c, acp_frame *frame) {
  const acp_token *id = acp_object_get(&c->top, ACP_K_ID);
  frame->id_type = id_type_of(c, id);
  if (frame->id_type != ACP_ID_NONE) frame->id = (acp_span){id->off, id->len};
}

static void identify_method(const acp_capture *c, acp_frame *frame) {
  const acp_token *method = acp_object_get(&c->top, ACP_K_METHOD);
  if (!acp_token_is_string(method)) return;
  frame->method = acp_token_inside(method);
  frame->method_id = method_number(c, method);
  if (method->escaped) frame->flags |= ACP_F_ESCAPED;
}

void acp_envelope_identify(const acp_capture *c, acp_frame *frame) {
  identify_id(c, frame);
  identify_method(c, frame);
  if (c->top.repeated) frame->flags |= ACP_F_REPEATED;
  if (looks_like_response(c)) frame->flags |= ACP_F_RESPONSE;
}

/* Of a line that is cut only what is there counts: what its missing part may hold does not make it a response. */
void acp_envelope_guess(const acp_capture *c, acp_frame *frame) {
  int response = envelope_has(c, ACP_K_RESULT) || envelope_has(c, ACP_K_ERROR);
  int call = !response && (envelope_has(c, ACP_K_METHOD) || envelope_has(c, ACP_K_PARAMS));
  frame->flags &= (uint8_t)~ACP_F_RESPONSE;
  if (response) frame->flags |= ACP_F_RESPONSE;
  if (call) frame->flags |= ACP_F_CALL;
}

/* ---- the rules */

typedef struct envelope_fault {
  uint8_t reason;
  int key;                        /* the member to point at if it is there */
} envelope_fault;

static const envelope_fault no_fault = {ACP_R_NONE, ACP_K_JSONRPC};

static int version_fits(const acp_capture *c) {
  const acp_token *t = acp_object_get(&c->top, ACP_K_JSONRPC);
  uint8_t spelled[4];
  if (!acp_token_is_string(t)) return 0;
  const uint8_t *text = acp_token_text(c, t) + 1;
  if (!t->escaped) return t->len == 5 && memcmp(text, "2.0", 3) == 0;
  return acp_unescape(spelled, sizeof spelled, text, t->len - 2) == 3 && memcmp(spelled, "2.0", 3) == 0;
}

static int params_fit(const acp_capture *c) {
  uint32_t first = acp_object_get(&c->top, ACP_K_PARAMS)->first;
  if (!envelope_has(c, ACP_K_PARAMS) || first == '{' || first == '[' || first == 'n') return 1;
  return method_is_extension(c, acp_object_get(&c->top, ACP_K_METHOD));
}

static envelope_fault call_fault(const acp_capture *c) {
  if (!acp_token_is_string(acp_object_get(&c->top, ACP_K_METHOD))) return (envelope_fault){ACP_R_METHOD, ACP_K_METHOD};
  if (envelope_has(c, ACP_K_RESULT)) return (envelope_fault){ACP_R_RESPONSE, ACP_K_RESULT};
  if (envelope_has(c, ACP_K_ERROR)) return (envelope_fault){ACP_R_RESPONSE, ACP_K_ERROR};
  if (!params_fit(c)) return (envelope_fault){ACP_R_PARAMS, ACP_K_PARAMS};
  return no_fault;
}

int acp_envelope_error_fits(const acp_capture *c) {
  const acp_token *code = acp_object_get(&c->error, ACP_K_CODE), *message = acp_object_get(&c->error, ACP_K_MESSAGE);
  return code->first && acp_is_int64(acp_token_text(c, code), code->len) && acp_token_is_string(message);
}

static envelope_fault response_fault(const acp_capture *c) {
  int result = envelope_has(c, ACP_K_RESULT), error = envelope_has(c, ACP_K_ERROR), id = envelope_has(c, ACP_K_ID);
  if (!result && !error) return (envelope_fault){id ? ACP_R_RESPONSE : ACP_R_METHOD, ACP_K_METHOD};
  if (result && error) return (envelope_fault){ACP_R_RESPONSE, ACP_K_ERROR};
  if (!id) return (envelope_fault){ACP_R_ID, ACP_K_ID};
  if (error && (acp_object_get(&c->top, ACP_K_ERROR)->first != '{' || !acp_envelope_error_fits(c)))
    return (envelope_fault){ACP_R_RESPONSE, ACP_K_ERROR};
  return no_fault;
}

static envelope_fault envelope_first_fault(const acp_capture *c, const acp_frame *frame) {
  if (!version_fits(c)) return (envelope_fault){ACP_R_VERSION, ACP_K_JSONRPC};
  if (envelope_has(c, ACP_K_ID) && frame->id_type == ACP_ID_NONE) return (envelope_fault){ACP_R_ID, ACP_K_ID};
  return envelope_has(c, ACP_K_METHOD) ? call_fault(c) : response_fault(c);
}

/* ---- the frame */

static void envelope_refuse(const acp_capture *c, uint32_t start, envelope_fault fault, acp_frame *frame) {
  frame->kind = ACP_BAD;
  frame->reason = fault.reason;
  frame->body.off = envelope_has(c, fault.key) ? c->top.value[fault.key].off : start;
}

static void envelope_body(const acp_capture *c, int key, const acp_object *inside, acp_frame *frame) {
  const acp_token *body = acp_object_get(&c->top, key);
  const acp_token *session = acp_object_get(inside, ACP_K_SESSION);
  if (!envelope_has(c, key)) return;
  frame->body = (acp_span){body->off, body->len};
  if (body->first != '{') return;
  if (inside->repeated) frame->flags |= ACP_F_REPEATED;
  if (!acp_token_is_string(session)) return;
  frame->session = acp_token_inside(session);
  if (session->escaped) frame->flags |= ACP_F_ESCAPED;
}

static void envelope_accept_call(const acp_capture *c, acp_frame *frame) {
  frame->kind = envelope_has(c, ACP_K_ID) ? ACP_REQUEST : ACP_NOTIFICATION;
  envelope_body(c, ACP_K_PARAMS, &c->params, frame);
  if (frame->kind == ACP_NOTIFICATION && c->hot) acp_update_describe(c, frame);
}

static void envelope_accept_response(const acp_capture *c, acp_frame *frame) {
  const acp_token *error = acp_object_get(&c->top, ACP_K_ERROR);
  if (envelope_has(c, ACP_K_RESULT)) {
    frame->kind = ACP_RESULT;
    envelope_body(c, ACP_K_RESULT, &c->result, frame);
  } else {
    frame->kind = ACP_ERROR;
    frame->body = (acp_span){error->off, error->len};
  }
}

/* Nothing but what the usual beginning was compared with, so no rule can be broken. */
static void envelope_accept_usual(const acp_capture *c, acp_frame *frame) {
  frame->kind = ACP_NOTIFICATION;
  frame->method = acp_token_inside(&c->top.value[ACP_K_METHOD]);
  frame->method_id = ACP_M_SESSION_UPDATE;
  envelope_body(c, ACP_K_PARAMS, &c->params, frame);
  if (c->hot) acp_update_describe(c, frame);
}

void acp_envelope_judge(const acp_capture *c, uint32_t start, acp_frame *frame) {
  if (c->usual && c->top.count == USUAL_MEMBERS) {
    envelope_accept_usual(c, frame);
    return;
  }
  acp_envelope_identify(c, frame);
  envelope_fault fault = envelope_first_fault(c, frame);
  if (fault.reason) {
    envelope_refuse(c, start, fault, frame);
    return;
  }
  frame->flags &= (uint8_t)~ACP_F_RESPONSE;
  if (envelope_has(c, ACP_K_METHOD)) envelope_accept_call(c, frame);
  else envelope_accept_response(c, frame);
}
