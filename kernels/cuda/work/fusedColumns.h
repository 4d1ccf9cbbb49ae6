/* Sums and scales over the rows of columns, and bytes of the turned, without a turned copy of floats. */
#ifndef TS_CUDA_WORK_FUSED_COLUMNS_H
#define TS_CUDA_WORK_FUSED_COLUMNS_H
#include "base.h"
#include "eights.h"

#define WK_COLUMN_TILE 32

/*
 * A block of 1,024 has 32 columns of a piece of 4,096 rows (block y): a warp is one of the 32 partial sums of each. `of`
 * gives what is summed, up to two numbers, for a row and column.
 */
template <int N, class F>
static TS_INLINE void wk_column_pieces(float *const (&to)[N], ts_u32 rows, ts_u32 width, F of) {
  __shared__ float sums[N][32][33];
  const ts_u32 column = TS_BLOCK * WK_COLUMN_TILE + WK_LANE, end = wk_least(rows, (TS_BLOCK_Y + 1) * WK_PIECE);
  float s[N];
  TS_UNROLL
  for (int n = 0; n < N; n++) s[n] = 0.0f;
  if (column < width)
    _Pragma("unroll 4")
    for (ts_u32 r = TS_BLOCK_Y * WK_PIECE + WK_WARP; r < end; r += 32) {
      float x[N];
      of(r, column, x);
      TS_UNROLL
      for (int n = 0; n < N; n++) s[n] = s[n] + x[n];
    }
  TS_UNROLL
  for (int n = 0; n < N; n++) sums[n][WK_WARP][WK_LANE] = s[n];
  TS_BARRIER();
  TS_UNROLL
  for (int n = 0; n < N; n++) {
    const float total = wk_halves(sums[n][WK_LANE][WK_WARP]);
    const ts_u32 mine = TS_BLOCK * WK_COLUMN_TILE + WK_WARP;
    if (WK_LANE == 0 && mine < width) to[n][(ts_u64)TS_BLOCK_Y * width + mine] = total;
  }
}

/* A warp for each column: the sum of its pieces' sums. */
WK(columnTotals)(ts_u32 *fault, const float *pieces, float *out, ts_u32 width, ts_u32 many) {
  const ts_u32 column = TS_BLOCK * WK_WARPS + WK_WARP;
  if (column >= width) return;
  const float total = wk_piece_total(0, many, [=](ts_u32 i) { return pieces[(ts_u64)i * width + column]; });
  if (WK_LANE > 0) return;
  out[column] = total;
  wk_report(fault, wk_worse(0, total));
}

WK(columnPieces)(ts_u32 *fault, const float *x, float *pieces, ts_u32 rows, ts_u32 width) {
  wk_column_pieces<1>({pieces}, rows, width, [=](ts_u32 r, ts_u32 c, float *y) { y[0] = x[(ts_u64)r * width + c]; });
}

/* Of dy * h, h the normed x. */
WK(normGainPieces)(
    ts_u32 *fault, const float *x, const float *mean, const float *inverse, const float *dy, float *gains, ts_u32 rows,
    ts_u32 width) {
  ts_u32 worst = 0;
  wk_column_pieces<1>({gains}, rows, width, [&](ts_u32 r, ts_u32 c, float *y) {
    const ts_u64 at = (ts_u64)r * width + c;
    y[0] = dy[at] * ((mean ? x[at] - mean[r] : x[at]) * inverse[r]);
    worst = wk_worse(worst, y[0]);
  });
  wk_report(fault, worst);
}

/* Sums of pieces of columns, and the largest of x * fold of each column and piece of `piece` rows: `largest` begins at 0. */
WK(columnLargest)(
    ts_u32 *fault, const float *x, const float *fold, float *pieces, ts_u32 *largest, ts_u32 rows, ts_u32 width,
    ts_u32 piece) {
  ts_u32 worst = 0;
  wk_column_pieces<1>({pieces}, rows, width, [&](ts_u32 r, ts_u32 c, float *y) {
    y[0] = x[(ts_u64)r * width + c];
    worst = wk_worse(worst, fold ? y[0] * fold[r] : y[0]);
  });
  __shared__ ts_u32 warps[32][33];
  warps[WK_WARP][WK_LANE] = worst;
  TS_BARRIER();
  const ts_u32 most = wk_warp_largest(warps[WK_LANE][WK_WARP]), column = TS_BLOCK * WK_COLUMN_TILE + WK_WARP;
  const ts_u32 many = (rows + piece - 1) / piece, at = TS_BLOCK_Y * WK_PIECE / piece;
  if (WK_LANE == 0 && column < width)
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

/* out[column][row] by chance; a block of 256 turns 64 rows of 32 columns, a thread eight rows of one column. */
WK(turnChance)(
    ts_u32 *fault, const float *x, const float *fold, const float *scales, ts_i8 *out, ts_u32 rows, ts_u32 width,
    ts_u32 piece, ts_u32 key0, ts_u32 key1, ts_u32 tensor, ts_u32 transition) {
  __shared__ float tile[64][33];
  const ts_u32 across = (width + 31) / 32, row = TS_BLOCK / across * 64, column = TS_BLOCK % across * 32;
  const ts_draw draw = {key0, key1, tensor, transition};
  TS_UNROLL
  for (ts_u32 r = WK_WARP; r < 64; r += 8) {
    float y = 0.0f;
    if (column + WK_LANE < width) y = x[(ts_u64)(row + r) * width + column + WK_LANE];
    tile[r][WK_LANE] = fold ? y * fold[row + r] : y;
  }
  TS_BARRIER();
  /* Eight threads side by side write 64 bytes of a column. */
  const ts_u32 mine = column + TS_THREAD / 8, from = TS_THREAD % 8 * 8;
  if (mine >= width) return;
  const float inverse = 1.0f / scales[(ts_u64)mine * ((rows + piece - 1) / piece) + row / piece];
  float v[8];
  ts_i32 q[8];
  TS_UNROLL
  for (int k = 0; k < 8; k++) v[k] = tile[from + k][TS_THREAD / 8] * inverse;
  const ts_u64 at = (ts_u64)mine * rows + row + from;
  wk_round_eight(draw, at / 8, v, q);
  wk_store_eight(out + at, q);
}

#endif
