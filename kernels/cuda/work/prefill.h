/* Many tokens at once: what lies between the products of a layer, read as sums and written as bytes. */
#ifndef TS_CUDA_WORK_PREFILL_H
#define TS_CUDA_WORK_PREFILL_H
#include "decode.h"

/* Heads of one token that a warp makes: it turns all of them by the same sines. */
#define WK_HEADS_EACH 8

/*
 * Sums of q, k and v side by side become rows of one token and one head: scaled, turned by their places, quantised. Places
 * are [sequence][head][token].
 */
WK(headSums)(
    ts_u32 *fault, const ts_i32 *sums, const float *row_scales, const float *column_scales, const float *bias,
    const ts_u32 *positions, const float *frequencies, ts_i8 *q, float *q_scales, ts_i8 *k, float *k_scales, ts_i8 *v,
    float *v_scales, ts_u32 rows, ts_u32 tokens, ts_u32 heads, ts_u32 key_heads, ts_u32 size) {
  const ts_u32 all = heads + 2 * key_heads, half = size / 2, groups = (all + WK_HEADS_EACH - 1) / WK_HEADS_EACH;
  const ts_u64 unit = (ts_u64)TS_BLOCK * WK_WARPS + WK_WARP;
  if (unit >= (ts_u64)rows * groups) return;
  const ts_u32 row = (ts_u32)(unit / groups), first = (ts_u32)(unit % groups) * WK_HEADS_EACH;
  const float s = row_scales[row];
  const bool turns = frequencies && first < heads + key_heads;
  float sine[2] = {0.0f, 0.0f}, cosine[2] = {1.0f, 1.0f};
  TS_UNROLL
  for (ts_u32 n = 0; n < 2; n++)
    if (turns && WK_LANE + 32 * n < half)
      ts_sine_cosine((float)positions[row] * frequencies[WK_LANE + 32 * n], &sine[n], &cosine[n]);
  ts_u32 worst = 0;
  for (ts_u32 head = first; head < wk_least(first + WK_HEADS_EACH, all); head++) {
    const bool is_query = head < heads, is_value = head >= heads + key_heads;
    const ts_u32 mine = is_query ? head : is_value ? head - heads - key_heads : head - heads;
    const ts_u32 count = is_query ? heads : key_heads;
    const ts_i32 *in = sums + (ts_u64)row * all * size + head * size;
    const float *by = column_scales + head * size, *add = bias ? bias + head * size : 0;
    wk_head y = {};
    TS_UNROLL
    for (ts_u32 n = 0; n < 2; n++) {
      const ts_u32 i = WK_LANE + 32 * n;
      if (i >= half) continue;
      float a = ts_dequantise(in[i], s, by[i], 1.0f), b = ts_dequantise(in[half + i], s, by[half + i], 1.0f);
      if (add) {
        a = a + add[i];
        b = b + add[half + i];
      }
      worst = wk_worse(wk_worse(worst, a), b);
      y.low[n] = turns && !is_value ? a * cosine[n] - b * sine[n] : a;
      y.high[n] = turns && !is_value ? b * cosine[n] + a * sine[n] : b;
    }
    const ts_u64 to = ((ts_u64)(row / tokens) * count + mine) * tokens + row % tokens;
    ts_i8 *out = is_query ? q : is_value ? v : k;
    float *scales = is_query ? q_scales : is_value ? v_scales : k_scales;
    const float made = wk_quantise_head(&worst, y, half, out + to * size);
    if (WK_LANE == 0) scales[to] = made;
  }
  wk_report(fault, worst);
}

#define WK_SILU_WIDTH 12160

