/*
 * Causal attention there and back without scores in memory: the bits of the steps that it stands for, which are made again
 * in each pass. A block of 128 has 64 rows of one head, a warp 16 of them; columns come in tiles of 64. In a group of 32
 * columns a lane has 2 rows by 8 columns, and these columns are 8 of the 32 partial sums of W2.5: rows of up to 4,096.
 */
#ifndef TS_CUDA_WORK_ATTENTION_H
#define TS_CUDA_WORK_ATTENTION_H
#include "multiply.h"

#define WK_INLINED __attribute__((always_inline))
#define WK_HEAD_ROWS 64
#define WK_GROUP_LANE (WK_LANE % 4)
#define WK_GROUP_ROW (WK_LANE / 4)

typedef float ts_float2 __attribute__((ext_vector_type(2)));

/* 16 rows of D bytes as a warp multiplies them. */
template <int D> struct wk_sixteen {
  ts_u32 a[D / 32][4];
};
template <int D> static TS_INLINE wk_sixteen<D> wk_load_sixteen(const ts_i8 *rows) {
  wk_sixteen<D> x;
  TS_UNROLL
  for (int k = 0; k < D / 32; k++) {
    const ts_i8 *at = rows + WK_GROUP_ROW * D + 32 * k + 4 * WK_GROUP_LANE;
    x.a[k][0] = *(const ts_u32 *)at;
    x.a[k][1] = *(const ts_u32 *)(at + 8 * D);
    x.a[k][2] = *(const ts_u32 *)(at + 16);
    x.a[k][3] = *(const ts_u32 *)(at + 8 * D + 16);
  }
  return x;
}

#define WK_TILE_BYTES(D) (WK_HEAD_ROWS * ((D) + 16))
#define WK_TURNED_BYTES(D) ((D) * 80)

/* 64 rows of D bytes. */
template <int D> static TS_INLINE void wk_stage_rows(const ts_i8 *from, ts_u8 *shared) {
  TS_UNROLL
  for (ts_u32 i = TS_THREAD; i < WK_HEAD_ROWS * D / 16; i += 128)
    *(ts_vec4 *)(shared + i / (D / 16) * (D + 16) + i % (D / 16) * 16) = *(const ts_vec4 *)(from + 16 * i);
}

/*
 * D rows of 64 bytes, `apart` bytes from one to the next. In every 16, pairs go where a lane that has columns 2l, 2l + 1,
 * 2l + 8 and 2l + 9 of a product finds them as one word: sums of integers do not mind the order.
 */
template <int D> static TS_INLINE void wk_stage_turned(const ts_i8 *from, ts_u32 apart, ts_u8 *shared) {
  TS_UNROLL
  for (ts_u32 i = TS_THREAD; i < D * 4; i += 128) {
    const ts_vec4 in = *(const ts_vec4 *)(from + (ts_u64)(i / 4) * apart + i % 4 * 16);
    ts_vec4 out;
    out.x = __byte_perm(in.x, in.z, 0x5410);
    out.y = __byte_perm(in.x, in.z, 0x7632);
    out.z = __byte_perm(in.y, in.w, 0x5410);
    out.w = __byte_perm(in.y, in.w, 0x7632);
    *(ts_vec4 *)(shared + i / 4 * 80 + i % 4 * 16) = out;
  }
}

/* 16 rows times 32 rows of a tile. */
template <int D> static TS_INLINE void wk_group_product(const wk_sixteen<D> &x, const ts_u8 *tile, ts_i32 c[4][4]) {
  TS_UNROLL
  for (int t = 0; t < 4; t++) {
    TS_UNROLL
    for (int e = 0; e < 4; e++) c[t][e] = 0;
    const ts_u8 *row = tile + (8 * t + WK_GROUP_ROW) * (D + 16) + 4 * WK_GROUP_LANE;
    TS_UNROLL
    for (int k = 0; k < D / 32; k++) {
      const ts_u32 b[2] = {*(const ts_u32 *)(row + 32 * k), *(const ts_u32 *)(row + 32 * k + 16)};
      wk_multiply(c[t], x.a[k], b);
    }
  }
}

