/* Ops that make a row, or a number for it, from a row. */
#include "work.h"

/* W2.7 */
static ts_i32 largest_key(const float *x, ts_u32 count) {
  ts_i32 key = ts_order_key(x[0]);
  for (ts_u32 i = 1; i < count; i++) {
    const ts_i32 other = ts_order_key(x[i]);
    key = other > key ? other : key;
  }
  return key;
}

/* W2.8.1 */
TS_WORK(rowMean)(char *memory, ts_offset x, ts_offset to, ts_u32 rows, ts_u32 width) {
  TS_EXACT
  const float *in = TS_AT(const float, x), n = (float)width;
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width) {
    float total;
    TS_TOTAL(total, width, i, in[i])
    out[r] = total / n;
    worst = ts_worse(worst, out[r]);
  }
  return ts_faulty(worst);
}

/* W2.8.1: of the deviations from the mean, or of the numbers themselves where there is none. */
TS_WORK(normInverse)(
    char *memory, ts_offset x, ts_offset mean, ts_offset to, ts_u32 rows, ts_u32 width, float epsilon) {
  TS_EXACT
  const float *in = TS_AT(const float, x), *means = TS_AT_OR_NULL(const float, mean), n = (float)width;
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width) {
    const float m = means ? means[r] : 0.0f;
    float total;
    if (means) TS_TOTAL(total, width, i, (in[i] - m) * (in[i] - m))
    else TS_TOTAL(total, width, i, in[i] * in[i])
    out[r] = 1.0f / ts_sqrt(total / n + epsilon);
    worst = ts_worse(worst, out[r]);
  }
  return ts_faulty(worst);
}

/* W2.8.2 */
TS_WORK(norm)(
    char *memory, ts_offset x, ts_offset mean, ts_offset inverse, ts_offset gain, ts_offset shift, ts_offset to,
    ts_u32 rows, ts_u32 width) {
  TS_EXACT
  const float *in = TS_AT(const float, x), *means = TS_AT_OR_NULL(const float, mean);
  const float *inverses = TS_AT(const float, inverse), *g = TS_AT(const float, gain);
  const float *b = TS_AT_OR_NULL(const float, shift);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width, out += width) {
    const float m = means ? means[r] : 0.0f, s = inverses[r];
    for (ts_u32 i = 0; i < width; i++) {
      const float centred = means ? in[i] - m : in[i];
      const float scaled = (centred * s) * g[i];
      const float y = b ? scaled + b[i] : scaled;
      worst = ts_worse(worst, y);
      out[i] = y;
    }
  }
  return ts_faulty(worst);
}

/* W2.8.3 */
TS_WORK(normBackward)(
    char *memory, ts_offset x, ts_offset mean, ts_offset inverse, ts_offset gain, ts_offset dy, ts_offset to, ts_u32 rows,
    ts_u32 width) {
  TS_EXACT
  const float *in = TS_AT(const float, x), *means = TS_AT_OR_NULL(const float, mean);
  const float *inverses = TS_AT(const float, inverse), *g = TS_AT(const float, gain), *d = TS_AT(const float, dy);
  const float n = (float)width;
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width, d += width, out += width) {
    const float m = means ? means[r] : 0.0f, s = inverses[r];
    float of_d, of_product;
    TS_TOTAL(of_product, width, i, (d[i] * g[i]) * ((means ? in[i] - m : in[i]) * s))
    if (means) TS_TOTAL(of_d, width, i, d[i] * g[i])
    else of_d = 0.0f;
    const float mean_d = of_d / n, mean_product = of_product / n;
    for (ts_u32 i = 0; i < width; i++) {
      const float hat = (means ? in[i] - m : in[i]) * s, e = d[i] * g[i];
      const float y = ((means ? e - mean_d : e) - hat * mean_product) * s;
      worst = ts_worse(worst, y);
      out[i] = y;
    }
  }
  return ts_faulty(worst);
}

