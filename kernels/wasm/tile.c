#include "engine.h"

static void tile_integer(
    const ts_u32 *seed, ts_u32 precision, ts_u32 k, ts_u32 tile_row, ts_u32 tile_column, ts_i32 *out) {
  ts_i16 a[TS_TILE_SIDE * TS_CHUNK], b[TS_TILE_SIDE * TS_CHUNK];
  const ts_u32 bound_a = ts_bound(precision, TS_MATRIX_A), bound_b = ts_bound(precision, TS_MATRIX_B);
  for (ts_u32 from = 0; from < k; from += TS_CHUNK) {
    const ts_u32 count = k - from < TS_CHUNK ? k - from : TS_CHUNK;
    for (ts_u32 r = 0; r < TS_TILE_SIDE; r++) {
      ts_entries_i16(seed, TS_MATRIX_A, bound_a, (TS_TILE_SIDE * tile_row + r) * k + from, count, a + r * TS_CHUNK);
      ts_entries_i16(seed, TS_MATRIX_B, bound_b, (TS_TILE_SIDE * tile_column + r) * k + from, count, b + r * TS_CHUNK);
    }
    ts_product_i16(a, b, TS_CHUNK, count, out);
  }
}

static void tile_fp32(const ts_u32 *seed, ts_u32 k, ts_u32 tile_row, ts_u32 tile_column, float *out) {
  float a[TS_TILE_SIDE * TS_CHAIN_CHUNK], b[TS_TILE_SIDE * TS_CHAIN_CHUNK];
  for (ts_u32 from = 0; from < k; from += TS_CHAIN_CHUNK) {
    const ts_u32 count = k - from < TS_CHAIN_CHUNK ? k - from : TS_CHAIN_CHUNK;
    for (ts_u32 r = 0; r < TS_TILE_SIDE; r++) {
      ts_entries_f32(seed, TS_MATRIX_A, (TS_TILE_SIDE * tile_row + r) * k + from, count, a + r * TS_CHAIN_CHUNK);
      ts_entries_f32(seed, TS_MATRIX_B, (TS_TILE_SIDE * tile_column + r) * k + from, count, b + r * TS_CHAIN_CHUNK);
    }
    ts_chain_f32(a, b, TS_CHAIN_CHUNK, count, out);
  }
}

/* §6: one tile from the seed alone, with no matrix in memory. k is a multiple of 32. */
TS_EXPORT(tile)
void ts_tile(
    const ts_u32 *seed, ts_u32 precision, ts_u32 k, ts_u32 tile_row, ts_u32 tile_column, ts_u32 *out) {
  for (ts_u32 i = 0; i < TS_TILE_ELEMENTS; i++) out[i] = 0;
  if (precision == TS_FP32) tile_fp32(seed, k, tile_row, tile_column, (float *)out);
  else tile_integer(seed, precision, k, tile_row, tile_column, (ts_i32 *)out);
}

/* The same tile from rows that lie in memory: a and b point at 32 rows of k entries each (i16, or f32 for fp32). */
TS_EXPORT(product)
void ts_product(ts_u32 precision, const void *a, const void *b, ts_u32 k, ts_u32 *out) {
  for (ts_u32 i = 0; i < TS_TILE_ELEMENTS; i++) out[i] = 0;
  const ts_u32 step = precision == TS_FP32 ? TS_CHAIN_CHUNK : TS_CHUNK;
  for (ts_u32 from = 0; from < k; from += step) {
    const ts_u32 count = k - from < step ? k - from : step;
    if (precision == TS_FP32) ts_chain_f32((const float *)a + from, (const float *)b + from, k, count, (float *)out);
    else ts_product_i16((const ts_i16 *)a + from, (const ts_i16 *)b + from, k, count, (ts_i32 *)out);
  }
}
