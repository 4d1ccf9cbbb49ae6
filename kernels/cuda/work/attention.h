/*
 * Causal attention there and back without scores in memory: the bits of the steps that it stands for. A block of 128 has 64
 * rows of one head, a warp 16 of them; columns come in tiles of 64, which are the pieces of the second product (W2.1.4). A
 * lane has 2 rows by 16 columns of a tile: columns 8t + 2l and the next, which are 8 of the 32 partial sums of W2.5, so that
 * rows are of up to 4,096.
 */
#ifndef TS_CUDA_WORK_ATTENTION_H
#define TS_CUDA_WORK_ATTENTION_H
#include "copies.h"
#include "eights.h"
#include "multiply.h"

#define WK_INLINED __attribute__((always_inline))
#define WK_HEAD_ROWS 64
#define WK_GROUP_LANE (WK_LANE % 4)
#define WK_GROUP_ROW (WK_LANE / 4)
/* Bytes from a row to the next in shared memory: eight rows meet in no bank. */
#define WK_HEAD_APART(D) ((D) + 16)
#define WK_TILE_BYTES(D) (WK_HEAD_ROWS * WK_HEAD_APART(D))
/* Numbers of 64 columns. */
#define WK_NUMBERS_BYTES (4 * WK_HEAD_ROWS)

typedef float ts_float2 __attribute__((ext_vector_type(2)));

extern __shared__ __attribute__((aligned(16))) ts_u8 wk_dynamic[];

static TS_INLINE void wk_copy_wait_all_but_last() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }

static TS_INLINE void wk_load_matrices(ts_u32 x[4], ts_u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(at)
               : "memory");
}
static TS_INLINE void wk_load_turned(ts_u32 x[4], ts_u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(at)
               : "memory");
}

/* 64 rows of D bytes that lie one after the other. */
template <int D> static TS_INLINE void wk_stage_rows(const ts_i8 *from, ts_u32 to) {
  TS_UNROLL
  for (ts_u32 i = 0; i < WK_HEAD_ROWS * D / 16; i += 128) {
    const ts_u32 at = i + TS_THREAD;
    wk_copy_sixteen(to + at / (D / 16) * WK_HEAD_APART(D) + at % (D / 16) * 16, from + 16 * at);
  }
}
/* `count` vectors of 64 numbers. */
template <int N> static TS_INLINE void wk_stage_numbers(const float *const (&from)[N], ts_u64 first, ts_u32 to) {
  TS_UNROLL
  for (ts_u32 n = 0; n < N; n++)
    if (TS_THREAD / 16 == n) wk_copy_sixteen(to + n * WK_NUMBERS_BYTES + TS_THREAD % 16 * 16, from[n] + first + TS_THREAD % 16 * 4);
}

/*
 * A sum of up to 128 products of bytes is below 2^22: begun with the bits of 1.5 * 2^23, it is the low bits of a float that
 * large.
 */
#define WK_SUM_BEGIN 0x4b400000
static TS_INLINE float wk_sum_float(ts_i32 sum) { return ts_float_of((ts_u32)sum) - 0x1.8p23f; }
static TS_INLINE void wk_multiply_first(ts_i32 c[4], const ts_u32 a[4], const ts_u32 b[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(WK_SUM_BEGIN));
}

/* A warp's 16 rows times the 64 of a tile; `rows` and `tile` are shared memory. */
template <int D> static TS_INLINE void wk_tile_product(ts_u32 rows, ts_u32 tile, ts_i32 c[8][4]) {
  const ts_u32 lane = WK_LANE;
  const ts_u32 mine = rows + (lane % 16) * WK_HEAD_APART(D) + lane / 16 * 16;
  const ts_u32 theirs = tile + lane % 8 * WK_HEAD_APART(D) + lane / 8 * 16;
  TS_UNROLL
  for (int k = 0; k < D / 64; k++) {
    ts_u32 a[2][4];
    wk_load_matrices(a[0], mine + 64 * k);
    wk_load_matrices(a[1], mine + 64 * k + 32);
    TS_UNROLL
    for (int t = 0; t < 8; t++) {
      ts_u32 b[4];
      wk_load_matrices(b, theirs + 8 * t * WK_HEAD_APART(D) + 64 * k);
      if (k == 0) wk_multiply_first(c[t], a[0], b);
      else wk_multiply(c[t], a[0], b);
      wk_multiply(c[t], a[1], b + 2);
    }
  }
}

