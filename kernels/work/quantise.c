#include "manyDraws.h"
#include "work.h"

/* Rows share a fold vector, or column scales, so many at a time; `first` is the number of the first row here. */
static TS_INLINE const float *shared_by(const float *vectors, ts_u32 row, ts_u32 rows_each, ts_u32 width) {
  return vectors ? vectors + (ts_u64)(row / rows_each) * width : 0;
}

static ts_u32 largest(const float *x, const float *fold, ts_u32 count) {
  ts_u32 worst = 0;
  if (fold) for (ts_u32 i = 0; i < count; i++) worst = ts_worse(worst, x[i] * fold[i]);
  else for (ts_u32 i = 0; i < count; i++) worst = ts_worse(worst, x[i]);
  return worst;
}

/* W2.2.2: one scale for each row and piece of it. */
TS_WORK(rowScale)(
    char *memory, ts_offset x, ts_offset fold, ts_offset scales, ts_u32 rows, ts_u32 width, ts_u32 piece, ts_u32 first,
    ts_u32 rows_each) {
  TS_EXACT
  if (piece == 0 || rows_each == 0) return 1;
  const float *in = TS_AT(const float, x);
  float *out = TS_AT(float, scales);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width) {
    const float *f = shared_by(TS_AT_OR_NULL(const float, fold), first + r, rows_each, width);
    for (ts_u32 from = 0; from < width; from += piece) {
      const float s = ts_scale(largest(in + from, f ? f + from : 0, ts_least(piece, width - from)));
      worst = ts_worse(worst, s);
      *out++ = s;
    }
  }
  return ts_faulty(worst);
}

static void nearest(const float *x, const float *fold, float inverse, ts_u32 count, ts_i8 *out) {
  if (fold) for (ts_u32 i = 0; i < count; i++) out[i] = (ts_i8)ts_round_nearest((x[i] * fold[i]) * inverse);
  else for (ts_u32 i = 0; i < count; i++) out[i] = (ts_i8)ts_round_nearest(x[i] * inverse);
}

/* W2.2.3 */
TS_WORK(quantise)(
    char *memory, ts_offset x, ts_offset fold, ts_offset scales, ts_offset to, ts_u32 rows, ts_u32 width, ts_u32 piece,
    ts_u32 first, ts_u32 rows_each) {
  TS_EXACT
  if (piece == 0 || rows_each == 0) return 1;
  const float *in = TS_AT(const float, x), *scale = TS_AT(const float, scales);
  ts_i8 *out = TS_AT(ts_i8, to);
  for (ts_u32 r = 0; r < rows; r++, in += width, out += width) {
    const float *f = shared_by(TS_AT_OR_NULL(const float, fold), first + r, rows_each, width);
    for (ts_u32 from = 0; from < width; from += piece)
      nearest(in + from, f ? f + from : 0, 1.0f / *scale++, ts_least(piece, width - from), out + from);
  }
  return 0;
}

static void chance(
    const float *x, const float *fold, float inverse, ts_u32 count, ts_draw draw, ts_u64 index, ts_i8 *out) {
  ts_u16 lanes[8 * TS_MANY];
  for (ts_u32 from = 0; from < count;) {
    const ts_u32 skip = (ts_u32)(index + from) & 7u, here = ts_least(8 * TS_MANY - skip, count - from);
    ts_u32 words[4 * TS_MANY];
    ts_draw_many(draw, (index + from) >> 3, words);
    __builtin_memcpy(lanes, words, sizeof lanes);
    for (ts_u32 i = 0; i < here; i++) {
      const float y = fold ? x[from + i] * fold[from + i] : x[from + i];
      out[from + i] = (ts_i8)ts_round_stochastic(y * inverse, lanes[skip + i]);
    }
    from += here;
  }
}

/* W2.2.4: `index` is the place of the first element here in the whole tensor, row by row. */
TS_WORK(quantiseStochastic)(
    char *memory, ts_offset x, ts_offset fold, ts_offset scales, ts_offset to, ts_u32 rows, ts_u32 width, ts_u32 piece,
    ts_u32 first, ts_u32 rows_each, ts_u32 key0, ts_u32 key1, ts_u32 tensor, ts_u32 transition, double index,
    double stride) {
  TS_EXACT
  if (piece == 0 || rows_each == 0) return 1;
  const float *in = TS_AT(const float, x), *scale = TS_AT(const float, scales);
  ts_i8 *out = TS_AT(ts_i8, to);
  const ts_draw draw = {key0, key1, tensor, transition};
  ts_u64 at = (ts_u64)index;
  for (ts_u32 r = 0; r < rows; r++, in += width, out += width, at += (ts_u64)stride) {
    const float *f = shared_by(TS_AT_OR_NULL(const float, fold), first + r, rows_each, width);
    for (ts_u32 from = 0; from < width; from += piece)
      chance(in + from, f ? f + from : 0, 1.0f / *scale++, ts_least(piece, width - from), draw, at + from, out + from);
  }
  return 0;
}

/* W2.2.6: ((sum * row) * column) * factor, then + bias; what is absent is left out. */
TS_WORK(dequantise)(
    char *memory, ts_offset sums, ts_offset row_scales, ts_offset column_scales, ts_offset biases, ts_offset to,
    ts_u32 rows, ts_u32 width, ts_u32 first, ts_u32 rows_each, float factor) {
  TS_EXACT
  if (rows_each == 0) return 1;
  const ts_i32 *in = TS_AT(const ts_i32, sums);
  const float *row = TS_AT(const float, row_scales), *bias = TS_AT_OR_NULL(const float, biases);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width, out += width) {
    const float s = row[r], *column = shared_by(TS_AT_OR_NULL(const float, column_scales), first + r, rows_each, width);
    for (ts_u32 i = 0; i < width; i++) {
      const float y = ts_dequantise(in[i], s, column ? column[i] : 1.0f, factor);
      const float z = bias ? y + bias[i] : y;
      worst = ts_worse(worst, z);
      out[i] = z;
    }
  }
  return ts_faulty(worst);
}

/* W2.6: 1 if a tensor that came from outside has a number that is infinite or none. */
TS_WORK(faultyFloats)(char *memory, ts_offset x, double count) {
  const float *in = TS_AT(const float, x);
  ts_u32 worst = 0;
  for (ts_u64 i = 0; i < (ts_u64)count; i++) worst = ts_worse(worst, in[i]);
  return ts_faulty(worst);
}

/* W2.6: 1 if a tensor that came from outside has a -128. */
TS_WORK(faultyBytes)(char *memory, ts_offset x, double count) {
  const ts_i8 *in = TS_AT(const ts_i8, x);
  ts_u32 found = 0;
  for (ts_u64 i = 0; i < (ts_u64)count; i++) found |= in[i] == -128;
  return found;
}
