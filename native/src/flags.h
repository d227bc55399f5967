#ifndef ACP_FLAGS_H
#define ACP_FLAGS_H
#include "acpcore.h"

#define ACP_PLAINLY 0x80000000u   /* for tests, below the API: no short cuts for what is written as usual */

/* Exactly one level, and options that exist. */
static inline int acp_flags_fit(uint32_t flags) {
  uint32_t level = flags & (ACP_LINES | ACP_ROUTE | ACP_HOT);
  if (flags & ~(uint32_t)(ACP_LINES | ACP_ROUTE | ACP_HOT | ACP_NO_ARRAYS)) return 0;
  return level == ACP_LINES || level == ACP_ROUTE || level == ACP_HOT;
}
#endif
