/* Products of few rows, bound by how fast weights are read. Every weight is read once. */
#ifndef TS_CUDA_WORK_ROW_LINEAR_H
#define TS_CUDA_WORK_ROW_LINEAR_H
#include "decode.h"
#include "weightRing.h"

/* Rows of so many bytes in all are quantised into shared memory; rows under a norm have so many numbers. */
#define WK_ROW_BYTES 14336
#define WK_ROW_FLOATS 8192
#define WK_FEW 4
/* Four numbers at a time that a thread holds of such rows. */
#define WK_HELD (WK_ROW_BYTES / 4 / (int)WK_PHASE_THREADS)
#define WK_HELD_NORM (WK_ROW_FLOATS / 4 / (int)WK_PHASE_THREADS)

/* What belongs to one output of a matrix, read before the sum is there. */
struct wk_output {
  float scale, bias;
};
static TS_INLINE wk_output wk_output_of(wk_matrix m, ts_u32 j) {
  return {m.scales[j], m.bias ? m.bias[j] : 0.0f};
}

static TS_INLINE float wk_made(ts_u32 *worst, ts_i32 sum, float row, wk_output of, bool has_bias) {
  float y = ts_dequantise(sum, row, of.scale, 1.0f);
  if (has_bias) {
    *worst = wk_worse(*worst, y);
    y = y + of.bias;
  }
  *worst = wk_worse(*worst, y);
  return y;
}

/* Over 4,096 numbers in pieces (W2.5.3): there are two at most. */
template <class F> static TS_INLINE float wk_row_total(const float *row, ts_u32 k, F of) {
  const float first = wk_deep_total(wk_least(k, WK_PIECE), [=](ts_u32 i) { return of(row[i]); });
  if (k <= WK_PIECE) return first;
  return first + wk_deep_total(k - WK_PIECE, [=](ts_u32 i) { return of(row[WK_PIECE + i]); });
}

/* Mean and inverse of a row, by a warp. */
static TS_INLINE void wk_row_statistics(const float *row, ts_u32 k, bool centred, float epsilon, float *statistics) {
  const float n = (float)k;
  float mean = 0.0f, squares;
  if (centred) {
    mean = wk_row_total(row, k, [](float x) { return x; }) / n;
    squares = wk_row_total(row, k, [=](float x) { return (x - mean) * (x - mean); });
  } else squares = wk_row_total(row, k, [](float x) { return x * x; });
  if (WK_LANE > 0) return;
  statistics[0] = mean;
  statistics[1] = 1.0f / ts_sqrt(squares / n + epsilon);
}

/* A row of x that a block has in its registers, four numbers at a time. */
struct wk_held_row {
  ts_float4 y[WK_HELD];
};
static TS_INLINE ts_u32 wk_four(int n) { return TS_THREAD + WK_PHASE_THREADS * n; }

static TS_INLINE void wk_norm_row(ts_u32 *unsound, wk_held_row &row, const wk_linear &of, float *staged) {
  __shared__ float statistics[2];
  const ts_u32 fours = of.k / 4;
  const bool centred = of.shift != 0;
  ts_float4 gain[WK_HELD_NORM], shift[WK_HELD_NORM];
  TS_UNROLL
  for (int n = 0; n < WK_HELD_NORM; n++) {
    gain[n] = shift[n] = ts_float4{0.0f, 0.0f, 0.0f, 0.0f};
    if (wk_four(n) >= fours) continue;
    gain[n] = ((const ts_float4 *)of.gain)[wk_four(n)];
    if (centred) shift[n] = ((const ts_float4 *)of.shift)[wk_four(n)];
  }
  TS_UNROLL
  for (int n = 0; n < WK_HELD_NORM; n++)
    if (wk_four(n) < fours) ((ts_float4 *)staged)[wk_four(n)] = row.y[n];
  TS_BARRIER();
  if (WK_WARP == 0) wk_row_statistics(staged, of.k, centred, of.epsilon, statistics);
  TS_BARRIER();
  const float mean = statistics[0], inverse = statistics[1];
  *unsound = wk_worse(wk_worse(*unsound, mean), inverse);
  TS_UNROLL
  for (int n = 0; n < WK_HELD_NORM; n++)
    TS_UNROLL
    for (int e = 0; e < 4; e++) {
      const float x = row.y[n][e], scaled = ((centred ? x - mean : x) * inverse) * gain[n][e];
      row.y[n][e] = centred ? scaled + shift[n][e] : scaled;
    }
}

/* Rows of x as bytes in shared memory, under a norm where there is a gain; and their scales. */
static TS_INLINE void wk_quantise_few(ts_u32 *fault, const wk_linear &of, float *staged, ts_i8 *bytes, float *scales) {
  const ts_u32 fours = of.k / 4;
  for (ts_u32 r = 0; r < of.rows; r++) {
    const ts_float4 *in = (const ts_float4 *)(of.x + (ts_u64)r * of.k);
    wk_held_row row;
    ts_u32 worst = 0, unsound = 0;
    TS_UNROLL
    for (int n = 0; n < WK_HELD; n++) row.y[n] = wk_four(n) < fours ? in[wk_four(n)] : ts_float4{0.0f, 0.0f, 0.0f, 0.0f};
    if (of.gain) wk_norm_row(&unsound, row, of, staged);
    TS_UNROLL
    for (int n = 0; n < WK_HELD; n++)
      TS_UNROLL
      for (int e = 0; e < 4; e++)
        if (wk_four(n) < fours) worst = wk_worse(worst, row.y[n][e]);
    const float s = ts_scale(wk_block_largest(worst)), by = 1.0f / s;
    unsound = wk_worse(unsound, s);
    TS_UNROLL
    for (int n = 0; n < WK_HELD; n++) {
      if (wk_four(n) >= fours) continue;
      ts_u32 word = 0;
      TS_UNROLL
      for (int e = 0; e < 4; e++) word |= ((ts_u32)ts_round_nearest(row.y[n][e] * by) & 0xffu) << (8 * e);
      ((ts_u32 *)(bytes + r * of.k))[wk_four(n)] = word;
    }
    if (TS_THREAD == 0) {
      scales[r] = s;
      if (TS_BLOCK == 0) wk_report(fault, unsound);
    }
    TS_BARRIER();
  }
}

