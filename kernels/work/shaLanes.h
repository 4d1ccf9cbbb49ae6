/* SHA-256 of as many messages side by side as a register has lanes: the same rounds as common/sha256.h. */
#ifndef TS_SHA_LANES_H
#define TS_SHA_LANES_H
#include "lanes.h"
#include "../common/sha256.h"

static TS_INLINE lanes turned(lanes x, int n) { return x >> n | x << (32 - n); }
static TS_INLINE lanes swapped(lanes x) { return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24; }

/* One block of each. */
static __attribute__((noinline, unused)) void sha_lanes(lanes state[8], lanes w[16]) {
  lanes v[8];
  for (int i = 0; i < 8; i++) v[i] = state[i];
  TS_ROLLED
  for (int turn = 0; turn < 64; turn += 16) {
    if (turn > 0) {
      TS_UNROLL
      for (int i = 0; i < 16; i++) {
        const lanes w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
        w[i] += (turned(w15, 7) ^ turned(w15, 18) ^ w15 >> 3) + w[(i + 9) & 15] + (turned(w2, 17) ^ turned(w2, 19) ^ w2 >> 10);
      }
    }
    TS_UNROLL
    for (int i = 0; i < 16; i++) {
      const lanes a = v[-i & 7], b = v[(1 - i) & 7], c = v[(2 - i) & 7];
      const lanes e = v[(4 - i) & 7], f = v[(5 - i) & 7], g = v[(6 - i) & 7];
      const lanes t1 = v[(7 - i) & 7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (g ^ (e & (f ^ g))) + w[i] +
                       TS_SHA256_K[turn + i];
      v[(3 - i) & 7] += t1;
      v[(7 - i) & 7] = t1 + (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) | (c & (a | b)));
    }
  }
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

/* 64 bytes of each message, `apart` bytes from each other, as words. */
static TS_INLINE void load_blocks(const char *from, ts_u64 apart, lanes w[16]) {
  for (ts_u32 part = 0; part < 16; part += LANES) {
    TS_UNROLL
    for (ts_u32 l = 0; l < LANES; l++) w[part + l] = *(const lanes_at *)(from + l * apart + 4 * part);
    transpose(w + part);
    TS_UNROLL
    for (ts_u32 l = 0; l < LANES; l++) w[part + l] = swapped(w[part + l]);
  }
}

#endif