/* Sums of gate and up to the bytes of SiLU(gate) * up: a block for each row. */
TS_BOUNDS(512, 2)
WK(siluSums)(
    ts_u32 *fault, const ts_i32 *gate, const ts_i32 *up, const float *row_scales, const float *gate_scales,
    const float *up_scales, float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width) {
  __shared__ __attribute__((aligned(16))) float y[WK_SILU_WIDTH];
  const float s = row_scales[TS_BLOCK];
  const ts_u32 across = width / 4;
  const ts_u64 first = (ts_u64)TS_BLOCK * across;
  typedef ts_i32 ts_int4 __attribute__((ext_vector_type(4)));
  ts_u32 worst = 0, unsound = 0;
  for (ts_u32 i = TS_THREAD; i < across; i += TS_THREADS) {
    const ts_int4 g = ((const ts_int4 *)gate)[first + i], u = ((const ts_int4 *)up)[first + i];
    const ts_float4 gs = ((const ts_float4 *)gate_scales)[i], us = ((const ts_float4 *)up_scales)[i];
    ts_float4 made;
    TS_UNROLL
    for (int e = 0; e < 4; e++) {
      const float a = ts_dequantise(g[e], s, gs[e], 1.0f), b = ts_dequantise(u[e], s, us[e], 1.0f);
      unsound = wk_worse(wk_worse(unsound, a), b);
      made[e] = ts_silu(a) * b;
      worst = wk_worse(worst, made[e]);
    }
    ((ts_float4 *)y)[i] = made;
  }
  const float scale = ts_scale(wk_block_largest(worst)), by = 1.0f / scale;
  if (TS_THREAD == 0) scales[TS_BLOCK] = scale;
  wk_report(fault, wk_worse(unsound, scale));
  for (ts_u32 i = TS_THREAD; i < across; i += TS_THREADS) {
    const ts_float4 made = ((const ts_float4 *)y)[i];
    ts_u32 word = 0;
    TS_UNROLL
    for (int e = 0; e < 4; e++) word |= ((ts_u32)ts_round_nearest(made[e] * by) & 0xffu) << (8 * e);
    ((ts_u32 *)out)[first + i] = word;
  }
}

/* Rows under a norm, quantised: a block for each, which keeps it in shared memory. Nobody asks for the statistics. */
WK(normRows)(
    ts_u32 *fault, const float *x, const float *gain, const float *shift, float *scales, ts_i8 *out, ts_u32 width,
    float epsilon) {
  __shared__ __attribute__((aligned(16))) float row[WK_PIECE];
  __shared__ float statistics[2];
  const ts_u64 first = (ts_u64)TS_BLOCK * (width / 4);
  const float n = (float)width;
  for (ts_u32 i = TS_THREAD; i < width / 4; i += TS_THREADS) ((ts_float4 *)row)[i] = ((const ts_float4 *)x)[first + i];
  TS_BARRIER();
  if (WK_WARP == 0) {
    const float mean = shift ? wk_piece_total(0, width, [=](ts_u32 i) { return row[i]; }) / n : 0.0f;
    const bool centred = shift != 0;
    const float squares = wk_piece_total(0, width, [=](ts_u32 i) {
      const float c = centred ? row[i] - mean : row[i];
      return c * c;
    });
    if (WK_LANE == 0) {
      statistics[0] = mean;
      statistics[1] = 1.0f / ts_sqrt(squares / n + epsilon);
    }
  }
  TS_BARRIER();
  const float m = statistics[0], inverse = statistics[1];
  ts_u32 worst = 0;
  for (ts_u32 i = TS_THREAD; i < width; i += TS_THREADS) {
    const float scaled = ((shift ? row[i] - m : row[i]) * inverse) * gain[i], y = shift ? scaled + shift[i] : scaled;
    row[i] = y;
    worst = wk_worse(worst, y);
  }
  const float s = ts_scale(wk_block_largest(worst)), by = 1.0f / s;
  if (TS_THREAD == 0) {
    scales[TS_BLOCK] = s;
    wk_report(fault, wk_worse(wk_worse(wk_worse(0, m), inverse), s));
  }
  for (ts_u32 i = TS_THREAD; i < width / 4; i += TS_THREADS) {
    const ts_float4 y = ((const ts_float4 *)row)[i];
    ts_u32 word = 0;
    TS_UNROLL
    for (int e = 0; e < 4; e++) word |= ((ts_u32)ts_round_nearest(y[e] * by) & 0xffu) << (8 * e);
    ((ts_u32 *)out)[first + i] = word;
  }
}

#endif
