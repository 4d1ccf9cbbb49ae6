/*
 * The ops of exact work (docs/spec/work.md, W2), one source for WebAssembly and for the native libraries. Every export takes
 * the memory first and byte offsets into it, 0 for an operand that is absent, and answers 1 where it wrote a number that is
 * infinite or none (or met an index out of range, or a size of 0 to divide by), else 0. Sizes are the caller's duty. Rows lie
 * one after the other.
 */
#ifndef TS_WORK_H
#define TS_WORK_H
#include "../common/work/floats.h"
#include "../common/work/functions.h"

typedef signed char ts_i8;
/* As wide as an address: 32 bits in WebAssembly, 64 in a native library. */
typedef unsigned long ts_offset;

/* By whole numbers: in WebAssembly the memory begins at address 0, from which no pointer may be counted. */
#define TS_AT(type, offset) ((type *)((ts_offset)memory + (offset)))
#define TS_AT_OR_NULL(type, offset) ((offset) ? TS_AT(type, offset) : (type *)0)

#ifdef __wasm__
#define TS_WORK(name) __attribute__((export_name(#name))) ts_u32 ts_work_##name
#define TS_EXACT
#else
#define TS_WORK(name) __attribute__((visibility("default"))) ts_u32 ts_work_##name

/* Rounding to nearest and denormals are the specification's, whatever somebody has set in this thread; put back at the end. */
static TS_INLINE ts_u32 ts_exact_begin(void) {
  ts_u32 before;
  const ts_u32 nearest = 0x1f80u;
  __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=m"(before) : "m"(nearest) : "memory");
  return before;
}
static TS_INLINE void ts_exact_end(ts_u32 *before) { __asm__ volatile("ldmxcsr %0" : : "m"(*before) : "memory"); }
#define TS_EXACT __attribute__((cleanup(ts_exact_end), unused)) ts_u32 ts_exact_before = ts_exact_begin();
#endif

/* The largest magnitude that was written tells whether there was a fault. */
static TS_INLINE ts_u32 ts_worse(ts_u32 worst, float x) {
  const ts_u32 magnitude = ts_magnitude(x);
  return magnitude > worst ? magnitude : worst;
}
static TS_INLINE ts_u32 ts_faulty(ts_u32 worst) { return worst >= TS_FAULT_BITS; }

/* W2.5: 32 partial sums, pieces of 4,096, and the sums of pieces the same way. */
#define TS_SUMS 32
#define TS_PIECE 4096
typedef float ts_f32x32 __attribute__((vector_size(4 * TS_SUMS)));
typedef struct {
  ts_f32x32 v;
} __attribute__((packed, may_alias)) ts_anywhere32;
static TS_INLINE ts_f32x32 ts_load32(const float *from) { return ((const ts_anywhere32 *)from)->v; }

static TS_INLINE float ts_halves(ts_f32x32 s) {
  float t[TS_SUMS];
  ((ts_anywhere32 *)t)->v = s;
  TS_UNROLL
  for (int half = 16; half > 0; half /= 2) {
    TS_UNROLL
    for (int i = 0; i < half; i++) t[i] = t[i] + t[i + half];
  }
  return t[0];
}

/* The sums of pieces, one after the other; two levels of them: 4,096^3 elements. */
typedef struct {
  float middle[TS_SUMS], high[TS_SUMS];
  ts_u32 in_middle, in_high;
} ts_sum;

static inline void ts_sum_begin(ts_sum *sum) {
  sum->in_middle = sum->in_high = 0;
  for (int i = 0; i < TS_SUMS; i++) sum->middle[i] = sum->high[i] = 0.0f;
}
static inline float ts_sum_of(const float sums[TS_SUMS]) { return ts_halves(ts_load32(sums)); }
static __attribute__((noinline, unused)) void ts_sum_add(ts_sum *sum, float piece) {
  if (sum->in_middle == TS_PIECE) {
    sum->high[sum->in_high++ % TS_SUMS] += ts_sum_of(sum->middle);
    for (int i = 0; i < TS_SUMS; i++) sum->middle[i] = 0.0f;
    sum->in_middle = 0;
  }
  sum->middle[sum->in_middle++ % TS_SUMS] += piece;
}
/* A sum over the sum of one piece is that sum: no partial sum that began with +0 is ever -0. */
static __attribute__((noinline, unused)) float ts_sum_end(ts_sum *sum) {
  if (sum->in_high == 0) return ts_sum_of(sum->middle);
  sum->high[sum->in_high++ % TS_SUMS] += ts_sum_of(sum->middle);
  return ts_sum_of(sum->high);
}

static TS_INLINE ts_u32 ts_least(ts_u32 a, ts_u32 b) { return a < b ? a : b; }

/* piece = the sum of `expression` over i = from ... from + count - 1, count <= 4,096; absent elements at the end are +0. */
#define TS_PIECE_TOTAL(piece, from, count, i, expression)                                                             \
  {                                                                                                                   \
    ts_f32x32 ts_sums = {};                                                                                           \
    ts_u32 ts_at = 0;                                                                                                 \
    for (; ts_at + TS_SUMS <= (count); ts_at += TS_SUMS) {                                                            \
      float ts_t[TS_SUMS];                                                                                            \
      for (ts_u32 ts_l = 0; ts_l < TS_SUMS; ts_l++) {                                                                 \
        const ts_u32 i = (from) + ts_at + ts_l;                                                                       \
        ts_t[ts_l] = expression;                                                                                      \
      }                                                                                                               \
      ts_sums += ts_load32(ts_t);                                                                                     \
    }                                                                                                                 \
    if (ts_at < (count)) {                                                                                            \
      float ts_t[TS_SUMS] = {};                                                                                       \
      for (ts_u32 ts_l = 0; ts_l < (count) - ts_at; ts_l++) {                                                         \
        const ts_u32 i = (from) + ts_at + ts_l;                                                                       \
        ts_t[ts_l] = expression;                                                                                      \
      }                                                                                                               \
      ts_sums += ts_load32(ts_t);                                                                                     \
    }                                                                                                                 \
    piece = ts_halves(ts_sums);                                                                                       \
  }

/* total = the sum of `expression` over i = 0 ... count - 1. */
#define TS_TOTAL(total, count, i, expression)                                                                         \
  {                                                                                                                   \
    ts_sum ts_s;                                                                                                      \
    ts_sum_begin(&ts_s);                                                                                              \
    for (ts_u32 ts_from = 0; ts_from < (count) || ts_from == 0; ts_from += TS_PIECE) {                                \
      const ts_u32 ts_here = ts_least(TS_PIECE, (count) - ts_from);                                                   \
      TS_PIECE_TOTAL(total, ts_from, ts_here, i, expression)                                                          \
      if ((count) > TS_PIECE) ts_sum_add(&ts_s, total);                                                               \
    }                                                                                                                 \
    if ((count) > TS_PIECE) total = ts_sum_end(&ts_s);                                                                \
  }

#endif
