#include "blockProduct.h"

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
    const ts_u32 here = ts_least(STRIPE, rows - r), seen = first + r + here;
    const ts_bytes mine = {a + (ts_u64)r * k, k}, theirs = {b, k};
    ts_i32 *to = out + (ts_u64)r * columns;
    if (mask == MASKED_OPERAND) {
      ts_block_product(mine, theirs, here, columns, ts_least(k, seen), to, columns);
      continue;
    }
    ts_block_product(mine, theirs, here, ts_least(columns, seen), k, to, columns);
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

/* Pieces are added up in blocks of this many rows and columns. */
#define BLOCK_ROWS 128
#define BLOCK_COLUMNS 64

typedef struct {
  const ts_i8 *a, *b;
  const float *scales;
  float *out;
  ts_u32 columns, k, piece, pieces;
} in_pieces;

static ts_u32 add_pieces(in_pieces of, ts_u32 row, ts_u32 rows, ts_u32 column, ts_u32 columns) {
  ts_i32 sums[BLOCK_ROWS * BLOCK_COLUMNS];
  ts_u32 worst = 0;
  for (ts_u32 p = 0; p < of.pieces; p++) {
    const ts_u32 from = p * of.piece;
    const ts_bytes a = {of.a + (ts_u64)row * of.k + from, of.k}, b = {of.b + (ts_u64)column * of.k + from, of.k};
    ts_block_product(a, b, rows, columns, ts_least(of.piece, of.k - from), sums, columns);
    for (ts_u32 r = 0; r < rows; r++) {
      const float scale = of.scales[(ts_u64)(row + r) * of.pieces + p];
      const ts_i32 *in = sums + r * columns;
      float *out = of.out + (ts_u64)(row + r) * of.columns + column;
      for (ts_u32 c = 0; c < columns; c++) {
        const float term = (float)in[c] * scale, total = p == 0 ? term : out[c] + term;
        worst = ts_worse(worst, total);
        out[c] = total;
      }
    }
  }
  return worst;
}

/* W2.1.4: pieces of k, each with scales of its own for the rows of a, as floats added in order. */
TS_WORK(productPieces)(
    char *memory, ts_offset a, ts_offset scales, ts_offset b, ts_offset to, ts_u32 rows, ts_u32 columns, ts_u32 k,
    ts_u32 piece) {
  TS_EXACT
  const in_pieces of = {TS_AT(const ts_i8, a), TS_AT(const ts_i8, b), TS_AT(const float, scales), TS_AT(float, to),
                        columns, k, piece, (k + piece - 1) / piece};
  ts_u32 faults = 0;
  for (ts_u32 r = 0; r < rows; r += BLOCK_ROWS)
    for (ts_u32 c = 0; c < columns; c += BLOCK_COLUMNS)
      faults |= ts_faulty(add_pieces(of, r, ts_least(BLOCK_ROWS, rows - r), c, ts_least(BLOCK_COLUMNS, columns - c)));
  return faults;
}
