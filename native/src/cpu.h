/* How wide the vectors of this machine are: found once, the same whoever asks first. */
#ifndef ACP_CPU_H
#define ACP_CPU_H
#include <stdint.h>

#if !defined(ACP_SCALAR) && (defined(__GNUC__) || defined(__clang__)) && !defined(_MSC_VER)
#  if defined(__x86_64__)
#    define ACP_CPU_X86 1
#    define ACP_TARGET_AVX2 __attribute__((target("avx2")))
#  elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)
#    define ACP_CPU_NEON 1
#  endif
#endif

enum acp_cpu { ACP_CPU_PLAIN = 1, ACP_CPU_WIDE = 2 };      /* wide: AVX2 on x86-64, NEON on AArch64 */

uint32_t acp_cpu_level(void);

/* For tests: never more than this from now on, or again as much as there is. Returns what it is now. */
uint32_t acp_cpu_limit(uint32_t most);
#endif
