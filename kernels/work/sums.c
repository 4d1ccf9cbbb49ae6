/* Sums in the fixed order of W2.5, and what is made of them. */
#include "../common/work/optimiser.h"
#include "work.h"

/* One sum for each row. */
TS_WORK(rowSum)(char *memory, ts_offset x, ts_offset to, ts_u32 rows, ts_u32 width) {
  TS_EXACT
  const float *in = TS_AT(const float, x);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width) {
    float total;
    TS_TOTAL(total, width, i, in[i])
    worst = ts_worse(worst, total);
    out[r] = total;
  }
  return ts_faulty(worst);
}

/* Columns side by side, so that a line of memory is read whole. */
#define SIDE 16

static TS_INLINE void add_rows(const float *in, ts_u32 rows, ts_u32 width, ts_u32 columns, float sums[SIDE]) {
  float parts[TS_SUMS][SIDE];
  for (ts_u32 s = 0; s < TS_SUMS; s++)
    for (ts_u32 c = 0; c < SIDE; c++) parts[s][c] = 0.0f;
  for (ts_u32 r = 0; r < rows; r++, in += width)
    for (ts_u32 c = 0; c < columns; c++) parts[r % TS_SUMS][c] += in[c];
  for (ts_u32 half = TS_SUMS / 2; half > 0; half /= 2)
    for (ts_u32 s = 0; s < half; s++)
      for (ts_u32 c = 0; c < SIDE; c++) parts[s][c] = parts[s][c] + parts[s + half][c];
  for (ts_u32 c = 0; c < SIDE; c++) sums[c] = parts[0][c];
}

/* Columns `first` ... summed over the rows; `width` is a row's. */
TS_WORK(columnSum)(char *memory, ts_offset x, ts_offset to, ts_u32 rows, ts_u32 width, ts_u32 first, ts_u32 columns) {
  TS_EXACT
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 c0 = 0; c0 < columns; c0 += SIDE) {
    const ts_u32 here = columns - c0 < SIDE ? columns - c0 : SIDE;
    const float *in = TS_AT(const float, x) + first + c0;
    ts_sum sum[SIDE];
    float last[SIDE];
    for (ts_u32 c = 0; c < here; c++) ts_sum_begin(&sum[c]);
    for (ts_u32 r = 0; r < rows; r += TS_PIECE, in += (ts_u64)TS_PIECE * width) {
      add_rows(in, ts_least(TS_PIECE, rows - r), width, here, last);
      for (ts_u32 c = 0; c < here; c++) ts_sum_add(&sum[c], last[c]);
    }
    for (ts_u32 c = 0; c < here; c++) {
      const float total = ts_sum_end(&sum[c]);
      worst = ts_worse(worst, total);
      out[c0 + c] = total;
    }
  }
  return ts_faulty(worst);
}

/* One sum of squares for each piece of 4,096 elements; rowSum of them is that of the whole. */
TS_WORK(squareSums)(char *memory, ts_offset x, ts_offset to, double count) {
  TS_EXACT
  const float *in = TS_AT(const float, x);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u64 from = 0; from < (ts_u64)count; from += TS_PIECE, in += TS_PIECE) {
    const ts_u64 rest = (ts_u64)count - from;
    const ts_u32 here = rest < TS_PIECE ? (ts_u32)rest : TS_PIECE;
    float total;
    TS_PIECE_TOTAL(total, 0, here, i, in[i] * in[i])
    worst = ts_worse(worst, total);
    *out++ = total;
  }
  return ts_faulty(worst);
}

/* W2.9.1: the root of the tensors' sums of squares, added one after the other. */
TS_WORK(gradientNorm)(char *memory, ts_offset squares, ts_offset to, ts_u32 tensors) {
  TS_EXACT
  const float *in = TS_AT(const float, squares);
  float total = 0.0f;
  for (ts_u32 i = 0; i < tensors; i++) total = total + in[i];
  *TS_AT(float, to) = ts_sqrt(total);
  return ts_faulty(ts_worse(0, ts_sqrt(total)));
}

/* W2.9.2 */
TS_WORK(clipFactor)(char *memory, ts_offset norm, ts_offset to, float clip) {
  TS_EXACT
  const float factor = ts_clip_factor(*TS_AT(const float, norm), clip);
  *TS_AT(float, to) = factor;
  return ts_faulty(ts_worse(0, factor));
}
