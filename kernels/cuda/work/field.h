/*
 * Matrices of int8 met with numbers of the field (W8.4.1). A weight is the 16 bytes of its halves as they lie; four entries
 * of a column meet four weights' bytes of one place in one step, and the field is met once for each sum.
 */
#ifndef TS_CUDA_WORK_FIELD_H
#define TS_CUDA_WORK_FIELD_H
#include "base.h"
#include "../../common/work/field.h"

/* Rows that a block sums up: below 2^24 for each byte of a weight. */
#define WK_STRETCH 512u
#define WK_STEPS (WK_STRETCH / 4)
#define WK_PAIR 16
/* Rows that are asked for before the first of them is met. */
#define WK_AHEAD 8u

/* W8.2.2: the weight of every index at a point. */
WK(pointWeights)(ts_u32 *fault, const ts_pair *point, ts_pair *out, ts_u32 coordinates) {
  const ts_pair one = {1, 0};
  for (ts_u64 i = WK_FIRST; i < 1ull << coordinates; i += WK_STEP) {
    ts_pair weight = one;
    for (ts_u32 j = 0; j < coordinates; j++)
      weight = ts_pair_times(weight, i >> j & 1 ? point[j] : ts_pair_minus(one, point[j]));
    out[i] = weight;
  }
}

/* Byte j of word i becomes byte i of word j. */
static TS_INLINE void wk_turn(const ts_u32 in[4], ts_u32 out[4]) {
  const ts_u32 low = __byte_perm(in[0], in[1], 0x5140), high = __byte_perm(in[0], in[1], 0x7362);
  const ts_u32 under = __byte_perm(in[2], in[3], 0x5140), over = __byte_perm(in[2], in[3], 0x7362);
  out[0] = __byte_perm(low, under, 0x5410);
  out[1] = __byte_perm(low, under, 0x7632);
  out[2] = __byte_perm(high, over, 0x5410);
  out[3] = __byte_perm(high, over, 0x7632);
}

static TS_INLINE void wk_add_four(ts_i32 &sum, ts_u32 weights, ts_u32 entries) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(weights), "r"(entries));
}

/* The bytes of each place of four weights side by side; what is past the rows weighs nothing. */
static TS_INLINE void wk_lay_weights(const ts_pair *weights, ts_u32 rows, ts_u32 (*panel)[WK_PAIR]) {
  for (ts_u32 step = TS_THREAD; step < WK_STEPS; step += TS_THREADS) {
    ts_vec4 four[4];
    TS_UNROLL
    for (ts_u32 i = 0; i < 4; i++)
      four[i] = 4 * step + i < rows ? ((const ts_vec4 *)weights)[4 * step + i] : ts_vec4{0, 0, 0, 0};
    TS_UNROLL
    for (ts_u32 word = 0; word < 4; word++) {
      const ts_u32 words[4] = {four[0][word], four[1][word], four[2][word], four[3][word]};
      wk_turn(words, panel[step] + 4 * word);
    }
  }
}

/* Four entries of a row; what is past its end, or in no row, is 0. */
static TS_INLINE ts_u32 wk_edge_entries(const ts_i8 *row, ts_u32 column, ts_u32 width, bool is_there) {
  ts_u32 word = 0;
  TS_UNROLL
  for (ts_u32 b = 0; b < 4; b++)
    if (is_there && column + b < width) word |= (ts_u32)(ts_u8)row[column + b] << 8 * b;
  return word;
}

/* Four rows of four columns. */
static TS_INLINE void wk_meet(const ts_u32 weights[WK_PAIR], const ts_u32 across[4], ts_i32 totals[4][WK_PAIR]) {
  ts_u32 down[4];
  wk_turn(across, down);
  TS_UNROLL
  for (ts_u32 b = 0; b < WK_PAIR; b++)
    TS_UNROLL
    for (ts_u32 c = 0; c < 4; c++) wk_add_four(totals[c][b], weights[b], down[c]);
}

/* A thread has four columns: sums[y][c] = the sum of weights[r] * x[r][c] over stretch y of the rows. */
TS_BOUNDS(256, 2)
WK(columnsTimesI8)(ts_u32 *fault, const ts_i8 *x, const ts_pair *weights, ts_pair *sums, ts_u32 rows, ts_u32 width) {
  __shared__ __attribute__((aligned(16))) ts_u32 panel[WK_STEPS][WK_PAIR];
  const ts_u32 first = TS_BLOCK_Y * WK_STRETCH, here = wk_least(WK_STRETCH, rows - first);
  const ts_u32 column = 4 * (TS_BLOCK * TS_THREADS + TS_THREAD);
  wk_lay_weights(weights + first, here, panel);
  TS_BARRIER();
  if (column >= width) return;
  const bool in_words = width % 4 == 0 && ((ts_u64)x & 3u) == 0;
  ts_i32 totals[4][WK_PAIR] = {};
  const ts_i8 *row = x + (ts_u64)first * width;
  ts_u32 step = 0;
  TS_ROLLED
  for (const ts_u32 whole = in_words ? here / WK_AHEAD * WK_AHEAD : 0; 4 * step < whole; row += WK_AHEAD * (ts_u64)width) {
    ts_u32 across[WK_AHEAD];
    TS_UNROLL
    for (ts_u32 i = 0; i < WK_AHEAD; i++) across[i] = *(const ts_u32 *)(row + (ts_u64)i * width + column);
    TS_UNROLL
    for (ts_u32 i = 0; i < WK_AHEAD; i += 4, step++) wk_meet(panel[step], across + i, totals);
  }
  TS_ROLLED
  for (; 4 * step < here; step++, row += 4 * (ts_u64)width) {
    ts_u32 across[4];
    TS_UNROLL
    for (ts_u32 i = 0; i < 4; i++)
      across[i] = wk_edge_entries(row + (ts_u64)i * width, column, width, 4 * step + i < here);
    wk_meet(panel[step], across, totals);
  }
  TS_UNROLL
  for (ts_u32 c = 0; c < 4; c++)
    if (column + c < width)
      sums[(ts_u64)TS_BLOCK_Y * width + column + c] = {ts_from_bytes(totals[c]), ts_from_bytes(totals[c] + 8)};
}

/* out[c] = the sum over all stretches, 0 past the width. */
WK(addStretches)(ts_u32 *fault, const ts_pair *sums, ts_pair *out, ts_u32 stretches, ts_u32 width, ts_u32 length) {
  for (ts_u64 c = WK_FIRST; c < length; c += WK_STEP) {
    ts_pair total = {0, 0};
    if (c < width)
      for (ts_u32 y = 0; y < stretches; y++) total = ts_pair_plus(total, sums[(ts_u64)y * width + c]);
    out[c] = total;
  }
}

#endif
