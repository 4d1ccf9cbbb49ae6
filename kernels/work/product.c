#include "blockProduct.h"

#define NO_MASK 0
/* Result (row, column) is absent, and 0, where column > row. */
#define MASKED_RESULT 1
/* Entry (row, i) of a is absent where i > row. */
#define MASKED_OPERAND 2

/* Rows that are multiplied at a time where a mask lets some of it be left out. */
#define STRIPE 32
#define BLOCK_COLUMNS 64

typedef struct {
  const ts_i8 *a, *b;
  ts_i32 *out;
  ts_u32 rows, columns, k;
} one_product;

static void masked_result(one_product of, ts_u32 first) {
  const ts_bytes a = {of.a, of.k}, b = {of.b, of.k};
  ts_block_product(a, b, of.rows, ts_least(of.columns, first + of.rows), of.k, of.out, of.columns);
  for (ts_u32 r = 0; r < of.rows; r++)
    for (ts_u32 c = first + r + 1; c < of.columns; c++) of.out[(ts_u64)r * of.columns + c] = 0;
}

/* What all rows of the stripe see, then the corner of which each sees one entry more than the row before. */
static void masked_operand(one_product of, ts_u32 first) {
  const ts_u32 common = ts_least(of.k, first + 1), corner = ts_least(of.k - common, of.rows - 1);
  const ts_bytes a = {of.a, of.k}, b = {of.b, of.k};
  ts_block_product(a, b, of.rows, of.columns, common, of.out, of.columns);
  if (corner == 0) return;
  ts_i8 seen[STRIPE * STRIPE];
  for (ts_u32 r = 0; r < of.rows; r++)
    for (ts_u32 i = 0; i < STRIPE; i++)
      seen[STRIPE * r + i] = i < r && i < corner ? of.a[(ts_u64)r * of.k + common + i] : 0;
  for (ts_u32 c = 0; c < of.columns; c += BLOCK_COLUMNS) {
    const ts_u32 wide = ts_least(BLOCK_COLUMNS, of.columns - c);
    ts_i32 sums[STRIPE * BLOCK_COLUMNS];
    const ts_bytes theirs = {of.b + (ts_u64)c * of.k + common, of.k};
    ts_block_product((ts_bytes){seen, STRIPE}, theirs, of.rows, wide, corner, sums, wide);
    for (ts_u32 r = 0; r < of.rows; r++)
      for (ts_u32 i = 0; i < wide; i++) of.out[(ts_u64)r * of.columns + c + i] += sums[r * wide + i];
  }
}

static void masked(one_product of, ts_u32 mask, ts_u32 first) {
  for (ts_u32 r = 0; r < of.rows; r += STRIPE) {
    const one_product stripe = {of.a + (ts_u64)r * of.k, of.b, of.out + (ts_u64)r * of.columns,
                                ts_least(STRIPE, of.rows - r), of.columns, of.k};
    if (mask == MASKED_RESULT) masked_result(stripe, first + r);
    else masked_operand(stripe, first + r);
  }
}

/*
 * W2.1: batches of a[rows][k] b[columns][k]^T; `shared` batches in a row have the same b. `mask` is one of the above, with
 * the rows of every batch beginning at row `first`.
 */
TS_WORK(product)(
    char *memory, ts_offset a, ts_offset b, ts_offset to, ts_u32 rows, ts_u32 columns, ts_u32 k, ts_u32 batches,
    ts_u32 shared, ts_u32 mask, ts_u32 first) {
  if (shared == 0) return 1;
  const ts_i8 *x = TS_AT(const ts_i8, a), *y = TS_AT(const ts_i8, b);
  ts_i32 *out = TS_AT(ts_i32, to);
  for (ts_u32 batch = 0; batch < batches; batch++, x += (ts_u64)rows * k, out += (ts_u64)rows * columns) {
    const ts_i8 *theirs = y + (ts_u64)(batch / shared) * columns * k;
    if (mask == NO_MASK) ts_block_product((ts_bytes){x, k}, (ts_bytes){theirs, k}, rows, columns, k, out, columns);
    else masked((one_product){x, theirs, out, rows, columns, k}, mask, ts_least(first, 0x7fffffffu));
  }
  return 0;
}

/* Pieces are added up in blocks of this many rows and columns. */
#define BLOCK_ROWS 128

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

/* W2.1.4: pieces of k, each with scales of its own for the rows of a, as floats added in order; batches as in a product. */
TS_WORK(productPieces)(
    char *memory, ts_offset a, ts_offset scales, ts_offset b, ts_offset to, ts_u32 rows, ts_u32 columns, ts_u32 k,
    ts_u32 piece, ts_u32 batches, ts_u32 shared) {
  TS_EXACT
  if (piece == 0 || shared == 0) return 1;
  const ts_u32 pieces = (k + piece - 1) / piece;
  ts_u32 faults = 0;
  for (ts_u32 batch = 0; batch < batches; batch++) {
    const ts_u64 before = (ts_u64)batch * rows;
    const in_pieces of = {TS_AT(const ts_i8, a) + before * k, TS_AT(const ts_i8, b) + (ts_u64)(batch / shared) * columns * k,
                          TS_AT(const float, scales) + before * pieces, TS_AT(float, to) + before * columns,
                          columns, k, piece, pieces};
    for (ts_u32 r = 0; r < rows; r += BLOCK_ROWS)
      for (ts_u32 c = 0; c < columns; c += BLOCK_COLUMNS)
        faults |= ts_faulty(add_pieces(of, r, ts_least(BLOCK_ROWS, rows - r), c, ts_least(BLOCK_COLUMNS, columns - c)));
  }
  return faults;
}
