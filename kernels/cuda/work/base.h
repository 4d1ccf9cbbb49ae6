/*
 * What the kernels of exact work (docs/spec/work.md, W2) share. Every kernel takes the word that a fault sets, then the
 * arguments of its namesake in kernels/work, and gives the same bits. A warp is the 32 partial sums of W2.5.
 */
#ifndef TS_CUDA_WORK_BASE_H
#define TS_CUDA_WORK_BASE_H
#include "../prelude.h"
#include "../../common/work/floats.h"
#include "../../common/work/functions.h"
#include "../../common/work/rounding.h"

typedef signed char ts_i8;
typedef float ts_float4 __attribute__((ext_vector_type(4)));

#define WK(name) TS_KERNEL wk_##name
#define WK_LANE (TS_THREAD & 31u)
#define WK_WARP (TS_THREAD >> 5)
#define WK_WARPS (TS_THREADS >> 5)
/* The first of what a thread does, and how far it is to the next. */
#define WK_FIRST ((ts_u64)TS_BLOCK * TS_THREADS + TS_THREAD)
#define WK_STEP ((ts_u64)TS_BLOCKS * TS_THREADS)

static TS_INLINE ts_u32 wk_least(ts_u32 a, ts_u32 b) { return a < b ? a : b; }
static TS_INLINE ts_u32 wk_worse(ts_u32 worst, float x) {
  const ts_u32 magnitude = ts_magnitude(x);
  return magnitude > worst ? magnitude : worst;
}
static TS_INLINE void wk_report(ts_u32 *fault, ts_u32 worst) {
  if (worst >= TS_FAULT_BITS) *fault = 1;
}

static TS_INLINE float wk_from_xor(float x, ts_u32 mask) { return ts_float_of(ts_shuffle_word(ts_bits_of(x), mask)); }

/* W2.5.2: halves of the 32 sums, one in each lane; all lanes get the result. Sums of two are the same in either order. */
static TS_INLINE float wk_halves(float s) {
  TS_UNROLL
  for (ts_u32 half = 16; half > 0; half /= 2) s = s + wk_from_xor(s, half);
  return s;
}

static TS_INLINE ts_u32 wk_warp_largest(ts_u32 x) {
  TS_UNROLL
  for (ts_u32 half = 16; half > 0; half /= 2) {
    const ts_u32 other = ts_shuffle_word(x, half);
    x = other > x ? other : x;
  }
  return x;
}

#define WK_PIECE 4096u

/* A row is a warp's; over 4,096 numbers it is a block's. */
typedef struct {
  ts_u32 row, at, step;
  bool wide;
} wk_row;

static TS_INLINE wk_row wk_row_here(ts_u32 width) {
  wk_row here;
  here.wide = width > WK_PIECE;
  here.row = here.wide ? TS_BLOCK : TS_BLOCK * WK_WARPS + WK_WARP;
  here.at = here.wide ? TS_THREAD : WK_LANE;
  here.step = here.wide ? TS_THREADS : 32u;
  return here;
}

/* W2.5.1: the sum of of(from) ... of(from + count - 1), count <= 4,096, by a warp. */
template <class F> static TS_INLINE float wk_piece_total(ts_u32 from, ts_u32 count, F of) {
  float s = 0.0f;
  _Pragma("unroll 4")
  for (ts_u32 i = WK_LANE; i < count; i += 32) s = s + of(from + i);
  return wk_halves(s);
}

/* The same of a whole row. Over 4,096 all warps of the block take part; at most 4,096 pieces. */
template <class F> static TS_INLINE float wk_total(wk_row here, ts_u32 count, F of) {
  if (!here.wide) return wk_piece_total(0, count, of);
  __shared__ float pieces[WK_PIECE];
  const ts_u32 many = (count + WK_PIECE - 1) / WK_PIECE;
  for (ts_u32 p = WK_WARP; p < many; p += WK_WARPS) {
    const float s = wk_piece_total(p * WK_PIECE, wk_least(WK_PIECE, count - p * WK_PIECE), of);
    if (WK_LANE == 0) pieces[p] = s;
  }
  TS_BARRIER();
  const float total = wk_piece_total(0, many, [](ts_u32 i) { return pieces[i]; });
  TS_BARRIER();
  return total;
}

/* The largest of what the threads of a row hold; all get it. */
static TS_INLINE ts_u32 wk_largest(wk_row here, ts_u32 x) {
  x = wk_warp_largest(x);
  if (!here.wide) return x;
  __shared__ ts_u32 warps[32];
  if (WK_LANE == 0) warps[WK_WARP] = x;
  TS_BARRIER();
  x = wk_warp_largest(WK_LANE < WK_WARPS ? warps[WK_LANE] : 0u);
  TS_BARRIER();
  return x;
}

#endif
