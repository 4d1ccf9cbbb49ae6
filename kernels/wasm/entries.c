#include "engine.h"

typedef struct {
  v128_t o0, o1, o2, o3;
} blocks;

static TS_INLINE v128_t evens(v128_t low, v128_t high) { return wasm_i32x4_shuffle(low, high, 0, 2, 4, 6); }
static TS_INLINE v128_t odds(v128_t low, v128_t high) { return wasm_i32x4_shuffle(low, high, 1, 3, 5, 7); }

/*
 * The compiler must not see through the multipliers, nor widen them outside the loop: it would then replace each widening
 * multiplication by a full 64-bit one, which costs eight instructions instead of three.
 */
static const ts_u32 MULTIPLIERS[8] = {
    TS_PHILOX_M0, TS_PHILOX_M0, TS_PHILOX_M0, TS_PHILOX_M0, TS_PHILOX_M1, TS_PHILOX_M1, TS_PHILOX_M1, TS_PHILOX_M1,
};

static TS_INLINE const ts_u32 *multipliers(void) {
  const ts_u32 *hidden = MULTIPLIERS;
  __asm__ volatile("" : "+r"(hidden));
  return hidden;
}

/* What does not depend on the block: the first two rounds of Philox have one multiplication each that does. */
typedef struct {
  v128_t mask2, c0, c2, c3, k0[8], k1[8];
} schedule;

static schedule schedule_of(ts_u32 matrix, const ts_u32 *seed) {
  schedule made;
  ts_u32 k0 = seed[0], k1 = seed[1];
  /* Round 1 leaves c0 = hi(M1 * matrix) ^ k0 and c1 = lo(M1 * matrix) for every block. */
  const ts_u32 c0 = TS_MULHI32(TS_PHILOX_M1, matrix) ^ k0, c1 = TS_PHILOX_M1 * matrix;
  made.mask2 = wasm_u32x4_splat(seed[2] ^ k1);
  k0 += TS_PHILOX_W0, k1 += TS_PHILOX_W1;
  /* Round 2 takes M0 * c0 from there. */
  made.c0 = wasm_u32x4_splat(c1 ^ k0);
  made.c2 = wasm_u32x4_splat(TS_MULHI32(TS_PHILOX_M0, c0) ^ k1);
  made.c3 = wasm_u32x4_splat(TS_PHILOX_M0 * c0);
  for (int i = 0; i < 8; i++) {
    k0 += TS_PHILOX_W0, k1 += TS_PHILOX_W1;
    made.k0[i] = wasm_u32x4_splat(k0);
    made.k1[i] = wasm_u32x4_splat(k1);
  }
  return made;
}

/* Four Philox blocks at once, one to a lane; `low` and `high` hold M0 times the four block numbers. */
static TS_INLINE blocks philox_x4(v128_t low, v128_t high, const schedule *s) {
  const ts_u32 *m = multipliers();
  const v128_t m0 = wasm_v128_load(m), m1 = wasm_v128_load(m + 4);
  v128_t c0 = wasm_v128_xor(odds(low, high), s->mask2);
  v128_t a = wasm_u64x2_extmul_low_u32x4(c0, m1), b = wasm_u64x2_extmul_high_u32x4(c0, m1);
  c0 = wasm_v128_xor(odds(a, b), s->c0);
  v128_t c1 = evens(a, b), c2 = wasm_v128_xor(evens(low, high), s->c2), c3 = s->c3;
  TS_UNROLL
  for (int round = 0; round < TS_PHILOX_ROUNDS - 2; round++) {
    a = wasm_u64x2_extmul_low_u32x4(c0, m0), b = wasm_u64x2_extmul_high_u32x4(c0, m0);
    const v128_t c = wasm_u64x2_extmul_low_u32x4(c2, m1), d = wasm_u64x2_extmul_high_u32x4(c2, m1);
    c0 = wasm_v128_xor(odds(c, d), wasm_v128_xor(c1, s->k0[round]));
    c1 = evens(c, d);
    c2 = wasm_v128_xor(odds(a, b), wasm_v128_xor(c3, s->k1[round]));
    c3 = evens(a, b);
  }
  /* From one word of four blocks per vector to one block per vector. */
  const v128_t p = wasm_i32x4_shuffle(c0, c1, 0, 4, 1, 5), q = wasm_i32x4_shuffle(c2, c3, 0, 4, 1, 5);
  const v128_t r = wasm_i32x4_shuffle(c0, c1, 2, 6, 3, 7), t = wasm_i32x4_shuffle(c2, c3, 2, 6, 3, 7);
  const blocks out = {
      wasm_i64x2_shuffle(p, q, 0, 2), wasm_i64x2_shuffle(p, q, 1, 3),
      wasm_i64x2_shuffle(r, t, 0, 2), wasm_i64x2_shuffle(r, t, 1, 3),
  };
  return out;
}

