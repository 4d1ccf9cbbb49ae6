/* Sums and scales over the rows of columns, and bytes of the turned, without a turned copy of floats. */
#ifndef TS_CUDA_WORK_FUSED_COLUMNS_H
#define TS_CUDA_WORK_FUSED_COLUMNS_H
#include "base.h"
#include "eights.h"

#define WK_COLUMN_TILE 128

/*
 * Parts of sums over columns: a warp is one of the 32 partial sums of a piece of 4,096 rows, for 128 columns, four to a lane.
 * A block of 256 has eight of the 32 (block y: piece, then which eight). `of` gives what is summed, up to two numbers, for a
 * row and four columns; parts[32 piece + partial sum][column].
 */
template <int N, class F>
static TS_INLINE void wk_column_parts(float *const (&to)[N], ts_u32 rows, ts_u32 width, F of) {
  const ts_u32 column = TS_BLOCK * WK_COLUMN_TILE + 4 * WK_LANE, part = TS_BLOCK_Y * 8 + WK_WARP;
  if (column >= width) return;
  const ts_u32 piece = part / 32, end = wk_least(rows, (piece + 1) * WK_PIECE);
  ts_float4 s[N] = {};
  _Pragma("unroll 8")
  for (ts_u32 r = piece * WK_PIECE + part % 32; r < end; r += 32) {
    ts_float4 x[N];
    of(r, column, x);
    TS_UNROLL
    for (int n = 0; n < N; n++) s[n] += x[n];
  }
  TS_UNROLL
  for (int n = 0; n < N; n++) *(ts_float4 *)(to[n] + (ts_u64)part * width + column) = s[n];
}

/* The totals of 32 columns from their parts, at most 32 pieces: a block of 256. */
WK(columnTotals)(ts_u32 *fault, const float *parts, float *out, ts_u32 width, ts_u32 many) {
  __shared__ float halves[8][32], pieces[32][32];
  const ts_u32 column = TS_BLOCK * 32 + WK_LANE, at = column < width ? column : 0;
  for (ts_u32 p = 0; p < 32; p++) {
    float total = 0.0f;
    if (p < many) {
      const float *of = parts + ((ts_u64)32 * p + WK_WARP) * width + at;
      const float low = of[0] + of[(ts_u64)16 * width], high = of[(ts_u64)8 * width] + of[(ts_u64)24 * width];
      halves[WK_WARP][WK_LANE] = low + high;
      TS_BARRIER();
      float t[8];
      TS_UNROLL
      for (int i = 0; i < 8; i++) t[i] = halves[i][WK_LANE];
      total = ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
      TS_BARRIER();
    }
    if (WK_WARP == 0) pieces[p][WK_LANE] = total;
  }
  if (WK_WARP > 0 || column >= width) return;
  for (ts_u32 half = 16; half > 0; half /= 2)
    for (ts_u32 i = 0; i < half; i++) pieces[i][WK_LANE] = pieces[i][WK_LANE] + pieces[i + half][WK_LANE];
  out[column] = pieces[0][WK_LANE];
  wk_report(fault, wk_worse(0, pieces[0][WK_LANE]));
}

static TS_INLINE ts_float4 wk_four(const float *x, ts_u32 row, ts_u32 width, ts_u32 column) {
  return *(const ts_float4 *)(x + (ts_u64)row * width + column);
}

WK(columnParts)(ts_u32 *fault, const float *x, float *parts, ts_u32 rows, ts_u32 width) {
  wk_column_parts<1>({parts}, rows, width, [=](ts_u32 r, ts_u32 c, ts_float4 *y) { y[0] = wk_four(x, r, width, c); });
}

/* Of dy * h, h the normed x; and of dy. */
WK(normGainParts)(
    ts_u32 *fault, const float *x, const float *mean, const float *inverse, const float *dy, float *gains, float *shifts,
    ts_u32 rows, ts_u32 width) {
  ts_u32 worst = 0;
  wk_column_parts<2>({gains, shifts}, rows, width, [&](ts_u32 r, ts_u32 c, ts_float4 *y) {
    const ts_float4 d = wk_four(dy, r, width, c), of = wk_four(x, r, width, c);
    y[1] = d;
    y[0] = d * ((mean ? of - mean[r] : of) * inverse[r]);
    TS_UNROLL
    for (int k = 0; k < 4; k++) worst = wk_worse(worst, y[0][k]);
  });
  wk_report(fault, worst);
}

