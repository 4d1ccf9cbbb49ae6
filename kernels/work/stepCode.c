/*
 * W12.1: rows of integers as values of a polynomial at the roots of unity of their number, and its values at half as many
 * further points. Sixteen rows are coded side by side, a lane for each.
 */
#include "../common/work/quad.h"
#include "work.h"

#define LANES 16
#define GENERATOR 31u
typedef ts_u32 lanes __attribute__((vector_size(4 * LANES)));
/* Where it lies in memory: quicker at multiples of 64, right anywhere. */
typedef ts_u32 lanes_at __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* A factor, and floor(factor * 2^32 / p): with both a product needs no division. */
typedef struct {
  ts_u32 by, share;
} factor;
static TS_INLINE factor factor_of(ts_u32 by) { return (factor){by, (ts_u32)(((ts_u64)by << 32) / TS_Q)}; }

/*
 * What a code of 2^low entries takes: for every order 2^b powers of its root below half of it, turned back (b <= low) and
 * forth (b < low), from place 2^(b-1) on; then g^i / 2^low for the fold, and g^(2^(low-1)).
 */
typedef struct {
  const factor *back, *forth, *shift;
  factor across;
} tables;
static TS_INLINE tables tables_at(const factor *at, ts_u32 low) {
  const ts_u32 k = 1u << low;
  return (tables){at, at + k, at + k + k / 2, at[2 * k]};
}

TS_WORK(stepTables)(char *memory, ts_offset to, ts_u32 low) {
  factor *back = TS_AT(factor, to);
  const ts_u32 k = 1u << low, half = k / 2;
  factor *forth = back + k, *shift = forth + half;
  for (ts_u32 b = 1; b <= low; b++) {
    const ts_u32 n = 1u << b, root = ts_q_power(GENERATOR, (TS_Q - 1) / n), turned = ts_q_power(root, n - 1);
    for (ts_u32 i = 0, x = 1, y = 1; i < n / 2; i++, x = ts_q_times(x, root), y = ts_q_times(y, turned)) {
      back[n / 2 + i] = factor_of(y);
      if (b < low) forth[n / 2 + i] = factor_of(x);
    }
  }
  back[0] = forth[0] = factor_of(1);
  const ts_u32 inverse = TS_Q - ((TS_Q - 1) >> low);
  for (ts_u32 i = 0, x = inverse; i < half; i++, x = ts_q_times(x, GENERATOR)) shift[i] = factor_of(x);
  shift[half] = factor_of(ts_q_power(GENERATOR, half));
  return 0;
}

static TS_INLINE lanes least(lanes a) { return __builtin_elementwise_min(a, a - TS_Q); }
static TS_INLINE lanes plus(lanes a, lanes b) { return least(a + b); }
static TS_INLINE lanes minus(lanes a, lanes b) { return __builtin_elementwise_min(a - b, a - b + TS_Q); }
static TS_INLINE lanes times(lanes a, factor f) {
  lanes out;
  for (int i = 0; i < LANES; i++) out[i] = a[i] * f.by - (ts_u32)((ts_u64)a[i] * f.share >> 32) * TS_Q;
  return least(out);
}

static void coefficients(lanes_at *v, const factor *back, ts_u32 k) {
  for (ts_u32 h = 1; h < k; h *= 2)
    for (ts_u32 from = 0; from < k; from += 2 * h)
      for (ts_u32 i = 0; i < h; i++) {
        const lanes a = v[from + i], b = times(v[from + i + h], back[h + i]);
        v[from + i] = plus(a, b);
        v[from + i + h] = minus(a, b);
      }
}
static void values(lanes_at *v, const factor *forth, ts_u32 n) {
  for (ts_u32 h = n / 2; h >= 1; h /= 2)
    for (ts_u32 from = 0; from < n; from += 2 * h)
      for (ts_u32 i = 0; i < h; i++) {
        const lanes a = v[from + i], b = v[from + i + h];
        v[from + i] = plus(a, b);
        v[from + i + h] = times(minus(a, b), forth[h + i]);
      }
}

/*
 * Up to sixteen rows of 2^low entries of `size` bytes, one after the other, to their further values: sixteen of each place
 * in turn, zeros for rows that are not there. `room` holds sixteen rows of words.
 */
TS_WORK(stepCode)(char *memory, ts_offset x, ts_offset at, ts_offset room, ts_offset to, ts_u32 size, ts_u32 rows, ts_u32 low) {
  const ts_u32 k = 1u << low, half = k / 2;
  const tables t = tables_at(TS_AT(const factor, at), low);
  lanes_at *v = TS_AT(lanes_at, room), *out = TS_AT(lanes_at, to);
  for (ts_u32 i = 0; i < k; i++)
    for (ts_u32 r = 0; r < LANES; r++) {
      const ts_u64 place = (ts_u64)r * k + i;
      v[i][r] = r >= rows ? 0 : ts_q_signed(size == 1 ? TS_AT(const ts_i8, x)[place] : TS_AT(const ts_i32, x)[place]);
    }
  coefficients(v, t.back, k);
  for (ts_u32 i = 0; i < half; i++) out[i] = times(plus(v[i], times(v[i + half], t.across)), t.shift[i]);
  values(out, t.forth, half);
  return 0;
}
