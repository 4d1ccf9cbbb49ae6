/* Runs of steps over rows as one kernel each. */
#ifndef TS_CUDA_WORK_FUSED_ROWS_H
#define TS_CUDA_WORK_FUSED_ROWS_H
#include "../../common/work/optimiser.h"
#include "base.h"
#include "eights.h"

/* Rows of up to 256 numbers are a warp's here: eight to a lane. */
#define WK_SHORT 256u

/*
 * Scale and bytes of each row of what `of` makes, eight numbers at a time, which stay in registers: N times eight to a
 * thread. Rounded to nearest, or by chance.
 */
template <int N, bool BY_CHANCE, class F>
static TS_INLINE void wk_row_quantise(
    ts_u32 *fault, float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width, ts_draw draw, F of) {
  wk_row here;
  here.wide = width > WK_SHORT;
  here.row = here.wide ? TS_BLOCK : TS_BLOCK * WK_WARPS + WK_WARP;
  here.at = here.wide ? TS_THREAD : WK_LANE;
  here.step = here.wide ? TS_THREADS : 32u;
  if (here.row >= rows) return;
  const ts_u32 across = width / 8;
  wk_eight y[N];
  ts_u32 worst = 0;
  TS_UNROLL
  for (int n = 0; n < N; n++) {
    const ts_u32 at = here.at + n * here.step;
    if (at >= across) continue;
    y[n] = of(here.row, at);
    TS_UNROLL
    for (int k = 0; k < 8; k++) worst = wk_worse(worst, y[n].y[k]);
  }
  const float s = ts_scale(wk_largest(here, worst)), inverse = 1.0f / s;
  if (here.at == 0) {
    scales[here.row] = s;
    wk_report(fault, wk_worse(0, s));
  }
  TS_UNROLL
  for (int n = 0; n < N; n++) {
    const ts_u32 at = here.at + n * here.step;
    if (at >= across) continue;
    const ts_u64 i = (ts_u64)here.row * across + at;
    float v[8];
    ts_i32 q[8];
    TS_UNROLL
    for (int k = 0; k < 8; k++) v[k] = y[n].y[k] * inverse;
    if (BY_CHANCE) wk_round_eight(draw, i, v, q);
    else
      TS_UNROLL
      for (int k = 0; k < 8; k++) q[k] = ts_round_nearest(v[k]);
    wk_store_eight(out + 8 * i, q);
  }
}

#define WK_QUANTISE_ROWS(N)                                                                                           \
  WK(scaleQuantise##N)(                                                                                               \
      ts_u32 *fault, const float *x, const float *fold, float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width,         \
      ts_u32 rows_each) {                                                                                             \
    wk_row_quantise<N, false>(fault, scales, out, rows, width, {}, [=](ts_u32 row, ts_u32 at) {                       \
      const float *f = fold ? fold + (ts_u64)(row / rows_each) * width + 8 * at : 0;                                  \
      return wk_load_eight(x + (ts_u64)row * width + 8 * at, f);                                                      \
    });                                                                                                               \
  }                                                                                                                   \
  WK(scaleChance##N)(                                                                                                 \
      ts_u32 *fault, const float *x, const float *fold, float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width,         \
      ts_u32 rows_each, ts_u32 key0, ts_u32 key1, ts_u32 tensor, ts_u32 transition) {                                 \
    const ts_draw draw = {key0, key1, tensor, transition};                                                            \
    wk_row_quantise<N, true>(fault, scales, out, rows, width, draw, [=](ts_u32 row, ts_u32 at) {                      \
      const float *f = fold ? fold + (ts_u64)(row / rows_each) * width + 8 * at : 0;                                  \
      return wk_load_eight(x + (ts_u64)row * width + 8 * at, f);                                                      \
    });                                                                                                               \
  }                                                                                                                   \
  WK(geluQuantise##N)(ts_u32 *fault, const float *x, float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width) {          \
    wk_row_quantise<N, false>(fault, scales, out, rows, width, {}, [=](ts_u32 row, ts_u32 at) {                       \
      wk_eight y = wk_load_eight(x + (ts_u64)row * width + 8 * at, 0);                                                \
      TS_UNROLL                                                                                                       \
      for (int k = 0; k < 8; k++) y.y[k] = ts_gelu(y.y[k]);                                                           \
      return y;                                                                                                       \
    });                                                                                                               \
  }                                                                                                                   \
  WK(siluQuantise##N)(                                                                                                \
      ts_u32 *fault, const float *gate, const float *up, float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width) {      \
    wk_row_quantise<N, false>(fault, scales, out, rows, width, {}, [=](ts_u32 row, ts_u32 at) {                       \
      wk_eight y = wk_load_eight(gate + (ts_u64)row * width + 8 * at, 0);                                             \
      const wk_eight u = wk_load_eight(up + (ts_u64)row * width + 8 * at, 0);                                         \
      TS_UNROLL                                                                                                       \
      for (int k = 0; k < 8; k++) y.y[k] = ts_silu(y.y[k]) * u.y[k];                                                  \
      return y;                                                                                                       \
    });                                                                                                               \
  }
