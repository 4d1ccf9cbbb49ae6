/* Integer products (W2.1): exact in any order, so that every target has its own. */
#ifndef TS_BLOCK_PRODUCT_H
#define TS_BLOCK_PRODUCT_H
#include "work.h"

/* Rows of int8, `stride` bytes from one to the next. */
typedef struct {
  const ts_i8 *at;
  ts_u64 stride;
} ts_bytes;

/* out[rows][columns] = a b^T over k, rows of out `stride` numbers apart. */
void ts_block_product(ts_bytes a, ts_bytes b, ts_u32 rows, ts_u32 columns, ts_u32 k, ts_i32 *out, ts_u64 stride);

static TS_INLINE ts_i32 ts_dot(const ts_i8 *a, const ts_i8 *b, ts_u32 k) {
  ts_i32 sum = 0;
  for (ts_u32 i = 0; i < k; i++) sum += a[i] * b[i];
  return sum;
}

/* So few rows that laying them out anew costs more than it saves. */
static TS_INLINE ts_u32 ts_few(ts_u32 rows, ts_u32 columns) { return rows < 8 || columns < 8; }

static __attribute__((noinline, unused)) void ts_few_products(
    ts_bytes a, ts_bytes b, ts_u32 rows, ts_u32 columns, ts_u32 k, ts_i32 *out, ts_u64 stride) {
  for (ts_u32 r = 0; r < rows; r++)
    for (ts_u32 c = 0; c < columns; c++) out[r * stride + c] = ts_dot(a.at + r * a.stride, b.at + c * b.stride, k);
}

#endif
