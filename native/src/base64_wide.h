/* Base64 in whole vectors. Only called where acp_cpu_level is ACP_CPU_WIDE; elsewhere there is nothing to link. */
#ifndef ACP_BASE64_WIDE_H
#define ACP_BASE64_WIDE_H
#include "cpu.h"

#if defined(ACP_CPU_X86) || defined(ACP_CPU_NEON)
#  define ACP_BASE64_WIDE 1

/* Quanta without padding from src on: how many of the first most were decoded, perhaps fewer than could be, never one
 * that holds a byte outside the alphabet. Reads at most readable bytes and writes at most room bytes, which may be more
 * than three a quantum. */
uint32_t acp_base64_wide_decode(uint8_t *dst, uint32_t room, const uint8_t *src, uint32_t most, uint32_t readable);

/* How many whole groups of three bytes were encoded from the start of src, four characters each. */
uint32_t acp_base64_wide_encode(uint8_t *dst, const uint8_t *src, uint32_t size);
#endif
#endif