/* Two rows by D results of a lane: four side by side in every 16. */
template <int D> struct wk_results {
  float y[D / 16][2][4];
};

/*
 * Adds 16 rows by 64 bytes, the low ones of `q` in the places of a product, times a tile of 64 rows of D, each row's sums
 * times its scale. Sums of integers do not mind the order: a lane's word has columns 2l, 2l + 1, 2l + 8 and 2l + 9.
 */
template <int D>
static TS_INLINE void wk_add_tile(wk_results<D> &to, const ts_u32 q[8][4], ts_u32 tile, const float scale[2]) {
  ts_u32 a[2][4];
  TS_UNROLL
  for (int i = 0; i < 8; i++) {
    const int t = 4 * (i / 4) + 2 * (i / 2 % 2), r = i % 2;
    const ts_u32 low = __byte_perm(q[t][2 * r], q[t][2 * r + 1], 0x0040);
    const ts_u32 high = __byte_perm(q[t + 1][2 * r], q[t + 1][2 * r + 1], 0x0040);
    a[i / 4][i % 4] = __byte_perm(low, high, 0x5410);
  }
  const ts_u32 theirs = tile + WK_LANE * WK_HEAD_APART(D);
  TS_UNROLL
  for (int n = 0; n < D / 16; n++) {
    ts_i32 c[2][4];
    TS_UNROLL
    for (int h = 0; h < 2; h++) {
      ts_u32 x[4];
      wk_load_turned(x, theirs + 32 * h * WK_HEAD_APART(D) + 16 * n);
      TS_UNROLL
      for (int odd = 0; odd < 2; odd++) {
        const ts_u32 pick = odd ? 0x7531 : 0x6420, b[2] = {__byte_perm(x[0], x[1], pick), __byte_perm(x[2], x[3], pick)};
        if (h == 0) wk_multiply_first(c[odd], a[h], b);
        else wk_multiply(c[odd], a[h], b);
      }
    }
    TS_UNROLL
    for (int i = 0; i < 8; i++) {
      const int r = i / 4, e = i % 4;
      to.y[n][r][e] = to.y[n][r][e] + wk_sum_float(c[e % 2][2 * r + e / 2]) * scale[r];
    }
  }
}

/* The partial sums of two rows: of columns 8t + 2l + e of every 32. */
struct wk_two_sums {
  float s[2][4][2];
};
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

/* As ts_max where b is a number: of a NaN and b, b. The second keeps a NaN. */
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
static TS_INLINE float wk_larger_magnitude(float worst, float x) {
  float out;
  asm("{.reg .f32 t; abs.f32 t, %2; max.NaN.f32 %0, %1, t;}" : "=f"(out) : "f"(worst), "f"(x));
  return out;
}
static TS_INLINE float wk_quad_largest(float x) {
  TS_UNROLL
  for (ts_u32 half = 2; half > 0; half /= 2) x = wk_larger_magnitude(x, wk_from_xor(x, half));
  return x;
}

/* ts_exp of what is at most 88. */
static TS_INLINE float wk_exp(float x) {
  const float y = ts_exp_within(wk_max(x, -87.0f));
  return x >= -87.0f ? y : 0.0f;
}

/* What belongs to the two rows of a lane. */
static TS_INLINE void wk_of_rows(const float *of, ts_u64 first, float to[2]) {
  TS_UNROLL
  for (int r = 0; r < 2; r++) to[r] = of[first + WK_GROUP_ROW + 8 * r];
}
static TS_INLINE ts_float2 wk_pair(const float *of, int t) { return *(const ts_float2 *)(of + 8 * t + 2 * WK_GROUP_LANE); }

/* Scales of a lane's two rows of a tile (W2.2.2). */
static TS_INLINE void wk_tile_scales(const float y[8][4], float scale[2], float &worst) {
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    float most = 0.0f;
    TS_UNROLL
    for (int i = 0; i < 16; i++) most = wk_larger_magnitude(most, y[i / 2][2 * r + i % 2]);
    scale[r] = ts_scale(ts_bits_of(wk_quad_largest(most)));
    worst = wk_larger_magnitude(worst, scale[r]);
  }
}

/* Bytes of ts_round_nearest: the low eight bits. What is no larger than the scale's 127 needs no clamp. */
static TS_INLINE void wk_tile_nearest(const float y[8][4], const float scale[2], ts_u32 q[8][4]) {
  const float inverse[2] = {1.0f / scale[0], 1.0f / scale[1]};
  TS_UNROLL
  for (int i = 0; i < 32; i++) q[i / 4][i % 4] = ts_bits_of(y[i / 4][i % 4] * inverse[i % 4 / 2] + 0x1.8p23f);
}

