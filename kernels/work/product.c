#include "blockProduct.h"

static TS_INLINE ts_u32 least(ts_u32 a, ts_u32 b) { return a < b ? a : b; }

#define NO_MASK 0
/* Result (row, column) is absent, and 0, where column > row. */
#define MASKED_RESULT 1
/* Entry (row, i) of a is 0 where i > row: there is nothing to add. */
#define MASKED_OPERAND 2

/* Rows that are multiplied at a time where a mask lets some of it be left out. */
#define STRIPE 32

static void masked(
    const ts_i8 *a, const ts_i8 *b, ts_i32 *out, ts_u32 rows, ts_u32 columns, ts_u32 k, ts_u32 mask, ts_u32 first) {
  for (ts_u32 r = 0; r < rows; r += STRIPE) {
    const ts_u32 here = least(STRIPE, rows - r), seen = first + r + here;
    const ts_bytes mine = {a + (ts_u64)r * k, k}, theirs = {b, k};
    ts_i32 *to = out + (ts_u64)r * columns;
    if (mask == MASKED_OPERAND) {
      ts_block_product(mine, theirs, here, columns, least(k, seen), to, columns);
      continue;
    }
    ts_block_product(mine, theirs, here, least(columns, seen), k, to, columns);
    for (ts_u32 i = 0; i < here; i++)
      for (ts_u32 c = first + r + i + 1; c < columns; c++) to[(ts_u64)i * columns + c] = 0;
  }
}

/*
 * W2.1: batches of a[rows][k] b[columns][k]^T; `shared` batches in a row have the same b. `mask` is one of the above, with
 * the rows of every batch beginning at row `first`.
 */
TS_WORK(product)(
    char *memory, ts_offset a, ts_offset b, ts_offset to, ts_u32 rows, ts_u32 columns, ts_u32 k, ts_u32 batches,
    ts_u32 shared, ts_u32 mask, ts_u32 first) {
  const ts_i8 *x = TS_AT(const ts_i8, a), *y = TS_AT(const ts_i8, b);
  ts_i32 *out = TS_AT(ts_i32, to);
  for (ts_u32 batch = 0; batch < batches; batch++, x += (ts_u64)rows * k, out += (ts_u64)rows * columns) {
    const ts_i8 *theirs = y + (ts_u64)(batch / shared) * columns * k;
    if (mask == NO_MASK) ts_block_product((ts_bytes){x, k}, (ts_bytes){theirs, k}, rows, columns, k, out, columns);
    else masked(x, theirs, out, rows, columns, k, mask, first);
  }
  return 0;
}

/*
 * W2.1.4: pieces of k, each with scales of its own for the rows of a, as floats added in order. `scratch` has room for
 * rows * columns sums.
 */
TS_WORK(productPieces)(
    char *memory, ts_offset a, ts_offset scales, ts_offset b, ts_offset scratch, ts_offset to, ts_u32 rows,
    ts_u32 columns, ts_u32 k, ts_u32 piece) {
  TS_EXACT
  const ts_i8 *x = TS_AT(const ts_i8, a), *y = TS_AT(const ts_i8, b);
  const ts_u32 pieces = (k + piece - 1) / piece;
  const float *scale = TS_AT(const float, scales);
  ts_i32 *sums = TS_AT(ts_i32, scratch);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 p = 0; p < pieces; p++) {
    const ts_u32 from = p * piece;
    ts_block_product((ts_bytes){x + from, k}, (ts_bytes){y + from, k}, rows, columns, least(piece, k - from), sums, columns);
    for (ts_u32 r = 0; r < rows; r++) {
      const float s = scale[(ts_u64)r * pieces + p];
      const ts_i32 *in = sums + (ts_u64)r * columns;
      float *row = out + (ts_u64)r * columns;
      for (ts_u32 c = 0; c < columns; c++) {
        const float term = (float)in[c] * s, y0 = p == 0 ? term : row[c] + term;
        worst = ts_worse(worst, y0);
        row[c] = y0;
      }
    }
  }
  return ts_faulty(worst);
}
