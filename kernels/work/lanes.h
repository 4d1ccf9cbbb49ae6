/* Words side by side: as many as a register holds, sixteen in as many registers as that takes. */
#ifndef TS_STEP_LANES_H
#define TS_STEP_LANES_H
#include "work.h"

#ifdef __wasm__
#include <wasm_simd128.h>
#define LANES 4
#define ZIP(a, b, from) __builtin_shufflevector(a, b, from, from + 4, from + 1, from + 5)
#elif defined(__AVX512F__)
#include <immintrin.h>
#define LANES 16
#define ZIP(a, b, f)                                                                                                   \
  __builtin_shufflevector(a, b, f, f + 16, f + 1, f + 17, f + 2, f + 18, f + 3, f + 19, f + 4, f + 20, f + 5, f + 21, \
                          f + 6, f + 22, f + 7, f + 23)
#else
#include <immintrin.h>
#define LANES 8
#define ZIP(a, b, f) __builtin_shufflevector(a, b, f, f + 8, f + 1, f + 9, f + 2, f + 10, f + 3, f + 11)
#endif
/* Rows, or columns, that are met side by side in every build, and the registers for a word of each. */
#define TOGETHER 16
#define SLICES (TOGETHER / LANES)

typedef ts_u32 lanes __attribute__((vector_size(4 * LANES)));
/* Where they lie in memory: quicker at multiples of 64, right anywhere. */
typedef ts_u32 lanes_at __attribute__((vector_size(4 * LANES), aligned(1), may_alias));

/* Word w of lane r to word r of lane w: every turn interleaves the halves. */
static TS_INLINE void transpose(lanes rows[LANES]) {
  TS_UNROLL
  for (int turn = 1; turn < LANES; turn *= 2) {
    lanes next[LANES];
    TS_UNROLL
    for (int i = 0; i < LANES / 2; i++) {
      next[2 * i] = ZIP(rows[i], rows[i + LANES / 2], 0);
      next[2 * i + 1] = ZIP(rows[i], rows[i + LANES / 2], LANES / 2);
    }
    TS_UNROLL
    for (int i = 0; i < LANES; i++) rows[i] = next[i];
  }
}

#endif