/*
 * Of ts_round_stochastic: v + (lane + 1/2) / 65536 is rounded once, for the product is exact; its sum with 1.5 * 2^23,
 * rounded down, ends in the floor.
 */
static TS_INLINE ts_u32 wk_byte_stochastic(float v, ts_u32 word, ts_u32 half) {
  const float lane = ts_float_of(__byte_perm(word, 0x00004b00u, half ? 0x5432 : 0x5410)) - 8388607.5f;
  const float w = wk_max(wk_min(__fmaf_rn(lane, 0x1.0p-16f, v), 127.5f), -127.0f);
  float floored;
  asm("add.rm.f32 %0, %1, 0f4B400000;" : "=f"(floored) : "f"(w));
  return ts_bits_of(floored);
}

/* `block` is that of the first column in each of the two rows. */
static TS_INLINE void wk_tile_stochastic(
    ts_draw draw, const ts_u64 block[2], const float y[8][4], const float scale[2], ts_u32 q[8][4]) {
  const ts_u32 l = WK_GROUP_LANE;
  const bool odd = l & 1, high = l & 2;
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    const float inverse = 1.0f / scale[r];
    TS_UNROLL
    for (int h = 0; h < 2; h++) {
      /* Lane l of four makes the words of columns 8l ... 8l + 7 of 32; each needs word l of all four: a turn of 4 by 4. */
      ts_u32 w[4];
      ts_draw_block(draw, block[r] + 4 * h + l, w);
      const ts_u32 near0 = ts_shuffle_word(odd ? w[0] : w[1], 1), near1 = ts_shuffle_word(odd ? w[2] : w[3], 1);
      const ts_u32 x[4] = {odd ? near0 : w[0], odd ? w[1] : near0, odd ? near1 : w[2], odd ? w[3] : near1};
      const ts_u32 far0 = ts_shuffle_word(high ? x[0] : x[2], 2), far1 = ts_shuffle_word(high ? x[1] : x[3], 2);
      const ts_u32 mine[4] = {high ? far0 : x[0], high ? far1 : x[1], high ? x[2] : far0, high ? x[3] : far1};
      TS_UNROLL
      for (int t = 0; t < 4; t++)
        TS_UNROLL
        for (int e = 0; e < 2; e++)
          q[4 * h + t][2 * r + e] = wk_byte_stochastic(y[4 * h + t][2 * r + e] * inverse, mine[t], e);
    }
  }
}

/* A lane's results, joined to rows of tokens: `heads` side by side. */
template <int D>
static TS_INLINE void wk_store_joined(
    ts_u32 *fault, const wk_results<D> &of, float *out, ts_u32 batch, ts_u32 heads, ts_u32 tokens, ts_u32 row,
    const float *divisors) {
  ts_u32 worst = 0;
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    float *to = out + ((ts_u64)(batch / heads) * tokens + row + WK_GROUP_ROW + 8 * r) * heads * D + batch % heads * D;
    TS_UNROLL
    for (int n = 0; n < D / 16; n++) {
      ts_float4 y;
      TS_UNROLL
      for (int e = 0; e < 4; e++) {
        worst = wk_worse(worst, of.y[n][r][e]);
        y[e] = divisors ? of.y[n][r][e] / divisors[r] : of.y[n][r][e];
        worst = wk_worse(worst, y[e]);
      }
      *(ts_float4 *)(to + 16 * n + 4 * WK_GROUP_LANE) = y;
    }
  }
  wk_report(fault, worst);
}

/* What a block is about: those of a causal head that take longest first. */
#define WK_HEAD_HERE(later)                                                                                           \
  const ts_u32 tiles = tokens / WK_HEAD_ROWS, batches = TS_BLOCKS / tiles, batch = TS_BLOCK % batches;                \
  const ts_u32 tile = (later) ? tiles - 1 - TS_BLOCK / batches : TS_BLOCK / batches;                                  \
  const ts_u32 start = tile * WK_HEAD_ROWS, row = start + 16 * WK_WARP;