/* Parts of sums of columns, and the largest of x * fold of each column and piece of `piece` rows: `largest` begins at 0. */
WK(columnLargest)(
    ts_u32 *fault, const float *x, const float *fold, float *parts, ts_u32 *largest, ts_u32 rows, ts_u32 width,
    ts_u32 piece) {
  __shared__ ts_u32 warps[8][WK_COLUMN_TILE];
  ts_u32 worst[4] = {0, 0, 0, 0};
  wk_column_parts<1>({parts}, rows, width, [&](ts_u32 r, ts_u32 c, ts_float4 *y) {
    y[0] = wk_four(x, r, width, c);
    const float f = fold ? fold[r] : 1.0f;
    TS_UNROLL
    for (int k = 0; k < 4; k++) worst[k] = wk_worse(worst[k], y[0][k] * f);
  });
  TS_UNROLL
  for (int k = 0; k < 4; k++) warps[WK_WARP][4 * WK_LANE + k] = worst[k];
  TS_BARRIER();
  const ts_u32 column = TS_BLOCK * WK_COLUMN_TILE + TS_THREAD;
  if (TS_THREAD >= WK_COLUMN_TILE || column >= width) return;
  ts_u32 most = 0;
  TS_UNROLL
  for (int w = 0; w < 8; w++) most = warps[w][TS_THREAD] > most ? warps[w][TS_THREAD] : most;
  const ts_u32 many = (rows + piece - 1) / piece, at = TS_BLOCK_Y / 4 * WK_PIECE / piece;
  asm volatile("red.global.max.u32 [%0], %1;" : : "l"(largest + (ts_u64)column * many + at), "r"(most) : "memory");
}
/* From the largest to scales; the largest are 0 again. */
WK(takeScales)(ts_u32 *fault, ts_u32 *largest, float *scales, ts_u32 count) {
  for (ts_u64 i = WK_FIRST; i < count; i += WK_STEP) {
    const float s = ts_scale(largest[i]);
    largest[i] = 0;
    scales[i] = s;
    wk_report(fault, wk_worse(0, s));
  }
}

/*
 * out[column][row] by chance. A block of 256 turns 128 rows of 64 columns: a thread has eight rows of a column four times, 16
 * threads a column's 128 bytes. Columns are shifted by one for every eight rows, so that these threads meet in no bank.
 */
WK(turnChance)(
    ts_u32 *fault, const float *x, const float *fold, const float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width,
    ts_u32 piece, ts_u32 key0, ts_u32 key1, ts_u32 tensor, ts_u32 transition) {
  __shared__ float tile[128][64];
  const ts_u32 across = (width + 63) / 64, row = TS_BLOCK / across * 128, column = TS_BLOCK % across * 64;
  const ts_draw draw = {key0, key1, tensor, transition};
  const ts_u32 c = TS_THREAD % 64, mine = column + c < width ? column + c : 0;
  TS_UNROLL
  for (ts_u32 k = 0; k < 32; k++) {
    const ts_u32 r = TS_THREAD / 64 + 4 * k;
    const float y = x[(ts_u64)(row + r) * width + mine];
    tile[r][(c + r / 8) % 64] = fold ? y * fold[row + r] : y;
  }
  TS_BARRIER();
  const ts_u32 group = TS_THREAD % 16, pieces = (rows + piece - 1) / piece;
  TS_UNROLL
  for (ts_u32 n = 0; n < 4; n++) {
    /* The two halves of a warp are 16 columns apart. */
    const ts_u32 at = WK_WARP + 8 * (n % 2) + 16 * (WK_LANE / 16) + 32 * (n / 2);
    if (column + at >= width) continue;
    const float inverse = 1.0f / scales[(ts_u64)(column + at) * pieces + row / piece];
    float v[8];
    ts_i32 q[8];
    TS_UNROLL
    for (int k = 0; k < 8; k++) v[k] = tile[8 * group + k][(at + group) % 64] * inverse;
    const ts_u64 to = (ts_u64)(column + at) * rows + row + 8 * group;
    wk_round_eight(draw, to / 8, v, q);
    wk_store_eight(out + to, q);
  }
}

/* A tensor among those whose squares are summed: where its pieces of 4,096 begin among all pieces. */
typedef struct {
  ts_u64 from, count;
  ts_u64 first;
} wk_squared;

/* A warp for each piece of all tensors. */
WK(squaresOf)(ts_u32 *fault, const wk_squared *tensors, ts_u32 many, float *out, ts_u64 pieces) {
  const ts_u64 piece = (ts_u64)TS_BLOCK * WK_WARPS + WK_WARP;
  if (piece >= pieces) return;
  ts_u32 low = 0, high = many;
  while (high - low > 1) {
    const ts_u32 middle = (low + high) / 2;
    if (tensors[middle].first <= piece) low = middle;
    else high = middle;
  }
  const wk_squared of = tensors[low];
  const ts_u64 from = (piece - of.first) * WK_PIECE;
  const float *in = (const float *)of.from + from;
  float s = 0.0f;
  if (of.count - from >= WK_PIECE)
    _Pragma("unroll 32")
    for (ts_u32 k = 0; k < WK_PIECE / 32; k++) {
      const float y = in[32 * k + WK_LANE];
      s = s + y * y;
    }
  else
    for (ts_u64 i = WK_LANE; i < of.count - from; i += 32) s = s + in[i] * in[i];
  const float total = wk_halves(s);
  if (WK_LANE > 0) return;
  out[piece] = total;
  wk_report(fault, wk_worse(0, total));
}
/* A block for each tensor: the sum of its pieces' sums. */
WK(squareTotals)(ts_u32 *fault, const wk_squared *tensors, const float *squares, float *out) {
  const wk_squared of = tensors[TS_BLOCK];
  const float *in = squares + of.first;
  const ts_u32 count = (ts_u32)((of.count + WK_PIECE - 1) / WK_PIECE);
  const wk_row here = {0, TS_THREAD, TS_THREADS, count > WK_PIECE};
  const float total = wk_total(here, count, [=](ts_u32 i) { return in[i]; });
  if (TS_THREAD > 0) return;
  out[TS_BLOCK] = total;
  wk_report(fault, wk_worse(0, total));
}

#endif