/* W2.8.4: what the gain's gradient is the column sum of. */
TS_WORK(normGainTerms)(
    char *memory, ts_offset x, ts_offset mean, ts_offset inverse, ts_offset dy, ts_offset to, ts_u32 rows, ts_u32 width) {
  TS_EXACT
  const float *in = TS_AT(const float, x), *means = TS_AT_OR_NULL(const float, mean);
  const float *inverses = TS_AT(const float, inverse), *d = TS_AT(const float, dy);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width, d += width, out += width) {
    const float m = means ? means[r] : 0.0f, s = inverses[r];
    for (ts_u32 i = 0; i < width; i++) {
      const float y = d[i] * ((means ? in[i] - m : in[i]) * s);
      worst = ts_worse(worst, y);
      out[i] = y;
    }
  }
  return ts_faulty(worst);
}

/* Keys that query `row` sees: those up to its own place. A period of 0 sees all. */
static TS_INLINE ts_u32 seen_by(ts_u32 row, ts_u32 period, ts_u32 first, ts_u32 width) {
  if (period == 0) return width;
  const ts_u32 seen = (first + row) % period + 1;
  return seen < width ? seen : width;
}

/* W2.7: the largest number that each row sees. */
TS_WORK(rowMaximum)(
    char *memory, ts_offset x, ts_offset to, ts_u32 rows, ts_u32 width, ts_u32 period, ts_u32 first) {
  if (width == 0) return 1;
  const float *in = TS_AT(const float, x);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width) {
    out[r] = ts_from_order_key(largest_key(in, seen_by(r, period, first, width)));
    worst = ts_worse(worst, out[r]);
  }
  return ts_faulty(worst);
}

/* W2.8.5: the sum of exp(x - maximum) over what each row sees. */
TS_WORK(exponentialSum)(
    char *memory, ts_offset x, ts_offset maximum, ts_offset to, ts_u32 rows, ts_u32 width, ts_u32 period, ts_u32 first) {
  TS_EXACT
  const float *in = TS_AT(const float, x), *maxima = TS_AT(const float, maximum);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width) {
    const ts_u32 count = seen_by(r, period, first, width);
    const float m = maxima[r];
    float total;
    TS_TOTAL(total, count, i, ts_exp(in[i] - m))
    out[r] = total;
    worst = ts_worse(worst, total);
  }
  return ts_faulty(worst);
}

/* W2.8.6: exp(x - maximum); what a query does not see is +0. */
TS_WORK(exponential)(
    char *memory, ts_offset x, ts_offset maximum, ts_offset to, ts_u32 rows, ts_u32 width, ts_u32 period, ts_u32 first) {
  TS_EXACT
  const float *in = TS_AT(const float, x), *maxima = TS_AT(const float, maximum);
  float *out = TS_AT(float, to);
  for (ts_u32 r = 0; r < rows; r++, in += width, out += width) {
    const ts_u32 count = seen_by(r, period, first, width);
    const float m = maxima[r];
    for (ts_u32 i = 0; i < count; i++) out[i] = ts_exp(in[i] - m);
    for (ts_u32 i = count; i < width; i++) out[i] = 0.0f;
  }
  return 0;
}

/* W2.8.7: e (d - dot of the row). */
TS_WORK(exponentialBackward)(
    char *memory, ts_offset exponentials, ts_offset gradient, ts_offset dot, ts_offset to, ts_u32 rows, ts_u32 width,
    ts_u32 period, ts_u32 first) {
  TS_EXACT
  const float *e = TS_AT(const float, exponentials), *d = TS_AT(const float, gradient), *dots = TS_AT(const float, dot);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, e += width, d += width, out += width) {
    const ts_u32 count = seen_by(r, period, first, width);
    const float t = dots[r];
    for (ts_u32 i = 0; i < count; i++) {
      const float y = e[i] * (d[i] - t);
      worst = ts_worse(worst, y);
      out[i] = y;
    }
    for (ts_u32 i = count; i < width; i++) out[i] = 0.0f;
  }
  return ts_faulty(worst);
}