/* Tiles first ... last - 1 through two places: load(tile, place) queues one, then each(tile, place) has it. */
template <class Load, class Each> static TS_INLINE void wk_each_tile(ts_u32 first, ts_u32 last, Load load, Each each) {
  load(first, 0);
  wk_copy_commit();
  for (ts_u32 i = first; i < last; i++) {
    const ts_u32 place = (i - first) & 1u;
    if (i + 1 < last) load(i + 1, place ^ 1u);
    wk_copy_commit();
    wk_copy_wait_all_but_last();
    TS_BARRIER();
    each(i, place);
    TS_BARRIER();
  }
}

/* Row r of a lane sees column 8t + 2l + e of the tile on the diagonal; of the turned one, the other way round. */
static TS_INLINE bool wk_on_diagonal(int t, int i) {
  return 8 * t + 2 * (int)WK_GROUP_LANE + i % 2 <= (int)(16 * WK_WARP + WK_GROUP_ROW) + i / 2 * 8;
}
static TS_INLINE bool wk_under_diagonal(int t, int i) {
  return 8 * t + 2 * (int)WK_GROUP_LANE + i % 2 >= (int)(16 * WK_WARP + WK_GROUP_ROW) + i / 2 * 8;
}

template <int D>
static TS_INLINE void wk_attend(
    ts_u32 *fault, const ts_i8 *q, const ts_i8 *k, const ts_i8 *v, const float *q_scales, const float *k_scales,
    const float *v_scales, float *out, float *maxima, float *totals, ts_u32 tokens, ts_u32 heads, ts_u32 shared_by) {
  const ts_u32 shared = wk_shared_address(wk_dynamic), staged = shared + WK_TILE_BYTES(D);
  const ts_u32 apart = 2 * WK_TILE_BYTES(D) + 2 * WK_NUMBERS_BYTES;
  WK_HEAD_HERE(true)
  const ts_u64 theirs = (ts_u64)(batch / shared_by) * tokens, mine = (ts_u64)batch * tokens + row;
  wk_stage_rows<D>(q + ((ts_u64)batch * tokens + start) * D, shared);
  const ts_u32 rows = shared + 16 * WK_WARP * WK_HEAD_APART(D);
  float scale[2], m[2] = {-__builtin_inff(), -__builtin_inff()}, worst = 0.0f;
  wk_of_rows(q_scales, mine, scale);
  auto numbers = [&](ts_u32 place, int n) WK_INLINED {
    return (const float *)(wk_dynamic + 3 * WK_TILE_BYTES(D) + place * apart + n * WK_NUMBERS_BYTES);
  };
  auto load = [&](ts_u32 i, ts_u32 place, bool with_values) WK_INLINED {
    const ts_u64 from = theirs + i * WK_HEAD_ROWS;
    wk_stage_rows<D>(k + from * D, staged + place * apart);
    if (with_values) wk_stage_rows<D>(v + from * D, staged + place * apart + WK_TILE_BYTES(D));
    wk_stage_numbers<2>({k_scales, v_scales}, from, staged + place * apart + 2 * WK_TILE_BYTES(D));
  };
  auto scores = [&](ts_u32 place, float x[8][4]) WK_INLINED {
    ts_i32 c[8][4];
    wk_tile_product<D>(rows, staged + place * apart, c);
    const float *by = numbers(place, 0);
    TS_UNROLL
    for (int t = 0; t < 8; t++) {
      const ts_float2 column = wk_pair(by, t);
      TS_UNROLL
      for (int e = 0; e < 4; e++) x[t][e] = (wk_sum_float(c[t][e]) * scale[e / 2]) * column[e % 2];
    }
  };
  wk_each_tile(
      0, tile + 1, [&](ts_u32 i, ts_u32 place) WK_INLINED { load(i, place, false); },
      [&](ts_u32 i, ts_u32 place) WK_INLINED {
        float x[8][4];
        scores(place, x);
        auto see = [&](int e) WK_INLINED {
          m[e % 4 / 2] = wk_max(m[e % 4 / 2], x[e / 4][e % 4]);
          worst = wk_larger_magnitude(worst, x[e / 4][e % 4]);
        };
        if (i < tile)
          TS_UNROLL
          for (int e = 0; e < 32; e++) see(e);
        else
          TS_UNROLL
          for (int e = 0; e < 32; e++)
            if (wk_on_diagonal(e / 4, e % 4)) see(e);
      });
  TS_UNROLL
  for (int r = 0; r < 2; r++)
    TS_UNROLL
    for (ts_u32 half = 2; half > 0; half /= 2) m[r] = wk_max(m[r], wk_from_xor(m[r], half));
  wk_two_sums sums = {};
  wk_results<D> made = {};
  wk_each_tile(
      0, tile + 1, [&](ts_u32 i, ts_u32 place) WK_INLINED { load(i, place, true); },
      [&](ts_u32 i, ts_u32 place) WK_INLINED {
        float x[8][4], by_scale[2];
        ts_u32 bytes[8][4];
        scores(place, x);
        TS_UNROLL
        for (int e = 0; e < 32; e++) x[e / 4][e % 4] = wk_exp(x[e / 4][e % 4] - m[e % 4 / 2]);
        if (i == tile)
          TS_UNROLL
          for (int e = 0; e < 32; e++)
            if (!wk_on_diagonal(e / 4, e % 4)) x[e / 4][e % 4] = 0.0f;
        const float *fold = numbers(place, 1);
        TS_UNROLL
        for (int t = 0; t < 8; t++) {
          const ts_float2 by = wk_pair(fold, t);
          TS_UNROLL
          for (int e = 0; e < 4; e++) {
            float &sum = sums.s[e / 2][t % 4][e % 2];
            sum = sum + x[t][e];
            x[t][e] = x[t][e] * by[e % 2];
          }
        }
        wk_tile_scales(x, by_scale, worst);
        wk_tile_nearest(x, by_scale, bytes);
        wk_add_tile<D>(made, bytes, staged + place * apart + WK_TILE_BYTES(D), by_scale);
      });
  float total[2];
  TS_UNROLL
  for (int r = 0; r < 2; r++) {
    const ts_u64 at = mine + WK_GROUP_ROW + 8 * r;
    total[r] = wk_two_end(sums.s[r]);
    if (WK_GROUP_LANE == 0) maxima[at] = m[r], totals[at] = total[r];
  }
  wk_report(fault, wk_worse(0, worst));
  wk_store_joined<D>(fault, made, out, batch, heads, tokens, row, total);
}

