/* Bytes against two watermarks. The host decides what a shut gate stops, and keeps its own queue of who waits. */
#include <string.h>

#include "acpcore.h"

ACP_API int32_t acp_gate_init(acp_gate *g, uint64_t high, uint64_t low, uint64_t hard) {
  if (!g || low > high || high > hard) return ACP_E_ARGUMENT;
  memset(g, 0, sizeof *g);
  g->high = high;
  g->low = low;
  g->hard = hard;
  return ACP_OK;
}

/* One message larger than the cap must still get through, so an empty gate takes anything. */
static int gate_admits(const acp_gate *g, uint64_t bytes) {
  return !g->used || (g->used <= g->hard && bytes <= g->hard - g->used);
}

ACP_API int32_t acp_gate_add(acp_gate *g, uint64_t bytes) {
  if (!g) return ACP_E_ARGUMENT;
  if (!gate_admits(g, bytes)) return ACP_E_OVERRUN;
  g->used += bytes;
  if (g->used > g->peak) g->peak = g->used;
  if (g->shut || g->used < g->high) return ACP_OK;
  g->shut = 1;
  g->shuts++;
  return ACP_SHUT;
}

ACP_API int32_t acp_gate_sub(acp_gate *g, uint64_t bytes) {
  if (!g || bytes > g->used) return ACP_E_ARGUMENT;
  g->used -= bytes;
  if (!g->shut || g->used > g->low) return ACP_OK;
  g->shut = 0;
  return ACP_OPENED;
}