WK_QUANTISE_ROWS(1)
WK_QUANTISE_ROWS(2)
WK_QUANTISE_ROWS(4)

/* Statistics, norm, scale and bytes of each row. Without a mean (`means` 0) a root mean square norm. */
WK(normQuantise)(
    ts_u32 *fault, const float *x, const float *gain, const float *shift, float *means, float *inverses, float *scales,
    ts_i8 *out, ts_u32 rows, ts_u32 width, float epsilon) {
  const wk_row here = wk_row_here(width);
  if (here.row >= rows) return;
  const float *in = x + (ts_u64)here.row * width, n = (float)width;
  const bool centred = means != 0;
  const float m = centred ? wk_total(here, width, [=](ts_u32 i) { return in[i]; }) / n : 0.0f;
  const float total = wk_total(here, width, [=](ts_u32 i) {
    const float c = centred ? in[i] - m : in[i];
    return c * c;
  });
  const float inverse = 1.0f / ts_sqrt(total / n + epsilon);
  auto eight = [=](ts_u32 at) {
    wk_eight y = wk_load_eight(in + 8 * at, 0);
    const wk_eight g = wk_load_eight(gain + 8 * at, 0);
    TS_UNROLL
    for (int k = 0; k < 8; k++) y.y[k] = ((centred ? y.y[k] - m : y.y[k]) * inverse) * g.y[k];
    if (shift) {
      const wk_eight b = wk_load_eight(shift + 8 * at, 0);
      TS_UNROLL
      for (int k = 0; k < 8; k++) y.y[k] = y.y[k] + b.y[k];
    }
    return y;
  };
  ts_u32 worst = 0;
  for (ts_u32 at = here.at; at < width / 8; at += here.step) {
    const wk_eight y = eight(at);
    TS_UNROLL
    for (int k = 0; k < 8; k++) worst = wk_worse(worst, y.y[k]);
  }
  const float s = ts_scale(wk_largest(here, worst)), by = 1.0f / s;
  if (here.at == 0) {
    if (centred) means[here.row] = m;
    inverses[here.row] = inverse;
    scales[here.row] = s;
    wk_report(fault, wk_worse(wk_worse(wk_worse(0, m), inverse), s));
  }
  for (ts_u32 at = here.at; at < width / 8; at += here.step) {
    const wk_eight y = eight(at);
    ts_i32 q[8];
    TS_UNROLL
    for (int k = 0; k < 8; k++) q[k] = ts_round_nearest(y.y[k] * by);
    wk_store_eight(out + (ts_u64)here.row * width + 8 * at, q);
  }
}

/* Rows of 32 N numbers stay in the registers of a warp: N to a lane, which is one of the 32 partial sums; four to a block. */
#define WK_ROWS_HERE                                                                                                  \
  const ts_u32 row = TS_BLOCK * 4 + WK_WARP;                                                                          \
  if (row >= rows) return;                                                                                            \
  const ts_u32 width = 32 * N;                                                                                        \
  const ts_u64 begin = (ts_u64)row * width + WK_LANE;
#define WK_EACH(k)                                                                                                    \
  TS_UNROLL                                                                                                           \
  for (int k = 0; k < N; k++)

