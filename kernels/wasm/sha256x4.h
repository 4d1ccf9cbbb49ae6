/* Four SHA-256 hashes at once, one to a lane: the same rounds as common/sha256.h on vectors. */
#ifndef TS_SHA256X4_H
#define TS_SHA256X4_H
#include "engine.h"

static TS_INLINE v128_t rotr(v128_t x, int n) { return wasm_v128_or(wasm_u32x4_shr(x, n), wasm_i32x4_shl(x, 32 - n)); }
static TS_INLINE v128_t xor3(v128_t a, v128_t b, v128_t c) { return wasm_v128_xor(wasm_v128_xor(a, b), c); }
static TS_INLINE v128_t plus(v128_t a, v128_t b) { return wasm_i32x4_add(a, b); }

static TS_INLINE v128_t bswap(v128_t x) {
  return wasm_i8x16_shuffle(x, x, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
}

/* Rows to columns: lane j of out[i] is lane i of in[j]. */
static TS_INLINE void transpose(const v128_t in[4], v128_t out[4]) {
  const v128_t p = wasm_i32x4_shuffle(in[0], in[1], 0, 4, 1, 5), q = wasm_i32x4_shuffle(in[2], in[3], 0, 4, 1, 5);
  const v128_t r = wasm_i32x4_shuffle(in[0], in[1], 2, 6, 3, 7), s = wasm_i32x4_shuffle(in[2], in[3], 2, 6, 3, 7);
  out[0] = wasm_i64x2_shuffle(p, q, 0, 2);
  out[1] = wasm_i64x2_shuffle(p, q, 1, 3);
  out[2] = wasm_i64x2_shuffle(r, s, 0, 2);
  out[3] = wasm_i64x2_shuffle(r, s, 1, 3);
}

static void start_x4(v128_t state[8]) {
  ts_u32 first[8];
  ts_sha256_start(first);
  for (int i = 0; i < 8; i++) state[i] = wasm_u32x4_splat(first[i]);
}

static __attribute__((noinline)) void block_x4(v128_t state[8], v128_t w[16]) {
  v128_t a = state[0], b = state[1], c = state[2], d = state[3];
  v128_t e = state[4], f = state[5], g = state[6], h = state[7];
  TS_ROLLED
  for (int turn = 0; turn < 64; turn += 16) {
    if (turn > 0) {
      TS_UNROLL
      for (int i = 0; i < 16; i++) {
        const v128_t w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
        const v128_t s0 = xor3(rotr(w15, 7), rotr(w15, 18), wasm_u32x4_shr(w15, 3));
        const v128_t s1 = xor3(rotr(w2, 17), rotr(w2, 19), wasm_u32x4_shr(w2, 10));
        w[i] = plus(plus(w[i], s0), plus(w[(i + 9) & 15], s1));
      }
    }
    TS_UNROLL
    for (int i = 0; i < 16; i++) {
      const v128_t big1 = xor3(rotr(e, 6), rotr(e, 11), rotr(e, 25));
      const v128_t choose = wasm_v128_xor(g, wasm_v128_and(e, wasm_v128_xor(f, g)));
      const v128_t t1 = plus(plus(plus(h, big1), plus(choose, w[i])), wasm_u32x4_splat(TS_SHA256_K[turn + i]));
      const v128_t big0 = xor3(rotr(a, 2), rotr(a, 13), rotr(a, 22));
      const v128_t majority = wasm_v128_or(wasm_v128_and(a, b), wasm_v128_and(c, wasm_v128_or(a, b)));
      h = g;
      g = f;
      f = e;
      e = plus(d, t1);
      d = c;
      c = b;
      b = a;
      a = plus(t1, plus(big0, majority));
    }
  }
  const v128_t last[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; i++) state[i] = plus(state[i], last[i]);
}

/* Four hashes, one after the other in memory. */
static TS_INLINE void store_x4(const v128_t state[8], ts_u32 *out) {
  v128_t low[4], high[4];
  transpose(state, low);
  transpose(state + 4, high);
  for (int i = 0; i < 4; i++) {
    wasm_v128_store(out + 8 * i, bswap(low[i]));
    wasm_v128_store(out + 8 * i + 4, bswap(high[i]));
  }
}

/* Four consecutive words of each of four messages, `step` words apart: out[i] holds word i of all four. */
static TS_INLINE void load_x4(const ts_u32 *words, ts_u32 step, v128_t out[4]) {
  v128_t rows[4];
  for (int i = 0; i < 4; i++) rows[i] = bswap(wasm_v128_load(words + step * i));
  transpose(rows, out);
}

/* All of a message moved up by one byte: the tag of §5 stands before it. */
static TS_INLINE v128_t joined(v128_t before, v128_t word) {
  return wasm_v128_or(wasm_i32x4_shl(before, 24), wasm_u32x4_shr(word, 8));
}

/* §5: leaves of tiles tile .. tile + 3 from their fingerprints. */
static void leaves_x4(ts_u64 tile, const ts_u64 *fingerprints, ts_u32 *out) {
  v128_t v[6], state[8], w[16];
  ts_u32 numbers[8];
  for (int i = 0; i < 4; i++) {
    numbers[i] = TS_BSWAP32((ts_u32)(tile + i));
    numbers[4 + i] = TS_BSWAP32((ts_u32)((tile + i) >> 32));
  }
  v[0] = wasm_v128_load(numbers);
  v[1] = wasm_v128_load(numbers + 4);
  load_x4((const ts_u32 *)fingerprints, 4, v + 2);
  w[0] = wasm_u32x4_shr(v[0], 8);
  for (int i = 1; i < 6; i++) w[i] = joined(v[i - 1], v[i]);
  w[6] = wasm_v128_or(wasm_i32x4_shl(v[5], 24), wasm_u32x4_const_splat(0x00800000u));
  for (int i = 7; i < 15; i++) w[i] = wasm_u32x4_const_splat(0);
  w[15] = wasm_u32x4_const_splat(25 * 8);
  start_x4(state);
  block_x4(state, w);
  store_x4(state, out);
}

/* §5: four nodes over eight hashes that lie one after the other. */
static void nodes_x4(const ts_u32 *children, ts_u32 *out) {
  v128_t v[16], state[8], w[16];
  for (int i = 0; i < 4; i++) load_x4(children + 4 * i, 16, v + 4 * i);
  w[0] = wasm_v128_or(wasm_u32x4_const_splat(0x01000000u), wasm_u32x4_shr(v[0], 8));
  for (int i = 1; i < 16; i++) w[i] = joined(v[i - 1], v[i]);
  start_x4(state);
  block_x4(state, w);
  w[0] = wasm_v128_or(wasm_i32x4_shl(v[15], 24), wasm_u32x4_const_splat(0x00800000u));
  for (int i = 1; i < 15; i++) w[i] = wasm_u32x4_const_splat(0);
  w[15] = wasm_u32x4_const_splat(65 * 8);
  block_x4(state, w);
  store_x4(state, out);
}

#endif
