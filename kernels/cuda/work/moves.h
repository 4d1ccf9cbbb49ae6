/* Ops that move numbers, look them up or turn them (W2.11). */
#ifndef TS_CUDA_WORK_MOVES_H
#define TS_CUDA_WORK_MOVES_H
#include "base.h"
#include "../../common/work/functions64.h"

/* A block of 256 turns 32 x 32; block y is the matrix, of those that lie one after the other. */
template <class T>
static TS_INLINE void wk_transpose(const T *x, T *out, ts_u32 rows, ts_u32 width, ts_u32 first, ts_u32 columns) {
  __shared__ T tile[32][33];
  const ts_u32 across = (columns + 31) / 32, row = TS_BLOCK / across * 32, column = TS_BLOCK % across * 32;
  x += (ts_u64)TS_BLOCK_Y * rows * width + first;
  out += (ts_u64)TS_BLOCK_Y * rows * columns;
  for (ts_u32 r = WK_WARP; r < 32; r += WK_WARPS)
    if (row + r < rows && column + WK_LANE < columns) tile[r][WK_LANE] = x[(ts_u64)(row + r) * width + column + WK_LANE];
  TS_BARRIER();
  for (ts_u32 c = WK_WARP; c < 32; c += WK_WARPS)
    if (column + c < columns && row + WK_LANE < rows) out[(ts_u64)(column + c) * rows + row + WK_LANE] = tile[WK_LANE][c];
}
WK(transposeFloats)(ts_u32 *fault, const ts_u32 *x, ts_u32 *out, ts_u32 rows, ts_u32 width, ts_u32 first, ts_u32 columns) {
  wk_transpose(x, out, rows, width, first, columns);
}

/* Bytes: 64 x 64 to a block, four at a time where rows begin on words. */
WK(transposeBytes)(ts_u32 *fault, const ts_u8 *x, ts_u8 *out, ts_u32 rows, ts_u32 width, ts_u32 first, ts_u32 columns) {
  __shared__ ts_u8 tile[64][68];
  const ts_u32 across = (columns + 63) / 64, row = TS_BLOCK / across * 64, column = TS_BLOCK % across * 64;
  x += (ts_u64)TS_BLOCK_Y * rows * width + first;
  out += (ts_u64)TS_BLOCK_Y * rows * columns;
  const ts_u32 at = TS_THREAD % 16 * 4;
  const bool in_words = width % 4 == 0 && ((ts_u64)x & 3u) == 0, out_words = rows % 4 == 0 && ((ts_u64)out & 3u) == 0;
  for (ts_u32 r = TS_THREAD / 16; r < 64 && row + r < rows; r += TS_THREADS / 16) {
    const ts_u8 *from = x + (ts_u64)(row + r) * width + column + at;
    if (in_words && column + at + 4 <= columns) *(ts_u32 *)&tile[r][at] = *(const ts_u32 *)from;
    else
      for (ts_u32 k = 0; k < 4 && column + at + k < columns; k++) tile[r][at + k] = from[k];
  }
  TS_BARRIER();
  for (ts_u32 c = TS_THREAD / 16; c < 64 && column + c < columns; c += TS_THREADS / 16) {
    ts_u8 *to = out + (ts_u64)(column + c) * rows + row + at;
    if (out_words && row + at + 4 <= rows)
      *(ts_u32 *)to = tile[at][c] | tile[at + 1][c] << 8 | tile[at + 2][c] << 16 | (ts_u32)tile[at + 3][c] << 24;
    else
      for (ts_u32 k = 0; k < 4 && row + at + k < rows; k++) to[k] = tile[at + k][c];
  }
}

/*
 * Bytes of matrices whose sides are multiples of 128: a block of 256 turns 128 x 128, a thread four rows of 16. Words of four
 * rows are laid so that neither way meets in a bank.
 */
