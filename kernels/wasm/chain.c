#include "engine.h"

/*
 * fp32: 1024 ordered chains of fused multiply-adds, two to a vector of doubles.
 *
 * One step is product (exact in a double), sum (rounded to 53 bits), float (rounded to 24). Rounding twice differs from
 * rounding once only if the 53-bit sum lies exactly half-way between two floats, because every half-way point is itself
 * a double: anywhere else both values lie on the same side of it. So the fast loop rounds twice and watches for sums
 * whose last 29 bits are 1 0...0; a block in which one was seen is done again with the exact `ts_fma`.
 * No sum is ever -0: a chain starts at +0, and +0 plus a product of -0 is +0.
 * Entries are multiples of 2^-23 below 1 in size, so every product is a multiple of 2^-46 and no sum is denormal or
 * overflows: 29 is the right number of bits everywhere.
 */
#ifdef __wasm_relaxed_simd__

/*
 * Where relaxed_madd rounds once, it is the fused multiply-add of §2, four chains to a vector; whoever loads this module
 * holds its tiles against those of the other one first. B is turned so that the same k of four columns lies together.
 */
static void turn(const float *rows, ts_u32 stride, ts_u32 count, float *out) {
  for (ts_u32 c = 0; c < TS_TILE_SIDE; c += 4)
    for (ts_u32 i = 0; i < count; i += 4) {
      const float *at = rows + c * stride + i;
      const v128_t r0 = wasm_v128_load(at), r1 = wasm_v128_load(at + stride);
      const v128_t r2 = wasm_v128_load(at + 2 * stride), r3 = wasm_v128_load(at + 3 * stride);
      const v128_t p = wasm_i32x4_shuffle(r0, r1, 0, 4, 1, 5), q = wasm_i32x4_shuffle(r2, r3, 0, 4, 1, 5);
      const v128_t s = wasm_i32x4_shuffle(r0, r1, 2, 6, 3, 7), t = wasm_i32x4_shuffle(r2, r3, 2, 6, 3, 7);
      float *to = out + TS_TILE_SIDE * i + c;
      wasm_v128_store(to, wasm_i64x2_shuffle(p, q, 0, 2));
      wasm_v128_store(to + TS_TILE_SIDE, wasm_i64x2_shuffle(p, q, 1, 3));
      wasm_v128_store(to + 2 * TS_TILE_SIDE, wasm_i64x2_shuffle(s, t, 0, 2));
      wasm_v128_store(to + 3 * TS_TILE_SIDE, wasm_i64x2_shuffle(s, t, 1, 3));
    }
}

/* Four rows of A meet eight columns of B: eight chains of vectors, enough to hide how long one step takes. */
static TS_INLINE void fused_4x8(const float *a, ts_u32 stride, const float *b, ts_u32 count, float *out) {
  v128_t s[4][2];
  TS_UNROLL
  for (int r = 0; r < 4; r++) {
    s[r][0] = wasm_v128_load(out + TS_TILE_SIDE * r);
    s[r][1] = wasm_v128_load(out + TS_TILE_SIDE * r + 4);
  }
  const float *a0 = a, *a1 = a + stride, *a2 = a + 2 * stride, *a3 = a + 3 * stride;
  for (const float *end = a + count; a0 < end; a0++, a1++, a2++, a3++, b += TS_TILE_SIDE) {
    const v128_t b0 = wasm_v128_load(b), b1 = wasm_v128_load(b + 4);
    const float *const row[4] = {a0, a1, a2, a3};
    TS_UNROLL
    for (int r = 0; r < 4; r++) {
      const v128_t x = wasm_v128_load32_splat(row[r]);
      s[r][0] = wasm_f32x4_relaxed_madd(x, b0, s[r][0]);
      s[r][1] = wasm_f32x4_relaxed_madd(x, b1, s[r][1]);
    }
  }
  TS_UNROLL
  for (int r = 0; r < 4; r++) {
    wasm_v128_store(out + TS_TILE_SIDE * r, s[r][0]);
    wasm_v128_store(out + TS_TILE_SIDE * r + 4, s[r][1]);
  }
}

void ts_chain_f32(const float *a, const float *b, ts_u32 stride, ts_u32 count, float *out) {
  float turned[TS_TILE_SIDE * TS_CHAIN_CHUNK];
  turn(b, stride, count, turned);
  for (ts_u32 r = 0; r < TS_TILE_SIDE; r += 4)
    for (ts_u32 c = 0; c < TS_TILE_SIDE; c += 8)
      fused_4x8(a + r * stride, stride, turned + c, count, out + TS_TILE_SIDE * r + c);
}

#else

#define GROUP 4
#define GROUPS (TS_TILE_SIDE / GROUP)

