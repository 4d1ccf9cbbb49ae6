#include "engine.h"

/*
 * Integer precisions: all bounds of §2 fit i16, and at k = 32768 the largest sum, 32768 * 2047 * 15, stays below 2^30.
 * Two rows of A meet four of B in registers: eight accumulators, six loads for eight multiply-adds of eight lanes.
 */
static TS_INLINE v128_t sum4(v128_t a, v128_t b, v128_t c, v128_t d) {
  const v128_t ab = wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
  const v128_t cd = wasm_i32x4_add(wasm_i32x4_shuffle(c, d, 0, 2, 4, 6), wasm_i32x4_shuffle(c, d, 1, 3, 5, 7));
  return wasm_i32x4_add(wasm_i32x4_shuffle(ab, cd, 0, 2, 4, 6), wasm_i32x4_shuffle(ab, cd, 1, 3, 5, 7));
}

static TS_INLINE void add_to(ts_i32 *out, v128_t sums) {
  wasm_v128_store(out, wasm_i32x4_add(wasm_v128_load(out), sums));
}

/*
 * Left alone, the compiler computes every address anew and loads far ahead into registers that are not there. Pointers it
 * cannot see through keep their constant offsets, and a barrier after each step keeps the loads where they are used.
 */
#define HIDE(pointer) __asm__("" : "+r"(pointer))
#define STEP(at)                                                                                                      \
  {                                                                                                                   \
    const v128_t x0 = wasm_v128_load(a0 + (at)), x1 = wasm_v128_load(a1 + (at));                                      \
    v128_t y = wasm_v128_load(b0 + (at));                                                                             \
    s00 = wasm_i32x4_add(s00, wasm_i32x4_dot_i16x8(x0, y));                                                           \
    s10 = wasm_i32x4_add(s10, wasm_i32x4_dot_i16x8(x1, y));                                                           \
    y = wasm_v128_load(b1 + (at));                                                                                    \
    s01 = wasm_i32x4_add(s01, wasm_i32x4_dot_i16x8(x0, y));                                                           \
    s11 = wasm_i32x4_add(s11, wasm_i32x4_dot_i16x8(x1, y));                                                           \
    y = wasm_v128_load(b2 + (at));                                                                                    \
    s02 = wasm_i32x4_add(s02, wasm_i32x4_dot_i16x8(x0, y));                                                           \
    s12 = wasm_i32x4_add(s12, wasm_i32x4_dot_i16x8(x1, y));                                                           \
    y = wasm_v128_load(b3 + (at));                                                                                    \
    s03 = wasm_i32x4_add(s03, wasm_i32x4_dot_i16x8(x0, y));                                                           \
    s13 = wasm_i32x4_add(s13, wasm_i32x4_dot_i16x8(x1, y));                                                           \
    __asm__ volatile("" ::: "memory");                                                                                \
  }

/* count is a multiple of 32; four steps to a turn, so that addresses cost little. */
static TS_INLINE void product_2x4(const ts_i16 *a, const ts_i16 *b, ts_u32 stride, ts_u32 count, ts_i32 *out) {
  const ts_i16 *a0 = a, *a1 = a + stride;
  const ts_i16 *b0 = b, *b1 = b + stride, *b2 = b + 2 * stride, *b3 = b + 3 * stride;
  v128_t s00 = wasm_i32x4_const_splat(0), s01 = s00, s02 = s00, s03 = s00, s10 = s00, s11 = s00, s12 = s00, s13 = s00;
  for (const ts_i16 *end = a + count; a0 < end; a0 += 32, a1 += 32, b0 += 32, b1 += 32, b2 += 32, b3 += 32) {
    HIDE(a0);
    HIDE(a1);
    HIDE(b0);
    HIDE(b1);
    HIDE(b2);
    HIDE(b3);
    STEP(0) STEP(8) STEP(16) STEP(24)
  }
  add_to(out, sum4(s00, s01, s02, s03));
  add_to(out + TS_TILE_SIDE, sum4(s10, s11, s12, s13));
}

void ts_product_i16(const ts_i16 *a, const ts_i16 *b, ts_u32 stride, ts_u32 count, ts_i32 *out) {
  for (ts_u32 j = 0; j < TS_TILE_SIDE; j += 4)
    for (ts_u32 i = 0; i < TS_TILE_SIDE; i += 2)
      product_2x4(a + i * stride, b + j * stride, stride, count, out + TS_TILE_SIDE * i + j);
}
