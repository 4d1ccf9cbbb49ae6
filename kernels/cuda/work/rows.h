/* Ops that make a row, or a number for it, from a row; and sums. */
#ifndef TS_CUDA_WORK_ROWS_H
#define TS_CUDA_WORK_ROWS_H
#include "base.h"

/* One number for each row. */
#define WK_NUMBER(y)                                                                                                  \
  {                                                                                                                   \
    const float wk_y = (y);                                                                                           \
    if (here.at == 0) {                                                                                               \
      out[here.row] = wk_y;                                                                                           \
      wk_report(fault, wk_worse(0, wk_y));                                                                            \
    }                                                                                                                 \
  }
#define WK_ROW(rows, width)                                                                                           \
  const wk_row here = wk_row_here(width);                                                                             \
  if (here.row >= (rows)) return;

WK(rowSum)(ts_u32 *fault, const float *x, float *out, ts_u32 rows, ts_u32 width) {
  WK_ROW(rows, width)
  const float *in = x + (ts_u64)here.row * width;
  WK_NUMBER(wk_total(here, width, [=](ts_u32 i) { return in[i]; }))
}

WK(rowMean)(ts_u32 *fault, const float *x, float *out, ts_u32 rows, ts_u32 width) {
  WK_ROW(rows, width)
  const float *in = x + (ts_u64)here.row * width;
  WK_NUMBER(wk_total(here, width, [=](ts_u32 i) { return in[i]; }) / (float)width)
}

WK(normInverse)(
    ts_u32 *fault, const float *x, const float *mean, float *out, ts_u32 rows, ts_u32 width, float epsilon) {
  WK_ROW(rows, width)
  const float *in = x + (ts_u64)here.row * width;
  const float m = mean ? mean[here.row] : 0.0f;
  const bool centred = mean != 0;
  const float total = wk_total(here, width, [=](ts_u32 i) {
    const float c = centred ? in[i] - m : in[i];
    return c * c;
  });
  WK_NUMBER(1.0f / ts_sqrt(total / (float)width + epsilon))
}

WK(norm)(
    ts_u32 *fault, const float *x, const float *mean, const float *inverse, const float *gain, const float *shift,
    float *to, ts_u32 rows, ts_u32 width) {
  WK_ROW(rows, width)
  const float *in = x + (ts_u64)here.row * width;
  float *out = to + (ts_u64)here.row * width;
  const float m = mean ? mean[here.row] : 0.0f, s = inverse[here.row];
  ts_u32 worst = 0;
  for (ts_u32 i = here.at; i < width; i += here.step) {
    const float scaled = ((mean ? in[i] - m : in[i]) * s) * gain[i], y = shift ? scaled + shift[i] : scaled;
    worst = wk_worse(worst, y);
    out[i] = y;
  }
  wk_report(fault, worst);
}

WK(normBackward)(
    ts_u32 *fault, const float *x, const float *mean, const float *inverse, const float *gain, const float *dy, float *to,
    ts_u32 rows, ts_u32 width) {
  WK_ROW(rows, width)
  const float *in = x + (ts_u64)here.row * width, *d = dy + (ts_u64)here.row * width;
  float *out = to + (ts_u64)here.row * width;
  const float m = mean ? mean[here.row] : 0.0f, s = inverse[here.row], n = (float)width;
  const bool centred = mean != 0;
  const float of_product = wk_total(
      here, width, [=](ts_u32 i) { return (d[i] * gain[i]) * ((centred ? in[i] - m : in[i]) * s); });
  const float of_d = centred ? wk_total(here, width, [=](ts_u32 i) { return d[i] * gain[i]; }) : 0.0f;
  const float mean_d = of_d / n, mean_product = of_product / n;
  ts_u32 worst = 0;
  for (ts_u32 i = here.at; i < width; i += here.step) {
    const float hat = (centred ? in[i] - m : in[i]) * s, e = d[i] * gain[i];
    const float y = ((centred ? e - mean_d : e) - hat * mean_product) * s;
    worst = wk_worse(worst, y);
    out[i] = y;
  }
  wk_report(fault, worst);
}

WK(normGainTerms)(
    ts_u32 *fault, const float *x, const float *mean, const float *inverse, const float *dy, float *to, ts_u32 rows,
    ts_u32 width) {
  WK_ROW(rows, width)
  const ts_u64 from = (ts_u64)here.row * width;
  const float m = mean ? mean[here.row] : 0.0f, s = inverse[here.row];
  ts_u32 worst = 0;
  for (ts_u32 i = here.at; i < width; i += here.step) {
    const float y = dy[from + i] * ((mean ? x[from + i] - m : x[from + i]) * s);
    worst = wk_worse(worst, y);
    to[from + i] = y;
  }
  wk_report(fault, worst);
}

