/* W8.9: the code that rows of an operand are written in, values of a polynomial at roots of unity of pairs. */
#include "../common/work/field.h"
#include "work.h"

/* Rows that are written side by side fill whole lines of the cache. */
#define TOGETHER 4

/* out[i] = the product of the points of the bits of i that are 1: powers of a root, from its powers of two. */
TS_WORK(powers)(char *memory, ts_offset point, ts_offset to, ts_u32 count) {
  const ts_pair *at = TS_AT(const ts_pair, point);
  ts_pair *out = TS_AT(ts_pair, to);
  out[0] = (ts_pair){1, 0};
  for (ts_u32 j = 0; j < count; j++)
    for (ts_u32 i = 0; i < 1u << j; i++) out[i + (1u << j)] = ts_pair_times(out[i], at[j]);
  return 0;
}

/* v becomes the values of its polynomial at all roots of order 2 * half; value i lies at the place of the bits of i turned. */
static void transform(ts_pair *v, const ts_pair *powers, ts_u32 half) {
  for (ts_u32 h = half, stride = 1; h >= 1; h /= 2, stride *= 2)
    for (ts_pair *low = v; low < v + 2 * (ts_u64)half; low += 2 * h)
      for (ts_u32 i = 0; i < h; i++) {
        const ts_pair a = low[i], b = low[i + h];
        low[i] = ts_pair_plus(a, b);
        low[i + h] = ts_pair_times(ts_pair_minus(a, b), powers[i * stride]);
      }
}

TS_WORK(codeOf)(char *memory, ts_offset v, ts_offset powers, ts_u32 half) {
  transform(TS_AT(ts_pair, v), TS_AT(const ts_pair, powers), half);
  return 0;
}

/*
 * Rows of int8 in the code, four times as long, by its columns: row r of `width` entries at place first + r of `all` in each
 * column. `room` holds four codewords.
 */
TS_WORK(codeColumnsI8)(char *memory, ts_offset x, ts_offset powers, ts_offset room, ts_offset to, ts_u32 rows, ts_u32 width, ts_u32 first, ts_u32 all) {
  const ts_u64 length = 4 * (ts_u64)width;
  const ts_i8 *row = TS_AT(const ts_i8, x);
  ts_pair *words = TS_AT(ts_pair, room);
  for (ts_u32 r = 0; r < rows; r += TOGETHER) {
    const ts_u32 here = ts_least(TOGETHER, rows - r);
    for (ts_u32 n = 0; n < here; n++, row += width) {
      ts_pair *word = words + n * length;
      for (ts_u32 i = 0; i < width; i++) word[i] = (ts_pair){ts_mod_signed(row[i]), 0};
      for (ts_u64 i = width; i < length; i++) word[i] = (ts_pair){0, 0};
      transform(word, TS_AT(const ts_pair, powers), 2 * width);
    }
    ts_pair *out = TS_AT(ts_pair, to) + first + r;
    for (ts_u64 j = 0; j < length; j++, out += all)
      for (ts_u32 n = 0; n < here; n++) out[n] = words[n * length + j];
  }
  return 0;
}
