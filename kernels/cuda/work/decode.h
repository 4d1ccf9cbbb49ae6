/* What products of few rows and rows of one head are made of. */
#ifndef TS_CUDA_WORK_DECODE_H
#define TS_CUDA_WORK_DECODE_H
#include "base.h"
#include "../../common/work/functions64.h"

static TS_INLINE ts_i32 wk_dot4(ts_u32 a, ts_u32 b, ts_i32 c) {
  asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
  return c;
}
static TS_INLINE ts_i32 wk_dot16(ts_vec4 a, ts_vec4 b, ts_i32 c) {
  TS_UNROLL
  for (int i = 0; i < 4; i++) c = wk_dot4(a[i], b[i], c);
  return c;
}
static TS_INLINE ts_i32 wk_warp_sum(ts_i32 x) {
  ts_i32 sum;
  asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(x));
  return sum;
}
/* W2.5.1 of up to 4,096 numbers, as wk_piece_total: for a warp that all others wait for, with many loads on their way. */
template <class F> static TS_INLINE float wk_deep_total(ts_u32 count, F of) {
  float s = 0.0f, x[16];
  ts_u32 at = WK_LANE;
  for (; at + 32 * 15 < count; at += 32 * 16) {
    TS_UNROLL
    for (ts_u32 n = 0; n < 16; n++) x[n] = of(at + 32 * n);
    TS_UNROLL
    for (ts_u32 n = 0; n < 16; n++) s = s + x[n];
  }
  for (; at < count; at += 32) s = s + of(at);
  return wk_halves(s);
}
/* The largest word of a block; all threads get it. */
static TS_INLINE ts_u32 wk_block_largest(ts_u32 x) {
  wk_row here;
  here.wide = true;
  return wk_largest(here, x);
}

/* A pair of numbers of a head, turned by its place (W2.11.5). */
static TS_INLINE void wk_turn(ts_u32 position, float frequency, float *low, float *high) {
  float sine, cosine;
  ts_sine_cosine((float)position * frequency, &sine, &cosine);
  const float a = *low, b = *high;
  *low = a * cosine - b * sine;
  *high = b * cosine + a * sine;
}

/* A head of up to 128 numbers, in two halves over a warp, quantised: bytes of lane + 32 n and half + lane + 32 n. */
struct wk_head {
  float low[2], high[2];
};

static TS_INLINE float wk_quantise_head(ts_u32 *worst, wk_head y, ts_u32 half, ts_i8 *out) {
  ts_u32 largest = 0;
  TS_UNROLL
  for (ts_u32 n = 0; n < 2; n++)
    if (WK_LANE + 32 * n < half) largest = wk_worse(wk_worse(largest, y.low[n]), y.high[n]);
  *worst = largest > *worst ? largest : *worst;
  const float s = ts_scale(wk_warp_largest(largest)), by = 1.0f / s;
  *worst = wk_worse(*worst, s);
  TS_UNROLL
  for (ts_u32 n = 0; n < 2; n++) {
    const ts_u32 i = WK_LANE + 32 * n;
    if (i >= half) continue;
    out[i] = (ts_i8)ts_round_nearest(y.low[n] * by);
    out[half + i] = (ts_i8)ts_round_nearest(y.high[n] * by);
  }
  return s;
}

#endif
