/*
 * Our own tensor-core product, for boxes that have the driver and no library: C = A B^T, both operands k-contiguous.
 * A k-step is 32 bytes of every operand row whatever the format (16 halves or 32 bytes), so one shape of fragments serves
 * all. Operand rows lie in shared memory as 64 bytes, their 16-byte chunks swizzled so that ldmatrix meets no conflict.
 */
#ifndef TS_CUDA_TENSOR_H
#define TS_CUDA_TENSOR_H
#include "gridOrder.h"

#define TS_ROW_BYTES 64u

static TS_INLINE ts_u32 ts_shared_address(const void *pointer) {
  ts_u64 address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(pointer));
  return (ts_u32)address;
}

static TS_INLINE ts_u32 ts_swizzled(ts_u32 row, ts_u32 chunk) {
  return row * TS_ROW_BYTES + ((chunk ^ ((row >> 1) & 3u)) << 4);
}

static TS_INLINE void ts_ldmatrix(ts_u32 out[4], ts_u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
}

/* Fragments of one k-step for a warp: MT x 16 rows of A, NT x 8 rows of B. */
template <int MT, int NT>
struct ts_fragments {
  ts_u32 a[MT][4], b[NT][2];
};

template <int MT, int NT>
static TS_INLINE void ts_load_fragments(ts_fragments<MT, NT> &f, ts_u32 shared_a, ts_u32 shared_b, ts_u32 row_a,
                                        ts_u32 row_b, ts_u32 step, ts_u32 lane) {
  TS_UNROLL
  for (int i = 0; i < MT; i++)
    ts_ldmatrix(f.a[i], shared_a + ts_swizzled(row_a + 16u * i + (lane & 15u), 2u * step + (lane >> 4)));
  TS_UNROLL
  for (int j = 0; j < NT; j += 2) {
    ts_u32 four[4];
    const ts_u32 row = row_b + 8u * j + (lane & 7u) + ((lane >> 4) << 3);
    ts_ldmatrix(four, shared_b + ts_swizzled(row, 2u * step + ((lane >> 3) & 1u)));
    f.b[j][0] = four[0], f.b[j][1] = four[1], f.b[j + 1][0] = four[2], f.b[j + 1][1] = four[3];
  }
}

/* Mma::one is the instruction: a 16 x 8 tile of sums, 32 bytes of k. */
template <typename Mma, int MT, int NT>
static TS_INLINE void ts_multiply(ts_u32 (&sums)[MT][NT][4], const ts_fragments<MT, NT> &f) {
  TS_UNROLL
  for (int i = 0; i < MT; i++) {
    TS_UNROLL
    for (int j = 0; j < NT; j++) Mma::one(sums[i][j], f.a[i], f.b[j]);
  }
}

template <int MT, int NT>
static TS_INLINE void ts_store_sums(const ts_u32 (&sums)[MT][NT][4], ts_u32 *c, ts_u32 row0, ts_u32 column0, ts_u32 m,
                                    ts_u32 n, ts_u32 lane) {
  TS_UNROLL
  for (int i = 0; i < MT; i++) {
    TS_UNROLL
    for (int j = 0; j < NT; j++) {
      const ts_u32 column = column0 + 8u * j + 2u * (lane & 3u);
      TS_UNROLL
      for (int half = 0; half < 2; half++) {
        const ts_u32 row = row0 + 16u * i + 8u * half + (lane >> 2);
        ts_vec2 pair;
        pair.x = sums[i][j][2 * half], pair.y = sums[i][j][2 * half + 1];
        if (row < m && column < n) *(ts_vec2 *)(c + (ts_u64)row * n + column) = pair;
      }
    }
  }
}

#endif
