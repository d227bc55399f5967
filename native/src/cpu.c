#include "cpu.h"

#if defined(ACP_CPU_X86)
#  include <stdatomic.h>

/* The only writable global. Threads that ask at once all find and store the same. 0: nobody asked yet. */
static _Atomic uint32_t cpu_level;

static uint32_t cpu_find(void) { return __builtin_cpu_supports("avx2") ? ACP_CPU_WIDE : ACP_CPU_PLAIN; }

static uint32_t cpu_set(uint32_t level) {
  atomic_store_explicit(&cpu_level, level, memory_order_relaxed);
  return level;
}

uint32_t acp_cpu_level(void) {
  uint32_t level = atomic_load_explicit(&cpu_level, memory_order_relaxed);
  return level ? level : cpu_set(cpu_find());
}

uint32_t acp_cpu_limit(uint32_t most) {
  uint32_t found = cpu_find();
  return cpu_set(most < found ? most : found);
}
#elif defined(ACP_CPU_NEON)
#  include <stdatomic.h>

/* Every AArch64 has NEON, so this changes for tests only. */
static _Atomic uint32_t cpu_level = ACP_CPU_WIDE;

uint32_t acp_cpu_level(void) { return atomic_load_explicit(&cpu_level, memory_order_relaxed); }

uint32_t acp_cpu_limit(uint32_t most) {
  uint32_t level = most < ACP_CPU_WIDE ? most : ACP_CPU_WIDE;
  atomic_store_explicit(&cpu_level, level, memory_order_relaxed);
  return level;
}
#else
uint32_t acp_cpu_level(void) { return ACP_CPU_PLAIN; }

uint32_t acp_cpu_limit(uint32_t most) {
  (void)most;
  return ACP_CPU_PLAIN;
}
#endif
