/* Tiles of 32 x 32 over operands widened to 16 bits, multiplied as in wasm/product.c. */
#ifdef __wasm__
#include "../wasm/engine.h"
#include "blockProduct.h"

#define DEPTH 512

static void widen(ts_bytes from, ts_u32 rows, ts_u32 count, ts_u32 padded, ts_i16 *to) {
  for (ts_u32 r = 0; r < TS_TILE_SIDE; r++, to += DEPTH) {
    const ts_i8 *row = from.at + r * from.stride;
    const ts_u32 filled = r < rows ? count : 0;
    for (ts_u32 i = 0; i < filled; i++) to[i] = row[i];
    for (ts_u32 i = filled; i < padded; i++) to[i] = 0;
  }
}

static void tile(ts_bytes a, ts_bytes b, ts_u32 rows, ts_u32 columns, ts_u32 k, ts_i32 *out, ts_u64 stride) {
  ts_i16 x[TS_TILE_SIDE * DEPTH], y[TS_TILE_SIDE * DEPTH];
  ts_i32 sums[TS_TILE_ELEMENTS];
  for (ts_u32 i = 0; i < TS_TILE_ELEMENTS; i++) sums[i] = 0;
  for (ts_u32 from = 0; from < k; from += DEPTH) {
    const ts_u32 count = ts_least(DEPTH, k - from), padded = (count + 31) & ~31u;
    widen((ts_bytes){a.at + from, a.stride}, rows, count, padded, x);
    widen((ts_bytes){b.at + from, b.stride}, columns, count, padded, y);
    ts_product_i16(x, y, DEPTH, padded, sums);
  }
  for (ts_u32 r = 0; r < rows; r++)
    for (ts_u32 c = 0; c < columns; c++) out[r * stride + c] = sums[TS_TILE_SIDE * r + c];
}

void ts_block_product(ts_bytes a, ts_bytes b, ts_u32 rows, ts_u32 columns, ts_u32 k, ts_i32 *out, ts_u64 stride) {
  if (ts_few(rows, columns)) {
    ts_few_products(a, b, rows, columns, k, out, stride);
    return;
  }
  for (ts_u32 r = 0; r < rows; r += TS_TILE_SIDE)
    for (ts_u32 c = 0; c < columns; c += TS_TILE_SIDE) {
      const ts_bytes mine = {a.at + r * a.stride, a.stride}, theirs = {b.at + c * b.stride, b.stride};
      tile(mine, theirs, ts_least(TS_TILE_SIDE, rows - r), ts_least(TS_TILE_SIDE, columns - c), k, out + r * stride + c, stride);
    }
}
#endif
