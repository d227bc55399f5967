/* The entries of an array, a few at a time. The array was found valid by the scan; what it holds is judged here. */
#include <string.h>

#include "json.h"
#include "judge.h"

/* Where the next entry begins, behind the bracket or comma in front of it; the end of the array if there is none. */
static uint32_t entry_start(const acp_text *array, uint32_t cursor) {
  acp_walk w = {array->base, array->base + array->end, array->base + array->limit, NULL, ACP_R_NONE, 0, 0};
  const uint8_t *p = acp_walk_space(&w, array->base + array->start + cursor);
  if (p < w.end && *p == (cursor ? ',' : '[')) p = acp_walk_space(&w, p + 1);
  return p < w.end && *p != ']' ? (uint32_t)(p - w.base) : array->end;
}

ACP_API int32_t acp_entries(const acp_scanner *s, const uint8_t *data, const acp_frame *array, uint32_t *cursor,
                            acp_frame *frames, uint32_t frames_cap) {
  if (!s || !data || !array || !cursor || !frames || !frames_cap || array->kind != ACP_ARRAY) return ACP_E_ARGUMENT;
  if (array->len > ACP_MAX_SIZE || array->off > ACP_MAX_SIZE - array->len || *cursor > array->len) return ACP_E_ARGUMENT;
  acp_text text = {data, array->off, array->off + array->len, array->off + array->len};
  uint32_t count = 0;
  while (count < frames_cap && count < INT32_MAX) {
    uint32_t start = entry_start(&text, *cursor);
    if (start == text.end) break;
    uint32_t after = acp_judge_entry(&(acp_text){data, start, text.end, text.limit}, s->flags, &frames[count]);
    if (!after) break;
    *cursor = after - array->off;
    count++;
  }
  return (int32_t)count;
}
