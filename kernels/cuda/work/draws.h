/* Ops that draw by Philox or by the order of windows (W2.10). */
#ifndef TS_CUDA_WORK_DRAWS_H
#define TS_CUDA_WORK_DRAWS_H
#include "base.h"
#include "../../common/work/functions64.h"
#include "../../common/work/order.h"

/* Two weights to a block of Philox. */
WK(normal)(
    ts_u32 *fault, float *out, ts_u32 count, float deviation, float mean, ts_u32 key0, ts_u32 key1, ts_u32 tensor,
    ts_u32 transition, ts_u64 index) {
  const ts_draw draw = {key0, key1, tensor, transition};
  ts_u32 worst = 0;
  const ts_u64 last = (index + count + 1) / 2;
  for (ts_u64 block = index / 2 + WK_FIRST; block < last; block += WK_STEP) {
    ts_u32 words[4];
    ts_draw_block(draw, block, words);
    TS_UNROLL
    for (ts_u32 k = 0; k < 2; k++) {
      const ts_u64 at = 2 * block + k - index;
      if (at >= count) continue;
      const ts_u32 a = words[2 * k], b = words[2 * k + 1];
      const float y = (b & 1u ? -mean : mean) + ts_normal(a, b) * deviation;
      worst = wk_worse(worst, y);
      out[at] = y;
    }
  }
  wk_report(fault, worst);
}

WK(windowOrder)(
    ts_u32 *fault, const ts_u32 *seed, ts_u32 *out, ts_u32 epoch, ts_u32 windows, ts_u32 first, ts_u32 count) {
  if (windows == 0 || first >= windows || count > windows - first) {
    *fault = 1;
    return;
  }
  ts_u32 keys[8];
  TS_UNROLL
  for (ts_u32 round = 0; round < 8; round++) keys[round] = ts_order_round_key(seed, epoch, round);
  const ts_u32 half = ts_order_half(windows);
  for (ts_u64 i = WK_FIRST; i < count; i += WK_STEP) out[i] = ts_order_at(keys, half, windows, first + (ts_u32)i);
}

static TS_INLINE float wk_noise(ts_u32 word) {
  const float u = ((float)(ts_i32)(word >> 9) + 0.5f) * 0x1.0p-23f;
  return ts_log(-ts_log(u));
}

WK(sampleNoise)(
    ts_u32 *fault, const float *x, const ts_u32 *sequence, const ts_u32 *position, float *out, ts_u32 rows, ts_u32 width,
    ts_u32 first, float factor, ts_u32 key0, ts_u32 key1) {
  ts_u32 worst = 0;
  for (ts_u64 i = WK_FIRST; i < (ts_u64)rows * width; i += WK_STEP) {
    const ts_u32 r = (ts_u32)(i / width), column = first + (ts_u32)(i % width);
    const ts_draw draw = {key0, key1, sequence[r], 0xfffffffeu};
    ts_u32 words[4];
    ts_draw_block(draw, (ts_u64)position[r] << 32 | column >> 2, words);
    const ts_u32 which = column & 3u;
    const ts_u32 word = which == 0 ? words[0] : which == 1 ? words[1] : which == 2 ? words[2] : words[3];
    const float y = x[i] * factor - wk_noise(word);
    worst = wk_worse(worst, y);
    out[i] = y;
  }
  wk_report(fault, worst);
}

#endif
