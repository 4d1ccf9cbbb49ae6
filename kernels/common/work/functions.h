/* W2.3: exp, log and what is made of them, in binary32 with + - * / alone. */
#ifndef TS_WORK_FUNCTIONS_H
#define TS_WORK_FUNCTIONS_H
#include "floats.h"

/* n * 0x1.62e4p-1 is exact for whole n of 7 bits, so that a card's fused operation rounds no other way. */
#ifdef __CUDACC__
#define TS_LESS_LN2(c, n) __fmaf_rn(-(n), 0x1.62e4p-1f, c)
#else
#define TS_LESS_LN2(c, n) ((c) - (n) * 0x1.62e4p-1f)
#endif

/* W2.3.1 for -87 <= c <= 88: no result is denormal or infinite, so that the power of two is added to the exponent. */
static TS_INLINE float ts_exp_within(float c) {
  const float shifted = c * 0x1.715476p+0f + 0x1.8p23f;
  const float n = shifted - 0x1.8p23f;
  const float r = TS_LESS_LN2(c, n) - n * 0x1.7f7d1cp-20f;
  float q = 0x1.6a234ep-10f * r + 0x1.123a6cp-7f;
  q = q * r + 0x1.5558f4p-5f;
  q = q * r + 0x1.55549p-3f;
  q = q * r + 0x1.fffffcp-2f;
  const float p = 1.0f + (r + (r * r) * q);
  return ts_float_of(ts_bits_of(p) + (ts_bits_of(shifted) << 23));
}
/* W2.3.1: +0 below -87, constant above 88; never infinite. */
static TS_INLINE float ts_exp(float x) {
  const float y = ts_exp_within(ts_max(ts_min(x, 88.0f), -87.0f));
  return x >= -87.0f ? y : 0.0f;
}

/* W2.3.2: for positive normal x. */
static TS_INLINE float ts_log(float x) {
  const ts_i32 from = (ts_i32)(ts_bits_of(x) - 0x3f3504f3u);
  const float e = (float)(from >> 23);
  const float f = ts_float_of(((ts_u32)from & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float s = f / (2.0f + f);
  const float z = s * s;
  float q = 0x1.ddde5p-3f * z + 0x1.245bf2p-2f;
  q = q * z + 0x1.9999ecp-2f;
  q = q * z + 0x1.555556p-1f;
  const float h = (0.5f * f) * f;
  return e * 0x1.62e4p-1f + (f - (h - (s * (h + z * q) + e * 0x1.7f7d1cp-20f)));
}

/* W2.3.3: GELU by tanh, written without it: x / (1 + exp(-u)), u = x (C + D x^2). */
#define TS_GELU_C 0x1.988454p+0f
#define TS_GELU_D 0x1.2444f2p-4f
#define TS_GELU_3D 0x1.b6676cp-3f
static TS_INLINE float ts_gelu_inner(float x) { return x * (TS_GELU_C + TS_GELU_D * (x * x)); }
static TS_INLINE float ts_gelu(float x) { return x / (1.0f + ts_exp(-ts_gelu_inner(x))); }
static TS_INLINE float ts_gelu_slope(float x) {
  const float e = ts_exp(-ts_gelu_inner(x)), s = 1.0f / (1.0f + e);
  return s + ((s * (e * s)) * x) * (TS_GELU_C + TS_GELU_3D * (x * x));
}

/* W2.3.4 */
static TS_INLINE float ts_silu(float x) { return x / (1.0f + ts_exp(-x)); }
static TS_INLINE float ts_silu_slope(float x) {
  const float e = ts_exp(-x), s = 1.0f / (1.0f + e);
  return s * (1.0f + x * (e * s));
}

/* W2.3.5 */
static TS_INLINE float ts_relu(float x) { return x > 0.0f ? x : 0.0f; }

#endif
