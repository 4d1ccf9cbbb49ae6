/*
 * W12.1: rows of integers as values of a polynomial at the roots of unity of their number, and its values at a quarter as
 * many further points. Sixteen rows are coded side by side, a lane for each.
 */
#include "residues.h"

#define GENERATOR 31u

/*
 * What a code of k entries takes. Powers of the roots of every order n up to q = k / 4, below half of it, lie from place
 * n / 2 on: turned back, then forth, q of each. Then what the last two steps back and the way to the further points make of
 * four values in one: four factors for each of q places.
 */
TS_WORK(stepTables)(char *memory, ts_offset to, ts_u32 low) {
  const ts_u32 k = 1u << low, q = k / 4;
  factor *back = TS_AT(factor, to), *forth = back + q, *down = forth + q;
  back[0] = forth[0] = factor_of(1);
  for (ts_u32 n = 2; n <= q; n *= 2) {
    const ts_u32 root = ts_q_power(GENERATOR, (TS_Q - 1) / n), turned = ts_q_power(root, n - 1);
    for (ts_u32 i = 0, x = 1, y = 1; i < n / 2; i++, x = ts_q_times(x, root), y = ts_q_times(y, turned)) {
      forth[n / 2 + i] = factor_of(x);
      back[n / 2 + i] = factor_of(y);
    }
  }
  /*
   * Coefficients i, i + q, i + 2 q, i + 3 q of the polynomial are, of values a, b, c, d: e + g, f + h, e - g, f - h, with
   * e, f = a +- t^2 b and g = t (c + t^2 d), h = t j (c - t^2 d); t is the i-th power of the root of order k turned back, j
   * that of order 4. Modulo x^q - g^q they are one: their sum by powers of y = g^q.
   */
  const ts_u32 root = ts_q_power(GENERATOR, (TS_Q - 1) / k * (k - 1)), j = ts_q_power(root, q), y = ts_q_power(GENERATOR, q);
  const ts_u32 y2 = ts_q_times(y, y), y3 = ts_q_times(y2, y), even = 1 + y2, odd = ts_q_plus(y, y3);
  const ts_u32 across = ts_q_minus(1, y2), turned = ts_q_times(j, ts_q_minus(y, y3));
  ts_u32 t = 1, shift = TS_Q - ((TS_Q - 1) >> low);
  for (ts_u32 i = 0; i < q; i++, t = ts_q_times(t, root), shift = ts_q_times(shift, GENERATOR)) {
    const ts_u32 t2 = ts_q_times(ts_q_times(t, t), shift), t1 = ts_q_times(t, shift), t3 = ts_q_times(t2, t);
    down[4 * i] = factor_of(ts_q_times(shift, ts_q_plus(even % TS_Q, odd)));
    down[4 * i + 1] = factor_of(ts_q_times(t2, ts_q_minus(even % TS_Q, odd)));
    down[4 * i + 2] = factor_of(ts_q_times(t1, ts_q_plus(across, turned)));
    down[4 * i + 3] = factor_of(ts_q_times(t3, ts_q_minus(across, turned)));
  }
  return 0;
}

/* Pairs, and fours, of blocks of h values become one, on the way back to coefficients. */
static TS_INLINE void join2(lanes_at *v, const factor *back, ts_u32 h) {
  for (ts_u32 i = 0; i < h; i++)
    for (ts_u32 s = 0; s < SLICES; s++) {
      lanes_at *at = v + i * SLICES + s;
      const lanes a = *at, b = times(at[h * SLICES], back[h + i]);
      *at = plus(a, b);
      at[h * SLICES] = minus(a, b);
    }
}
static TS_INLINE void join4(lanes_at *v, const factor *back, ts_u32 h) {
  const ts_u32 block = h * SLICES;
  for (ts_u32 i = 0; i < h; i++)
    for (ts_u32 s = 0; s < SLICES; s++) {
      lanes_at *at = v + i * SLICES + s;
      const lanes a = at[0], b = times(at[block], back[h + i]), c = at[2 * block], d = times(at[3 * block], back[h + i]);
      const lanes e = plus(a, b), f = minus(a, b);
      const lanes g = times(c + d, back[2 * h + i]), k = times(lazy_minus(c, d), back[3 * h + i]);
      at[0] = plus(e, g);
      at[block] = plus(f, k);
      at[2 * block] = minus(e, g);
      at[3 * block] = minus(f, k);
    }
}

