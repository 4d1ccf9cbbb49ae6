#ifndef TS_PHILOX_H
#define TS_PHILOX_H
#include "base.h"

#define TS_PHILOX_M0 0xd2511f53u
#define TS_PHILOX_M1 0xcd9e8d57u
#define TS_PHILOX_W0 0x9e3779b9u
#define TS_PHILOX_W1 0xbb67ae85u
#define TS_PHILOX_ROUNDS 10

/* §3: Philox4x32-10 under key (seed[0], seed[1]) at counter (lo, hi, matrix, seed[2]). */
static TS_INLINE void ts_philox(ts_u32 lo, ts_u32 hi, ts_u32 matrix, const ts_u32 seed[8], ts_u32 out[4]) {
  ts_u32 c0 = lo, c1 = hi, c2 = matrix, c3 = seed[2], k0 = seed[0], k1 = seed[1];
  TS_UNROLL
  for (int round = 0; round < TS_PHILOX_ROUNDS; round++) {
    const ts_u32 hi0 = TS_MULHI32(TS_PHILOX_M0, c0), lo0 = TS_PHILOX_M0 * c0;
    const ts_u32 hi1 = TS_MULHI32(TS_PHILOX_M1, c2), lo1 = TS_PHILOX_M1 * c2;
    c0 = hi1 ^ c1 ^ k0;
    c1 = lo1;
    c2 = hi0 ^ c3 ^ k1;
    c3 = lo0;
    k0 += TS_PHILOX_W0;
    k1 += TS_PHILOX_W1;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

#endif
