/* Tensor-core product for sm_89 and newer: fp8 (e4m3). */
#include "tensorPipe.h"

struct fp8_mma {
  static TS_INLINE void one(ts_u32 (&c)[4], const ts_u32 (&a)[4], const ts_u32 (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

/* 128 x 128 a block, 64 KB of shared memory; `pitch` is the bytes of an operand row. */
TS_KERNEL TS_BOUNDS(256, 1)
    ts_tensor_fp8(const ts_u8 *a, const ts_u8 *b, ts_u32 *c, ts_u32 m, ts_u32 n, ts_u32 pitch) {
  extern __shared__ ts_u8 dynamic[];
  ts_tensor_product<fp8_mma, 4, 4, true>(a, b, c, m, n, pitch, ts_shared_address(dynamic));
}