/* Adds 16 rows by 32 columns, as bytes in the places of a product, times a turned tile. */
template <int D> static TS_INLINE void wk_add_turned(ts_i32 sums[D / 8][4], const ts_i32 q[4][4], const ts_u8 *turned) {
  ts_u32 a[4];
  TS_UNROLL
  for (int r = 0; r < 2; r++)
    TS_UNROLL
    for (int h = 0; h < 2; h++) {
      const ts_u32 low = __byte_perm((ts_u32)q[2 * h][2 * r], (ts_u32)q[2 * h][2 * r + 1], 0x0040);
      const ts_u32 high = __byte_perm((ts_u32)q[2 * h + 1][2 * r], (ts_u32)q[2 * h + 1][2 * r + 1], 0x0040);
      a[2 * h + r] = __byte_perm(low, high, 0x5410);
    }
  TS_UNROLL
  for (int n = 0; n < D / 8; n++) {
    const ts_u8 *row = turned + (8 * n + WK_GROUP_ROW) * 80 + 4 * WK_GROUP_LANE;
    const ts_u32 b[2] = {*(const ts_u32 *)row, *(const ts_u32 *)(row + 16)};
    wk_multiply(sums[n], a, b);
  }
}

/* The partial sums of two rows: of columns 8t + 2l + e of every 32. */
struct wk_two_sums {
  float s[2][4][2];
};
static TS_INLINE void wk_two_begin(wk_two_sums &of) {
  TS_UNROLL
  for (int i = 0; i < 16; i++) of.s[i / 8][i / 2 % 4][i % 2] = 0.0f;
}
static TS_INLINE float wk_two_end(const float s[4][2]) {
  float h[2];
  TS_UNROLL
  for (int e = 0; e < 2; e++) {
    const float t0 = s[0][e] + s[2][e], t1 = s[1][e] + s[3][e];
    float x = t0 + t1;
    x = x + wk_from_xor(x, 2);
    h[e] = x + wk_from_xor(x, 1);
  }
  return h[0] + h[1];
}
static TS_INLINE ts_u32 wk_quad_largest(ts_u32 x) {
  TS_UNROLL
  for (ts_u32 half = 2; half > 0; half /= 2) {
    const ts_u32 other = ts_shuffle_word(x, half);
    x = other > x ? other : x;
  }
  return x;
}

/*
 * The functions of kernels/common/work in fewer instructions, for what comes here: the bits are the same.
 * A sum of up to 128 products of bytes is below 2^22: it is the low bits of a float that is as large as 1.5 * 2^23.
 */
static TS_INLINE float wk_small_float(ts_i32 sum) { return ts_float_of(0x4b400000u + (ts_u32)sum) - 0x1.8p23f; }
static TS_INLINE float wk_dequantised(ts_i32 sum, float row, float column) { return (wk_small_float(sum) * row) * column; }

