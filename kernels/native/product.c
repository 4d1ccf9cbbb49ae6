#include "strip.h"

/*
 * A few rows of A meet two vectors of B's columns in registers. Integers: all bounds of §2 fit, and at k = 32768 the largest
 * sum, 32768 * 254 * 127 or 32768 * 2047 * 15, stays below 2^30. fp32: every element is its own chain along k, rounded once
 * a step by the processor's fused multiply-add.
 */
#define ROWS TS_BY_WIDTH(4, 8)

static TS_INLINE ts_words step(ts_form form, ts_words sum, ts_words a, ts_words b) {
  if (form == TS_CHAIN)
    return (ts_words)TS_BY_WIDTH(_mm256_fmadd_ps, _mm512_fmadd_ps)((ts_floats)a, (ts_floats)b, (ts_floats)sum);
#ifdef __AVX512VNNI__
  if (form == TS_BYTES) return (ts_words)_mm512_dpbusd_epi32((ts_vector)sum, (ts_vector)a, (ts_vector)b);
  return (ts_words)_mm512_dpwssd_epi32((ts_vector)sum, (ts_vector)a, (ts_vector)b);
#else
  return sum + (ts_words)_mm256_madd_epi16((ts_vector)a, (ts_vector)b);
#endif
}

static TS_INLINE void block(ts_form form, const ts_u32 *a, const ts_u32 *b, ts_u32 steps, ts_u32 *out) {
  ts_words s[ROWS][2];
  TS_UNROLL
  for (int r = 0; r < ROWS; r++) {
    s[r][0] = ts_load(out + TS_TILE_SIDE * r);
    s[r][1] = ts_load(out + TS_TILE_SIDE * r + TS_LANES);
  }
  for (const ts_u32 *end = a + TS_TILE_SIDE * steps; a < end; a += TS_TILE_SIDE, b += TS_TILE_SIDE) {
    const ts_words b0 = ts_load(b), b1 = ts_load(b + TS_LANES);
    TS_UNROLL
    for (int r = 0; r < ROWS; r++) {
      const ts_words x = ts_splat(a[r]);
      s[r][0] = step(form, s[r][0], x, b0);
      s[r][1] = step(form, s[r][1], x, b1);
    }
  }
  TS_UNROLL
  for (int r = 0; r < ROWS; r++) {
    ts_store(out + TS_TILE_SIDE * r, s[r][0]);
    ts_store(out + TS_TILE_SIDE * r + TS_LANES, s[r][1]);
  }
}

static TS_INLINE void multiply(ts_form form, const ts_u32 *a, const ts_u32 *b, ts_u32 steps, ts_u32 *out) {
  for (ts_u32 c = 0; c < TS_TILE_SIDE; c += 2 * TS_LANES)
    for (ts_u32 r = 0; r < TS_TILE_SIDE; r += ROWS) block(form, a + r, b + c, steps, out + TS_TILE_SIDE * r + c);
}

void ts_multiply(ts_u32 precision, const ts_u32 *a, const ts_u32 *b, ts_u32 steps, ts_u32 *out) {
  const ts_form form = ts_form_of(precision);
  if (form == TS_BYTES) multiply(TS_BYTES, a, b, steps, out);
  else if (form == TS_PAIRS) multiply(TS_PAIRS, a, b, steps, out);
  else multiply(TS_CHAIN, a, b, steps, out);
}

#ifdef __AVX512VNNI__
void ts_column_sums(const ts_u32 *b, ts_u32 steps, ts_u32 *sums) {
  const ts_words ones = ts_splat(0x01010101u);
  ts_words low = ts_load(sums), high = ts_load(sums + TS_LANES);
  for (const ts_u32 *end = b + TS_TILE_SIDE * steps; b < end; b += TS_TILE_SIDE) {
    low = step(TS_BYTES, low, ones, ts_load(b));
    high = step(TS_BYTES, high, ones, ts_load(b + TS_LANES));
  }
  ts_store(sums, low);
  ts_store(sums + TS_LANES, high);
}
#else
void ts_column_sums(const ts_u32 *b, ts_u32 steps, ts_u32 *sums) { (void)b, (void)steps, (void)sums; }
#endif

void ts_unbias(ts_u32 precision, const ts_u32 *sums, ts_u32 *out) {
  const ts_u32 bias = ts_bound(precision, TS_MATRIX_A);
  for (ts_u32 i = 0; i < TS_TILE_ELEMENTS; i++) out[i] -= bias * sums[i % TS_TILE_SIDE];
}
