/* Ops that move numbers, look them up or turn them. */
#include "../common/work/functions64.h"
#include "work.h"

#define SIDE 16

/* W2.11.1: rows `first` ... of the transposed. Blocks go through a copy: lines a power of two apart share a place in the cache. */
#define TRANSPOSE(type)                                                                                               \
  const type *in = TS_AT(const type, x) + first;                                                                      \
  type *out = TS_AT(type, to);                                                                                        \
  for (ts_u32 r0 = 0; r0 < rows; r0 += SIDE)                                                                          \
    for (ts_u32 c0 = 0; c0 < columns; c0 += SIDE) {                                                                   \
      const ts_u32 high = ts_least(SIDE, rows - r0), wide = ts_least(SIDE, columns - c0);                             \
      type block[SIDE][SIDE];                                                                                         \
      if (high == SIDE && wide == SIDE) {                                                                             \
        for (ts_u32 r = 0; r < SIDE; r++)                                                                             \
          __builtin_memcpy(block[r], in + (ts_u64)(r0 + r) * width + c0, sizeof block[r]);                            \
        for (ts_u32 c = 0; c < SIDE; c++) {                                                                           \
          type line[SIDE];                                                                                            \
          for (ts_u32 r = 0; r < SIDE; r++) line[r] = block[r][c];                                                    \
          __builtin_memcpy(out + (ts_u64)(c0 + c) * rows + r0, line, sizeof line);                                    \
        }                                                                                                             \
      } else                                                                                                          \
        for (ts_u32 c = 0; c < wide; c++)                                                                             \
          for (ts_u32 r = 0; r < high; r++)                                                                           \
            out[(ts_u64)(c0 + c) * rows + r0 + r] = in[(ts_u64)(r0 + r) * width + c0 + c];                            \
    }                                                                                                                 \
  return 0;

TS_WORK(transposeBytes)(
    char *memory, ts_offset x, ts_offset to, ts_u32 rows, ts_u32 width, ts_u32 first, ts_u32 columns) {
  TRANSPOSE(ts_i8)
}

TS_WORK(transposeFloats)(
    char *memory, ts_offset x, ts_offset to, ts_u32 rows, ts_u32 width, ts_u32 first, ts_u32 columns) {
  TRANSPOSE(ts_u32)
}

/* W2.11.2: runs of bytes at three strides; heads are split and joined, rows gathered and parts laid side by side with it. */
TS_WORK(move)(
    char *memory, ts_offset x, ts_offset to, ts_u32 run, ts_u32 n0, ts_u32 n1, ts_u32 n2, double x0, double x1, double x2,
    double to0, double to1, double to2) {
  const ts_u64 from[3] = {(ts_u64)x0, (ts_u64)x1, (ts_u64)x2}, into[3] = {(ts_u64)to0, (ts_u64)to1, (ts_u64)to2};
  for (ts_u64 a = 0; a < n0; a++)
    for (ts_u64 b = 0; b < n1; b++)
      for (ts_u64 c = 0; c < n2; c++) {
        const char *in = TS_AT(const char, x) + a * from[0] + b * from[1] + c * from[2];
        char *out = TS_AT(char, to) + a * into[0] + b * into[1] + c * into[2];
        __builtin_memcpy(out, in, run);
      }
  return 0;
}

/* W2.11.3: the token's row, plus the position's where there is a table of positions. */
TS_WORK(embed)(
    char *memory, ts_offset token, ts_offset position, ts_offset token_table, ts_offset position_table, ts_offset to,
    ts_u32 rows, ts_u32 width, ts_u32 tokens, ts_u32 positions) {
  TS_EXACT
  const ts_u32 *t = TS_AT(const ts_u32, token), *p = TS_AT_OR_NULL(const ts_u32, position);
  const float *words = TS_AT(const float, token_table), *places = TS_AT_OR_NULL(const float, position_table);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, out += width) {
    if (t[r] >= tokens || (places && p[r] >= positions)) return 1;
    const float *word = words + (ts_u64)t[r] * width;
    const float *place = places ? places + (ts_u64)p[r] * width : 0;
    for (ts_u32 i = 0; i < width; i++) {
      const float y = place ? word[i] + place[i] : word[i];
      worst = ts_worse(worst, y);
      out[i] = y;
    }
  }
  return ts_faulty(worst);
}

/* W2.11.4: frequencies `first` ... of a head. */
TS_WORK(rotaryFrequencies)(char *memory, ts_offset to, ts_u32 half, ts_u32 first, ts_u32 count, float base) {
  TS_EXACT
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 i = 0; i < count; i++) {
    out[i] = ts_rotary_frequency(base, first + i, half);
    worst = ts_worse(worst, out[i]);
  }
  return ts_faulty(worst);
}

/* W2.11.5: pairs (i, i + half) of each head turned by position * frequency, back again if `inverse` is 1. */
TS_WORK(rotary)(
    char *memory, ts_offset x, ts_offset position, ts_offset frequency, ts_offset to, ts_u32 rows, ts_u32 heads,
    ts_u32 width, ts_u32 inverse) {
  TS_EXACT
  const float *in = TS_AT(const float, x), *frequencies = TS_AT(const float, frequency);
  const ts_u32 *positions = TS_AT(const ts_u32, position), half = width / 2;
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += heads * width, out += heads * width)
    for (ts_u32 i = 0; i < half; i++) {
      float sine, cosine;
      ts_sine_cosine((float)positions[r] * frequencies[i], &sine, &cosine);
      const float s = inverse ? -sine : sine;
      for (ts_u32 h = 0; h < heads; h++) {
        const float a = in[h * width + i], b = in[h * width + half + i];
        const float first = a * cosine - b * s, second = b * cosine + a * s;
        worst = ts_worse(ts_worse(worst, first), second);
        out[h * width + i] = first;
        out[h * width + half + i] = second;
      }
    }
  return ts_faulty(worst);
}

/* W2.11.7: the same bits everywhere. */
TS_WORK(fill)(char *memory, ts_offset to, double count, ts_u32 bits) {
  ts_u32 *out = TS_AT(ts_u32, to);
  for (ts_u64 i = 0; i < (ts_u64)count; i++) out[i] = bits;
  return 0;
}

/* W2.11.8: places 0 ... period - 1, over and over; `index` is the place of the first element in the whole tensor. */
TS_WORK(places)(char *memory, ts_offset to, ts_u32 count, ts_u32 period, double index) {
  if (period == 0) return 1;
  ts_u32 *out = TS_AT(ts_u32, to);
  ts_u32 place = (ts_u32)((ts_u64)index % period);
  for (ts_u32 i = 0; i < count; i++) {
    out[i] = place;
    place = place + 1 == period ? 0 : place + 1;
  }
  return 0;
}
