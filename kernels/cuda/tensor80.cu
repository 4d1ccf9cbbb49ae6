/* Tensor-core products for sm_80 and newer: int8, bf16, fp16. */
#include "tensorPipe.h"

#define TS_MMA(name, instruction)                                                                              \
  struct name {                                                                                                \
    static TS_INLINE void one(ts_u32 (&c)[4], const ts_u32 (&a)[4], const ts_u32 (&b)[2]) {                    \
      asm volatile("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                   : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                            \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                        \
    }                                                                                                          \
  };
TS_MMA(int8_mma, "m16n8k32.row.col.s32.s8.s8.s32")
TS_MMA(bf16_mma, "m16n8k16.row.col.f32.bf16.bf16.f32")
TS_MMA(fp16_mma, "m16n8k16.row.col.f32.f16.f16.f32")

/* 128 x 256 a block, 96 KB of shared memory; `pitch` is the bytes of an operand row. */
#define TS_PRODUCT(name, mma)                                                                                  \
  TS_KERNEL TS_BOUNDS(256, 1) name(const ts_u8 *a, const ts_u8 *b, ts_u32 *c, ts_u32 m, ts_u32 n, ts_u32 pitch) { \
    extern __shared__ ts_u8 dynamic[];                                                                         \
    ts_tensor_product<mma, 4, 8, false>(a, b, c, m, n, pitch, ts_shared_address(dynamic));                     \
  }
TS_PRODUCT(ts_tensor_int8, int8_mma)
TS_PRODUCT(ts_tensor_bf16, bf16_mma)
TS_PRODUCT(ts_tensor_fp16, fp16_mma)
