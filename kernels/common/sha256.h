#ifndef TS_SHA256_H
#define TS_SHA256_H
#include "base.h"

static TS_CONSTANT ts_u32 TS_SHA256_K[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
};

static TS_INLINE void ts_sha256_start(ts_u32 state[8]) {
  state[0] = 0x6a09e667u;
  state[1] = 0xbb67ae85u;
  state[2] = 0x3c6ef372u;
  state[3] = 0xa54ff53au;
  state[4] = 0x510e527fu;
  state[5] = 0x9b05688cu;
  state[6] = 0x1f83d9abu;
  state[7] = 0x5be0cd19u;
}

#ifdef __CUDACC__

/*
 * The rounds themselves, sixteen at a time, after which a to h are back in their places. `wk` holds W + K. Additions of
 * many warps run beside the rotations when `one` is ts_one(); a warp alone is quicker with plain ones, of three words each.
 */
static TS_INLINE void ts_sha256_sixteen(ts_u32 v[8], const ts_u32 wk[16], ts_u32 one) {
  TS_UNROLL
  for (int i = 0; i < 16; i++) {
    const ts_u32 a = v[-i & 7], b = v[(1 - i) & 7], c = v[(2 - i) & 7];
    const ts_u32 e = v[(4 - i) & 7], f = v[(5 - i) & 7], g = v[(6 - i) & 7];
    ts_u32 *d = v + ((3 - i) & 7), *h = v + ((7 - i) & 7);
    const ts_u32 big1 = TS_ROTR32(e, 6) ^ TS_ROTR32(e, 11) ^ TS_ROTR32(e, 25);
    const ts_u32 early = ts_add(g ^ (e & (f ^ g)), ts_add(*h, wk[i], one), one), t1 = ts_add(big1, early, one);
    const ts_u32 big0 = TS_ROTR32(a, 2) ^ TS_ROTR32(a, 13) ^ TS_ROTR32(a, 22);
    *d = __builtin_constant_p(one) ? *d + early + big1 : ts_add(*d, t1, one);
    *h = ts_add(t1, ts_add(big0, (a & b) | (c & (a | b)), one), one);
  }
}

/* W of the next sixteen rounds. */
static TS_INLINE void ts_sha256_schedule(ts_u32 w[16], ts_u32 one) {
  TS_UNROLL
  for (int i = 0; i < 16; i++) {
    const ts_u32 w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
    const ts_u32 s0 = TS_ROTR32(w15, 7) ^ TS_ROTR32(w15, 18) ^ (w15 >> 3);
    const ts_u32 s1 = TS_ROTR32(w2, 17) ^ TS_ROTR32(w2, 19) ^ (w2 >> 10);
    w[i] = ts_add(s1, ts_add(s0, ts_add(w[i], w[(i + 9) & 15], one), one), one);
  }
}

static TS_INLINE void ts_sha256_add_k(const ts_u32 w[16], int first, ts_u32 wk[16], ts_u32 one) {
  TS_UNROLL
  for (int i = 0; i < 16; i++) wk[i] = ts_add(w[i], TS_SHA256_K[first + i], one);
}