/* W2.8.10: the sum of a b over each row. */
TS_WORK(rowDot)(char *memory, ts_offset a, ts_offset b, ts_offset to, ts_u32 rows, ts_u32 width) {
  TS_EXACT
  const float *x = TS_AT(const float, a), *y = TS_AT(const float, b);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, x += width, y += width) {
    float total;
    TS_TOTAL(total, width, i, x[i] * y[i])
    worst = ts_worse(worst, total);
    out[r] = total;
  }
  return ts_faulty(worst);
}

/* W2.8.11: every row divided by a number of its own. */
TS_WORK(divideRows)(char *memory, ts_offset x, ts_offset divisor, ts_offset to, ts_u32 rows, ts_u32 width) {
  TS_EXACT
  const float *in = TS_AT(const float, x), *divisors = TS_AT(const float, divisor);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width, out += width)
    for (ts_u32 i = 0; i < width; i++) {
      out[i] = in[i] / divisors[r];
      worst = ts_worse(worst, out[i]);
    }
  return ts_faulty(worst);
}

/* A row without a target teaches nothing. */
#define NO_TARGET 0xffffffffu

/* W2.8.8: log(sum) - (x[target] - maximum). */
TS_WORK(crossEntropy)(
    char *memory, ts_offset x, ts_offset maximum, ts_offset sum, ts_offset target, ts_offset to, ts_u32 rows,
    ts_u32 width) {
  TS_EXACT
  const float *in = TS_AT(const float, x), *maxima = TS_AT(const float, maximum), *sums = TS_AT(const float, sum);
  const ts_u32 *targets = TS_AT(const ts_u32, target);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width) {
    const ts_u32 t = targets[r];
    float y = 0.0f;
    if (t < width) y = ts_log(sums[r]) - (in[t] - maxima[r]);
    else if (t != NO_TARGET) worst = TS_FAULT_BITS;
    worst = ts_worse(worst, y);
    out[r] = y;
  }
  return ts_faulty(worst);
}

/* W2.8.9: (exp(x - maximum) / sum - [column = target]) * factor; `first_column` is the number of the first column here. */
TS_WORK(crossEntropyBackward)(
    char *memory, ts_offset x, ts_offset maximum, ts_offset sum, ts_offset target, ts_offset to, ts_u32 rows,
    ts_u32 width, ts_u32 first_column, float factor) {
  TS_EXACT
  const float *in = TS_AT(const float, x), *maxima = TS_AT(const float, maximum), *sums = TS_AT(const float, sum);
  const ts_u32 *targets = TS_AT(const ts_u32, target);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width, out += width) {
    const ts_u32 t = targets[r];
    const float m = maxima[r], total = sums[r];
    if (t == NO_TARGET) {
      for (ts_u32 i = 0; i < width; i++) out[i] = 0.0f;
      continue;
    }
    for (ts_u32 i = 0; i < width; i++) {
      const float p = ts_exp(in[i] - m) / total;
      const float y = (first_column + i == t ? p - 1.0f : p) * factor;
      worst = ts_worse(worst, y);
      out[i] = y;
    }
  }
  return ts_faulty(worst);
}

/* W2.7: the place of the largest, the lower one of equals. */
TS_WORK(argmax)(char *memory, ts_offset x, ts_offset to, ts_u32 rows, ts_u32 width) {
  if (width == 0) return 1;
  const float *in = TS_AT(const float, x);
  ts_u32 *out = TS_AT(ts_u32, to);
  for (ts_u32 r = 0; r < rows; r++, in += width) {
    const ts_i32 key = largest_key(in, width);
    ts_u32 at = 0;
    while (ts_order_key(in[at]) != key) at++;
    out[r] = at;
  }
  return 0;
}