#define WK_ATTEND(D, BLOCKS)                                                                                          \
  TS_BOUNDS(128, BLOCKS)                                                                                              \
  WK(attend##D)(                                                                                                      \
      ts_u32 *fault, const ts_i8 *q, const ts_i8 *k, const ts_i8 *v, const float *q_scales, const float *k_scales,    \
      const float *v_scales, float *out, float *maxima, float *totals, ts_u32 tokens, ts_u32 heads,                   \
      ts_u32 shared_by) {                                                                                             \
    wk_attend<D>(                                                                                                     \
        fault, q, k, v, q_scales, k_scales, v_scales, out, maxima, totals, tokens, heads, shared_by);                 \
  }
WK_ATTEND(64, 4)
WK_ATTEND(128, 3)

/*
 * The way back begins with rows of tokens and heads: bytes by chance and scales of the gradient of what was attended to, its
 * dot with that, and what is folded into sums over queries. A warp has 256 numbers: whole rows.
 */
template <int D>
static TS_INLINE void wk_attend_back(
    ts_u32 *fault, const float *dy, const float *y, const float *q_scales, const float *totals, ts_i8 *out, float *scales,
    float *dots, float *folds_q, float *folds_dy, ts_u32 tokens, ts_u32 heads, ts_u32 rows, ts_draw draw) {
  const ts_u32 first = (TS_BLOCK * WK_WARPS + WK_WARP) * (256 / D);
  if (first >= rows) return;
  auto place = [=](ts_u32 row) WK_INLINED {
    const ts_u32 batch = row / tokens, token = row % tokens;
    return ((ts_u64)(batch / heads) * tokens + token) * heads * D + batch % heads * D;
  };
  ts_u32 worst = 0;
  float mine = 0.0f, dot = 0.0f;
  TS_UNROLL
  for (ts_u32 i = 0; i < 256 / D; i++) {
    const ts_u64 at = place(first + i) + WK_LANE;
    ts_u32 most = 0;
    float sum = 0.0f;
    TS_UNROLL
    for (ts_u32 n = 0; n < D; n += 32) {
      const float d = dy[at + n];
      most = wk_worse(most, d);
      sum = sum + d * y[at + n];
    }
    const float s = ts_scale(wk_warp_largest(most)), total = wk_halves(sum);
    worst = wk_worse(wk_worse(worst, s), total);
    if (WK_LANE / (D / 8) == i) mine = s, dot = total;
  }
  const ts_u32 row = first + WK_LANE / (D / 8), column = WK_LANE % (D / 8) * 8;
  wk_eight v = wk_load_eight(dy + place(row) + column, 0);
  const float inverse = 1.0f / mine;
  ts_i32 q[8];
  TS_UNROLL
  for (int n = 0; n < 8; n++) v.y[n] = v.y[n] * inverse;
  const ts_u64 at = (ts_u64)row * D + column;
  wk_round_eight(draw, at / 8, v.y, q);
  wk_store_eight(out + at, q);
  if (column == 0) {
    const float fold_q = q_scales[row] / totals[row], fold_dy = mine / totals[row];
    scales[row] = mine, dots[row] = dot, folds_q[row] = fold_q, folds_dy[row] = fold_dy;
    worst = wk_worse(wk_worse(worst, fold_q), fold_dy);
  }
  wk_report(fault, worst);
}
#define WK_ATTEND_BACK(D)                                                                                             \
  WK(attendBack##D)(                                                                                                  \
      ts_u32 *fault, const float *dy, const float *y, const float *q_scales, const float *totals, ts_i8 *out,         \
      float *scales, float *dots, float *folds_q, float *folds_dy, ts_u32 tokens, ts_u32 heads, ts_u32 rows,          \
      ts_u32 key0, ts_u32 key1, ts_u32 tensor, ts_u32 transition) {                                                   \
    wk_attend_back<D>(                                                                                                \
        fault, dy, y, q_scales, totals, out, scales, dots, folds_q, folds_dy, tokens, heads, rows,                    \
        {key0, key1, tensor, transition});                                                                            \
  }