/* As ts_max and ts_min where b is a number: of a NaN and b, b. */
static TS_INLINE float wk_max(float a, float b) {
  float out;
  asm("max.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
  return out;
}
static TS_INLINE float wk_min(float a, float b) {
  float out;
  asm("min.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
  return out;
}

/* ts_exp of what is at most 88. */
static TS_INLINE float wk_exp(float x) {
  const float c = wk_max(x, -87.0f);
  const float shifted = c * 0x1.715476p+0f + 0x1.8p23f;
  const float n = shifted - 0x1.8p23f;
  const float r = (c - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  float q = 0x1.6a234ep-10f * r + 0x1.123a6cp-7f;
  q = q * r + 0x1.5558f4p-5f;
  q = q * r + 0x1.55549p-3f;
  q = q * r + 0x1.fffffcp-2f;
  const float p = 1.0f + (r + (r * r) * q);
  const float y = p * ts_float_of((ts_bits_of(shifted) << 23) + 0x3f800000u);
  return x >= -87.0f ? y : 0.0f;
}

/*
 * e / total, the inverse being 1 / total rounded to nearest: the quotient is within one unit after the first correction,
 * and exact to the last bit after the second (Markstein), as long as no remainder is denormal.
 */
static TS_INLINE float wk_share(float e, float total, float inverse) {
  float q = e * inverse;
  q = __fmaf_rn(__fmaf_rn(-q, total, e), inverse, q);
  q = __fmaf_rn(__fmaf_rn(-q, total, e), inverse, q);
  if (e < 0x1.0p-100f && e > 0.0f) q = e / total;
  return q;
}

/* Bytes of ts_round_nearest and ts_round_stochastic: the low eight bits. */
static TS_INLINE ts_i32 wk_byte_nearest(float v) {
  return (ts_i32)ts_bits_of(wk_max(wk_min(v, 127.0f), -127.0f) + 0x1.8p23f);
}
static TS_INLINE ts_i32 wk_byte_stochastic(float v, ts_u32 lane) {
  /* 1 + (lane + 1/2) / 65536, less 1: both exact. The sum with 1.5 * 2^23, rounded down, ends in the floor. */
  const float w = v + (ts_float_of(0x3f800040u + (lane << 7)) - 1.0f);
  float floored;
  asm("add.rm.f32 %0, %1, 0f4B400000;" : "=f"(floored) : "f"(w));
  const ts_i32 bits = (ts_i32)ts_bits_of(floored), most = 0x4b400000 + 127, least = 0x4b400000 - 127;
  return bits > most ? most : bits < least ? least : bits;
}

static TS_INLINE ts_float2 wk_pair(const float *of, ts_u32 column) { return *(const ts_float2 *)(of + column); }

/* Rounds 16 rows by 32 columns by chance. `block` is that of the first column in each of the two rows. */
static TS_INLINE void wk_round_group(ts_draw draw, const ts_u64 block[2], const float v[4][4], ts_i32 q[4][4]) {
  const ts_u32 l = WK_GROUP_LANE;
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    /* Lane l of four makes the words of columns 8l ... 8l + 7; each then hands the others what they need. */
    ts_u32 words[4], mine[4];
    ts_draw_block(draw, block[r] + l, words);
    TS_UNROLL
    for (ts_u32 x = 0; x < 4; x++) {
      const ts_u32 to = l ^ x;
      const ts_u32 low = to & 1 ? words[1] : words[0], high = to & 1 ? words[3] : words[2];
      const ts_u32 sent = to & 2 ? high : low;
      mine[x] = x == 0 ? sent : ts_shuffle_word(sent, x);
    }
    TS_UNROLL
    for (ts_u32 t = 0; t < 4; t++) {
      const ts_u32 x = l ^ t;
      const ts_u32 low = x & 1 ? mine[1] : mine[0], high = x & 1 ? mine[3] : mine[2], word = x & 2 ? high : low;
      q[t][2 * r] = wk_byte_stochastic(v[t][2 * r], word & 0xffffu);
      q[t][2 * r + 1] = wk_byte_stochastic(v[t][2 * r + 1], word >> 16);
    }
  }
}

/* Rows that a warp's 16 sums belong to, joined to rows of tokens: `heads` side by side. */
template <int D>
static TS_INLINE void wk_store_joined(
    ts_u32 *fault, const ts_i32 sums[D / 8][4], const float scale[2], float *out, ts_u32 batch, ts_u32 heads, ts_u32 tokens,
    ts_u32 row) {
  ts_u32 worst = 0;
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    float *to = out + ((ts_u64)(batch / heads) * tokens + row + WK_GROUP_ROW + 8 * r) * heads * D + batch % heads * D;
    TS_UNROLL
    for (int n = 0; n < D / 8; n++) {
      ts_float2 y;
      TS_UNROLL
      for (int e = 0; e < 2; e++) {
        y[e] = (float)sums[n][2 * r + e] * scale[r];
        worst = wk_worse(worst, y[e]);
      }
      *(ts_float2 *)(to + 8 * n + 2 * WK_GROUP_LANE) = y;
    }
  }
  wk_report(fault, worst);
}

/* What a block is about: the later rows of a causal head first, as they take longest. */
#define WK_HEAD_HERE(later)                                                                                           \
  const ts_u32 tiles = tokens / WK_HEAD_ROWS, batches = TS_BLOCKS / tiles, batch = TS_BLOCK % batches;                \
  const ts_u32 tile = (later) ? tiles - 1 - TS_BLOCK / batches : TS_BLOCK / batches;                                  \
  const ts_u32 start = tile * WK_HEAD_ROWS, row = start + 16 * WK_WARP;

/* First the statistics of rows and the scales of their shares, by a kernel with few registers; then the products. */
template <int D, bool FIRST>
static TS_INLINE void wk_attend(
    ts_u32 *fault, const ts_i8 *q, const ts_i8 *k, const ts_i8 *turned_v, const float *q_scales, const float *k_scales,
    const float *v_scales, float *out, float *maxima, float *totals, float *scales, ts_u32 tokens, ts_u32 heads,
    ts_u32 shared_by, float factor) {
  __shared__ __attribute__((aligned(16))) ts_u8 keys[WK_TILE_BYTES(D)], values[WK_TURNED_BYTES(D)];
  WK_HEAD_HERE(true)
  const ts_u64 theirs = (ts_u64)(batch / shared_by) * tokens, mine = (ts_u64)batch * tokens + row;
  const wk_sixteen<D> x = wk_load_sixteen<D>(q + mine * D);
  float scale[2];
  TS_UNROLL
  for (int r = 0; r < 2; r++) scale[r] = q_scales[mine + WK_GROUP_ROW + 8 * r];
  /* of(score, r, t, e, column) for every score of two rows; those that are not seen have `seen` false. */
  auto visit = [&](bool with_values, auto of, auto after) WK_INLINED {
    for (ts_u32 from = 0; from < start + WK_HEAD_ROWS; from += WK_HEAD_ROWS) {
      TS_BARRIER();
      wk_stage_rows<D>(k + (theirs + from) * D, keys);
      if (with_values) wk_stage_turned<D>(turned_v + (theirs * D + from), tokens, values);
      TS_BARRIER();
      TS_UNROLL
      for (ts_u32 half = 0; half < 64; half += 32) {
        ts_i32 c[4][4];
        wk_group_product<D>(x, keys + half * (D + 16), c);
        TS_UNROLL
        for (int t = 0; t < 4; t++) {
          const ts_u32 column = from + half + 8 * t + 2 * WK_GROUP_LANE;
          const ts_float2 by = wk_pair(k_scales + theirs, column);
          TS_UNROLL
          for (int e = 0; e < 4; e++)
            of(wk_dequantised(c[t][e], scale[e / 2], by[e % 2]) * factor, e / 2, t, e % 2, column + e % 2,
               column + e % 2 <= row + WK_GROUP_ROW + 8 * (e / 2));
        }
        after(from + half, half);
      }
    }
  };
  auto nothing = [](ts_u32, ts_u32) {};
  ts_u32 worst = 0;
  float m[2], total[2], inverse[2];
  if (FIRST) {
    ts_u32 key[2] = {0, 0}, magnitude[2] = {0, 0};
    visit(false, [&](float score, int r, int, int, ts_u32, bool seen) WK_INLINED {
      const ts_u32 other = (ts_u32)ts_order_key(score) ^ 0x80000000u;
      if (!seen) return;
      worst = wk_worse(worst, score);
      if (other > key[r]) key[r] = other;
    }, nothing);
    TS_UNROLL
    for (int r = 0; r < 2; r++) m[r] = ts_from_order_key((ts_i32)(wk_quad_largest(key[r]) ^ 0x80000000u));
    wk_two_sums sums;
    wk_two_begin(sums);
    visit(false, [&](float score, int r, int t, int e, ts_u32, bool seen) WK_INLINED {
      sums.s[r][t][e] = sums.s[r][t][e] + (seen ? wk_exp(score - m[r]) : 0.0f);
    }, nothing);
    TS_UNROLL
    for (int r = 0; r < 2; r++) {
      total[r] = wk_two_end(sums.s[r]);
      inverse[r] = 1.0f / total[r];
    }
    visit(false, [&](float score, int r, int, int, ts_u32 column, bool seen) WK_INLINED {
      const float y = wk_share(wk_exp(score - m[r]), total[r], inverse[r]) * v_scales[theirs + column];
      if (seen) magnitude[r] = wk_worse(magnitude[r], y);
    }, nothing);
    TS_UNROLL
    for (int r = 0; r < 2; r++) {
      const ts_u64 at = mine + WK_GROUP_ROW + 8 * r;
      const float s = ts_scale(wk_quad_largest(magnitude[r]));
      worst = wk_worse(wk_worse(worst, s), total[r]);
      if (WK_GROUP_LANE == 0) maxima[at] = m[r], totals[at] = total[r], scales[at] = s;
    }
    wk_report(fault, worst);
    return;
  }
  float rounded[2], by_scale[2];
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    const ts_u64 at = mine + WK_GROUP_ROW + 8 * r;
    m[r] = maxima[at], total[r] = totals[at], rounded[r] = scales[at];
    inverse[r] = 1.0f / total[r];
    by_scale[r] = 1.0f / rounded[r];
  }
  ts_i32 made[D / 8][4] = {}, bytes[4][4];
  visit(true, [&](float score, int r, int t, int e, ts_u32 column, bool seen) WK_INLINED {
    const float y = wk_share(wk_exp(score - m[r]), total[r], inverse[r]) * v_scales[theirs + column];
    bytes[t][2 * r + e] = seen ? wk_byte_nearest(y * by_scale[r]) : 0;
  }, [&](ts_u32, ts_u32 half) WK_INLINED { wk_add_turned<D>(made, bytes, values + half); });
  wk_store_joined<D>(fault, made, rounded, out, batch, heads, tokens, row);
}