/* Keys that a query sees: those up to its own place. A period of 0 sees all. */
static TS_INLINE ts_u32 wk_seen(ts_u32 row, ts_u32 period, ts_u32 first, ts_u32 width) {
  return period == 0 ? width : wk_least((first + row) % period + 1, width);
}

/* Order keys as unsigned numbers, for the largest over a row. */
static TS_INLINE ts_u32 wk_key(float x) { return (ts_u32)ts_order_key(x) ^ 0x80000000u; }

static TS_INLINE ts_u32 wk_largest_key(wk_row here, const float *in, ts_u32 count) {
  ts_u32 key = 0;
  _Pragma("unroll 16")
  for (ts_u32 i = here.at; i < count; i += here.step) {
    const ts_u32 other = wk_key(in[i]);
    key = other > key ? other : key;
  }
  return wk_largest(here, key);
}

WK(rowMaximum)(
    ts_u32 *fault, const float *x, float *out, ts_u32 rows, ts_u32 width, ts_u32 period, ts_u32 first) {
  WK_ROW(rows, width)
  const float *in = x + (ts_u64)here.row * width;
  const ts_u32 key = wk_largest_key(here, in, wk_seen(here.row, period, first, width));
  WK_NUMBER(ts_from_order_key((ts_i32)(key ^ 0x80000000u)))
}

WK(exponentialSum)(
    ts_u32 *fault, const float *x, const float *maximum, float *out, ts_u32 rows, ts_u32 width, ts_u32 period,
    ts_u32 first) {
  WK_ROW(rows, width)
  const float *in = x + (ts_u64)here.row * width, m = maximum[here.row];
  WK_NUMBER(wk_total(here, wk_seen(here.row, period, first, width), [=](ts_u32 i) { return ts_exp(in[i] - m); }))
}

WK(exponential)(
    ts_u32 *fault, const float *x, const float *maximum, float *to, ts_u32 rows, ts_u32 width, ts_u32 period,
    ts_u32 first) {
  WK_ROW(rows, width)
  const float *in = x + (ts_u64)here.row * width, m = maximum[here.row];
  float *out = to + (ts_u64)here.row * width;
  const ts_u32 count = wk_seen(here.row, period, first, width);
  for (ts_u32 i = here.at; i < width; i += here.step) out[i] = i < count ? ts_exp(in[i] - m) : 0.0f;
}

WK(exponentialBackward)(
    ts_u32 *fault, const float *exponentials, const float *gradient, const float *dot, float *to, ts_u32 rows,
    ts_u32 width, ts_u32 period, ts_u32 first) {
  WK_ROW(rows, width)
  const float *e = exponentials + (ts_u64)here.row * width, *d = gradient + (ts_u64)here.row * width, t = dot[here.row];
  float *out = to + (ts_u64)here.row * width;
  const ts_u32 count = wk_seen(here.row, period, first, width);
  ts_u32 worst = 0;
  for (ts_u32 i = here.at; i < width; i += here.step) {
    const float y = i < count ? e[i] * (d[i] - t) : 0.0f;
    worst = wk_worse(worst, y);
    out[i] = y;
  }
  wk_report(fault, worst);
}

WK(rowDot)(ts_u32 *fault, const float *a, const float *b, float *out, ts_u32 rows, ts_u32 width) {
  WK_ROW(rows, width)
  const float *x = a + (ts_u64)here.row * width, *y = b + (ts_u64)here.row * width;
  WK_NUMBER(wk_total(here, width, [=](ts_u32 i) { return x[i] * y[i]; }))
}

WK(divideRows)(ts_u32 *fault, const float *x, const float *divisor, float *out, ts_u32 rows, ts_u32 width) {
  ts_u32 worst = 0;
  for (ts_u64 i = WK_FIRST; i < (ts_u64)rows * width; i += WK_STEP) {
    const float y = x[i] / divisor[i / width];
    worst = wk_worse(worst, y);
    out[i] = y;
  }
  wk_report(fault, worst);
}

#define WK_NO_TARGET 0xffffffffu

WK(crossEntropy)(
    ts_u32 *fault, const float *x, const float *maximum, const float *sum, const ts_u32 *target, float *out, ts_u32 rows,
    ts_u32 width) {
  for (ts_u64 r = WK_FIRST; r < rows; r += WK_STEP) {
    const ts_u32 t = target[r];
    float y = 0.0f;
    if (t < width) y = ts_log(sum[r]) - (x[r * width + t] - maximum[r]);
    else if (t != WK_NO_TARGET) *fault = 1;
    wk_report(fault, wk_worse(0, y));
    out[r] = y;
  }
}

