#ifndef TS_CUDA_WORK_EIGHTS_H
#define TS_CUDA_WORK_EIGHTS_H
#include "base.h"

/* Eight elements of a row at a time, all in one piece; the lanes of one Philox block are theirs. */
struct wk_eight {
  float y[8];
};
static TS_INLINE wk_eight wk_load_eight(const float *x, const float *fold) {
  const ts_float4 *in = (const ts_float4 *)x, *f = (const ts_float4 *)fold;
  ts_float4 low = in[0], high = in[1];
  if (f) low *= f[0], high *= f[1];
  wk_eight out;
  TS_UNROLL
  for (int k = 0; k < 4; k++) out.y[k] = low[k], out.y[4 + k] = high[k];
  return out;
}

static TS_INLINE void wk_store_eight(ts_i8 *to, const ts_i32 q[8]) {
  ts_vec2 out;
  TS_UNROLL
  for (int h = 0; h < 2; h++) {
    ts_u32 word = 0;
    TS_UNROLL
    for (int k = 0; k < 4; k++) word |= ((ts_u32)q[4 * h + k] & 0xffu) << (8 * k);
    out[h] = word;
  }
  *(ts_vec2 *)to = out;
}

static TS_INLINE void wk_round_eight(ts_draw draw, ts_u64 block, const float v[8], ts_i32 q[8]) {
  ts_u32 words[4];
  ts_draw_block(draw, block, words);
  TS_UNROLL
  for (int k = 0; k < 8; k++) q[k] = ts_round_stochastic(v[k], (words[k / 2] >> (16 * (k & 1))) & 0xffffu);
}

#endif