#define WK_ATTEND(name, D, FIRST, BLOCKS)                                                                             \
  TS_BOUNDS(128, BLOCKS)                                                                                              \
  WK(name##D)(                                                                                                        \
      ts_u32 *fault, const ts_i8 *q, const ts_i8 *k, const ts_i8 *turned_v, const float *q_scales,                    \
      const float *k_scales, const float *v_scales, float *out, float *maxima, float *totals, float *scales,          \
      ts_u32 tokens, ts_u32 heads, ts_u32 shared_by, float factor) {                                                  \
    wk_attend<D, FIRST>(                                                                                              \
        fault, q, k, turned_v, q_scales, k_scales, v_scales, out, maxima, totals, scales, tokens, heads, shared_by,   \
        factor);                                                                                                      \
  }
WK_ATTEND(attendScales, 64, true, 6)
WK_ATTEND(attendScales, 128, true, 5)
WK_ATTEND(attend, 64, false, 4)
WK_ATTEND(attend, 128, false, 3)

/* What both ways back share: tensors of rows by D, scales and statistics of rows, all of one head after the other. */
struct wk_back {
  const ts_i8 *q, *k, *v, *dy;
  const float *q_scales, *k_scales, *v_scales, *dy_scales, *maxima, *totals;
  float *dots, *scales;
  ts_u32 tokens, heads;
  float factor;
};

