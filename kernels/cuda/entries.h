/* §3 on the device: Philox blocks of one matrix, several entries to a 16-byte store. */
#ifndef TS_CUDA_ENTRIES_H
#define TS_CUDA_ENTRIES_H
#include "prelude.h"
#include "../common/entries.h"
#include "../common/fma.h"

/* Keys and counter words that every block of a launch shares. */
typedef struct {
  ts_u32 k0[TS_PHILOX_ROUNDS], k1[TS_PHILOX_ROUNDS], matrix, w2;
} ts_philox_keys;

static TS_INLINE ts_philox_keys ts_keys(const ts_u32 *seed, ts_u32 matrix) {
  ts_philox_keys keys;
  TS_UNROLL
  for (int i = 0; i < TS_PHILOX_ROUNDS; i++) {
    keys.k0[i] = seed[0] + (ts_u32)i * TS_PHILOX_W0;
    keys.k1[i] = seed[1] + (ts_u32)i * TS_PHILOX_W1;
  }
  keys.matrix = matrix;
  keys.w2 = seed[2];
  return keys;
}

/* ts_philox with the key schedule made once and full-width products; m k / 4 < 2^32, so the high counter word is 0. */
static TS_INLINE void ts_philox_block(ts_u32 block, const ts_philox_keys *keys, ts_u32 out[4]) {
  ts_u32 c0 = block, c1 = 0, c2 = keys->matrix, c3 = keys->w2;
  TS_UNROLL
  for (int i = 0; i < TS_PHILOX_ROUNDS; i++) {
    const ts_u64 p0 = (ts_u64)TS_PHILOX_M0 * c0, p1 = (ts_u64)TS_PHILOX_M1 * c2;
    c0 = (ts_u32)(p1 >> 32) ^ c1 ^ keys->k0[i];
    c1 = (ts_u32)p1;
    c2 = (ts_u32)(p0 >> 32) ^ c3 ^ keys->k1[i];
    c3 = (ts_u32)p0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/*
 * base + floor(lane * (2M + 1) / 65536) as the bits of a float: 0x4b00 before a lane is 2^23 + lane, and a fused product
 * rounded down onto [2^23, 2^24), where floats are one apart, is the floor itself. It keeps the multiplier, which Philox
 * fills, out of it. The entry plus M is then base's low bits plus x.
 */
static TS_INLINE ts_u32 ts_floor_lane(const ts_u32 out[4], int i, ts_u32 bound, float base) {
  const float lane = __uint_as_float(__byte_perm(out[i >> 1], 0x4b000000u, i & 1 ? 0x7632 : 0x7610));
  const float scale = (float)(int)(2u * bound + 1u) * 1.52587890625e-5f;
  float x;
  asm("fma.rm.f32 %0, %1, %2, %3;" : "=f"(x) : "f"(lane), "f"(scale), "f"(base - 8388608.0f * scale));
  return __float_as_uint(x);
}

/* Eight entries of 16 bits from one block, two to a word. */
#define TS_MAKE_16(name, pair)                                                                           \
  static TS_INLINE ts_vec4 name(ts_u32 vector, const ts_philox_keys *keys, ts_u32 bound) {               \
    ts_u32 out[4];                                                                                       \
    ts_philox_block(vector, keys, out);                                                                  \
    ts_vec4 v;                                                                                           \
    v.x = pair(out, 0, bound), v.y = pair(out, 1, bound);                                                \
    v.z = pair(out, 2, bound), v.w = pair(out, 3, bound);                                                \
    return v;                                                                                            \
  }

/* Vectors of A lie in grid row 0, of B in grid row 1; each thread makes several, a grid apart. */
#define TS_ENTRIES_LOOP(to, count, matrix, precision, make)                                              \
  {                                                                                                      \
    const ts_philox_keys keys = ts_keys(state->seed, matrix);                                            \
    for (ts_u32 v = TS_BLOCK * 256u + TS_THREAD; v < count; v += TS_BLOCKS * 256u)                       \
      to[v] = make(v, &keys, ts_bound(precision, matrix));                                               \
  }
#define TS_ENTRIES_KERNEL(name, precision, make)                                                         \
  TS_KERNEL TS_BOUNDS(256, 4)                                                                            \
      name(ts_vec4 *a, ts_vec4 *b, const ts_chain_state *state, ts_u32 vectors_a, ts_u32 vectors_b) {    \
    if (TS_BLOCK_Y == 0) TS_ENTRIES_LOOP(a, vectors_a, TS_MATRIX_A, precision, make)                     \
    else TS_ENTRIES_LOOP(b, vectors_b, TS_MATRIX_B, precision, make)                                     \
  }

#endif
