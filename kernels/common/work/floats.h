/*
 * Floats of exact work (docs/spec/work.md, W2): binary32, every operation rounded to nearest even, in the order written.
 * No contraction, no flush to zero, no libm; binary64 where a header says so.
 */
#ifndef TS_WORK_FLOATS_H
#define TS_WORK_FLOATS_H
#include "../base.h"

static TS_INLINE ts_u32 ts_bits_of(float x) { return __builtin_bit_cast(ts_u32, x); }
static TS_INLINE float ts_float_of(ts_u32 bits) { return __builtin_bit_cast(float, bits); }
static TS_INLINE ts_u64 ts_bits64_of(double x) { return __builtin_bit_cast(ts_u64, x); }
static TS_INLINE double ts_double_of(ts_u64 bits) { return __builtin_bit_cast(double, bits); }

#ifdef __CUDACC__
static TS_INLINE float ts_sqrt(float x) { return __nvvm_sqrt_rn_f(x); }
static TS_INLINE double ts_sqrt64(double x) { return __nvvm_sqrt_rn_d(x); }
static TS_INLINE float ts_floor(float x) { return __nvvm_floor_f(x); }
#else
static TS_INLINE float ts_sqrt(float x) { return __builtin_sqrtf(x); }
static TS_INLINE double ts_sqrt64(double x) { return __builtin_sqrt(x); }
static TS_INLINE float ts_floor(float x) { return __builtin_floorf(x); }
#endif

/* W2.6: infinite or not a number, which is a fault in any tensor. */
static TS_INLINE ts_u32 ts_magnitude(float x) { return ts_bits_of(x) & 0x7fffffffu; }
#define TS_FAULT_BITS 0x7f800000u

/* W2.7: larger key, larger number; -0 comes before +0. The largest of a row is then the same in any order. */
static TS_INLINE ts_i32 ts_order_key(float x) {
  const ts_i32 bits = (ts_i32)ts_bits_of(x);
  return bits ^ (ts_i32)((ts_u32)(bits >> 31) >> 1);
}
static TS_INLINE float ts_from_order_key(ts_i32 key) { return ts_float_of((ts_u32)(key ^ (ts_i32)((ts_u32)(key >> 31) >> 1))); }

static TS_INLINE float ts_max(float a, float b) { return a > b ? a : b; }
static TS_INLINE float ts_min(float a, float b) { return a < b ? a : b; }

/* The nearest whole number, ties to even, of |x| <= 2^22. */
static TS_INLINE float ts_nearest(float x) { return (x + 0x1.8p23f) - 0x1.8p23f; }

#endif