/*
 * Sums of a row of weights, which the ring brings, with rows of bytes; all lanes get them. Weights past the end are zeros:
 * what of the bytes they meet does not matter.
 */
template <int ROWS>
static TS_INLINE void wk_ring_dot(wk_ring &ring, const ts_i8 *bytes, ts_u32 rows, ts_u32 k, ts_i32 sums[ROWS]) {
  const ts_i8 *x = bytes + 16 * WK_LANE;
  ts_i32 parts[ROWS][WK_SENT] = {};
  for (ts_u32 at = 0; at < k / 16; at += WK_TURN) {
    ring.wait();
    ts_vec4 w[WK_SENT];
    TS_UNROLL
    for (ts_u32 n = 0; n < WK_SENT; n++) w[n] = ring.take(n, k / 16 - at);
    TS_UNROLL
    for (int r = 0; r < ROWS; r++) {
      if (ROWS > 1 && (ts_u32)r >= rows) continue;
      TS_UNROLL
      for (ts_u32 n = 0; n < WK_SENT; n++)
        parts[r][n] = wk_dot16(w[n], *(const ts_vec4 *)(x + r * k + 512 * n), parts[r][n]);
    }
    x += WK_TURN_BYTES;
    ring.send();
  }
  TS_UNROLL
  for (int r = 0; r < ROWS; r++) sums[r] = wk_warp_sum((parts[r][0] + parts[r][1]) + (parts[r][2] + parts[r][3]));
}

/* What a lane has of one output: all that belongs to it, read before its sums are there. */
template <int ROWS> struct wk_own_output {
  wk_output one, two;
  float added[ROWS];
  ts_i32 a[ROWS], b[ROWS];
};

template <int ROWS> static TS_INLINE wk_own_output<ROWS> wk_begin_output(const wk_linear &of, ts_u32 j) {
  wk_own_output<ROWS> own = {};
  if (j >= of.outputs) return own;
  own.one = wk_output_of(of.first, j);
  if (of.then == WK_THEN_SILU) own.two = wk_output_of(of.second, j);
  if (of.then == WK_THEN_ADD)
    TS_UNROLL
    for (int r = 0; r < ROWS; r++)
      if ((ts_u32)r < of.rows) own.added[r] = of.other[(ts_u64)r * of.outputs + j];
  return own;
}

template <int ROWS>
static TS_INLINE void wk_finish_output(
    ts_u32 *worst, const wk_linear &of, ts_u32 j, const wk_own_output<ROWS> &own, const float *scales) {
  if (j >= of.outputs) return;
  TS_UNROLL
  for (int r = 0; r < ROWS; r++) {
    if ((ts_u32)r >= of.rows) continue;
    float y = wk_made(worst, own.a[r], scales[r], own.one, of.first.bias != 0);
    if (of.then == WK_THEN_ADD) y = own.added[r] + y;
    else if (of.then == WK_THEN_GELU) y = ts_gelu(y);
    else if (of.then == WK_THEN_SILU) y = ts_silu(y) * wk_made(worst, own.b[r], scales[r], own.two, of.second.bias != 0);
    *worst = wk_worse(*worst, y);
    of.out[(ts_u64)r * of.outputs + j] = y;
  }
}

/* A warp makes one output after the other; each of its lanes finishes one of 32. */
template <int ROWS>
static TS_INLINE void wk_row_linear(ts_u32 *fault, const wk_linear &of, wk_ring &ring, float *staged, ts_i8 *bytes) {
  __shared__ float scales[WK_FEW];
  wk_quantise_few(fault, of, staged, bytes, scales);
  const ts_u32 rows = of.rows, k = of.k, outputs = of.outputs, step = wk_rows_ahead::output_step();
  const bool are_two = of.then == WK_THEN_SILU;
  ts_u32 worst = 0;
  for (ts_u32 from = wk_rows_ahead::first_output(); from < outputs; from += 32 * step) {
    const ts_u32 j = from + WK_LANE * step;
    wk_own_output<ROWS> own = wk_begin_output<ROWS>(of, j);
    for (ts_u32 lane = 0; lane < 32 && from + lane * step < outputs; lane++) {
      ts_i32 a[ROWS], b[ROWS] = {};
      wk_ring_dot<ROWS>(ring, bytes, rows, k, a);
      if (are_two) wk_ring_dot<ROWS>(ring, bytes, rows, k, b);
      TS_UNROLL
      for (int r = 0; r < ROWS; r++) {
        own.a[r] = WK_LANE == lane ? a[r] : own.a[r];
        own.b[r] = WK_LANE == lane ? b[r] : own.b[r];
      }
    }
    wk_finish_output<ROWS>(&worst, of, j, own, scales);
  }
  wk_report(fault, worst);
}

#endif
