/*
 * W12.1: numbers mod p = 15 * 2^27 + 1, and quads of them, polynomials in x below degree 4 with x^4 = 11, which has no root
 * or square root here, so that this is a field. Every number is below p, which is its one spelling.
 */
#ifndef TS_WORK_QUAD_H
#define TS_WORK_QUAD_H
#include "../base.h"

#define TS_Q 2013265921u
#define TS_QUAD_ROOT 11u

typedef struct {
  ts_u32 at[4];
} ts_quad;

static TS_INLINE ts_u32 ts_q_plus(ts_u32 a, ts_u32 b) {
  const ts_u32 sum = a + b;
  return sum >= TS_Q ? sum - TS_Q : sum;
}
static TS_INLINE ts_u32 ts_q_minus(ts_u32 a, ts_u32 b) { return a >= b ? a - b : a + TS_Q - b; }
static TS_INLINE ts_u32 ts_q_times(ts_u32 a, ts_u32 b) { return (ts_u32)((ts_u64)a * b % TS_Q); }
static TS_INLINE ts_u32 ts_q_signed(ts_i64 x) {
  const ts_i64 left = x % (ts_i64)TS_Q;
  return (ts_u32)(left < 0 ? left + TS_Q : left);
}
static TS_INLINE ts_u32 ts_q_power(ts_u32 x, ts_u32 n) {
  ts_u32 out = 1;
  for (; n; n >>= 1, x = ts_q_times(x, x))
    if (n & 1) out = ts_q_times(out, x);
  return out;
}

static TS_INLINE ts_quad ts_quad_plus(ts_quad a, ts_quad b) {
  for (int i = 0; i < 4; i++) a.at[i] = ts_q_plus(a.at[i], b.at[i]);
  return a;
}
static TS_INLINE ts_quad ts_quad_minus(ts_quad a, ts_quad b) {
  for (int i = 0; i < 4; i++) a.at[i] = ts_q_minus(a.at[i], b.at[i]);
  return a;
}
/* Four products of numbers below p are below 2^64. */
static TS_INLINE ts_quad ts_quad_times(ts_quad a, ts_quad b) {
  ts_quad out;
  for (int k = 0; k < 4; k++) {
    ts_u64 low = 0, high = 0;
    for (int i = 0; i < 4; i++)
      if (i <= k) low += (ts_u64)a.at[i] * b.at[k - i];
      else high += (ts_u64)a.at[i] * b.at[k + 4 - i];
    out.at[k] = (ts_u32)((low % TS_Q + TS_QUAD_ROOT * (high % TS_Q)) % TS_Q);
  }
  return out;
}

#endif
