/* Between floats and 8-bit integers (W2.2). */
#ifndef TS_CUDA_WORK_QUANTISE_H
#define TS_CUDA_WORK_QUANTISE_H
#include "base.h"
#include "eights.h"

/* One scale for each row and piece of it: `width` of these is a piece, a row of theirs a row of x. */
WK(rowScale)(
    ts_u32 *fault, const float *x, const float *fold, float *out, ts_u32 rows, ts_u32 width, ts_u32 piece, ts_u32 first,
    ts_u32 rows_each) {
  const wk_row here = wk_row_here(wk_least(piece, width));
  const ts_u32 pieces = (width + piece - 1) / piece, row = here.row / pieces, from = (here.row % pieces) * piece;
  if (row >= rows) return;
  const float *in = x + (ts_u64)row * width + from;
  const float *f = fold ? fold + (ts_u64)((first + row) / rows_each) * width + from : 0;
  const ts_u32 count = wk_least(piece, width - from);
  ts_u32 worst = 0;
  if (((ts_u64)in & 15u) == 0 && ((ts_u64)f & 15u) == 0 && count % 4 == 0)
    _Pragma("unroll 2")
    for (ts_u32 i = here.at; i < count / 4; i += here.step) {
      ts_float4 y = ((const ts_float4 *)in)[i];
      if (f) y *= ((const ts_float4 *)f)[i];
      TS_UNROLL
      for (int k = 0; k < 4; k++) worst = wk_worse(worst, y[k]);
    }
  else
    for (ts_u32 i = here.at; i < count; i += here.step) worst = wk_worse(worst, f ? in[i] * f[i] : in[i]);
  const float s = ts_scale(wk_largest(here, worst));
  if (here.at > 0) return;
  out[here.row] = s;
  wk_report(fault, wk_worse(0, s));
}

template <class Round8, class Round1>
static TS_INLINE void wk_quantise(
    const float *x, const float *fold, const float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width, ts_u32 piece,
    ts_u32 first, ts_u32 rows_each, bool in_eights, Round8 round8, Round1 round1) {
  const ts_u32 pieces = (width + piece - 1) / piece;
  if (in_eights && width % 8 == 0 && piece % 8 == 0 && (((ts_u64)x | (ts_u64)fold | (ts_u64)out) & 15u) == 0) {
    const ts_u32 across = width / 8;
    for (ts_u64 i = WK_FIRST; i < (ts_u64)rows * across; i += WK_STEP) {
      const ts_u32 row = (ts_u32)i / across, column = ((ts_u32)i % across) * 8;
      const float *f = fold ? fold + (ts_u64)((first + row) / rows_each) * width + column : 0;
      const float inverse = 1.0f / scales[(ts_u64)row * pieces + column / piece];
      wk_eight v = wk_load_eight(x + 8 * i, f);
      TS_UNROLL
      for (int k = 0; k < 8; k++) v.y[k] = v.y[k] * inverse;
      ts_i32 q[8];
      round8(v.y, i, q);
      wk_store_eight(out + 8 * i, q);
    }
    return;
  }
  for (ts_u64 i = WK_FIRST; i < (ts_u64)rows * width; i += WK_STEP) {
    const ts_u32 row = (ts_u32)(i / width), column = (ts_u32)(i % width);
    const float y = fold ? x[i] * fold[(ts_u64)((first + row) / rows_each) * width + column] : x[i];
    out[i] = (ts_i8)round1(y * (1.0f / scales[(ts_u64)row * pieces + column / piece]), i);
  }
}

WK(quantise)(
    ts_u32 *fault, const float *x, const float *fold, const float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width,
    ts_u32 piece, ts_u32 first, ts_u32 rows_each) {
  wk_quantise(
      x, fold, scales, out, rows, width, piece, first, rows_each, true,
      [](const float v[8], ts_u64, ts_i32 q[8]) {
        TS_UNROLL
        for (int k = 0; k < 8; k++) q[k] = ts_round_nearest(v[k]);
      },
      [](float v, ts_u64) { return ts_round_nearest(v); });
}

WK(quantiseStochastic)(
    ts_u32 *fault, const float *x, const float *fold, const float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width,
    ts_u32 piece, ts_u32 first, ts_u32 rows_each, ts_u32 key0, ts_u32 key1, ts_u32 tensor, ts_u32 transition, ts_u64 index) {
  const ts_draw draw = {key0, key1, tensor, transition};
  wk_quantise(
      x, fold, scales, out, rows, width, piece, first, rows_each, index % 8 == 0,
      [=](const float v[8], ts_u64 i, ts_i32 q[8]) { wk_round_eight(draw, index / 8 + i, v, q); },
      [=](float v, ts_u64 i) { return ts_round_stochastic(v, ts_draw_lane(draw, index + i)); });
}

WK(dequantise)(
    ts_u32 *fault, const ts_i32 *sums, const float *row_scales, const float *column_scales, const float *bias, float *out,
    ts_u32 rows, ts_u32 width, ts_u32 first, ts_u32 rows_each, float factor) {
  typedef ts_i32 ts_int4 __attribute__((ext_vector_type(4)));
  ts_u32 worst = 0;
  if (width % 4 == 0 && (((ts_u64)sums | (ts_u64)column_scales | (ts_u64)bias | (ts_u64)out) & 15u) == 0) {
    const ts_u32 across = width / 4;
    for (ts_u64 i = WK_FIRST; i < (ts_u64)rows * across; i += WK_STEP) {
      const ts_u32 row = (ts_u32)i / across, column = (ts_u32)i % across;
      const ts_int4 c = ((const ts_int4 *)sums)[i];
      const float s = row_scales[row];
      ts_float4 by = {1.0f, 1.0f, 1.0f, 1.0f}, y;
      if (column_scales) by = ((const ts_float4 *)column_scales)[(ts_u64)((first + row) / rows_each) * across + column];
      TS_UNROLL
      for (int k = 0; k < 4; k++) y[k] = ts_dequantise(c[k], s, by[k], factor);
      if (bias) y += ((const ts_float4 *)bias)[column];
      TS_UNROLL
      for (int k = 0; k < 4; k++) worst = wk_worse(worst, y[k]);
      ((ts_float4 *)out)[i] = y;
    }
  } else
    for (ts_u64 i = WK_FIRST; i < (ts_u64)rows * width; i += WK_STEP) {
      const ts_u32 row = (ts_u32)(i / width), column = (ts_u32)(i % width);
      const float by = column_scales ? column_scales[(ts_u64)((first + row) / rows_each) * width + column] : 1.0f;
      const float y = ts_dequantise(sums[i], row_scales[row], by, factor), z = bias ? y + bias[column] : y;
      worst = wk_worse(worst, z);
      out[i] = z;
    }
  wk_report(fault, worst);
}

WK(faultyFloats)(ts_u32 *fault, const float *x, ts_u64 count) {
  ts_u32 worst = 0;
  for (ts_u64 i = WK_FIRST; i < count; i += WK_STEP) worst = wk_worse(worst, x[i]);
  wk_report(fault, worst);
}
WK(faultyBytes)(ts_u32 *fault, const ts_i8 *x, ts_u64 count) {
  for (ts_u64 i = WK_FIRST; i < count; i += WK_STEP)
    if (x[i] == -128) *fault = 1;
}

#endif