WK_ATTEND_BACK(64)
WK_ATTEND_BACK(128)

/* What both ways back share: tensors of rows by D, scales and statistics of rows, all of one head after the other. */
struct wk_back {
  const ts_i8 *q, *k, *v, *dy;
  const float *q_scales, *k_scales, *v_scales, *dy_scales, *maxima, *totals, *dots;
  ts_u32 tokens, heads;
};

/* 64 rows of each of two tensors, one after the other; where those of this warp will lie. */
template <int D> static TS_INLINE ts_u32 wk_stage_own(const ts_i8 *a, const ts_i8 *b, ts_u64 row, ts_u32 shared) {
  wk_stage_rows<D>(a + row * D, shared);
  wk_stage_rows<D>(b + row * D, shared + WK_TILE_BYTES(D));
  return shared + 16 * WK_WARP * WK_HEAD_APART(D);
}

/* The first block of chance of the first or second row of a lane. */
static TS_INLINE ts_u64 wk_draw_block(ts_u64 first, ts_u32 r, ts_u32 tokens) {
  return (first + WK_GROUP_ROW + 8 * r) * (tokens / 8);
}

/* Gradients of queries: rows are queries, columns keys. */
template <int D>
static TS_INLINE void wk_attend_back_rows(ts_u32 *fault, wk_back of, const float *folds, float *out, ts_draw draw) {
  const ts_u32 shared = wk_shared_address(wk_dynamic), staged = shared + 2 * WK_TILE_BYTES(D);
  const ts_u32 apart = 2 * WK_TILE_BYTES(D) + 3 * WK_NUMBERS_BYTES, tokens = of.tokens;
  WK_HEAD_HERE(true)
  const ts_u64 first = (ts_u64)batch * tokens, mine = first + row;
  const ts_u32 rows = wk_stage_own<D>(of.q, of.dy, first + start, shared);
  float q_scale[2], dy_scale[2], m[2], dot[2], worst = 0.0f;
  wk_of_rows(of.q_scales, mine, q_scale);
  wk_of_rows(of.dy_scales, mine, dy_scale);
  wk_of_rows(of.maxima, mine, m);
  wk_of_rows(of.dots, mine, dot);
  const ts_u64 block[2] = {wk_draw_block(mine, 0, tokens), wk_draw_block(mine, 1, tokens)};
  wk_results<D> made = {};
  wk_each_tile(
      0, tile + 1,
      [&](ts_u32 i, ts_u32 place) WK_INLINED {
        const ts_u64 from = first + i * WK_HEAD_ROWS;
        const ts_u32 to = staged + place * apart;
        wk_stage_rows<D>(of.k + from * D, to);
        wk_stage_rows<D>(of.v + from * D, to + WK_TILE_BYTES(D));
        wk_stage_numbers<3>({of.k_scales, of.v_scales, folds}, from, to + 2 * WK_TILE_BYTES(D));
      },
      [&](ts_u32 i, ts_u32 place) WK_INLINED {
        const ts_u32 at = staged + place * apart;
        const float *numbers = (const float *)(wk_dynamic + 4 * WK_TILE_BYTES(D) + place * apart);
        ts_i32 c[8][4], g[8][4];
        float e[8][4], d[8][4], scale[2];
        wk_tile_product<D>(rows, at, c);
        wk_tile_product<D>(rows + WK_TILE_BYTES(D), at + WK_TILE_BYTES(D), g);
        TS_UNROLL
        for (int t = 0; t < 8; t++) {
          const ts_float2 by_k = wk_pair(numbers, t), by_v = wk_pair(numbers + WK_HEAD_ROWS, t);
          TS_UNROLL
          for (int n = 0; n < 4; n++) {
            const int r = n / 2;
            e[t][n] = wk_exp((wk_sum_float(c[t][n]) * q_scale[r]) * by_k[n % 2] - m[r]);
            d[t][n] = (wk_sum_float(g[t][n]) * dy_scale[r]) * by_v[n % 2];
          }
        }
        if (i == tile)
          TS_UNROLL
          for (int n = 0; n < 32; n++)
            if (!wk_on_diagonal(n / 4, n % 4)) e[n / 4][n % 4] = d[n / 4][n % 4] = 0.0f;
        TS_UNROLL
        for (int t = 0; t < 8; t++) {
          const ts_float2 fold = wk_pair(numbers + 2 * WK_HEAD_ROWS, t);
          TS_UNROLL
          for (int n = 0; n < 4; n++) {
            worst = wk_larger_magnitude(worst, d[t][n]);
            e[t][n] = (e[t][n] * (d[t][n] - dot[n / 2])) * fold[n % 2];
          }
        }
        wk_tile_scales(e, scale, worst);
        ts_u32 bytes[8][4];
        const ts_u64 here[2] = {block[0] + i * (WK_HEAD_ROWS / 8), block[1] + i * (WK_HEAD_ROWS / 8)};
        wk_tile_stochastic(draw, here, e, scale, bytes);
        wk_add_tile<D>(made, bytes, at, scale);
      });
  wk_report(fault, wk_worse(0, worst));
  float total[2];
  wk_of_rows(of.totals, mine, total);
  wk_store_joined<D>(fault, made, out, batch, of.heads, tokens, row, total);
}