/* One block of values becomes four, on the way to values. */
static TS_INLINE void part4(lanes_at *v, const factor *forth, ts_u32 h) {
  const ts_u32 block = h * SLICES;
  for (ts_u32 i = 0; i < h; i++)
    for (ts_u32 s = 0; s < SLICES; s++) {
      lanes_at *at = v + i * SLICES + s;
      const lanes a = at[0], b = at[block], c = at[2 * block], d = at[3 * block];
      const lanes e = plus(a, c), f = times(lazy_minus(a, c), forth[2 * h + i]);
      const lanes g = plus(b, d), k = times(lazy_minus(b, d), forth[3 * h + i]);
      at[0] = plus(e, g);
      at[block] = times(lazy_minus(e, g), forth[h + i]);
      at[2 * block] = plus(f, k);
      at[3 * block] = times(lazy_minus(f, k), forth[h + i]);
    }
}
/* The last step, whose factors are 1 and the root of order 4. */
static TS_INLINE void part4_last(lanes_at *v, const factor *forth, ts_u32 count) {
  for (ts_u32 i = 0; i < count; i += 4)
    for (ts_u32 s = 0; s < SLICES; s++) {
      lanes_at *at = v + i * SLICES + s;
      const lanes a = at[0], b = at[SLICES], c = at[2 * SLICES], d = at[3 * SLICES];
      const lanes e = plus(a, c), f = minus(a, c), g = plus(b, d), k = times(lazy_minus(b, d), forth[3]);
      at[0] = plus(e, g);
      at[SLICES] = minus(e, g);
      at[2 * SLICES] = plus(f, k);
      at[3 * SLICES] = minus(f, k);
    }
}
static TS_INLINE void part2_last(lanes_at *v, ts_u32 count) {
  for (ts_u32 i = 0; i < count; i += 2)
    for (ts_u32 s = 0; s < SLICES; s++) {
      lanes_at *at = v + i * SLICES + s;
      const lanes a = at[0], b = at[SLICES];
      at[0] = plus(a, b);
      at[SLICES] = minus(a, b);
    }
}

/* Where sixteen rows come from. */
typedef struct {
  const char *rows;
  ts_u32 size, count, width;
} source;

/* Four entries of every row, from column `at` on, after the first two steps back: factors are 1 and the root of order 4. */
static TS_INLINE void begin4(const lanes x[4], lanes_at *v, factor root) {
  const lanes e = plus(x[0], x[1]), f = minus(x[0], x[1]), g = plus(x[2], x[3]), k = times(lazy_minus(x[2], x[3]), root);
  v[0] = plus(e, g);
  v[SLICES] = plus(f, k);
  v[2 * SLICES] = minus(e, g);
  v[3 * SLICES] = minus(f, k);
}

static TS_INLINE lanes from_byte(lanes words, ts_u32 byte) {
  const lanes x = (lanes)((signed_lanes)(words << (24 - 8 * byte)) >> 24);
  return __builtin_elementwise_min(x, x + TS_Q);
}

static TS_INLINE void load_words(source from, ts_u32 slice, ts_u32 byte, lanes x[LANES]) {
  TS_UNROLL
  for (ts_u32 r = 0; r < LANES; r++) {
    const ts_u32 row = slice * LANES + r;
    x[r] = row < from.count ? *(const lanes_at *)(from.rows + (ts_u64)row * from.width * from.size + byte) : (lanes){};
  }
  transpose(x);
}

