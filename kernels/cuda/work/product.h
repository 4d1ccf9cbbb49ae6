/*
 * Products of integers (W2.1) on tensor cores: for cards without the library, for sizes it does not take, and under masks,
 * where half is left out. A block of 128 makes 64 x 64 results, a warp 32 x 32 of them.
 */
#ifndef TS_CUDA_WORK_PRODUCT_H
#define TS_CUDA_WORK_PRODUCT_H
#include "multiply.h"

#define WK_SIDE 64
#define WK_DEPTH 64
/* Bytes from a row to the next in shared memory: rows of eight lanes meet in no bank. */
#define WK_APART 80

/*
 * Rows `row` ... of a matrix of `rows` by k, columns `from` ... `to`, into shared memory; what is not there is 0. Row r ends
 * at `seen` + r, if that is earlier.
 */
static TS_INLINE void wk_stage(
    const ts_i8 *m, ts_u32 rows, ts_u32 k, ts_u32 row, ts_u32 from, ts_u32 to, ts_u32 seen, ts_u8 *shared) {
  const bool in_sixteens = k % 16 == 0 && from % 16 == 0 && ((ts_u64)m & 15u) == 0;
  for (ts_u32 i = TS_THREAD; i < WK_SIDE * WK_DEPTH / 16; i += TS_THREADS) {
    const ts_u32 r = i / (WK_DEPTH / 16), at = from + i % (WK_DEPTH / 16) * 16;
    ts_u8 *out = shared + r * WK_APART + i % (WK_DEPTH / 16) * 16;
    const ts_u32 end = wk_least(to, seen + r);
    ts_vec4 sixteen = {0, 0, 0, 0};
    if (row + r < rows) {
      const ts_i8 *in = m + (ts_u64)(row + r) * k + at;
      if (in_sixteens && at + 16 <= end) sixteen = *(const ts_vec4 *)in;
      else
        for (ts_u32 b = 0; b < 16 && at + b < end; b++) sixteen[b / 4] |= (ts_u32)(ts_u8)in[b] << (8 * (b % 4));
    }
    *(ts_vec4 *)out = sixteen;
  }
}

/* Adds 32 by 32 results over what is staged. */
static TS_INLINE void wk_multiply_staged(const ts_u8 *as, const ts_u8 *bs, ts_i32 c[2][4][4]) {
  const ts_u32 g = WK_LANE / 4, t = WK_LANE % 4;
  TS_UNROLL
  for (ts_u32 depth = 0; depth < WK_DEPTH; depth += 32) {
    ts_u32 x[2][4], y[4][2];
    TS_UNROLL
    for (int i = 0; i < 2; i++) {
      const ts_u8 *at = as + (16 * i + g) * WK_APART + depth + 4 * t;
      x[i][0] = *(const ts_u32 *)at;
      x[i][1] = *(const ts_u32 *)(at + 8 * WK_APART);
      x[i][2] = *(const ts_u32 *)(at + 16);
      x[i][3] = *(const ts_u32 *)(at + 8 * WK_APART + 16);
    }
    TS_UNROLL
    for (int j = 0; j < 4; j++) {
      const ts_u8 *at = bs + (8 * j + g) * WK_APART + depth + 4 * t;
      y[j][0] = *(const ts_u32 *)at;
      y[j][1] = *(const ts_u32 *)(at + 16);
    }
    TS_UNROLL
    for (int i = 0; i < 2; i++)
      TS_UNROLL
      for (int j = 0; j < 4; j++) wk_multiply(c[i][j], x[i], y[j]);
  }
}

#define WK_MASKED_RESULT 1
#define WK_MASKED_OPERAND 2

TS_BOUNDS(128, 4)
WK(product)(
    ts_u32 *fault, const ts_i8 *a, const ts_i8 *b, ts_i32 *out, ts_u32 rows, ts_u32 columns, ts_u32 k, ts_u32 batches,
    ts_u32 shared_by, ts_u32 mask, ts_u32 first) {
  __shared__ __attribute__((aligned(16))) ts_u8 as[WK_SIDE * WK_APART], bs[WK_SIDE * WK_APART];
  const ts_u32 across = (columns + WK_SIDE - 1) / WK_SIDE, down = (rows + WK_SIDE - 1) / WK_SIDE;
  const ts_u32 batch = TS_BLOCK / (across * down), tile = TS_BLOCK % (across * down);
  const ts_u32 row = tile / across * WK_SIDE, column = tile % across * WK_SIDE;
  a += (ts_u64)batch * rows * k;
  b += (ts_u64)(batch / shared_by) * columns * k;
  out += (ts_u64)batch * rows * columns;
  first = wk_least(first, 0x7fffffffu);
  const ts_u32 seen = first + row + WK_SIDE, mine_end = mask == WK_MASKED_OPERAND ? first + row + 1 : k;
  const ts_u32 end = mask == WK_MASKED_OPERAND ? wk_least(k, seen) : mask == WK_MASKED_RESULT && column >= seen ? 0 : k;
  const ts_u32 mine = WK_WARP / 2 * 32, theirs = WK_WARP % 2 * 32, g = WK_LANE / 4, t = WK_LANE % 4;
  ts_i32 c[2][4][4] = {};
  for (ts_u32 from = 0; from < end; from += WK_DEPTH) {
    wk_stage(a, rows, k, row, from, end, mine_end, as);
    wk_stage(b, columns, k, column, from, end, end, bs);
    TS_BARRIER();
    wk_multiply_staged(as + mine * WK_APART, bs + theirs * WK_APART, c);
    TS_BARRIER();
  }
  TS_UNROLL
  for (int i = 0; i < 2; i++)
    TS_UNROLL
    for (int j = 0; j < 4; j++)
      TS_UNROLL
      for (int e = 0; e < 4; e++) {
        const ts_u32 r = row + mine + 16 * i + g + e / 2 * 8, at = column + theirs + 8 * j + 2 * t + e % 2;
        if (r >= rows || at >= columns) continue;
        out[(ts_u64)r * columns + at] = mask == WK_MASKED_RESULT && at > first + r ? 0 : c[i][j][e];
      }
}