/* Gradients of keys and values: rows are keys, columns queries. */
template <int D>
static TS_INLINE void wk_attend_back_columns(
    ts_u32 *fault, wk_back of, const float *folds_q, const float *folds_dy, float *out_k, float *out_v, ts_draw draw_k,
    ts_draw draw_v) {
  const ts_u32 shared = wk_shared_address(wk_dynamic), staged = shared + 2 * WK_TILE_BYTES(D);
  const ts_u32 apart = 2 * WK_TILE_BYTES(D) + 6 * WK_NUMBERS_BYTES, tokens = of.tokens;
  WK_HEAD_HERE(false)
  const ts_u64 first = (ts_u64)batch * tokens, mine = first + row;
  const ts_u32 rows = wk_stage_own<D>(of.k, of.v, first + start, shared);
  float k_scale[2], v_scale[2], worst = 0.0f;
  wk_of_rows(of.k_scales, mine, k_scale);
  wk_of_rows(of.v_scales, mine, v_scale);
  const ts_u64 block[2] = {wk_draw_block(mine, 0, tokens), wk_draw_block(mine, 1, tokens)};
  wk_results<D> made_k = {}, made_v = {};
  wk_each_tile(
      tile, tiles,
      [&](ts_u32 i, ts_u32 place) WK_INLINED {
        const ts_u64 from = first + i * WK_HEAD_ROWS;
        const ts_u32 to = staged + place * apart;
        wk_stage_rows<D>(of.q + from * D, to);
        wk_stage_rows<D>(of.dy + from * D, to + WK_TILE_BYTES(D));
        wk_stage_numbers<6>(
            {of.q_scales, of.maxima, of.dy_scales, of.dots, folds_q, folds_dy}, from, to + 2 * WK_TILE_BYTES(D));
      },
      [&](ts_u32 i, ts_u32 place) WK_INLINED {
        const ts_u32 at = staged + place * apart;
        const float *numbers = (const float *)(wk_dynamic + 4 * WK_TILE_BYTES(D) + place * apart);
        float e[8][4], d[8][4], scale[2];
        {
          ts_i32 c[8][4];
          wk_tile_product<D>(rows, at, c);
          TS_UNROLL
          for (int t = 0; t < 8; t++) {
            const ts_float2 by = wk_pair(numbers, t), m = wk_pair(numbers + WK_HEAD_ROWS, t);
            TS_UNROLL
            for (int n = 0; n < 4; n++)
              e[t][n] = wk_exp((wk_sum_float(c[t][n]) * by[n % 2]) * k_scale[n / 2] - m[n % 2]);
          }
          wk_tile_product<D>(rows + WK_TILE_BYTES(D), at + WK_TILE_BYTES(D), c);
          TS_UNROLL
          for (int t = 0; t < 8; t++) {
            const ts_float2 by = wk_pair(numbers + 2 * WK_HEAD_ROWS, t), dot = wk_pair(numbers + 3 * WK_HEAD_ROWS, t);
            TS_UNROLL
            for (int n = 0; n < 4; n++)
              d[t][n] = (wk_sum_float(c[t][n]) * by[n % 2]) * v_scale[n / 2] - dot[n % 2];
          }
        }
        if (i == tile)
          TS_UNROLL
          for (int n = 0; n < 32; n++)
            if (!wk_under_diagonal(n / 4, n % 4)) e[n / 4][n % 4] = d[n / 4][n % 4] = 0.0f;
        TS_UNROLL
        for (int t = 0; t < 8; t++) {
          const ts_float2 fold_k = wk_pair(numbers + 4 * WK_HEAD_ROWS, t), fold_v = wk_pair(numbers + 5 * WK_HEAD_ROWS, t);
          TS_UNROLL
          for (int n = 0; n < 4; n++) {
            d[t][n] = (e[t][n] * d[t][n]) * fold_k[n % 2];
            e[t][n] = e[t][n] * fold_v[n % 2];
          }
        }
        const ts_u64 here[2] = {block[0] + i * (WK_HEAD_ROWS / 8), block[1] + i * (WK_HEAD_ROWS / 8)};
        ts_u32 bytes[8][4];
        wk_tile_scales(d, scale, worst);
        wk_tile_stochastic(draw_k, here, d, scale, bytes);
        wk_add_tile<D>(made_k, bytes, at, scale);
        wk_tile_scales(e, scale, worst);
        wk_tile_stochastic(draw_v, here, e, scale, bytes);
        wk_add_tile<D>(made_v, bytes, at + WK_TILE_BYTES(D), scale);
      });
  wk_report(fault, wk_worse(0, worst));
  wk_store_joined<D>(fault, made_k, out_k, batch, of.heads, tokens, row, 0);
  wk_store_joined<D>(fault, made_v, out_v, batch, of.heads, tokens, row, 0);
}

