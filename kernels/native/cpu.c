/* Compiled for any x86-64, because it says whether the rest may run here. */
#include "hashing.h"

typedef struct {
  ts_u32 a, b, c, d;
} answer;

static answer cpuid(ts_u32 leaf, ts_u32 part) {
  answer r;
  __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(part));
  return r;
}

/* The registers that the system saves for us: a processor may have more than it does. */
static ts_u32 saved(void) {
  ts_u32 low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static ts_u32 bit(ts_u32 word, int number) { return word >> number & 1; }

/* Whether this machine runs what this library was compiled for; the SHA extensions are used if it has them and `sha` is 1. */
__attribute__((visibility("default"))) ts_u32 ts_supported(ts_u32 sha) {
  if (cpuid(0, 0).a < 7) return 0;
  const answer one = cpuid(1, 0), seven = cpuid(7, 0);
  const ts_u32 fma = bit(one.c, 12), osxsave = bit(one.c, 27), avx2 = bit(seven.b, 5);
  const ts_u32 bmi = bit(seven.b, 3) & bit(seven.b, 8);
  if (!fma || !osxsave || !avx2 || !bmi || (saved() & 6) != 6) return 0;
#ifdef TS_NEEDS_AVX512
  const ts_u32 wide = bit(seven.b, 16) & bit(seven.b, 17) & bit(seven.b, 30) & bit(seven.b, 31) & bit(seven.c, 11);
  if (!wide || (saved() & 0xe0) != 0xe0) return 0;
#endif
  ts_has_sha = sha & bit(seven.b, 29);
  return 1;
}
