/* Blocks of a draw (W2.2.5) side by side, one to a lane of 64 bits. */
#ifndef TS_MANY_DRAWS_H
#define TS_MANY_DRAWS_H
#include "../common/work/rounding.h"

#define TS_MANY 16
typedef ts_u64 ts_many __attribute__((vector_size(8 * TS_MANY)));
typedef ts_u64 ts_twice_many __attribute__((vector_size(16 * TS_MANY)));

/* The words of blocks `block` ... `block` + 15, in order. Only the low half of a lane counts: products leave more there. */
static inline void ts_draw_many(ts_draw draw, ts_u64 block, ts_u32 out[4 * TS_MANY]) {
  const ts_many low = (ts_many){} + 0xffffffffull;
  const ts_many number = (ts_many){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + block;
  ts_many c0 = number, c1 = number >> 32, c2 = (ts_many){} + draw.tensor, c3 = (ts_many){} + draw.transition;
  ts_u32 k0 = draw.key0, k1 = draw.key1;
  TS_UNROLL
  for (int round = 0; round < TS_PHILOX_ROUNDS; round++) {
    const ts_many a = (c0 & low) * (ts_u64)TS_PHILOX_M0, b = (c2 & low) * (ts_u64)TS_PHILOX_M1;
    c0 = (b >> 32) ^ c1 ^ (ts_u64)k0;
    c1 = b;
    c2 = (a >> 32) ^ c3 ^ (ts_u64)k1;
    c3 = a;
    k0 += TS_PHILOX_W0;
    k1 += TS_PHILOX_W1;
  }
  const ts_many first = (c0 & low) | c1 << 32, second = (c2 & low) | c3 << 32;
  const ts_twice_many both = __builtin_shufflevector(
      first, second, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
      14, 30, 15, 31);
  __builtin_memcpy(out, &both, sizeof both);
}

#endif
