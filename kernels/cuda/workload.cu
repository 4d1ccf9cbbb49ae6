/*
 * The small operations of a language model between its products, which the library makes. Numbers are f32; products take
 * bf16, so operands are rounded (and turned, where they lie the other way) on the way in. Nothing here is hashed or proven:
 * exp and log are the card's own approximations. Scalars that are not whole come as their bits, so that every argument is
 * an integer. Tensors have fewer than 2^32 elements: where an index is taken apart it is cut to 32 bits, which divide fast.
 */
#include "prelude.h"

#ifndef TS_EXP2
static TS_INLINE float ws_exp2(float x) {
  float out;
  asm("ex2.approx.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}
static TS_INLINE float ws_log2(float x) {
  float out;
  asm("lg2.approx.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}
static TS_INLINE float ws_sqrt(float x) {
  float out;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}
#define TS_EXP2 ws_exp2
#define TS_LOG2 ws_log2
#define TS_SQRT ws_sqrt
#endif

#define LOG2_E 1.44269504088896340736f
#define LN_2 0.69314718055994530942f

static TS_INLINE float ws_exp(float x) { return TS_EXP2(x * LOG2_E); }
static TS_INLINE float ws_log(float x) { return TS_LOG2(x) * LN_2; }
static TS_INLINE float ws_tanh(float x) { return 1.0f - 2.0f / (ws_exp(2.0f * x) + 1.0f); }

#define WS_THREAD ((ts_u32)TS_THREAD)
#define WS_THREADS ((ts_u32)TS_THREADS)
#define WS_BLOCK ((ts_u32)TS_BLOCK)
#define WS_BLOCKS ((ts_u32)TS_BLOCKS)
#define WS_BLOCK_Y ((ts_u32)TS_BLOCK_Y)

#define WS_EACH(index, count)                                                                                         \
  for (ts_u64 index = (ts_u64)WS_BLOCK * WS_THREADS + WS_THREAD; index < (count); index += (ts_u64)WS_BLOCKS * WS_THREADS)

#define WS_MOST_THREADS 1024

/* Over all threads of a block, their number a power of two; every thread gets the outcome. */
static TS_INLINE float ws_sum(float value, float *shared) {
  shared[WS_THREAD] = value;
  TS_BARRIER();
  for (ts_u32 half = WS_THREADS / 2; half > 0; half /= 2) {
    if (WS_THREAD < half) shared[WS_THREAD] += shared[WS_THREAD + half];
    TS_BARRIER();
  }
  const float sum = shared[0];
  TS_BARRIER();
  return sum;
}

static TS_INLINE float ws_most(float value, float *shared) {
  shared[WS_THREAD] = value;
  TS_BARRIER();
  for (ts_u32 half = WS_THREADS / 2; half > 0; half /= 2) {
    if (WS_THREAD < half && shared[WS_THREAD + half] > shared[WS_THREAD]) shared[WS_THREAD] = shared[WS_THREAD + half];
    TS_BARRIER();
  }
  const float most = shared[0];
  TS_BARRIER();
  return most;
}

/* Nearest, ties to even. NaN may become infinite: a model that reaches NaN is lost either way. */
static TS_INLINE ts_u16 ws_round(float value) {
  const ts_u32 bits = __float_as_uint(value);
  return (ts_u16)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

TS_KERNEL ws_to_bf16(ts_u16 *out, const float *in, ts_u64 count) {
  WS_EACH(i, count) out[i] = ws_round(in[i]);
}

/* `in` is `batch` times k by rows, `out` rows by k. A block of 256 threads turns 32 x 32; block y is the matrix. */
TS_KERNEL ws_to_bf16_turned(ts_u16 *out, const float *in, ts_u32 rows, ts_u32 k) {
  __shared__ float tile[32][33];
  const ts_u32 across = (rows + 31) / 32;
  const ts_u32 row = (WS_BLOCK % across) * 32, depth = (WS_BLOCK / across) * 32;
  const ts_u32 x = WS_THREAD % 32, y = WS_THREAD / 32;
  const ts_u64 matrix = (ts_u64)WS_BLOCK_Y * rows * k;
  for (ts_u32 step = y; step < 32; step += 8)
    if (depth + step < k && row + x < rows) tile[step][x] = in[matrix + (ts_u64)(depth + step) * rows + row + x];
  TS_BARRIER();
  for (ts_u32 step = y; step < 32; step += 8)
    if (row + step < rows && depth + x < k)
      out[matrix + (ts_u64)(row + step) * k + depth + x] = ws_round(tile[x][step]);
}

TS_KERNEL ws_zero(ts_u32 *to, ts_u64 count) {
  WS_EACH(i, count) to[i] = 0;
}

TS_KERNEL ws_add(float *to, const float *from, ts_u64 count) {
  WS_EACH(i, count) to[i] += from[i];
}

TS_KERNEL ws_add_row(float *to, const float *row, ts_u64 count, ts_u32 width) {
  WS_EACH(i, count) to[i] += row[(ts_u32)i % width];
}

/* A block of 256 threads takes 32 columns, eight rows at a time. */
#define WS_COLUMNS(rows, width, first, second)                                                                        \
  const ts_u32 column = WS_BLOCK * 32 + WS_THREAD % 32, lane = WS_THREAD / 32;                                        \
  float sum_first = 0.0f, sum_second = 0.0f;                                                                          \
  if (column < (width))                                                                                               \
    for (ts_u32 row = lane; row < (rows); row += 8) {                                                                 \
      const ts_u64 at = (ts_u64)row * (width) + column;                                                               \
      sum_first += (first);                                                                                           \
      sum_second += (second);                                                                                         \
    }                                                                                                                 \
  partial[0][lane][WS_THREAD % 32] = sum_first;                                                                       \
  partial[1][lane][WS_THREAD % 32] = sum_second;                                                                      \
  TS_BARRIER();                                                                                                       \
  if (lane > 0 || column >= (width)) return;                                                                          \
  for (ts_u32 other = 1; other < 8; other++) {                                                                        \
    sum_first += partial[0][other][WS_THREAD % 32];                                                                   \
    sum_second += partial[1][other][WS_THREAD % 32];                                                                  \
  }

TS_KERNEL ws_sum_rows(float *to, const float *from, ts_u32 rows, ts_u32 width) {
  __shared__ float partial[2][8][32];
  WS_COLUMNS(rows, width, from[at], 0.0f)
  to[column] = sum_first;
}

/* One block a row. Statistics are the mean and the inverse deviation. */
TS_KERNEL ws_norm(float *to, float *statistics, const float *from, const float *gain, const float *shift, ts_u32 width) {
  __shared__ float shared[WS_MOST_THREADS];
  const float *x = from + (ts_u64)WS_BLOCK * width;
  float sum = 0.0f;
  for (ts_u32 i = WS_THREAD; i < width; i += WS_THREADS) sum += x[i];
  const float mean = ws_sum(sum, shared) / (float)width;
  float squares = 0.0f;
  for (ts_u32 i = WS_THREAD; i < width; i += WS_THREADS) squares += (x[i] - mean) * (x[i] - mean);
  const float inverse = 1.0f / TS_SQRT(ws_sum(squares, shared) / (float)width + 1e-5f);
  for (ts_u32 i = WS_THREAD; i < width; i += WS_THREADS)
    to[(ts_u64)WS_BLOCK * width + i] = (x[i] - mean) * inverse * gain[i] + shift[i];
  if (WS_THREAD == 0) statistics[2 * WS_BLOCK] = mean;
  if (WS_THREAD == 0) statistics[2 * WS_BLOCK + 1] = inverse;
}

TS_KERNEL ws_norm_backward(float *to, const float *gradient, const float *from, const float *gain,
                           const float *statistics, ts_u32 width) {
  __shared__ float shared[WS_MOST_THREADS];
  const ts_u64 start = (ts_u64)WS_BLOCK * width;
  const float mean = statistics[2 * WS_BLOCK], inverse = statistics[2 * WS_BLOCK + 1];
  float sum = 0.0f, weighted = 0.0f;
  for (ts_u32 i = WS_THREAD; i < width; i += WS_THREADS) {
    const float upstream = gradient[start + i] * gain[i];
    sum += upstream;
    weighted += upstream * (from[start + i] - mean) * inverse;
  }
  sum = ws_sum(sum, shared) / (float)width;
  weighted = ws_sum(weighted, shared) / (float)width;
  for (ts_u32 i = WS_THREAD; i < width; i += WS_THREADS) {
    const float unit = (from[start + i] - mean) * inverse;
    to[start + i] += inverse * (gradient[start + i] * gain[i] - sum - unit * weighted);
  }
}

TS_KERNEL ws_norm_gains(float *to_gain, float *to_shift, const float *gradient, const float *from,
                        const float *statistics, ts_u32 rows, ts_u32 width) {
  __shared__ float partial[2][8][32];
  WS_COLUMNS(rows, width, gradient[at] * (from[at] - statistics[2 * row]) * statistics[2 * row + 1], gradient[at])
  to_gain[column] = sum_first;
  to_shift[column] = sum_second;
}

#define WS_ROOT 0.79788456080286535588f
#define WS_CUBE 0.044715f

TS_KERNEL ws_gelu(float *to, const float *from, ts_u64 count) {
  WS_EACH(i, count) {
    const float x = from[i];
    to[i] = 0.5f * x * (1.0f + ws_tanh(WS_ROOT * (x + WS_CUBE * x * x * x)));
  }
}

TS_KERNEL ws_gelu_backward(float *gradient, const float *from, ts_u64 count) {
  WS_EACH(i, count) {
    const float x = from[i];
    const float t = ws_tanh(WS_ROOT * (x + WS_CUBE * x * x * x));
    gradient[i] *= 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * WS_ROOT * (1.0f + 3.0f * WS_CUBE * x * x);
  }
}

/* joined: (batch, tokens, parts, heads, size); split: (batch, heads, capacity, size) from token `start` on. */
TS_KERNEL ws_heads(float *joined, float *split, ts_u32 back, ts_u64 count, ts_u32 tokens, ts_u32 heads, ts_u32 size,
                   ts_u32 parts, ts_u32 part, ts_u32 capacity, ts_u32 start) {
  WS_EACH(i, count) {
    const ts_u32 inside = (ts_u32)i % size, rest = (ts_u32)i / size;
    const ts_u32 head = rest % heads, row = rest / heads, token = row % tokens, one = row / tokens;
    const ts_u64 in_joined = (((ts_u64)row * parts + part) * heads + head) * size + inside;
    const ts_u64 in_split = (((ts_u64)one * heads + head) * capacity + start + token) * size + inside;
    if (back) joined[in_joined] = split[in_split];
    else split[in_split] = joined[in_joined];
  }
}

/* One block a row; row r of its matrix sees the columns up to start + r. */
TS_KERNEL ws_softmax(float *scores, ts_u32 rows, ts_u32 columns, ts_u32 start, ts_u32 scale_bits) {
  __shared__ float shared[WS_MOST_THREADS];
  const float scale = __uint_as_float(scale_bits);
  float *x = scores + (ts_u64)WS_BLOCK * columns;
  ts_u32 seen = start + WS_BLOCK % rows + 1;
  if (seen > columns) seen = columns;
  float most = x[0] * scale;
  for (ts_u32 i = WS_THREAD; i < seen; i += WS_THREADS)
    if (x[i] * scale > most) most = x[i] * scale;
  most = ws_most(most, shared);
  float sum = 0.0f;
  for (ts_u32 i = WS_THREAD; i < seen; i += WS_THREADS) sum += ws_exp(x[i] * scale - most);
  const float inverse = 1.0f / ws_sum(sum, shared);
  for (ts_u32 i = WS_THREAD; i < columns; i += WS_THREADS)
    x[i] = i < seen ? ws_exp(x[i] * scale - most) * inverse : 0.0f;
}

TS_KERNEL ws_softmax_backward(float *gradient, const float *probabilities, ts_u32 columns, ts_u32 scale_bits) {
  __shared__ float shared[WS_MOST_THREADS];
  const ts_u64 start = (ts_u64)WS_BLOCK * columns;
  float dot = 0.0f;
  for (ts_u32 i = WS_THREAD; i < columns; i += WS_THREADS) dot += probabilities[start + i] * gradient[start + i];
  dot = ws_sum(dot, shared);
  for (ts_u32 i = WS_THREAD; i < columns; i += WS_THREADS)
    gradient[start + i] = probabilities[start + i] * (gradient[start + i] - dot) * __uint_as_float(scale_bits);
}

TS_KERNEL ws_embed(float *to, const ts_u32 *words, const float *table, const float *positions, ts_u64 count,
                   ts_u32 tokens, ts_u32 width, ts_u32 start) {
  WS_EACH(i, count) {
    const ts_u32 row = (ts_u32)i / width, inside = (ts_u32)i % width;
    to[i] = table[(ts_u64)words[row] * width + inside] + positions[(ts_u64)(start + row % tokens) * width + inside];
  }
}

/* One block a word: it looks for itself among all tokens, so that sums have one order. */
TS_KERNEL ws_embed_table(float *to, const ts_u32 *words, const float *gradient, ts_u32 count, ts_u32 width) {
  for (ts_u32 i = WS_THREAD; i < width; i += WS_THREADS) {
    float sum = 0.0f;
    for (ts_u32 row = 0; row < count; row++)
      if (words[row] == WS_BLOCK) sum += gradient[(ts_u64)row * width + i];
    to[(ts_u64)WS_BLOCK * width + i] = sum;
  }
}

/* One block a position of the context; those beyond the tokens get nothing. */
TS_KERNEL ws_embed_positions(float *to, const float *gradient, ts_u32 batch, ts_u32 tokens, ts_u32 width) {
  for (ts_u32 i = WS_THREAD; i < width; i += WS_THREADS) {
    float sum = 0.0f;
    if (WS_BLOCK < tokens)
      for (ts_u32 one = 0; one < batch; one++) sum += gradient[((ts_u64)one * tokens + WS_BLOCK) * width + i];
    to[(ts_u64)WS_BLOCK * width + i] = sum;
  }
}

/* One block a row: its loss, and the gradient of the mean over all rows in place of the logits. */
TS_KERNEL ws_loss(float *logits, float *losses, const ts_u32 *targets, ts_u32 rows, ts_u32 columns) {
  __shared__ float shared[WS_MOST_THREADS];
  float *x = logits + (ts_u64)WS_BLOCK * columns;
  float most = x[0];
  for (ts_u32 i = WS_THREAD; i < columns; i += WS_THREADS)
    if (x[i] > most) most = x[i];
  most = ws_most(most, shared);
  float sum = 0.0f;
  for (ts_u32 i = WS_THREAD; i < columns; i += WS_THREADS) sum += ws_exp(x[i] - most);
  sum = ws_sum(sum, shared);
  const ts_u32 target = targets[WS_BLOCK];
  if (WS_THREAD == 0) losses[WS_BLOCK] = ws_log(sum) + most - x[target];
  TS_BARRIER();
  for (ts_u32 i = WS_THREAD; i < columns; i += WS_THREADS)
    x[i] = (ws_exp(x[i] - most) / sum - (i == target ? 1.0f : 0.0f)) / (float)rows;
}

/* Decays 0.9 and 0.95. `step` is the rate over the first correction, `correction` the inverse of the second. */
TS_KERNEL ws_adam(float *parameters, float *first, float *second, const float *gradients, ts_u64 count, ts_u32 step_bits,
                  ts_u32 correction_bits, ts_u32 scale_bits) {
  const float step = __uint_as_float(step_bits), correction = __uint_as_float(correction_bits);
  const float scale = __uint_as_float(scale_bits);
  WS_EACH(i, count) {
    const float gradient = gradients[i] * scale;
    const float m = 0.9f * first[i] + 0.1f * gradient;
    const float v = 0.95f * second[i] + 0.05f * gradient * gradient;
    first[i] = m;
    second[i] = v;
    parameters[i] -= step * m / (TS_SQRT(v * correction) + 1e-8f);
  }
}
