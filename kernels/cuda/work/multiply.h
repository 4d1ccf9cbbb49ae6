/* One product of 16 x 8 results over 32 bytes, by a warp. */
#ifndef TS_CUDA_WORK_MULTIPLY_H
#define TS_CUDA_WORK_MULTIPLY_H
#include "base.h"

static TS_INLINE void wk_multiply(ts_i32 c[4], const ts_u32 a[4], const ts_u32 b[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#endif
