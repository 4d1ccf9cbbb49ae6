/* Tensor-core products for sm_75: int8 and fp16, with the narrower instructions and no asynchronous copies. */
#include "tensor.h"

struct int8_mma {
  static TS_INLINE void quarter(ts_u32 &c0, ts_u32 &c1, ts_u32 a, ts_u32 b) {
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(c0), "+r"(c1)
                 : "r"(a), "r"(b));
  }
  static TS_INLINE void one(ts_u32 (&c)[4], const ts_u32 (&a)[4], const ts_u32 (&b)[2]) {
    quarter(c[0], c[1], a[0], b[0]);
    quarter(c[2], c[3], a[1], b[0]);
    quarter(c[0], c[1], a[2], b[1]);
    quarter(c[2], c[3], a[3], b[1]);
  }
};

struct fp16_mma {
  static TS_INLINE void half(ts_u32 (&c)[4], ts_u32 a0, ts_u32 a1, ts_u32 b) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a0), "r"(a1), "r"(b));
  }
  static TS_INLINE void one(ts_u32 (&c)[4], const ts_u32 (&a)[4], const ts_u32 (&b)[2]) {
    half(c, a[0], a[1], b[0]);
    half(c, a[2], a[3], b[1]);
  }
};

#define SIDE 128u

static TS_INLINE void fetch(ts_vec4 out[2], const ts_u8 *from, ts_u32 row0, ts_u32 rows, ts_u64 pitch) {
  TS_UNROLL
  for (ts_u32 i = 0; i < 2; i++) {
    const ts_u32 wanted = row0 + 64u * i + (TS_THREAD >> 2), real = wanted < rows ? wanted : rows - 1u;
    out[i] = *(const ts_vec4 *)(from + real * pitch + 16u * (TS_THREAD & 3u));
  }
}
static TS_INLINE void stage(ts_u8 *shared, const ts_vec4 in[2]) {
  TS_UNROLL
  for (ts_u32 i = 0; i < 2; i++)
    *(ts_vec4 *)(shared + ts_swizzled(64u * i + (TS_THREAD >> 2), TS_THREAD & 3u)) = in[i];
}

template <typename Mma>
static TS_INLINE void product(const ts_u8 *a, const ts_u8 *b, ts_u32 *c, ts_u32 m, ts_u32 n, ts_u32 pitch,
                              ts_u8 *shared) {
  const ts_place place = ts_grid_place(TS_BLOCK, (m + SIDE - 1) / SIDE, (n + SIDE - 1) / SIDE);
  const ts_u32 row0 = place.row * SIDE, column0 = place.column * SIDE;
  const ts_u32 lane = TS_THREAD & 31u, warp = TS_THREAD >> 5;
  const ts_u32 row_a = (warp & 1u) * 64u, row_b = (warp >> 1) * 32u;
  ts_u32 sums[4][4][4] = {};
  ts_vec4 next_a[2], next_b[2];
  fetch(next_a, a, row0, m, pitch);
  fetch(next_b, b, column0, n, pitch);
  for (ts_u32 at = 0, turn = 0; at < pitch; at += TS_ROW_BYTES, turn ^= 1u) {
    ts_u8 *sa = shared + turn * 2u * SIDE * TS_ROW_BYTES, *sb = sa + SIDE * TS_ROW_BYTES;
    stage(sa, next_a);
    stage(sb, next_b);
    TS_BARRIER();
    if (at + TS_ROW_BYTES < pitch) {
      fetch(next_a, a + at + TS_ROW_BYTES, row0, m, pitch);
      fetch(next_b, b + at + TS_ROW_BYTES, column0, n, pitch);
    }
    TS_UNROLL
    for (ts_u32 step = 0; step < 2; step++) {
      ts_fragments<4, 4> f;
      ts_load_fragments<4, 4>(f, ts_shared_address(sa), ts_shared_address(sb), row_a, row_b, step, lane);
      ts_multiply<Mma, 4, 4>(sums, f);
    }
  }
  ts_store_sums<4, 4>(sums, c, row0 + row_a, column0 + row_b, m, n, lane);
}

#define TS_PRODUCT(name, mma)                                                                                  \
  TS_KERNEL TS_BOUNDS(256, 1) name(const ts_u8 *a, const ts_u8 *b, ts_u32 *c, ts_u32 m, ts_u32 n, ts_u32 pitch) { \
    __shared__ ts_u8 shared[4 * SIDE * TS_ROW_BYTES] __attribute__((aligned(128)));                            \
    product<mma>(a, b, c, m, n, pitch, shared);                                                                \
  }
TS_PRODUCT(ts_tensor_int8, int8_mma)
TS_PRODUCT(ts_tensor_fp16, fp16_mma)
