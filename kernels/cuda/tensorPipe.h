/* The pipelined tensor-core product of sm_80 and newer: four stages of cp.async, fragments one k-step ahead. */
#ifndef TS_CUDA_TENSOR_PIPE_H
#define TS_CUDA_TENSOR_PIPE_H
#include "tensor.h"

#define TS_STAGES 4

static TS_INLINE void ts_copy_async(ts_u32 to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
static TS_INLINE void ts_copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
static TS_INLINE void ts_copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/* ROWS rows of 64 bytes, 256 threads; rows past the end repeat the last one and are never stored. */
template <int ROWS>
static TS_INLINE void ts_fetch_rows(ts_u32 shared, const ts_u8 *from, ts_u32 row0, ts_u32 rows, ts_u64 pitch) {
  TS_UNROLL
  for (int i = 0; i < ROWS / 64; i++) {
    const ts_u32 row = 64u * i + (TS_THREAD >> 2), chunk = TS_THREAD & 3u;
    const ts_u32 wanted = row0 + row, real = wanted < rows ? wanted : rows - 1u;
    ts_copy_async(shared + ts_swizzled(row, chunk), from + real * pitch + 16u * chunk);
  }
}

/*
 * 2 x 4 warps, MT x 16 by NT x 8 each. FLUSH: fp8 sums stay exact in the tensor core for 128 k only (§2), so partial sums
 * move to FP32 every second pair of steps.
 */
template <typename Mma, int MT, int NT, bool FLUSH>
static TS_INLINE void ts_tensor_product(const ts_u8 *a, const ts_u8 *b, ts_u32 *c, ts_u32 m, ts_u32 n, ts_u32 pitch,
                                        ts_u32 shared) {
  const ts_u32 HEIGHT = 2 * MT * 16, WIDTH = 4 * NT * 8, BYTES = (HEIGHT + WIDTH) * TS_ROW_BYTES;
  const ts_place place = ts_grid_place(TS_BLOCK, (m + HEIGHT - 1) / HEIGHT, (n + WIDTH - 1) / WIDTH);
  const ts_u32 row0 = place.row * HEIGHT, column0 = place.column * WIDTH;
  const ts_u32 lane = TS_THREAD & 31u, warp = TS_THREAD >> 5;
  const ts_u32 row_a = (warp & 1u) * MT * 16u, row_b = (warp >> 1) * NT * 8u;
  const ts_u32 turns = pitch / TS_ROW_BYTES;
  ts_u32 sums[MT][NT][4] = {}, parts[FLUSH ? MT : 1][FLUSH ? NT : 1][4] = {};
  ts_fragments<MT, NT> f[2];
  TS_UNROLL
  for (ts_u32 s = 0; s < TS_STAGES - 1; s++) {
    if (s < turns) {
      ts_fetch_rows<2 * MT * 16>(shared + s * BYTES, a + s * TS_ROW_BYTES, row0, m, pitch);
      ts_fetch_rows<4 * NT * 8>(shared + s * BYTES + HEIGHT * TS_ROW_BYTES, b + s * TS_ROW_BYTES, column0, n, pitch);
    }
    ts_copy_commit();
  }
  ts_copy_wait<TS_STAGES - 2>();
  TS_BARRIER();
  ts_load_fragments<MT, NT>(f[0], shared, shared + HEIGHT * TS_ROW_BYTES, row_a, row_b, 0, lane);
  ts_u32 here = 0, ahead = TS_STAGES - 1;
  for (ts_u32 turn = 0; turn < turns; turn++) {
    const ts_u32 now = shared + here * BYTES;
    const ts_u32 soon = turn + TS_STAGES - 1;
    ts_load_fragments<MT, NT>(f[1], now, now + HEIGHT * TS_ROW_BYTES, row_a, row_b, 1, lane);
    if (soon < turns) {
      const ts_u32 to = shared + ahead * BYTES;
      ts_fetch_rows<2 * MT * 16>(to, a + (ts_u64)soon * TS_ROW_BYTES, row0, m, pitch);
      ts_fetch_rows<4 * NT * 8>(to + HEIGHT * TS_ROW_BYTES, b + (ts_u64)soon * TS_ROW_BYTES, column0, n, pitch);
    }
    ts_copy_commit();
    if constexpr (FLUSH) ts_multiply<Mma, MT, NT>(parts, f[0]);
    else ts_multiply<Mma, MT, NT>(sums, f[0]);
    ts_copy_wait<TS_STAGES - 2>();
    TS_BARRIER();
    here = here + 1 == TS_STAGES ? 0 : here + 1;
    ahead = ahead + 1 == TS_STAGES ? 0 : ahead + 1;
    const ts_u32 next = shared + here * BYTES;
    ts_load_fragments<MT, NT>(f[0], next, next + HEIGHT * TS_ROW_BYTES, row_a, row_b, 0, lane);
    if constexpr (FLUSH) ts_multiply<Mma, MT, NT>(parts, f[1]);
    else ts_multiply<Mma, MT, NT>(sums, f[1]);
    if constexpr (FLUSH) {
      if ((turn & 1u) || turn + 1 == turns) {
        TS_UNROLL
        for (int i = 0; i < MT * NT * 4; i++) {
          ts_u32 &sum = sums[i / (NT * 4)][i / 4 % NT][i % 4], &part = parts[i / (NT * 4)][i / 4 % NT][i % 4];
          sum = __float_as_uint(__uint_as_float(sum) + __uint_as_float(part));
          part = 0;
        }
      }
    }
  }
  ts_store_sums<MT, NT>(sums, c, row0 + row_a, column0 + row_b, m, n, lane);
}

#endif
