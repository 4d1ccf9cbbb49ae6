#ifndef TS_FMA_H
#define TS_FMA_H
#include "base.h"

#ifdef __CUDACC__

static TS_INLINE float ts_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
static TS_INLINE ts_u32 ts_float_bits(float x) { return __float_as_uint(x); }

#else

static TS_INLINE ts_u32 ts_float_bits(float x) {
  union { float f; ts_u32 u; } bits = {x};
  return bits.u;
}

/*
 * a * b + c rounded once, to nearest even (§2), without a fused instruction. The product of two floats is exact in a
 * double (48 bits); the sum and its error are an error-free pair; the sum is rounded to odd, and a double rounded to odd
 * keeps enough bits (53 >= 24 + 2, more so for denormals) to be rounded again to a float without harm. An infinite or
 * NaN sum has a NaN error, for which both comparisons are false: it passes through unchanged.
 */
static TS_INLINE float ts_fma(float a, float b, float c) {
  const double p = (double)a * (double)b, q = (double)c;
  const double sum = p + q;
  const double q1 = sum - p, p1 = sum - q1;
  const double error = (p - p1) + (q - q1);
  union { double f; ts_u64 u; } odd = {sum};
  if ((error > 0.0 || error < 0.0) && (odd.u & 1u) == 0u) {
    const int outward = (error > 0.0) == (sum > 0.0);
    odd.u += outward ? (ts_u64)1 : ~(ts_u64)0;
  }
  return (float)odd.f;
}

#endif

#endif
