#include "strip.h"

/* Rounding to nearest and denormals are the protocol's, whatever somebody has set in this thread; put back at the end. */
#define NEAREST 0x1f80u

static TS_INLINE ts_u32 min(ts_u32 a, ts_u32 b) { return a < b ? a : b; }

static void tile(const ts_u32 *seed, ts_u32 precision, ts_u32 k, ts_u32 tile_row, ts_u32 tile_column, ts_u32 *out) {
  ts_u32 a[TS_TILE_SIDE * TS_STEPS], b[TS_TILE_SIDE * TS_STEPS], sums[TS_TILE_SIDE] = {0};
  const ts_form form = ts_form_of(precision);
  const ts_u32 steps = k / ts_entries_in_word(form);
  ts_strip rows, columns;
  ts_strip_start(&rows, seed, TS_MATRIX_A, precision, TS_TILE_SIDE * tile_row, k);
  ts_strip_start(&columns, seed, TS_MATRIX_B, precision, TS_TILE_SIDE * tile_column, k);
  for (ts_u32 i = 0; i < TS_TILE_ELEMENTS; i++) out[i] = 0;
  for (ts_u32 from = 0; from < steps; from += TS_STEPS) {
    const ts_u32 count = min(TS_STEPS, steps - from);
    ts_strip_next(&rows, count, a);
    ts_strip_next(&columns, count, b);
    ts_multiply(precision, a, b, count, out);
    if (form == TS_BYTES) ts_column_sums(b, count, sums);
  }
  if (form == TS_BYTES) ts_unbias(precision, sums, out);
}

/* §6: one tile from the seed alone, with no matrix in memory. k is a multiple of 32. */
TS_EXPORT void ts_tile(
    char *memory, ts_u64 seed, ts_u32 precision, ts_u32 k, ts_u32 tile_row, ts_u32 tile_column, ts_u64 out) {
  const ts_u32 before = _mm_getcsr();
  _mm_setcsr(NEAREST);
  tile(TS_AT(const ts_u32, seed), precision, k, tile_row, tile_column, TS_AT(ts_u32, out));
  _mm_setcsr(before);
}

/* The same tile from two strips that lie in memory. */
TS_EXPORT void ts_product(char *memory, ts_u32 precision, ts_u64 a, ts_u64 b, ts_u32 k, ts_u64 to) {
  const ts_form form = ts_form_of(precision);
  const ts_u32 steps = k / ts_entries_in_word(form), before = _mm_getcsr();
  const ts_u32 *x = TS_AT(const ts_u32, a), *y = TS_AT(const ts_u32, b);
  ts_u32 *out = TS_AT(ts_u32, to), sums[TS_TILE_SIDE] = {0};
  _mm_setcsr(NEAREST);
  for (ts_u32 i = 0; i < TS_TILE_ELEMENTS; i++) out[i] = 0;
  for (ts_u32 from = 0; from < steps; from += TS_STEPS) {
    const ts_u32 count = min(TS_STEPS, steps - from), at = TS_TILE_SIDE * from;
    ts_multiply(precision, x + at, y + at, count, out);
    if (form == TS_BYTES) ts_column_sums(y + at, count, sums);
  }
  if (form == TS_BYTES) ts_unbias(precision, sums, out);
  _mm_setcsr(before);
}

/* The fused multiply-add of §2, exported to be tested against exact arithmetic. */
TS_EXPORT float ts_fused(char *memory, float a, float b, float c) {
  (void)memory;
  return __builtin_fmaf(a, b, c);
}