template <int N>
static TS_INLINE void wk_norm_rows(
    ts_u32 *fault, const float *x, const float *gain, const float *shift, float *means, float *inverses, float *scales,
    ts_i8 *out, ts_u32 rows, float epsilon) {
  __shared__ __attribute__((aligned(16))) ts_i8 staged[4][32 * N];
  WK_ROWS_HERE
  const float n = (float)width;
  float y[N], sum = 0.0f, m = 0.0f;
  WK_EACH(k) y[k] = x[begin + 32 * k];
  if (means) {
    WK_EACH(k) sum = sum + y[k];
    m = wk_halves(sum) / n;
    WK_EACH(k) y[k] = y[k] - m;
    sum = 0.0f;
  }
  WK_EACH(k) sum = sum + y[k] * y[k];
  const float inverse = 1.0f / ts_sqrt(wk_halves(sum) / n + epsilon);
  ts_u32 worst = 0;
  WK_EACH(k) {
    y[k] = (y[k] * inverse) * gain[32 * k + WK_LANE];
    if (shift) y[k] = y[k] + shift[32 * k + WK_LANE];
    worst = wk_worse(worst, y[k]);
  }
  const float s = ts_scale(wk_warp_largest(worst)), by = 1.0f / s;
  if (WK_LANE == 0) {
    if (means) means[row] = m;
    inverses[row] = inverse;
    scales[row] = s;
    wk_report(fault, wk_worse(wk_worse(wk_worse(0, m), inverse), s));
  }
  ts_i8 *mine = staged[WK_WARP];
  WK_EACH(k) mine[32 * k + WK_LANE] = (ts_i8)ts_round_nearest(y[k] * by);
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  for (ts_u32 i = WK_LANE; i < width / 16; i += 32)
    ((ts_vec4 *)(out + (ts_u64)row * width))[i] = ((const ts_vec4 *)mine)[i];
}
#define WK_NORM_ROWS(N)                                                                                               \
  TS_BOUNDS(128, 4)                                                                                                   \
  WK(normQuantise##N)(                                                                                                \
      ts_u32 *fault, const float *x, const float *gain, const float *shift, float *means, float *inverses,            \
      float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width, float epsilon) {                                          \
    wk_norm_rows<N>(fault, x, gain, shift, means, inverses, scales, out, rows, epsilon);                              \
  }
WK_NORM_ROWS(24)
WK_NORM_ROWS(32)
WK_NORM_ROWS(64)

/* The gradient through a norm, then + other where there is one. */
template <int N>
static TS_INLINE void wk_norm_back_rows(
    ts_u32 *fault, const float *x, const float *mean, const float *inverse, const float *gain, const float *dy,
    const float *other, float *out, ts_u32 rows) {
  WK_ROWS_HERE
  const float m = mean ? mean[row] : 0.0f, s = inverse[row], n = (float)width;
  float h[N], e[N], of_product = 0.0f, of_d = 0.0f;
  WK_EACH(k) h[k] = x[begin + 32 * k];
  WK_EACH(k) e[k] = dy[begin + 32 * k];
  WK_EACH(k) {
    h[k] = (mean ? h[k] - m : h[k]) * s;
    e[k] = e[k] * gain[32 * k + WK_LANE];
    of_product = of_product + e[k] * h[k];
    of_d = of_d + e[k];
  }
  const float mean_product = wk_halves(of_product) / n, mean_d = wk_halves(of_d) / n;
  ts_u32 worst = 0;
  WK_EACH(k) {
    h[k] = ((mean ? e[k] - mean_d : e[k]) - h[k] * mean_product) * s;
    worst = wk_worse(worst, h[k]);
  }
  if (other) {
    /* All of it before anything is stored: no compiler knows that they do not overlap. */
    WK_EACH(k) e[k] = other[begin + 32 * k];
    WK_EACH(k) {
      h[k] = h[k] + e[k];
      worst = wk_worse(worst, h[k]);
    }
  }
  WK_EACH(k) out[begin + 32 * k] = h[k];
  wk_report(fault, worst);
}
#define WK_NORM_BACK_ROWS(N)                                                                                          \
  TS_BOUNDS(128, 3)                                                                                                   \
  WK(normBackwardAdd##N)(                                                                                             \
      ts_u32 *fault, const float *x, const float *mean, const float *inverse, const float *gain, const float *dy,     \
      const float *other, float *out, ts_u32 rows, ts_u32 width) {                                                    \
    wk_norm_back_rows<N>(fault, x, mean, inverse, gain, dy, other, out, rows);                                        \
  }
WK_NORM_BACK_ROWS(24)
WK_NORM_BACK_ROWS(32)
WK_NORM_BACK_ROWS(64)