/* M0 times the numbers of four blocks, stepped by addition: block numbers stay below 2^32. */
typedef struct {
  v128_t low, high;
} counter;

static TS_INLINE counter counter_at(ts_u32 block) {
  const ts_u64 m = TS_PHILOX_M0, b = block;
  const counter made = {wasm_u64x2_make(m * b, m * (b + 1)), wasm_u64x2_make(m * (b + 2), m * (b + 3))};
  return made;
}

static TS_INLINE void advance(counter *c) {
  const v128_t step = wasm_u64x2_const_splat(4ull * TS_PHILOX_M0);
  c->low = wasm_i64x2_add(c->low, step);
  c->high = wasm_i64x2_add(c->high, step);
}

/*
 * §3: eight lanes to eight integers. With lane' = lane - 32768 and width = 2M + 1,
 * floor(lane * width / 65536) - M = floor((lane' * width + 32768) / 65536): a pairwise dot product with (16384, 2).
 */
static TS_INLINE v128_t integers(v128_t lanes, v128_t even, v128_t odd) {
  const v128_t ones = wasm_u16x8_const_splat(16384);
  const v128_t x = wasm_v128_xor(lanes, wasm_u16x8_const_splat(0x8000));
  const v128_t e = wasm_i32x4_dot_i16x8(wasm_i16x8_shuffle(x, ones, 0, 9, 2, 11, 4, 13, 6, 15), even);
  const v128_t o = wasm_i32x4_dot_i16x8(wasm_i16x8_shuffle(ones, x, 0, 9, 2, 11, 4, 13, 6, 15), odd);
  return wasm_i16x8_shuffle(wasm_u32x4_shr(e, 16), o, 0, 9, 2, 11, 4, 13, 6, 15);
}

/* Entries first .. first + count - 1 of a matrix; both are multiples of 32. */
void ts_entries_i16(const ts_u32 *seed, ts_u32 matrix, ts_u32 bound, ts_u32 first, ts_u32 count, ts_i16 *out) {
  const schedule keys = schedule_of(matrix, seed);
  const ts_u32 width = 2u * bound + 1u;
  const v128_t even = wasm_u32x4_splat(width | 2u << 16), odd = wasm_u32x4_splat(2u | width << 16);
  counter at = counter_at(first >> 3);
  for (ts_u32 i = 0; i < count; i += 32, advance(&at)) {
    const blocks made = philox_x4(at.low, at.high, &keys);
    wasm_v128_store(out + i, integers(made.o0, even, odd));
    wasm_v128_store(out + i + 8, integers(made.o1, even, odd));
    wasm_v128_store(out + i + 16, integers(made.o2, even, odd));
    wasm_v128_store(out + i + 24, integers(made.o3, even, odd));
  }
}

/* §3: four words to four fractions, (word >> 8) * 2^-23 - 1; every step is exact. */
static TS_INLINE v128_t fractions(v128_t words) {
  const v128_t signed24 = wasm_i32x4_sub(wasm_u32x4_shr(words, 8), wasm_i32x4_const_splat(8388608));
  return wasm_f32x4_mul(wasm_f32x4_convert_i32x4(signed24), wasm_f32x4_const_splat(1.1920928955078125e-7f));
}

/* Entries first .. first + count - 1 of a matrix; both are multiples of 16. */
void ts_entries_f32(const ts_u32 *seed, ts_u32 matrix, ts_u32 first, ts_u32 count, float *out) {
  const schedule keys = schedule_of(matrix, seed);
  counter at = counter_at(first >> 2);
  for (ts_u32 i = 0; i < count; i += 16, advance(&at)) {
    const blocks made = philox_x4(at.low, at.high, &keys);
    wasm_v128_store(out + i, fractions(made.o0));
    wasm_v128_store(out + i + 4, fractions(made.o1));
    wasm_v128_store(out + i + 8, fractions(made.o2));
    wasm_v128_store(out + i + 12, fractions(made.o3));
  }
}

/* Whole rows, one after the other: i16 for the integer precisions, f32 for fp32. k is a multiple of 32. */
TS_EXPORT(entries)
void ts_entries(const ts_u32 *seed, ts_u32 matrix, ts_u32 precision, ts_u32 row, ts_u32 rows, ts_u32 k, void *out) {
  if (precision == TS_FP32) ts_entries_f32(seed, matrix, row * k, rows * k, (float *)out);
  else ts_entries_i16(seed, matrix, ts_bound(precision, matrix), row * k, rows * k, (ts_i16 *)out);
}