WK(turnBytes)(ts_u32 *fault, const ts_u8 *x, ts_u8 *out, ts_u32 rows, ts_u32 width) {
  __shared__ __attribute__((aligned(16))) ts_u32 tile[128][32];
  const ts_u32 across = width / 128, row = TS_BLOCK / across * 128, column = TS_BLOCK % across * 128;
  x += (ts_u64)TS_BLOCK_Y * rows * width;
  out += (ts_u64)TS_BLOCK_Y * rows * width;
  const ts_u32 j = TS_THREAD % 8, i = TS_THREAD / 8;
  ts_vec4 in[4];
  TS_UNROLL
  for (int r = 0; r < 4; r++) in[r] = *(const ts_vec4 *)(x + (ts_u64)(row + 4 * i + r) * width + column + 16 * j);
  TS_UNROLL
  for (int w = 0; w < 4; w++) {
    const ts_u32 a = __byte_perm(in[0][w], in[1][w], 0x5140), b = __byte_perm(in[2][w], in[3][w], 0x5140);
    const ts_u32 c = __byte_perm(in[0][w], in[1][w], 0x7362), d = __byte_perm(in[2][w], in[3][w], 0x7362);
    const ts_u32 at = 16 * j + 4 * w, to = (i + 4 * j) % 32;
    tile[at][to] = __byte_perm(a, b, 0x5410);
    tile[at + 1][to] = __byte_perm(a, b, 0x7632);
    tile[at + 2][to] = __byte_perm(c, d, 0x5410);
    tile[at + 3][to] = __byte_perm(c, d, 0x7632);
  }
  TS_BARRIER();
  TS_UNROLL
  for (ts_u32 n = 0; n < 4; n++) {
    const ts_u32 c = i + 32 * n, from = (4 * j + 4 * (c / 16)) % 32;
    *(ts_vec4 *)(out + (ts_u64)(column + c) * rows + row + 16 * j) = *(const ts_vec4 *)&tile[c][from];
  }
}

template <class T>
static TS_INLINE void wk_move(
    const ts_u8 *x, ts_u8 *out, ts_u32 run, ts_u32 n0, ts_u32 n1, ts_u32 n2, ts_u64 x0, ts_u64 x1, ts_u64 x2, ts_u64 out0,
    ts_u64 out1, ts_u64 out2) {
  const ts_u32 parts = run / sizeof(T);
  for (ts_u64 i = WK_FIRST; i < (ts_u64)n0 * n1 * n2 * parts; i += WK_STEP) {
    const ts_u32 at = (ts_u32)(i % parts);
    ts_u64 rest = i / parts;
    const ts_u32 c = (ts_u32)(rest % n2);
    rest /= n2;
    const ts_u32 b = (ts_u32)(rest % n1), a = (ts_u32)(rest / n1);
    const T *from = (const T *)(x + a * x0 + b * x1 + c * x2);
    ((T *)(out + a * out0 + b * out1 + c * out2))[at] = from[at];
  }
}
WK(move)(
    ts_u32 *fault, const ts_u8 *x, ts_u8 *out, ts_u32 run, ts_u32 n0, ts_u32 n1, ts_u32 n2, ts_u64 x0, ts_u64 x1, ts_u64 x2,
    ts_u64 out0, ts_u64 out1, ts_u64 out2) {
  const ts_u64 all = (ts_u64)x | (ts_u64)out | run | x0 | x1 | x2 | out0 | out1 | out2;
  if (all % 16 == 0) wk_move<ts_vec4>(x, out, run, n0, n1, n2, x0, x1, x2, out0, out1, out2);
  else if (all % 4 == 0) wk_move<ts_u32>(x, out, run, n0, n1, n2, x0, x1, x2, out0, out1, out2);
  else wk_move<ts_u8>(x, out, run, n0, n1, n2, x0, x1, x2, out0, out1, out2);
}

WK(embed)(
    ts_u32 *fault, const ts_u32 *token, const ts_u32 *position, const float *words, const float *places, float *out,
    ts_u32 rows, ts_u32 width, ts_u32 tokens, ts_u32 positions) {
  const wk_row here = wk_row_here(width);
  if (here.row >= rows) return;
  const ts_u32 t = token[here.row], p = places ? position[here.row] : 0;
  if (t >= tokens || (places && p >= positions)) {
    *fault = 1;
    return;
  }
  ts_u32 worst = 0;
  for (ts_u32 i = here.at; i < width; i += here.step) {
    const float word = words[(ts_u64)t * width + i], y = places ? word + places[(ts_u64)p * width + i] : word;
    worst = wk_worse(worst, y);
    out[(ts_u64)here.row * width + i] = y;
  }
  wk_report(fault, worst);
}