#define WK_BACK_ARGUMENTS                                                                                             \
  ts_u32 *fault, const ts_i8 *q, const ts_i8 *k, const ts_i8 *v, const ts_i8 *dy, const float *q_scales,              \
      const float *k_scales, const float *v_scales, const float *dy_scales, const float *maxima, const float *totals, \
      const float *dots, ts_u32 tokens, ts_u32 heads, ts_u32 key0, ts_u32 key1, ts_u32 transition
#define WK_BACK {q, k, v, dy, q_scales, k_scales, v_scales, dy_scales, maxima, totals, dots, tokens, heads}
#define WK_BACK_ROWS(D, BLOCKS)                                                                                       \
  TS_BOUNDS(128, BLOCKS)                                                                                              \
  WK(attendBackRows##D)(WK_BACK_ARGUMENTS, const float *folds, float *out, ts_u32 tensor) {                           \
    wk_attend_back_rows<D>(fault, WK_BACK, folds, out, {key0, key1, tensor, transition});                             \
  }
#define WK_BACK_COLUMNS(D, BLOCKS)                                                                                    \
  TS_BOUNDS(128, BLOCKS)                                                                                              \
  WK(attendBackColumns##D)(                                                                                           \
      WK_BACK_ARGUMENTS, const float *folds_q, const float *folds_dy, float *out_k, float *out_v, ts_u32 tensor_k,    \
      ts_u32 tensor_v) {                                                                                              \
    wk_attend_back_columns<D>(                                                                                        \
        fault, WK_BACK, folds_q, folds_dy, out_k, out_v, {key0, key1, tensor_k, transition},                          \
        {key0, key1, tensor_v, transition});                                                                          \
  }
WK_BACK_ROWS(64, 3)
WK_BACK_ROWS(128, 3)
WK_BACK_COLUMNS(64, 3)
WK_BACK_COLUMNS(128, 2)

#endif