/* Gradients of queries: rows are queries, columns keys. First the sums of p * dp and scales, then products. */
template <int D, bool FIRST>
static TS_INLINE void wk_attend_back_rows(ts_u32 *fault, wk_back of, const ts_i8 *turned_k, float *out, ts_draw draw) {
  __shared__ __attribute__((aligned(16))) ts_u8 keys[WK_TILE_BYTES(D)], values[WK_TILE_BYTES(D)], turned[WK_TURNED_BYTES(D)];
  const ts_u32 tokens = of.tokens;
  WK_HEAD_HERE(true)
  const ts_u64 first = (ts_u64)batch * tokens, mine = first + row;
  const wk_sixteen<D> x = wk_load_sixteen<D>(of.q + mine * D), d = wk_load_sixteen<D>(of.dy + mine * D);
  float q_scale[2], dy_scale[2], m[2], total[2], part[2], dot[2] = {0.0f, 0.0f};
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    const ts_u64 at = mine + WK_GROUP_ROW + 8 * r;
    q_scale[r] = of.q_scales[at], dy_scale[r] = of.dy_scales[at], m[r] = of.maxima[at], total[r] = of.totals[at];
    part[r] = 1.0f / total[r];
  }
  auto visit = [&](bool with_turned, auto each, auto after) WK_INLINED {
    for (ts_u32 from = 0; from < start + WK_HEAD_ROWS; from += WK_HEAD_ROWS) {
      TS_BARRIER();
      wk_stage_rows<D>(of.k + (first + from) * D, keys);
      wk_stage_rows<D>(of.v + (first + from) * D, values);
      if (with_turned) wk_stage_turned<D>(turned_k + (first * D + from), tokens, turned);
      TS_BARRIER();
      TS_UNROLL
      for (ts_u32 half = 0; half < 64; half += 32) {
        ts_i32 c[4][4], g[4][4];
        wk_group_product<D>(x, keys + half * (D + 16), c);
        wk_group_product<D>(d, values + half * (D + 16), g);
        TS_UNROLL
        for (int t = 0; t < 4; t++) {
          const ts_u32 column = from + half + 8 * t + 2 * WK_GROUP_LANE;
          const ts_float2 by = wk_pair(of.k_scales + first, column), by_v = wk_pair(of.v_scales + first, column);
          TS_UNROLL
          for (int e = 0; e < 4; e++) {
            const int r = e / 2;
            const float score = wk_dequantised(c[t][e], q_scale[r], by[e % 2]) * of.factor;
            const float dp = wk_dequantised(g[t][e], dy_scale[r], by_v[e % 2]);
            const float p = wk_share(wk_exp(score - m[r]), total[r], part[r]);
            each(p, dp, r, t, e % 2, by[e % 2], column + e % 2 <= row + WK_GROUP_ROW + 8 * r);
          }
        }
        after(from + half, half);
      }
    }
  };
  auto nothing = [](ts_u32, ts_u32) {};
  if (FIRST) {
    ts_u32 worst = 0, magnitude[2] = {0, 0};
    wk_two_sums sums;
    wk_two_begin(sums);
    visit(false, [&](float p, float dp, int r, int t, int e, float, bool seen) WK_INLINED {
      if (seen) worst = wk_worse(worst, dp);
      sums.s[r][t][e] = sums.s[r][t][e] + (seen ? p * dp : 0.0f);
    }, nothing);
    TS_UNROLL
    for (int r = 0; r < 2; r++) dot[r] = wk_two_end(sums.s[r]);
    visit(false, [&](float p, float dp, int r, int, int, float by, bool seen) WK_INLINED {
      const float ds = (p * (dp - dot[r])) * of.factor;
      if (!seen) return;
      worst = wk_worse(worst, ds);
      magnitude[r] = wk_worse(magnitude[r], ds * by);
    }, nothing);
    TS_UNROLL
    for (int r = 0; r < 2; r++) {
      const ts_u64 at = mine + WK_GROUP_ROW + 8 * r;
      const float s = ts_scale(wk_quad_largest(magnitude[r]));
      worst = wk_worse(worst, s);
      if (WK_GROUP_LANE == 0) of.dots[at] = dot[r], of.scales[at] = s;
    }
    wk_report(fault, worst);
    return;
  }
  float rounded[2], inverse[2];
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    const ts_u64 at = mine + WK_GROUP_ROW + 8 * r;
    dot[r] = of.dots[at], rounded[r] = of.scales[at];
    inverse[r] = 1.0f / rounded[r];
  }
  const ts_u64 block[2] = {(mine + WK_GROUP_ROW) * (tokens / 8), (mine + WK_GROUP_ROW + 8) * (tokens / 8)};
  ts_i32 made[D / 8][4] = {};
  float scaled[4][4];
  visit(true, [&](float p, float dp, int r, int t, int e, float by, bool seen) WK_INLINED {
    const float ds = (p * (dp - dot[r])) * of.factor;
    scaled[t][2 * r + e] = seen ? (ds * by) * inverse[r] : 0.0f;
  }, [&](ts_u32 from, ts_u32 half) WK_INLINED {
    ts_i32 bytes[4][4];
    const ts_u64 here[2] = {block[0] + from / 8, block[1] + from / 8};
    wk_round_group(draw, here, scaled, bytes);
    wk_add_turned<D>(made, bytes, turned + half);
  });
  wk_store_joined<D>(fault, made, rounded, out, batch, of.heads, tokens, row);
}