/* So many columns from `first` on, after the first two steps back. */
static void begin(source from, ts_u32 first, ts_u32 count, lanes_at *v, factor root) {
  const ts_u32 columns = 4 * LANES / from.size;
  for (ts_u32 at = 0; at < count; at += columns)
    for (ts_u32 s = 0; s < SLICES; s++) {
      lanes words[LANES];
      load_words(from, s, (first + at) * from.size, words);
      if (from.size == 1) {
        for (ts_u32 i = 0; i < LANES; i++) {
          lanes x[4];
          TS_UNROLL
          for (ts_u32 b = 0; b < 4; b++) x[b] = from_byte(words[i], b);
          begin4(x, v + (at + 4 * i) * SLICES + s, root);
        }
      } else
        for (ts_u32 i = 0; i < LANES; i += 4) {
          lanes x[4];
          TS_UNROLL
          for (ts_u32 b = 0; b < 4; b++) x[b] = from_signed(words[i + b]);
          begin4(x, v + (at + i) * SLICES + s, root);
        }
    }
}

/* What fits the first cache is done step by step there. */
#define STAYS 256

/* Coefficients of the polynomial that has these n values, n >= 16, times n. */
static void coefficients(source from, ts_u32 first, lanes_at *v, const factor *back, ts_u32 n) {
  if (n > STAYS) {
    for (ts_u32 i = 0; i < n; i += n / 4) coefficients(from, first + i, v + i * SLICES, back, n / 4);
    join4(v, back, n / 4);
    return;
  }
  begin(from, first, n, v, back[3]);
  ts_u32 h = 4;
  if (__builtin_ctz(n) & 1) {
    for (ts_u32 i = 0; i < n; i += 8) join2(v + i * SLICES, back, 4);
    h = 8;
  }
  for (; h < n; h *= 4)
    for (ts_u32 i = 0; i < n; i += 4 * h) join4(v + i * SLICES, back, h);
}

/* The last two steps back and the way to the further points: 4 q values to q coefficients. */
static void across(const lanes_at *v, lanes_at *out, const factor *down, ts_u32 q) {
  const ts_u32 block = q * SLICES;
  for (ts_u32 i = 0; i < q; i++)
    for (ts_u32 s = 0; s < SLICES; s++) {
      const lanes_at *at = v + i * SLICES + s;
      const lanes a = times(at[0], down[4 * i]), b = times(at[block], down[4 * i + 1]);
      const lanes c = times(at[2 * block], down[4 * i + 2]), d = times(at[3 * block], down[4 * i + 3]);
      out[i * SLICES + s] = plus(plus(a, b), plus(c, d));
    }
}

/* Values of the polynomial with these n coefficients, n >= 16. */
static void values(lanes_at *v, const factor *forth, ts_u32 n) {
  if (n > STAYS) {
    part4(v, forth, n / 4);
    for (ts_u32 i = 0; i < n; i += n / 4) values(v + i * SLICES, forth, n / 4);
    return;
  }
  ts_u32 h = n / 4;
  for (; h > 1; h /= 4)
    for (ts_u32 i = 0; i < n; i += 4 * h) part4(v + i * SLICES, forth, h);
  if (h == 1) part4_last(v, forth, n);
  else part2_last(v, n);
}

/*
 * Up to sixteen rows of 2^low entries of `size` bytes, one after the other, low >= 8, to their further values: sixteen of
 * each place in turn, zeros for rows that are not there. `room` holds sixteen rows of words.
 */
TS_WORK(stepCode)(char *memory, ts_offset x, ts_offset at, ts_offset room, ts_offset to, ts_u32 size, ts_u32 rows, ts_u32 low) {
  const ts_u32 k = 1u << low, q = k / 4;
  const factor *back = TS_AT(const factor, at), *forth = back + q, *down = forth + q;
  lanes_at *v = TS_AT(lanes_at, room), *out = TS_AT(lanes_at, to);
  const source from = {TS_AT(const char, x), size, rows, k};
  for (ts_u32 i = 0; i < k; i += q) coefficients(from, i, v + i * SLICES, back, q);
  across(v, out, down, q);
  values(out, forth, q);
  return 0;
}