/* Eight dequantised numbers of a row: sums, a scale of the row, scales of columns and a bias, where there are. */
static TS_INLINE wk_eight wk_dequantised_eight(
    const ts_i32 *sums, float s, const float *column_scales, const float *bias, ts_u64 at, ts_u32 column) {
  wk_eight y;
  TS_UNROLL
  for (int h = 0; h < 2; h++) {
    const ts_vec4 c = ((const ts_vec4 *)(sums + at))[h];
    ts_float4 by = {1.0f, 1.0f, 1.0f, 1.0f}, b = {};
    if (column_scales) by = ((const ts_float4 *)(column_scales + column))[h];
    if (bias) b = ((const ts_float4 *)(bias + column))[h];
    TS_UNROLL
    for (int k = 0; k < 4; k++) {
      const float z = ((float)(ts_i32)c[k] * s) * by[k];
      y.y[4 * h + k] = bias ? z + b[k] : z;
    }
  }
  return y;
}

/* Dequantised rows of tokens to bytes and scales of rows of heads of D, a power of two up to 256: a warp has 256 numbers. */
WK(headQuantise)(
    ts_u32 *fault, const ts_i32 *sums, const float *row_scales, const float *column_scales, const float *bias,
    float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width, ts_u32 tokens, ts_u32 D) {
  const ts_u64 at = ((ts_u64)TS_BLOCK * WK_WARPS + WK_WARP) * 256 + 8 * WK_LANE;
  if (at >= (ts_u64)rows * width) return;
  const ts_u32 row = (ts_u32)(at / width), column = (ts_u32)(at % width), heads = width / D;
  const wk_eight y = wk_dequantised_eight(sums, row_scales[row], column_scales, bias, at, column);
  ts_u32 worst = 0;
  TS_UNROLL
  for (int k = 0; k < 8; k++) worst = wk_worse(worst, y.y[k]);
  for (ts_u32 half = D / 16; half > 0; half /= 2) {
    const ts_u32 other = ts_shuffle_word(worst, half);
    worst = other > worst ? other : worst;
  }
  const float s = ts_scale(worst), inverse = 1.0f / s;
  const ts_u64 to = ((ts_u64)(row / tokens) * heads + column / D) * tokens + row % tokens;
  if (column % D == 0) {
    scales[to] = s;
    wk_report(fault, wk_worse(0, s));
  }
  ts_i32 q[8];
  TS_UNROLL
  for (int k = 0; k < 8; k++) q[k] = ts_round_nearest(y.y[k] * inverse);
  wk_store_eight(out + to * D + column % D, q);
}

#define WK_SUMS_GELU(N)                                                                                               \
  WK(sumsGeluQuantise##N)(                                                                                            \
      ts_u32 *fault, const ts_i32 *sums, const float *row_scales, const float *column_scales, const float *bias,      \
      float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width) {                                                         \
    ts_u32 worst = 0;                                                                                                 \
    wk_row_quantise<N, false>(fault, scales, out, rows, width, {}, [&](ts_u32 row, ts_u32 at) {                       \
      const ts_u64 from = (ts_u64)row * width + 8 * at;                                                               \
      wk_eight y = wk_dequantised_eight(sums, row_scales[row], column_scales, bias, from, 8 * at);                    \
      TS_UNROLL                                                                                                       \
      for (int k = 0; k < 8; k++) {                                                                                   \
        worst = wk_worse(worst, y.y[k]);                                                                              \
        y.y[k] = ts_gelu(y.y[k]);                                                                                     \
      }                                                                                                               \
      return y;                                                                                                       \
    });                                                                                                               \
    wk_report(fault, worst);                                                                                          \
  }
WK_SUMS_GELU(1)
WK_SUMS_GELU(2)
WK_SUMS_GELU(4)

/* Dequantised dy times the slope of GELU at what is dequantised too. */
WK(sumsGeluBack)(
    ts_u32 *fault, const ts_i32 *sums, const float *row_scales, const ts_i32 *x_sums, const float *x_row_scales,
    const float *x_column_scales, const float *x_bias, float *out, ts_u32 rows, ts_u32 width) {
  ts_u32 worst = 0;
  for (ts_u64 i = WK_FIRST; i < (ts_u64)rows * (width / 8); i += WK_STEP) {
    const ts_u32 row = (ts_u32)(i / (width / 8)), column = (ts_u32)(i % (width / 8)) * 8;
    const wk_eight dy = wk_dequantised_eight(sums, row_scales[row], 0, 0, 8 * i, column);
    const wk_eight x = wk_dequantised_eight(x_sums, x_row_scales[row], x_column_scales, x_bias, 8 * i, column);
    TS_UNROLL
    for (int h = 0; h < 2; h++) {
      ts_float4 y;
      TS_UNROLL
      for (int k = 0; k < 4; k++) {
        y[k] = dy.y[4 * h + k] * ts_gelu_slope(x.y[4 * h + k]);
        worst = wk_worse(wk_worse(worst, dy.y[4 * h + k]), y[k]);
      }
      ((ts_float4 *)(out + 8 * i))[h] = y;
    }
  }
  wk_report(fault, worst);
}