/* Gradients of keys and values: rows are keys, columns queries. */
template <int D, bool FIRST>
static TS_INLINE void wk_attend_back_columns(
    ts_u32 *fault, wk_back of, const ts_i8 *turned_q, const ts_i8 *turned_dy, float *out_k, float *out_v, ts_draw draw_k,
    ts_draw draw_v) {
  __shared__ __attribute__((aligned(16))) ts_u8 staged[2 * WK_TILE_BYTES(D)], turned[2 * WK_TURNED_BYTES(D)];
  const ts_u32 tokens = of.tokens;
  WK_HEAD_HERE(false)
  const ts_u64 first = (ts_u64)batch * tokens, mine = first + row;
  const wk_sixteen<D> x = wk_load_sixteen<D>(of.k + mine * D), y = wk_load_sixteen<D>(of.v + mine * D);
  float k_scale[2], v_scale[2];
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    k_scale[r] = of.k_scales[mine + WK_GROUP_ROW + 8 * r];
    v_scale[r] = of.v_scales[mine + WK_GROUP_ROW + 8 * r];
  }
  auto visit = [&](bool with_turned, auto each, auto after) WK_INLINED {
    for (ts_u32 from = start; from < tokens; from += WK_HEAD_ROWS) {
      TS_BARRIER();
      wk_stage_rows<D>(of.q + (first + from) * D, staged);
      wk_stage_rows<D>(of.dy + (first + from) * D, staged + WK_TILE_BYTES(D));
      if (with_turned) {
        wk_stage_turned<D>(turned_q + (first * D + from), tokens, turned);
        wk_stage_turned<D>(turned_dy + (first * D + from), tokens, turned + WK_TURNED_BYTES(D));
      }
      TS_BARRIER();
      _Pragma("unroll 1")
      for (ts_u32 half = 0; half < 64; half += 32) {
        ts_i32 c[4][4], g[4][4];
        wk_group_product<D>(x, staged + half * (D + 16), c);
        wk_group_product<D>(y, staged + WK_TILE_BYTES(D) + half * (D + 16), g);
        TS_UNROLL
        for (int t = 0; t < 4; t++) {
          const ts_u32 column = from + half + 8 * t + 2 * WK_GROUP_LANE;
          const ts_u64 at = first + column;
          const ts_float2 by = wk_pair(of.q_scales, at), by_dy = wk_pair(of.dy_scales, at);
          const ts_float2 m = wk_pair(of.maxima, at), total = wk_pair(of.totals, at), dot = wk_pair(of.dots, at);
          const ts_float2 part = {1.0f / total.x, 1.0f / total.y};
          TS_UNROLL
          for (int e = 0; e < 4; e++) {
            const int r = e / 2, o = e % 2;
            const float score = wk_dequantised(c[t][e], by[o], k_scale[r]) * of.factor;
            const float dp = wk_dequantised(g[t][e], by_dy[o], v_scale[r]);
            const float p = wk_share(wk_exp(score - m[o]), total[o], part[o]);
            const bool seen = row + WK_GROUP_ROW + 8 * r <= column + o;
            const float ds = (p * (dp - dot[o])) * of.factor;
            each(seen ? ds * by[o] : 0.0f, seen ? p * by_dy[o] : 0.0f, r, t, o);
          }
        }
        after(from + half, half);
      }
    }
  };
  float *const scales_k = of.scales, *const scales_v = of.scales + (ts_u64)batches * tokens;
  if (FIRST) {
    ts_u32 largest_k[2] = {0, 0}, largest_v[2] = {0, 0}, worst = 0;
    visit(false, [&](float ds, float p, int r, int, int) WK_INLINED {
      largest_k[r] = wk_worse(largest_k[r], ds);
      largest_v[r] = wk_worse(largest_v[r], p);
    }, [](ts_u32, ts_u32) {});
    TS_UNROLL
    for (int r = 0; r < 2; r++) {
      const ts_u64 at = mine + WK_GROUP_ROW + 8 * r;
      const float of_k = ts_scale(wk_quad_largest(largest_k[r])), of_v = ts_scale(wk_quad_largest(largest_v[r]));
      worst = wk_worse(wk_worse(worst, of_k), of_v);
      if (WK_GROUP_LANE == 0) scales_k[at] = of_k, scales_v[at] = of_v;
    }
    wk_report(fault, worst);
    return;
  }
  float rounded_k[2], rounded_v[2], inverse_k[2], inverse_v[2];
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    rounded_k[r] = scales_k[mine + WK_GROUP_ROW + 8 * r];
    rounded_v[r] = scales_v[mine + WK_GROUP_ROW + 8 * r];
    inverse_k[r] = 1.0f / rounded_k[r];
    inverse_v[r] = 1.0f / rounded_v[r];
  }
  const ts_u64 block[2] = {(mine + WK_GROUP_ROW) * (tokens / 8), (mine + WK_GROUP_ROW + 8) * (tokens / 8)};
  ts_i32 made_k[D / 8][4] = {}, made_v[D / 8][4] = {};
  float scaled_k[4][4], scaled_v[4][4];
  visit(true, [&](float ds, float p, int r, int t, int e) WK_INLINED {
    scaled_k[t][2 * r + e] = ds * inverse_k[r];
    scaled_v[t][2 * r + e] = p * inverse_v[r];
  }, [&](ts_u32 from, ts_u32 half) WK_INLINED {
    ts_i32 bytes[4][4];
    const ts_u64 here[2] = {block[0] + from / 8, block[1] + from / 8};
    wk_round_group(draw_k, here, scaled_k, bytes);
    wk_add_turned<D>(made_k, bytes, turned + half);
    wk_round_group(draw_v, here, scaled_v, bytes);
    wk_add_turned<D>(made_v, bytes, turned + WK_TURNED_BYTES(D) + half);
  });
  wk_store_joined<D>(fault, made_k, rounded_k, out_k, batch, of.heads, tokens, row);
  wk_store_joined<D>(fault, made_v, rounded_v, out_v, batch, of.heads, tokens, row);
}

