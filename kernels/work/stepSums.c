/* W12: integer matrices met with numbers of the field of quads, from both sides, and the rounds of a sumcheck over them. */
#include "../common/work/quad.h"
#include "work.h"

static const ts_quad ZERO = {{0, 0, 0, 0}};
static const ts_quad ONE = {{1, 0, 0, 0}};

static TS_INLINE ts_i32 entry(const char *from, ts_u64 i, ts_u32 size) {
  return size == 1 ? ((const ts_i8 *)from)[i] : ((const ts_i32 *)from)[i];
}
static TS_INLINE ts_quad scaled(ts_quad a, ts_i32 by) {
  const ts_u32 x = ts_q_signed(by);
  for (int i = 0; i < 4; i++) a.at[i] = ts_q_times(a.at[i], x);
  return a;
}

/* out[r] = the sum over i of x[r][i] * weights[i]; rows lie `stride` bytes apart. */
TS_WORK(stepRows)(char *memory, ts_offset x, ts_offset weights, ts_offset to, ts_u32 size, ts_u32 rows, ts_u32 width, ts_u32 stride) {
  const ts_quad *by = TS_AT(const ts_quad, weights);
  ts_quad *out = TS_AT(ts_quad, to);
  for (ts_u32 r = 0; r < rows; r++) {
    out[r] = ZERO;
    for (ts_u32 i = 0; i < width; i++)
      out[r] = ts_quad_plus(out[r], scaled(by[i], entry(TS_AT(const char, x) + (ts_u64)r * stride, i, size)));
  }
  return 0;
}

/* out[c] = out[c] + the sum over r of weights[r] * x[r][c]; rows lie one after the other. */
TS_WORK(stepColumns)(char *memory, ts_offset x, ts_offset weights, ts_offset to, ts_u32 size, ts_u32 rows, ts_u32 width) {
  const ts_quad *by = TS_AT(const ts_quad, weights);
  ts_quad *out = TS_AT(ts_quad, to);
  for (ts_u32 r = 0; r < rows; r++)
    for (ts_u32 c = 0; c < width; c++)
      out[c] = ts_quad_plus(out[c], scaled(by[r], entry(TS_AT(const char, x) + (ts_u64)r * width * size, c, size)));
  return 0;
}

/* W8.2.2: the weight of every index at a point of so many coordinates, the first one for the lowest bit. */
TS_WORK(stepWeights)(char *memory, ts_offset point, ts_offset to, ts_u32 coordinates) {
  const ts_quad *at = TS_AT(const ts_quad, point);
  ts_quad *out = TS_AT(ts_quad, to);
  out[0] = ONE;
  for (ts_u32 j = 0; j < coordinates; j++)
    for (ts_u32 i = 0; i < 1u << j; i++) {
      const ts_quad high = ts_quad_times(out[i], at[j]);
      out[i + (1u << j)] = high;
      out[i] = ts_quad_minus(out[i], high);
    }
  return 0;
}

/* The sum of v[i] * w[i]. */
TS_WORK(stepDot)(char *memory, ts_offset v, ts_offset w, ts_offset out, ts_u32 count) {
  const ts_quad *a = TS_AT(const ts_quad, v), *b = TS_AT(const ts_quad, w);
  ts_quad sum = ZERO;
  for (ts_u32 i = 0; i < count; i++) sum = ts_quad_plus(sum, ts_quad_times(a[i], b[i]));
  *TS_AT(ts_quad, out) = sum;
  return 0;
}

/* out[i] = out[i] + by * v[i]. */
TS_WORK(stepAdd)(char *memory, ts_offset v, ts_offset by, ts_offset to, ts_u32 count) {
  const ts_quad *a = TS_AT(const ts_quad, v), factor = *TS_AT(const ts_quad, by);
  ts_quad *out = TS_AT(ts_quad, to);
  for (ts_u32 i = 0; i < count; i++) out[i] = ts_quad_plus(out[i], ts_quad_times(factor, a[i]));
  return 0;
}

/* W8.4.2 over quads: the first and the last coefficient of the round's polynomial; v and w have 2 * half numbers each. */
TS_WORK(stepRound)(char *memory, ts_offset v, ts_offset w, ts_offset to, ts_u32 half) {
  const ts_quad *a = TS_AT(const ts_quad, v), *b = TS_AT(const ts_quad, w);
  ts_quad first = ZERO, last = ZERO;
  for (ts_u32 i = 0; i < half; i++) {
    first = ts_quad_plus(first, ts_quad_times(a[i], b[i]));
    last = ts_quad_plus(last, ts_quad_times(ts_quad_minus(a[i + half], a[i]), ts_quad_minus(b[i + half], b[i])));
  }
  ts_quad *out = TS_AT(ts_quad, to);
  out[0] = first;
  out[1] = last;
  return 0;
}

/* v[i] = v[i] + t * (v[i + half] - v[i]). */
TS_WORK(stepFold)(char *memory, ts_offset v, ts_offset t, ts_u32 half) {
  ts_quad *a = TS_AT(ts_quad, v);
  const ts_quad by = *TS_AT(const ts_quad, t);
  for (ts_u32 i = 0; i < half; i++)
    a[i] = ts_quad_plus(a[i], ts_quad_times(by, ts_quad_minus(a[i + half], a[i])));
  return 0;
}
