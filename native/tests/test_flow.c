#include "acpcore.h"
#include "check.h"

static void init(void) {
  acp_gate g;
  memset(&g, 0xAA, sizeof g);
  CHECK_NUMBER(sizeof g, 56);
  CHECK_NUMBER(acp_gate_init(NULL, 1, 1, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_gate_init(&g, 1, 2, 3), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_gate_init(&g, 3, 1, 2), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_gate_init(&g, 2, 1, 3), ACP_OK);
  CHECK(g.used == 0 && g.peak == 0 && g.shuts == 0 && g.shut == 0 && g.reserved == 0);
  CHECK(g.high == 2 && g.low == 1 && g.hard == 3);
  CHECK_NUMBER(acp_gate_init(&g, 0, 0, 0), ACP_OK);
  CHECK_NUMBER(acp_gate_add(NULL, 1), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_gate_sub(NULL, 0), ACP_E_ARGUMENT);
}

static void hysteresis(void) {
  acp_gate g;
  acp_gate_init(&g, 100, 40, 1000);
  CHECK_NUMBER(acp_gate_add(&g, 99), ACP_OK);
  CHECK_NUMBER(acp_gate_add(&g, 1), ACP_SHUT);
  CHECK_NUMBER(acp_gate_add(&g, 50), ACP_OK);
  CHECK_NUMBER(acp_gate_sub(&g, 109), ACP_OK);
  CHECK_NUMBER(g.shut, 1);
  CHECK_NUMBER(acp_gate_sub(&g, 1), ACP_OPENED);
  CHECK_NUMBER(acp_gate_sub(&g, 1), ACP_OK);
  CHECK_NUMBER(acp_gate_add(&g, 60), ACP_OK);
  CHECK_NUMBER(acp_gate_add(&g, 1), ACP_SHUT);
  CHECK(g.shuts == 2 && g.peak == 150 && g.used == 100);
}

static void cap(void) {
  acp_gate g;
  acp_gate_init(&g, 10, 5, 20);
  CHECK_NUMBER(acp_gate_add(&g, 20), ACP_SHUT);
  CHECK_NUMBER(acp_gate_add(&g, 1), ACP_E_OVERRUN);
  CHECK_NUMBER(acp_gate_add(&g, UINT64_MAX), ACP_E_OVERRUN);
  CHECK(g.used == 20 && g.peak == 20);
  CHECK_NUMBER(acp_gate_sub(&g, 21), ACP_E_ARGUMENT);
  CHECK_NUMBER(acp_gate_sub(&g, 20), ACP_OPENED);
  CHECK_NUMBER(acp_gate_add(&g, UINT64_MAX), ACP_SHUT);
  CHECK_NUMBER(acp_gate_add(&g, 0), ACP_E_OVERRUN);
  CHECK_NUMBER(acp_gate_add(&g, 1), ACP_E_OVERRUN);
  CHECK_NUMBER(acp_gate_sub(&g, UINT64_MAX), ACP_OPENED);
}

static void widest(void) {
  acp_gate g;
  acp_gate_init(&g, UINT64_MAX, 0, UINT64_MAX);
  CHECK_NUMBER(acp_gate_add(&g, UINT64_MAX - 1), ACP_OK);
  CHECK_NUMBER(acp_gate_add(&g, 2), ACP_E_OVERRUN);
  CHECK_NUMBER(acp_gate_add(&g, 1), ACP_SHUT);
  CHECK_NUMBER(acp_gate_sub(&g, UINT64_MAX), ACP_OPENED);
}

int main(void) {
  init();
  hysteresis();
  cap();
  widest();
  return CHECK_DONE();
}