WK(rotaryFrequencies)(ts_u32 *fault, float *out, ts_u32 half, ts_u32 first, ts_u32 count, float base) {
  for (ts_u64 i = WK_FIRST; i < count; i += WK_STEP) {
    out[i] = ts_rotary_frequency(base, first + (ts_u32)i, half);
    wk_report(fault, wk_worse(0, out[i]));
  }
}

/* A thread for each pair of numbers of a head, which it turns in all heads of the row. */
WK(rotary)(
    ts_u32 *fault, const float *x, const ts_u32 *position, const float *frequency, float *out, ts_u32 rows, ts_u32 heads,
    ts_u32 width, ts_u32 inverse) {
  const ts_u32 half = width / 2;
  ts_u32 worst = 0;
  for (ts_u64 n = WK_FIRST; n < (ts_u64)rows * half; n += WK_STEP) {
    const ts_u32 r = (ts_u32)(n / half), i = (ts_u32)(n % half);
    float sine, cosine;
    ts_sine_cosine((float)position[r] * frequency[i], &sine, &cosine);
    const float s = inverse ? -sine : sine;
    for (ts_u32 h = 0; h < heads; h++) {
      const ts_u64 at = ((ts_u64)r * heads + h) * width + i;
      const float a = x[at], b = x[at + half], y = a * cosine - b * s, z = b * cosine + a * s;
      worst = wk_worse(wk_worse(worst, y), z);
      out[at] = y;
      out[at + half] = z;
    }
  }
  wk_report(fault, worst);
}

WK(fill)(ts_u32 *fault, ts_u32 *out, ts_u64 count, ts_u32 bits) {
  for (ts_u64 i = WK_FIRST; i < count; i += WK_STEP) out[i] = bits;
}
WK(places)(ts_u32 *fault, ts_u32 *out, ts_u32 count, ts_u32 period, ts_u64 index) {
  for (ts_u64 i = WK_FIRST; i < count; i += WK_STEP) out[i] = (ts_u32)((index + i) % period);
}

/*
 * W2.11.6 in two steps for each piece of the tokens: integers add up in any order, so that threads meet by atomic additions
 * in sums[kinds][channels]; then these are taken times their scales, and are 0 again.
 */
WK(embedSums)(
    ts_u32 *fault, const ts_u32 *token, const ts_i8 *q, ts_i32 *sums, ts_u32 tokens, ts_u32 kinds, ts_u32 channels,
    ts_u32 from, ts_u32 count) {
  for (ts_u64 n = WK_FIRST; n < (ts_u64)channels * count; n += WK_STEP) {
    const ts_u32 channel = (ts_u32)(n / count), i = from + (ts_u32)(n % count), kind = token[i];
    if (kind == 0xffffffffu) continue;
    if (kind >= kinds) *fault = 1;
    else __nvvm_atom_add_gen_i(&sums[(ts_u64)kind * channels + channel], q[(ts_u64)channel * tokens + i]);
  }
}
WK(embedTake)(
    ts_u32 *fault, ts_i32 *sums, const float *scales, float *out, ts_u32 kinds, ts_u32 width, ts_u32 first,
    ts_u32 channels, ts_u32 pieces, ts_u32 piece) {
  ts_u32 worst = 0;
  for (ts_u64 n = WK_FIRST; n < (ts_u64)kinds * channels; n += WK_STEP) {
    const ts_u32 channel = (ts_u32)(n % channels);
    float *to = out + n / channels * width + first + channel;
    const float before = piece == 0 ? 0.0f : *to;
    const float y = before + (float)sums[n] * scales[(ts_u64)channel * pieces + piece];
    sums[n] = 0;
    worst = wk_worse(worst, y);
    *to = y;
  }
  wk_report(fault, worst);
}

#endif