WK(crossEntropyBackward)(
    ts_u32 *fault, const float *x, const float *maximum, const float *sum, const ts_u32 *target, float *to, ts_u32 rows,
    ts_u32 width, ts_u32 first_column, float factor) {
  WK_ROW(rows, width)
  const float *in = x + (ts_u64)here.row * width, m = maximum[here.row], total = sum[here.row];
  float *out = to + (ts_u64)here.row * width;
  const ts_u32 t = target[here.row];
  ts_u32 worst = 0;
  for (ts_u32 i = here.at; i < width; i += here.step) {
    const float p = ts_exp(in[i] - m) / total;
    const float y = t == WK_NO_TARGET ? 0.0f : (first_column + i == t ? p - 1.0f : p) * factor;
    worst = wk_worse(worst, y);
    out[i] = y;
  }
  wk_report(fault, worst);
}

WK(argmax)(ts_u32 *fault, const float *x, ts_u32 *out, ts_u32 rows, ts_u32 width) {
  WK_ROW(rows, width)
  const float *in = x + (ts_u64)here.row * width;
  const ts_u32 key = wk_largest_key(here, in, width);
  /* The lowest place is the largest of its complements. */
  ts_u32 found = 0;
  _Pragma("unroll 16")
  for (ts_u32 i = here.at; i < width; i += here.step)
    if (wk_key(in[i]) == key && ~i > found) found = ~i;
  found = wk_largest(here, found);
  if (here.at == 0) out[here.row] = ~found;
}

/* A block of 256 has 32 columns; eight of the 32 sums at a time are a row of its threads. */
WK(columnSum)(ts_u32 *fault, const float *x, float *out, ts_u32 rows, ts_u32 width, ts_u32 first, ts_u32 columns) {
  __shared__ float sums[32][33];
  __shared__ float pieces[WK_PIECE / 32][32];
  const ts_u32 column = TS_BLOCK * 32 + WK_LANE, many = (rows + WK_PIECE - 1) / WK_PIECE;
  for (ts_u32 p = 0; p < many; p++) {
    const ts_u32 end = wk_least(rows, (p + 1) * WK_PIECE);
    for (ts_u32 part = WK_WARP; part < 32; part += WK_WARPS) {
      float s = 0.0f;
      if (column < columns)
        for (ts_u32 r = p * WK_PIECE + part; r < end; r += 32) s = s + x[(ts_u64)r * width + first + column];
      sums[part][WK_LANE] = s;
    }
    TS_BARRIER();
    for (ts_u32 c = WK_WARP; c < 32; c += WK_WARPS) {
      const float s = wk_halves(sums[WK_LANE][c]);
      if (WK_LANE == 0) pieces[p][c] = s;
    }
    TS_BARRIER();
  }
  for (ts_u32 c = WK_WARP; c < 32; c += WK_WARPS) {
    const float total = wk_piece_total(0, many, [=](ts_u32 i) { return pieces[i][c]; });
    if (WK_LANE == 0 && TS_BLOCK * 32 + c < columns) {
      out[TS_BLOCK * 32 + c] = total;
      wk_report(fault, wk_worse(0, total));
    }
  }
}

/* A warp for each piece of 4,096. */
WK(squareSums)(ts_u32 *fault, const float *x, float *out, ts_u64 count) {
  const ts_u64 piece = (ts_u64)TS_BLOCK * WK_WARPS + WK_WARP, from = piece * WK_PIECE;
  if (from >= count) return;
  const float *in = x + from;
  const ts_u32 here = count - from < WK_PIECE ? (ts_u32)(count - from) : WK_PIECE;
  float total;
  if (here == WK_PIECE) {
    float s = 0.0f;
    _Pragma("unroll 16")
    for (ts_u32 k = 0; k < WK_PIECE / 32; k++) {
      const float y = in[32 * k + WK_LANE];
      s = s + y * y;
    }
    total = wk_halves(s);
  } else total = wk_piece_total(0, here, [=](ts_u32 i) { return in[i] * in[i]; });
  if (WK_LANE > 0) return;
  out[piece] = total;
  wk_report(fault, wk_worse(0, total));
}

WK(gradientNorm)(ts_u32 *fault, const float *squares, float *out, ts_u32 tensors) {
  if (TS_THREAD > 0) return;
  float total = 0.0f;
  for (ts_u32 i = 0; i < tensors; i++) total = total + squares[i];
  *out = ts_sqrt(total);
  wk_report(fault, wk_worse(0, *out));
}

/* The same of numbers that lie apart. */
WK(gradientNormOf)(ts_u32 *fault, const ts_u64 *squares, float *out, ts_u32 tensors) {
  if (TS_THREAD > 0) return;
  float total = 0.0f;
  _Pragma("unroll 8")
  for (ts_u32 i = 0; i < tensors; i++) total = total + *(const float *)squares[i];
  *out = ts_sqrt(total);
  wk_report(fault, wk_worse(0, *out));
}

WK(clipFactor)(ts_u32 *fault, const float *norm, float *out, float clip) {
  if (TS_THREAD > 0) return;
  *out = ts_clip_factor(*norm, clip);
  wk_report(fault, wk_worse(0, *out));
}

#endif
