/*
 * How operands lie here: a strip is 32 rows of A or of B, turned so that 32 words, one to a row, follow each other for each
 * step along k. A word is four entries of int8 or fp8 (bytes, with VNNI), two of the others (i16), or one of fp32.
 */
#ifndef TS_STRIP_H
#define TS_STRIP_H
#include "lanes.h"

typedef enum { TS_BYTES, TS_PAIRS, TS_CHAIN } ts_form;

static TS_INLINE ts_form ts_form_of(ts_u32 precision) {
  if (precision == TS_FP32) return TS_CHAIN;
  return TS_BY_WIDTH(TS_PAIRS, precision == TS_INT8 || precision == TS_FP8 ? TS_BYTES : TS_PAIRS);
}

static TS_INLINE ts_u32 ts_entries_in_word(ts_form form) { return form == TS_BYTES ? 4 : form == TS_PAIRS ? 2 : 1; }

/* A tile's operands are made and used so many words of a row at a time: both stay in the nearest cache. */
#define TS_STEPS 64

/* What the entries of a strip have in common, and M0 times the number of each row's next block of Philox. */
typedef struct {
  ts_longs mask2, c0, c2, c3, k0[8], k1[8];
  ts_longs next[TS_TILE_SIDE / (TS_LANES / 2)];
  ts_u32 precision, matrix;
} ts_strip;

void ts_strip_start(ts_strip *strip, const ts_u32 *seed, ts_u32 matrix, ts_u32 precision, ts_u32 first_row, ts_u32 k);
/* The next `steps` words of every row; a multiple of a block's worth (2 of bytes, 4 of pairs and of fp32). */
void ts_strip_next(ts_strip *strip, ts_u32 steps, ts_u32 *out);

/* out[32][32] += a * b^T over `steps` words of two strips; what A's bias adds to bytes is left to ts_unbias. */
void ts_multiply(ts_u32 precision, const ts_u32 *a, const ts_u32 *b, ts_u32 steps, ts_u32 *out);
/* sums[32] += the entries of B, column by column; bytes alone. */
void ts_column_sums(const ts_u32 *b, ts_u32 steps, ts_u32 *sums);
void ts_unbias(ts_u32 precision, const ts_u32 *sums, ts_u32 *out);

#endif