/* Dequantised, then + other, or times the slope of GELU at it. */
template <class F>
static TS_INLINE void wk_dequantise_then(
    ts_u32 *fault, const ts_i32 *sums, const float *row_scales, const float *column_scales, const float *bias,
    const float *other, float *out, ts_u32 rows, ts_u32 width, ts_u32 rows_each, float factor, F then) {
  typedef ts_i32 ts_int4 __attribute__((ext_vector_type(4)));
  const ts_u32 across = width / 4;
  ts_u32 worst = 0;
  for (ts_u64 i = WK_FIRST; i < (ts_u64)rows * across; i += WK_STEP) {
    const ts_u32 row = (ts_u32)i / across, column = (ts_u32)i % across;
    const ts_int4 c = ((const ts_int4 *)sums)[i];
    const float s = row_scales[row];
    ts_float4 by = {1.0f, 1.0f, 1.0f, 1.0f}, y;
    if (column_scales) by = ((const ts_float4 *)column_scales)[(ts_u64)(row / rows_each) * across + column];
    TS_UNROLL
    for (int k = 0; k < 4; k++) y[k] = ts_dequantise(c[k], s, by[k], factor);
    if (bias) y += ((const ts_float4 *)bias)[column];
    const ts_float4 x = ((const ts_float4 *)other)[i];
    TS_UNROLL
    for (int k = 0; k < 4; k++) {
      worst = wk_worse(worst, y[k]);
      y[k] = then(y[k], x[k]);
      worst = wk_worse(worst, y[k]);
    }
    ((ts_float4 *)out)[i] = y;
  }
  wk_report(fault, worst);
}
WK(dequantiseAdd)(
    ts_u32 *fault, const ts_i32 *sums, const float *row_scales, const float *column_scales, const float *bias,
    const float *other, float *out, ts_u32 rows, ts_u32 width, ts_u32 rows_each, float factor) {
  wk_dequantise_then(
      fault, sums, row_scales, column_scales, bias, other, out, rows, width, rows_each, factor,
      [](float y, float x) { return y + x; });
}
WK(dequantiseGeluBack)(
    ts_u32 *fault, const ts_i32 *sums, const float *row_scales, const float *column_scales, const float *bias,
    const float *other, float *out, ts_u32 rows, ts_u32 width, ts_u32 rows_each, float factor) {
  wk_dequantise_then(
      fault, sums, row_scales, column_scales, bias, other, out, rows, width, rows_each, factor,
      [](float y, float x) { return y * ts_gelu_slope(x); });
}

/* All of AdamW for a parameter. */
WK(adamW)(
    ts_u32 *fault, const float *w, const float *m, const float *v, const float *g, const float *clip, float *w_out,
    float *m_out, float *v_out, ts_u32 count, float beta1, float beta2, float rate, float epsilon, float decay,
    float correction1, float correction2) {
  const ts_adamw a = {rate, epsilon, decay, correction1, correction2};
  const float factor = *clip;
  ts_u32 worst = 0;
  for (ts_u64 i = WK_FIRST; i < count / 4; i += WK_STEP) {
    const ts_float4 w0 = ((const ts_float4 *)w)[i], m0 = ((const ts_float4 *)m)[i], v0 = ((const ts_float4 *)v)[i];
    const ts_float4 g0 = ((const ts_float4 *)g)[i];
    ts_float4 w1, m1, v1;
    TS_UNROLL
    for (int k = 0; k < 4; k++) {
      const float clipped = g0[k] * factor;
      m1[k] = ts_adamw_first(beta1, m0[k], clipped);
      v1[k] = ts_adamw_second(beta2, v0[k], clipped);
      w1[k] = ts_adamw_weight(a, w0[k], m1[k], v1[k]);
      worst = wk_worse(wk_worse(wk_worse(worst, m1[k]), v1[k]), w1[k]);
    }
    ((ts_float4 *)w_out)[i] = w1;
    ((ts_float4 *)m_out)[i] = m1;
    ((ts_float4 *)v_out)[i] = v1;
  }
  wk_report(fault, worst);
}

#endif
