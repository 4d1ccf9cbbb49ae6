/*
 * §5: SHA-256(0x01 || left || right) is two blocks, and the second holds one byte of the right child besides padding: its
 * whole message schedule is one of 256, made by the compiler. That is a fifth of the work of a node.
 */
#ifndef TS_CUDA_NODE_HASH_H
#define TS_CUDA_NODE_HASH_H
#include "prelude.h"
#include "../common/sha256.h"

typedef struct {
  ts_u32 wk[256][64];
} ts_tails;

static constexpr ts_u32 ts_rotated(ts_u32 x, int by) { return (x >> by) | (x << (32 - by)); }

static constexpr ts_tails ts_make_tails() {
  ts_tails tails = {};
  for (ts_u32 last = 0; last < 256u; last++) {
    ts_u32 w[64] = {(last << 24) | 0x00800000u};
    w[15] = 65 * 8;
    for (int i = 16; i < 64; i++) {
      const ts_u32 s0 = ts_rotated(w[i - 15], 7) ^ ts_rotated(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const ts_u32 s1 = ts_rotated(w[i - 2], 17) ^ ts_rotated(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    for (int i = 0; i < 64; i++) tails.wk[last][i] = w[i] + TS_SHA256_K[i];
  }
  return tails;
}

/* Not const: lanes read different rows, which constant memory would hand out one by one. */
static __device__ __attribute__((aligned(16))) ts_tails TS_TAILS = ts_make_tails();

/* W + K of sixteen rounds of the second block of a node whose right child ends in `right7`. */
static TS_INLINE void ts_read_tail(ts_u32 right7, int first, ts_u32 wk[16]) {
  const ts_u32 *from = TS_TAILS.wk[right7 >> 24] + first;
  TS_UNROLL
  for (int i = 0; i < 4; i++) {
    const ts_vec4 four = ts_load_fixed(from + 4 * i);
    wk[4 * i] = four.x, wk[4 * i + 1] = four.y, wk[4 * i + 2] = four.z, wk[4 * i + 3] = four.w;
  }
}

static TS_INLINE void ts_node_hash(const ts_u32 left[8], const ts_u32 right[8], ts_u32 out[8]) {
  const ts_u32 right7 = right[7], one = ts_one();
  ts_u32 state[8], w[16], v[8], wk[16];
  ts_node_words(left, right, w);
  ts_sha256_start(v);
  ts_sha256_start(state);
  /* Both blocks in one loop, for the same reason as in ts_sha256_block. */
  TS_ROLLED
  for (int first = 0; first < 128; first += 16) {
    if (first >= 64) ts_read_tail(right7, first - 64, wk);
    else {
      if (first) ts_sha256_schedule(w, one);
      ts_sha256_add_k(w, first, wk, one);
    }
    ts_sha256_sixteen(v, wk, one);
    if (first == 48 || first == 112)
      TS_UNROLL
      for (int i = 0; i < 8; i++) v[i] = state[i] += v[i];
  }
  ts_sha256_finish(v, out);
}

#endif