/* W2.1.4: what pieces of k came to, one after the other, taken times the scales of their rows and added as floats. */
WK(addPieces)(
    ts_u32 *fault, const ts_i32 *sums, const float *scales, float *out, ts_u32 rows, ts_u32 columns, ts_u32 pieces) {
  const ts_u32 across = columns / 4;
  const ts_u64 apart = (ts_u64)rows * across;
  ts_u32 worst = 0;
  for (ts_u64 i = WK_FIRST; i < apart; i += WK_STEP) {
    const float *s = scales + i / across * pieces;
    ts_float4 y;
    for (ts_u32 p = 0; p < pieces; p++) {
      const ts_vec4 c = ((const ts_vec4 *)sums)[p * apart + i];
      TS_UNROLL
      for (int k = 0; k < 4; k++) {
        const float term = (float)(ts_i32)c[k] * s[p];
        y[k] = p == 0 ? term : y[k] + term;
      }
    }
    TS_UNROLL
    for (int k = 0; k < 4; k++) worst = wk_worse(worst, y[k]);
    ((ts_float4 *)out)[i] = y;
  }
  wk_report(fault, worst);
}

/* W2.1.4: pieces of any size, batches as in a product. */
TS_BOUNDS(128, 4)
WK(productPieces)(
    ts_u32 *fault, const ts_i8 *a, const float *scales, const ts_i8 *b, float *out, ts_u32 rows, ts_u32 columns, ts_u32 k,
    ts_u32 piece, ts_u32 batches, ts_u32 shared_by) {
  __shared__ __attribute__((aligned(16))) ts_u8 as[WK_SIDE * WK_APART], bs[WK_SIDE * WK_APART];
  const ts_u32 across = (columns + WK_SIDE - 1) / WK_SIDE, down = (rows + WK_SIDE - 1) / WK_SIDE;
  const ts_u32 batch = TS_BLOCK / (across * down), tile = TS_BLOCK % (across * down), pieces = (k + piece - 1) / piece;
  const ts_u32 row = tile / across * WK_SIDE, column = tile % across * WK_SIDE;
  a += (ts_u64)batch * rows * k;
  b += (ts_u64)(batch / shared_by) * columns * k;
  out += (ts_u64)batch * rows * columns;
  scales += (ts_u64)batch * rows * pieces;
  const ts_u32 mine = WK_WARP / 2 * 32, theirs = WK_WARP % 2 * 32, g = WK_LANE / 4, t = WK_LANE % 4;
  float y[2][4][4] = {};
  for (ts_u32 p = 0; p < pieces; p++) {
    const ts_u32 end = wk_least(k, (p + 1) * piece);
    ts_i32 c[2][4][4] = {};
    for (ts_u32 from = p * piece; from < end; from += WK_DEPTH) {
      wk_stage(a, rows, k, row, from, end, end, as);
      wk_stage(b, columns, k, column, from, end, end, bs);
      TS_BARRIER();
      wk_multiply_staged(as + mine * WK_APART, bs + theirs * WK_APART, c);
      TS_BARRIER();
    }
    TS_UNROLL
    for (int i = 0; i < 32; i++) {
      const ts_u32 r = row + mine + i / 16 * 16 + g + i % 4 / 2 * 8;
      const float term = (float)c[i / 16][i / 4 % 4][i % 4] * (r < rows ? scales[(ts_u64)r * pieces + p] : 0.0f);
      float &sum = y[i / 16][i / 4 % 4][i % 4];
      sum = p == 0 ? term : sum + term;
    }
  }
  ts_u32 worst = 0;
  TS_UNROLL
  for (int i = 0; i < 32; i++) {
    const ts_u32 r = row + mine + i / 16 * 16 + g + i % 4 / 2 * 8, at = column + theirs + i / 4 % 4 * 8 + 2 * t + i % 2;
    if (r >= rows || at >= columns) continue;
    const float sum = y[i / 16][i / 4 % 4][i % 4];
    worst = wk_worse(worst, sum);
    out[(ts_u64)r * columns + at] = sum;
  }
  wk_report(fault, worst);
}

/* Rows of `width` bytes laid `to` apart, from rows `from` apart, the rest 0: what the library takes. */
WK(padRows)(ts_u32 *fault, const ts_u8 *x, ts_u8 *out, ts_u32 rows, ts_u32 width, ts_u32 from, ts_u32 to) {
  for (ts_u64 i = WK_FIRST; i < (ts_u64)rows * to; i += WK_STEP) {
    const ts_u32 row = (ts_u32)(i / to), column = (ts_u32)(i % to);
    out[i] = column < width ? x[(ts_u64)row * from + column] : 0;
  }
}

#endif