/* 32 rows as eight groups of [k][4] doubles: the fast loop then reads two straight streams. */
static void pack(const float *rows, ts_u32 stride, ts_u32 count, double *out) {
  for (ts_u32 g = 0; g < GROUPS; g++, out += GROUP * TS_CHAIN_CHUNK) {
    const float *r = rows + g * GROUP * stride;
    for (ts_u32 pair = 0; pair < GROUP; pair += 2)
      for (ts_u32 i = 0; i < count; i += 4) {
        const v128_t x = wasm_v128_load(r + pair * stride + i), y = wasm_v128_load(r + (pair + 1) * stride + i);
        const v128_t low = wasm_i32x4_shuffle(x, y, 0, 4, 1, 5), high = wasm_i32x4_shuffle(x, y, 2, 6, 3, 7);
        double *to = out + GROUP * i + pair;
        wasm_v128_store(to, wasm_f64x2_promote_low_f32x4(low));
        wasm_v128_store(to + GROUP, wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(low, low, 1, 1)));
        wasm_v128_store(to + 2 * GROUP, wasm_f64x2_promote_low_f32x4(high));
        wasm_v128_store(to + 3 * GROUP, wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(high, high, 1, 1)));
      }
  }
}

static TS_INLINE v128_t load_pair(const float *at) { return wasm_f64x2_promote_low_f32x4(wasm_v128_load64_zero(at)); }

static TS_INLINE void store_pair(float *at, v128_t pair) {
  wasm_v128_store64_lane(at, wasm_f32x4_demote_f64x2_zero(pair), 0);
}

static void exact_4x4(const double *a, const double *b, ts_u32 count, float *out) {
  for (ts_u32 r = 0; r < GROUP; r++)
    for (ts_u32 c = 0; c < GROUP; c++) {
      float sum = out[TS_TILE_SIDE * r + c];
      for (ts_u32 i = 0; i < count; i++) sum = ts_fma((float)a[GROUP * i + r], (float)b[GROUP * i + c], sum);
      out[TS_TILE_SIDE * r + c] = sum;
    }
}

/* Veltkamp's splitting rounds a double to its upper 24 bits, to nearest; only ties may go either way. */
#define STEP(s, x, y)                                                                                                 \
  {                                                                                                                   \
    const v128_t sum = wasm_f64x2_add(s, wasm_f64x2_mul(x, y));                                                       \
    const v128_t large = wasm_f64x2_mul(sum, split);                                                                  \
    seen = wasm_v128_or(seen, wasm_i32x4_eq(wasm_v128_and(sum, tail), half));                                         \
    s = wasm_f64x2_add(large, wasm_f64x2_sub(sum, large));                                                            \
  }

static TS_INLINE void chain_4x4(const double *a, const double *b, ts_u32 count, float *out) {
  /* The upper half of `half` is never equal to the masked upper half, which is 0. */
  const v128_t tail = wasm_u64x2_const_splat(0x1fffffff), half = wasm_u64x2_const_splat(0x0000000110000000);
  const v128_t split = wasm_f64x2_const_splat(536870913.0);
  float *o0 = out, *o1 = out + TS_TILE_SIDE, *o2 = out + 2 * TS_TILE_SIDE, *o3 = out + 3 * TS_TILE_SIDE;
  v128_t s00 = load_pair(o0), s01 = load_pair(o0 + 2), s10 = load_pair(o1), s11 = load_pair(o1 + 2);
  v128_t s20 = load_pair(o2), s21 = load_pair(o2 + 2), s30 = load_pair(o3), s31 = load_pair(o3 + 2);
  v128_t seen = wasm_u64x2_const_splat(0);
  const double *x_at = a, *y_at = b;
  for (ts_u32 i = 0; i < count; i++, x_at += GROUP, y_at += GROUP) {
    __asm__("" : "+r"(x_at));
    __asm__("" : "+r"(y_at));
    const v128_t y0 = wasm_v128_load(y_at), y1 = wasm_v128_load(y_at + 2);
    v128_t x = wasm_v128_load64_splat(x_at);
    STEP(s00, x, y0) STEP(s01, x, y1)
    x = wasm_v128_load64_splat(x_at + 1);
    STEP(s10, x, y0) STEP(s11, x, y1)
    x = wasm_v128_load64_splat(x_at + 2);
    STEP(s20, x, y0) STEP(s21, x, y1)
    x = wasm_v128_load64_splat(x_at + 3);
    STEP(s30, x, y0) STEP(s31, x, y1)
  }
  if (wasm_v128_any_true(seen)) {
    exact_4x4(a, b, count, out);
    return;
  }
  store_pair(o0, s00), store_pair(o0 + 2, s01), store_pair(o1, s10), store_pair(o1 + 2, s11);
  store_pair(o2, s20), store_pair(o2 + 2, s21), store_pair(o3, s30), store_pair(o3 + 2, s31);
}

void ts_chain_f32(const float *a, const float *b, ts_u32 stride, ts_u32 count, float *out) {
  /* On the stack, so that threads sharing the memory do not share the scratch. */
  double packed_a[TS_TILE_SIDE * TS_CHAIN_CHUNK], packed_b[TS_TILE_SIDE * TS_CHAIN_CHUNK];
  pack(a, stride, count, packed_a);
  pack(b, stride, count, packed_b);
  for (ts_u32 i = 0; i < GROUPS; i++)
    for (ts_u32 j = 0; j < GROUPS; j++)
      chain_4x4(packed_a + GROUP * TS_CHAIN_CHUNK * i, packed_b + GROUP * TS_CHAIN_CHUNK * j, count,
                out + GROUP * TS_TILE_SIDE * i + GROUP * j);
}

#endif

/* The one fused multiply-add of §2, exported to be tested against exact arithmetic. */
TS_EXPORT(fma)
float ts_export_fma(float a, float b, float c) { return ts_fma(a, b, c); }