/* A driver compiles the kernels at start: rolled up, a block is a quarter of the code and the start a second shorter. */
static TS_INLINE void ts_sha256_block(ts_u32 state[8], ts_u32 w[16]) {
  const ts_u32 one = ts_one();
  ts_u32 v[8], wk[16];
  TS_UNROLL
  for (int i = 0; i < 8; i++) v[i] = state[i];
  TS_ROLLED
  for (int first = 0; first < 64; first += 16) {
    if (first) ts_sha256_schedule(w, one);
    ts_sha256_add_k(w, first, wk, one);
    ts_sha256_sixteen(v, wk, one);
  }
  TS_UNROLL
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

#elif defined(TS_OWN_SHA256_BLOCK)

/* A target with instructions for it brings its own. */
#define ts_sha256_block TS_OWN_SHA256_BLOCK

#else

/* One block of sixteen big-endian message words; `w` is used up. */
static TS_OUTLINE void ts_sha256_block(ts_u32 state[8], ts_u32 w[16]) {
  ts_u32 a = state[0], b = state[1], c = state[2], d = state[3];
  ts_u32 e = state[4], f = state[5], g = state[6], h = state[7];
  /* Sixteen rounds to a turn: every index into w is then known to the compiler, and the code stays small. */
  TS_ROLLED
  for (int turn = 0; turn < 64; turn += 16) {
    if (turn > 0) {
      TS_UNROLL
      for (int i = 0; i < 16; i++) {
        const ts_u32 w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
        const ts_u32 s0 = TS_ROTR32(w15, 7) ^ TS_ROTR32(w15, 18) ^ (w15 >> 3);
        const ts_u32 s1 = TS_ROTR32(w2, 17) ^ TS_ROTR32(w2, 19) ^ (w2 >> 10);
        w[i] += s0 + w[(i + 9) & 15] + s1;
      }
    }
    TS_UNROLL
    for (int i = 0; i < 16; i++) {
      const ts_u32 big1 = TS_ROTR32(e, 6) ^ TS_ROTR32(e, 11) ^ TS_ROTR32(e, 25);
      const ts_u32 t1 = h + big1 + (g ^ (e & (f ^ g))) + TS_SHA256_K[turn + i] + w[i];
      const ts_u32 big0 = TS_ROTR32(a, 2) ^ TS_ROTR32(a, 13) ^ TS_ROTR32(a, 22);
      const ts_u32 t2 = big0 + ((a & b) | (c & (a | b)));
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

#endif

static TS_INLINE void ts_sha256_finish(const ts_u32 state[8], ts_u32 out[8]) {
  TS_UNROLL
  for (int i = 0; i < 8; i++) out[i] = TS_BSWAP32(state[i]);
}

/* The one block of 0x00 || u64 tile || f0 || f1, 25 bytes. */
static TS_INLINE void ts_leaf_words(ts_u64 tile, ts_u64 f0, ts_u64 f1, ts_u32 w[16]) {
  const ts_u32 v[6] = {
      TS_BSWAP32((ts_u32)tile), TS_BSWAP32((ts_u32)(tile >> 32)), TS_BSWAP32((ts_u32)f0),
      TS_BSWAP32((ts_u32)(f0 >> 32)), TS_BSWAP32((ts_u32)f1), TS_BSWAP32((ts_u32)(f1 >> 32)),
  };
  w[0] = v[0] >> 8;
  TS_UNROLL
  for (int i = 1; i < 6; i++) w[i] = (v[i - 1] << 24) | (v[i] >> 8);
  w[6] = (v[5] << 24) | 0x00800000u;
  TS_UNROLL
  for (int i = 7; i < 15; i++) w[i] = 0;
  w[15] = 25 * 8;
}

/* §5: SHA-256(0x00 || u64 tile || f0 || f1). */
static TS_OUTLINE void ts_leaf_hash(ts_u64 tile, ts_u64 f0, ts_u64 f1, ts_u32 out[8]) {
  ts_u32 state[8], w[16];
  ts_leaf_words(tile, f0, f1, w);
  ts_sha256_start(state);
  ts_sha256_block(state, w);
  ts_sha256_finish(state, out);
}

/* The first of the two blocks of 0x01 || left || right; the last byte is left over. */
static TS_INLINE void ts_node_words(const ts_u32 left[8], const ts_u32 right[8], ts_u32 w[16]) {
  ts_u32 before = 1u;
  TS_UNROLL
  for (int i = 0; i < 16; i++) {
    const ts_u32 word = TS_BSWAP32(i < 8 ? left[i & 7] : right[i & 7]);
    w[i] = (before << 24) | (word >> 8);
    before = word;
  }
}

#ifndef __CUDACC__

/* §5: SHA-256(0x01 || left || right), 65 bytes, two blocks. */
static TS_OUTLINE void ts_node_hash(const ts_u32 left[8], const ts_u32 right[8], ts_u32 out[8]) {
  ts_u32 state[8], w[16];
  ts_node_words(left, right, w);
  ts_sha256_start(state);
  TS_ROLLED
  for (int block = 0; block < 2; block++) {
    if (block > 0) {
      w[0] = (right[7] & 0xff000000u) | 0x00800000u;
      TS_UNROLL
      for (int i = 1; i < 15; i++) w[i] = 0;
      w[15] = 65 * 8;
    }
    ts_sha256_block(state, w);
  }
  ts_sha256_finish(state, out);
}

#endif

/* The two blocks of "tsp1/" || four ASCII letters || a || b, 73 bytes: the shape of "tsp1/next" and "tsp1/pass". */
static TS_INLINE void ts_chain_words(ts_u32 letters, const ts_u32 a[8], const ts_u32 b[8], ts_u32 w[16]) {
  ts_u32 before = letters;
  w[0] = 0x74737031u;
  w[1] = 0x2f000000u | (letters >> 8);
  TS_UNROLL
  for (int i = 0; i < 14; i++) {
    const ts_u32 word = TS_BSWAP32(i < 8 ? a[i & 7] : b[i & 7]);
    w[i + 2] = (before << 24) | (word >> 8);
    before = word;
  }
}
static TS_INLINE void ts_chain_tail(const ts_u32 b[8], ts_u32 w[16]) {
  const ts_u32 b5 = TS_BSWAP32(b[5]), b6 = TS_BSWAP32(b[6]), b7 = TS_BSWAP32(b[7]);
  w[0] = (b5 << 24) | (b6 >> 8);
  w[1] = (b6 << 24) | (b7 >> 8);
  w[2] = (b7 << 24) | 0x00800000u;
  TS_UNROLL
  for (int i = 3; i < 15; i++) w[i] = 0;
  w[15] = 73 * 8;
}
static TS_OUTLINE void ts_chain_hash(ts_u32 letters, const ts_u32 a[8], const ts_u32 b[8], ts_u32 out[8]) {
  ts_u32 state[8], w[16];
  ts_sha256_start(state);
  ts_chain_words(letters, a, b, w);
  ts_sha256_block(state, w);
  ts_chain_tail(b, w);
  ts_sha256_block(state, w);
  ts_sha256_finish(state, out);
}

/* §4.2: the next round's seed, SHA-256("tsp1/next" || seed || root). */
#define TS_LETTERS_NEXT 0x6e657874u
static TS_INLINE void ts_next_seed(const ts_u32 seed[8], const ts_u32 root[8], ts_u32 out[8]) {
  ts_chain_hash(TS_LETTERS_NEXT, seed, root, out);
}

/* §7: the next pass's words, SHA-256("tsp1/pass" || z || q). */
static TS_INLINE void ts_next_pass(const ts_u32 z[8], const ts_u32 q[8], ts_u32 out[8]) {
  ts_chain_hash(0x70617373u, z, q, out);
}

/* §7: Q_j, SHA-256("tsp1/mem" || u32 pass || root over the kept rounds' roots), 44 bytes, one block. */
static TS_INLINE void ts_pass_root(ts_u32 pass, const ts_u32 root[8], ts_u32 out[8]) {
  ts_u32 state[8], w[16];
  w[0] = 0x74737031u;
  w[1] = 0x2f6d656du;
  w[2] = TS_BSWAP32(pass);
  TS_UNROLL
  for (int i = 0; i < 8; i++) w[i + 3] = TS_BSWAP32(root[i]);
  w[11] = 0x80000000u;
  w[12] = 0;
  w[13] = 0;
  w[14] = 0;
  w[15] = 44 * 8;
  ts_sha256_start(state);
  ts_sha256_block(state, w);
  ts_sha256_finish(state, out);
}

#endif
