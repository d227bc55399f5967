/* Puts the frames of one call into groups, and terminal bytes into the arena. */
#ifndef ACP_GROUP_H
#define ACP_GROUP_H
#include "base64.h"

typedef struct acp_grouping {
  const uint8_t *data;            /* the scanned bytes */
  acp_group *groups;              /* null: none are wanted */
  uint32_t cap, count;
  uint8_t *arena;
  uint32_t arena_cap, arena_used;
  int hot;
  acp_early early;                /* the terminal bytes of the line that is judged */
} acp_grouping;

/* For the line that is judged next: room behind what the arena holds; null below ACP_HOT. */
acp_early *acp_group_early(acp_grouping *g);

/* Adds the frame with the given number; its line (or what of it counts) is [off, off + len). previous: the frame before
 * it. 0 if groups or the arena are full: then the frame is to be judged again in another call. */
int acp_group_add(acp_grouping *g, acp_frame *frame, const acp_frame *previous, uint32_t number, uint32_t off,
                  uint32_t len);
#endif