#define WK_BACK_ARGUMENTS                                                                                             \
  ts_u32 *fault, const ts_i8 *q, const ts_i8 *k, const ts_i8 *v, const ts_i8 *dy, const float *q_scales,              \
      const float *k_scales, const float *v_scales, const float *dy_scales, const float *maxima, const float *totals, \
      float *dots, float *scales, ts_u32 tokens, ts_u32 heads, float factor, ts_u32 key0, ts_u32 key1,                \
      ts_u32 transition
#define WK_BACK                                                                                                       \
  { q, k, v, dy, q_scales, k_scales, v_scales, dy_scales, maxima, totals, dots, scales, tokens, heads, factor }
#define WK_BACK_ROWS(name, D, FIRST, BLOCKS)                                                                          \
  TS_BOUNDS(128, BLOCKS)                                                                                              \
  WK(name##D)(WK_BACK_ARGUMENTS, const ts_i8 *turned_k, float *out, ts_u32 tensor) {                                  \
    wk_attend_back_rows<D, FIRST>(fault, WK_BACK, turned_k, out, {key0, key1, tensor, transition});                   \
  }
#define WK_BACK_COLUMNS(name, D, FIRST, BLOCKS)                                                                       \
  TS_BOUNDS(128, BLOCKS)                                                                                              \
  WK(name##D)(                                                                                                        \
      WK_BACK_ARGUMENTS, const ts_i8 *turned_q, const ts_i8 *turned_dy, float *out_k, float *out_v, ts_u32 tensor_k,  \
      ts_u32 tensor_v) {                                                                                              \
    wk_attend_back_columns<D, FIRST>(                                                                                 \
        fault, WK_BACK, turned_q, turned_dy, out_k, out_v, {key0, key1, tensor_k, transition},                        \
        {key0, key1, tensor_v, transition});                                                                          \
  }
WK_BACK_ROWS(attendBackRowScales, 64, true, 4)
WK_BACK_ROWS(attendBackRowScales, 128, true, 4)
WK_BACK_ROWS(attendBackRows, 64, false, 3)
WK_BACK_ROWS(attendBackRows, 128, false, 2)
WK_BACK_COLUMNS(attendBackColumnScales, 64, true, 4)
WK_BACK_COLUMNS(attendBackColumnScales, 128, true, 3)
WK_BACK_COLUMNS(attendBackColumns, 64, false, 3)
WK_BACK_COLUMNS(attendBackColumns, 128, false, 2)

#endif
