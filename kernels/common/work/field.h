/*
 * W8.1: numbers mod p = 2^61 - 1, and pairs of them, a + b i with i^2 = -1 (p mod 4 is 3, so that this is a field). Every
 * number here is below p, which is its one spelling. Products are of halves of 31 bits: no target needs 128.
 */
#ifndef TS_WORK_FIELD_H
#define TS_WORK_FIELD_H
#include "../base.h"

#define TS_P ((1ull << 61) - 1)

typedef struct {
  ts_u64 re, im;
} ts_pair;

/* Any 64 bits, below p. */
static TS_INLINE ts_u64 ts_mod(ts_u64 x) {
  x = (x & TS_P) + (x >> 61);
  return x >= TS_P ? x - TS_P : x;
}
static TS_INLINE ts_u64 ts_plus(ts_u64 a, ts_u64 b) { return ts_mod(a + b); }
static TS_INLINE ts_u64 ts_minus(ts_u64 a, ts_u64 b) { return ts_mod(a + TS_P - b); }

/* 2^62 is 2, and (high 2^30 + low) 2^31 is high + low 2^31. */
static TS_INLINE ts_u64 ts_times(ts_u64 a, ts_u64 b) {
  const ts_u64 mask = (1ull << 31) - 1, a0 = a & mask, a1 = a >> 31, b0 = b & mask, b1 = b >> 31;
  const ts_u64 middle = a1 * b0 + a0 * b1, low = middle & ((1ull << 30) - 1);
  return ts_mod(2 * (a1 * b1) + (middle >> 30) + (low << 31) + a0 * b0);
}

/* A signed sum of less than 2^63 in size. */
static TS_INLINE ts_u64 ts_mod_signed(ts_i64 x) {
  return x < 0 ? ts_minus(0, ts_mod((ts_u64)-x)) : ts_mod((ts_u64)x);
}

static TS_INLINE ts_pair ts_pair_plus(ts_pair a, ts_pair b) {
  return (ts_pair){ts_plus(a.re, b.re), ts_plus(a.im, b.im)};
}
static TS_INLINE ts_pair ts_pair_minus(ts_pair a, ts_pair b) {
  return (ts_pair){ts_minus(a.re, b.re), ts_minus(a.im, b.im)};
}
static TS_INLINE ts_pair ts_pair_times(ts_pair a, ts_pair b) {
  return (ts_pair){ts_minus(ts_times(a.re, b.re), ts_times(a.im, b.im)),
                   ts_plus(ts_times(a.re, b.im), ts_times(a.im, b.re))};
}

/* A half from sums over entries times each of its eight bytes, every sum below 2^31 in size. */
static TS_INLINE ts_u64 ts_from_bytes(const ts_i32 *sums) {
  ts_i64 low = 0, high = 0;
  for (ts_u32 b = 0; b < 4; b++) {
    low += (ts_i64)sums[b] * (1ll << 8 * b);
    high += (ts_i64)sums[b + 4] * (1ll << 8 * b);
  }
  return ts_plus(ts_mod_signed(low), ts_times(ts_mod_signed(high), 1ull << 32));
}

#endif
