/*
 * Products without tensor cores or a library: fp32 as the ordered chain of §2 (one accumulator an element, k ascending,
 * fused, from +0, no split-k), and int8 for cards that have nothing better. 128 x 128 a block, 8 x 8 a thread, sm_50 up.
 */
#include "gridOrder.h"
#include "../common/fma.h"

#define SIDE 128u
#define DEPTH 16u
#define STRIDE 132u

typedef float float4v __attribute__((ext_vector_type(4)));
typedef int int4v __attribute__((ext_vector_type(4)));

static TS_INLINE float4v four_along_k(const float *from) { return *(const float4v *)from; }
static TS_INLINE int4v four_along_k(const signed char *from) {
  const ts_i32 word = *(const ts_i32 *)from;
  int4v v;
  v.x = (word << 24) >> 24, v.y = (word << 16) >> 24, v.z = (word << 8) >> 24, v.w = word >> 24;
  return v;
}
static TS_INLINE float step(float a, float b, float c) { return ts_fma(a, b, c); }
static TS_INLINE int step(int a, int b, int c) { return a * b + c; }

/* Rows `row` and `row + 64` of a block of operands, four entries along k each. */
template <typename Vec, typename In>
static TS_INLINE void fetch(Vec out[2], const In *from, ts_u32 first_row, ts_u32 rows, ts_u32 k, ts_u32 at) {
  TS_UNROLL
  for (ts_u32 half = 0; half < 2; half++) {
    const ts_u32 wanted = first_row + (TS_THREAD >> 2) + 64u * half, row = wanted < rows ? wanted : rows - 1u;
    out[half] = four_along_k(from + (ts_u64)row * k + at + 4u * (TS_THREAD & 3u));
  }
}

template <typename Acc, typename Vec>
static TS_INLINE void stage(Acc *shared, const Vec in[2]) {
  TS_UNROLL
  for (ts_u32 half = 0; half < 2; half++) {
    Acc *to = shared + 4u * (TS_THREAD & 3u) * STRIDE + (TS_THREAD >> 2) + 64u * half;
    to[0] = in[half].x, to[STRIDE] = in[half].y, to[2 * STRIDE] = in[half].z, to[3 * STRIDE] = in[half].w;
  }
}

template <typename Acc, typename Vec>
static TS_INLINE void eight(Acc out[8], const Acc *from) {
  const Vec low = *(const Vec *)from, high = *(const Vec *)(from + 64);
  out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
  out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

template <typename In, typename Acc, typename Vec>
static TS_INLINE void product(const In *a, const In *b, Acc *c, ts_u32 m, ts_u32 n, ts_u32 k, Acc *shared) {
  const ts_place place = ts_grid_place(TS_BLOCK, (m + SIDE - 1) / SIDE, (n + SIDE - 1) / SIDE);
  const ts_u32 row0 = place.row * SIDE, column0 = place.column * SIDE;
  const ts_u32 ty = 4u * (TS_THREAD >> 4), tx = 4u * (TS_THREAD & 15u);
  Acc sums[8][8] = {};
  Vec next_a[2], next_b[2];
  fetch(next_a, a, row0, m, k, 0);
  fetch(next_b, b, column0, n, k, 0);
  for (ts_u32 at = 0, turn = 0; at < k; at += DEPTH, turn ^= 1u) {
    Acc *sa = shared + turn * 2u * DEPTH * STRIDE, *sb = sa + DEPTH * STRIDE;
    stage(sa, next_a);
    stage(sb, next_b);
    TS_BARRIER();
    if (at + DEPTH < k) {
      fetch(next_a, a, row0, m, k, at + DEPTH);
      fetch(next_b, b, column0, n, k, at + DEPTH);
    }
    TS_UNROLL
    for (ts_u32 i = 0; i < DEPTH; i++) {
      Acc fa[8], fb[8];
      eight<Acc, Vec>(fa, sa + i * STRIDE + ty);
      eight<Acc, Vec>(fb, sb + i * STRIDE + tx);
      TS_UNROLL
      for (int y = 0; y < 8; y++) {
        TS_UNROLL
        for (int x = 0; x < 8; x++) sums[y][x] = step(fa[y], fb[x], sums[y][x]);
      }
    }
  }
  TS_UNROLL
  for (int y = 0; y < 8; y++) {
    const ts_u32 row = row0 + ty + (y & 3) + 64u * (y >> 2);
    TS_UNROLL
    for (int half = 0; half < 2; half++) {
      const ts_u32 column = column0 + tx + 64u * half;
      Vec v;
      v.x = sums[y][4 * half], v.y = sums[y][4 * half + 1], v.z = sums[y][4 * half + 2], v.w = sums[y][4 * half + 3];
      if (row < m && column < n) *(Vec *)(c + (ts_u64)row * n + column) = v;
    }
  }
}

TS_KERNEL TS_BOUNDS(256, 2) ts_product_fp32(const float *a, const float *b, float *c, ts_u32 m, ts_u32 n, ts_u32 k) {
  __shared__ float shared[4 * DEPTH * STRIDE] __attribute__((aligned(16)));
  product<float, float, float4v>(a, b, c, m, n, k, shared);
}
TS_KERNEL TS_BOUNDS(256, 2)
    ts_product_int8(const signed char *a, const signed char *b, int *c, ts_u32 m, ts_u32 n, ts_u32 k) {
  __shared__ int shared[4 * DEPTH * STRIDE] __attribute__((aligned(16)));
  product<signed char, int, int4v>(a, b, c, m, n, k, shared);
}
