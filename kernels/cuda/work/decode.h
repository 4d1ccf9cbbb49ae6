/*
 * One token at a time: products of few rows, bound by how fast weights are read, and attention over a cache. Every weight
 * is read once; the bits are those of the steps that a kernel stands for.
 */
#ifndef TS_CUDA_WORK_DECODE_H
#define TS_CUDA_WORK_DECODE_H
#include "base.h"
#include "../../common/work/functions64.h"

/* Rows of so many bytes in all are quantised into shared memory; rows under a norm have so many numbers. */
#define WK_ROW_BYTES 14336
#define WK_ROW_FLOATS 8192
#define WK_FEW 4

static TS_INLINE ts_i32 wk_dot4(ts_u32 a, ts_u32 b, ts_i32 c) {
  asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
  return c;
}
static TS_INLINE ts_i32 wk_dot16(ts_vec4 a, ts_vec4 b, ts_i32 c) {
  TS_UNROLL
  for (int i = 0; i < 4; i++) c = wk_dot4(a[i], b[i], c);
  return c;
}
static TS_INLINE ts_i32 wk_warp_sum(ts_i32 x) {
  TS_UNROLL
  for (ts_u32 half = 16; half > 0; half /= 2) x += (ts_i32)ts_shuffle_word((ts_u32)x, half);
  return x;
}
/* The largest word of a block; all threads get it. */
static TS_INLINE ts_u32 wk_block_largest(ts_u32 x) {
  wk_row here;
  here.wide = true;
  return wk_largest(here, x);
}

/* A matrix by its outputs, and what becomes of what it makes. */
struct wk_matrix {
  const ts_i8 *weight;
  const float *scales, *bias;
};

#define WK_THEN_NOTHING 0u
#define WK_THEN_ADD 1u
#define WK_THEN_GELU 2u
#define WK_THEN_SILU 3u

/* What belongs to one output of it, read before the sum is there. */
struct wk_output {
  float scale, bias;
};
static TS_INLINE wk_output wk_output_of(wk_matrix m, ts_u32 j) {
  return {m.scales[j], m.bias ? m.bias[j] : 0.0f};
}

static TS_INLINE float wk_made(ts_u32 *worst, ts_i32 sum, float row, wk_output of, bool has_bias) {
  float y = ts_dequantise(sum, row, of.scale, 1.0f);
  if (has_bias) {
    *worst = wk_worse(*worst, y);
    y = y + of.bias;
  }
  *worst = wk_worse(*worst, y);
  return y;
}

/* Rows of x as bytes in shared memory, under a norm where there is a gain; and their scales. */
static TS_INLINE void wk_quantise_few(
    ts_u32 *fault, const float *x, const float *gain, const float *shift, float epsilon, ts_u32 rows, ts_u32 k,
    ts_i8 *bytes, float *scales) {
  __shared__ float staged[WK_ROW_FLOATS], statistics[2];
  for (ts_u32 r = 0; r < rows; r++) {
    const float *in = x + (ts_u64)r * k;
    float m = 0.0f, inverse = 1.0f;
    ts_u32 worst = 0, unsound = 0;
    if (gain) {
      for (ts_u32 i = TS_THREAD; i < k / 4; i += TS_THREADS) ((ts_float4 *)staged)[i] = ((const ts_float4 *)in)[i];
      TS_BARRIER();
      if (WK_WARP == 0) {
        const float n = (float)k;
        /* Over 4,096 in pieces (W2.5.3): there are two at most. */
        auto total = [=](auto of) {
          const float first = wk_piece_total(0, wk_least(k, WK_PIECE), of);
          return k > WK_PIECE ? first + wk_piece_total(WK_PIECE, k - WK_PIECE, of) : first;
        };
        const float mean = shift ? total([](ts_u32 i) { return staged[i]; }) / n : 0.0f;
        const bool centred = shift != 0;
        const float squares = total([=](ts_u32 i) {
          const float c = centred ? staged[i] - mean : staged[i];
          return c * c;
        });
        if (WK_LANE == 0) {
          statistics[0] = mean;
          statistics[1] = 1.0f / ts_sqrt(squares / n + epsilon);
        }
      }
      TS_BARRIER();
      m = statistics[0];
      inverse = statistics[1];
      unsound = wk_worse(wk_worse(0, m), inverse);
      for (ts_u32 i = TS_THREAD; i < k; i += TS_THREADS) {
        const float scaled = ((shift ? staged[i] - m : staged[i]) * inverse) * gain[i];
        const float y = shift ? scaled + shift[i] : scaled;
        staged[i] = y;
        worst = wk_worse(worst, y);
      }
    } else
      for (ts_u32 i = TS_THREAD; i < k / 4; i += TS_THREADS) {
        const ts_float4 y = ((const ts_float4 *)in)[i];
        TS_UNROLL
        for (int e = 0; e < 4; e++) worst = wk_worse(worst, y[e]);
      }
    const float s = ts_scale(wk_block_largest(worst)), by = 1.0f / s;
    unsound = wk_worse(unsound, s);
    for (ts_u32 i = TS_THREAD; i < k / 4; i += TS_THREADS) {
      const ts_float4 y = gain ? ((const ts_float4 *)staged)[i] : ((const ts_float4 *)in)[i];
      ts_u32 word = 0;
      TS_UNROLL
      for (int e = 0; e < 4; e++) word |= ((ts_u32)ts_round_nearest(y[e] * by) & 0xffu) << (8 * e);
      ((ts_u32 *)(bytes + r * k))[i] = word;
    }
    if (TS_THREAD == 0) {
      scales[r] = s;
      if (TS_BLOCK == 0) wk_report(fault, unsound);
    }
    TS_BARRIER();
  }
}

/* N times sixteen weights of a row to a lane: all are on their way before the first is used. */
template <int N> struct wk_few {
  ts_vec4 w[N];
  TS_INLINE void load(const ts_vec4 *from, ts_u32 at, ts_u32 end) {
    TS_UNROLL
    for (int n = 0; n < N; n++) {
      w[n] = ts_vec4{0, 0, 0, 0};
      if (at + 32 * n < end) w[n] = ts_load_stream(from + at + 32 * n);
    }
  }
  template <int ROWS> TS_INLINE void add(ts_i32 sums[ROWS], const ts_i8 *bytes, ts_u32 k, ts_u32 at, ts_u32 end) {
    TS_UNROLL
    for (int n = 0; n < N; n++)
      if (at + 32 * n < end)
        TS_UNROLL
        for (int r = 0; r < ROWS; r++) sums[r] = wk_dot16(w[n], ((const ts_vec4 *)(bytes + r * k))[at + 32 * n], sums[r]);
  }
};

/*
 * Rows of x, normed where there is a gain, quantised, times one matrix, or two of them (SiLU of the first times the second).
 * A warp makes one output at a time. k is a multiple of 16.
 */
template <int ROWS>
static TS_INLINE void wk_row_linear(
    ts_u32 *fault, const float *x, const float *gain, const float *shift, wk_matrix first, wk_matrix second,
    const float *other, float *out, ts_u32 rows, ts_u32 k, ts_u32 outputs, ts_u32 then, float epsilon) {
  __shared__ __attribute__((aligned(16))) ts_i8 bytes[WK_ROW_BYTES];
  __shared__ float scales[WK_FEW];
  const ts_u32 step = TS_BLOCKS * WK_WARPS, begin = TS_BLOCK * WK_WARPS + WK_WARP;
  const ts_u32 sixteens = k / 16;
  wk_quantise_few(fault, x, gain, shift, epsilon, rows, k, bytes, scales);
  ts_u32 worst = 0;
  for (ts_u32 j = begin; j < outputs; j += step) {
    ts_i32 a[ROWS] = {}, b[ROWS] = {};
    const ts_vec4 *w = (const ts_vec4 *)(first.weight + (ts_u64)j * k);
    const wk_output one = wk_output_of(first, j), two = then == WK_THEN_SILU ? wk_output_of(second, j) : wk_output{};
    float added[ROWS];
    TS_UNROLL
    for (int r = 0; r < ROWS; r++)
      added[r] = then == WK_THEN_ADD && (ts_u32)r < rows ? other[(ts_u64)r * outputs + j] : 0.0f;
    if (then == WK_THEN_SILU) {
      const ts_vec4 *v = (const ts_vec4 *)(second.weight + (ts_u64)j * k);
      for (ts_u32 i = WK_LANE; i < sixteens; i += 32 * 4) {
        wk_few<4> left, right;
        left.load(w, i, sixteens);
        right.load(v, i, sixteens);
        left.template add<ROWS>(a, bytes, k, i, sixteens);
        right.template add<ROWS>(b, bytes, k, i, sixteens);
      }
    } else
      for (ts_u32 i = WK_LANE; i < sixteens; i += 32 * 8) {
        wk_few<8> left;
        left.load(w, i, sixteens);
        left.template add<ROWS>(a, bytes, k, i, sixteens);
      }
    TS_UNROLL
    for (int r = 0; r < ROWS; r++) {
      const ts_i32 sum = wk_warp_sum(a[r]), more = then == WK_THEN_SILU ? wk_warp_sum(b[r]) : 0;
      if (WK_LANE > 0 || (ts_u32)r >= rows) continue;
      float y = wk_made(&worst, sum, scales[r], one, first.bias != 0);
      if (then == WK_THEN_ADD) y = added[r] + y;
      else if (then == WK_THEN_GELU) y = ts_gelu(y);
      else if (then == WK_THEN_SILU) y = ts_silu(y) * wk_made(&worst, more, scales[r], two, second.bias != 0);
      worst = wk_worse(worst, y);
      out[(ts_u64)r * outputs + j] = y;
    }
  }
  wk_report(fault, worst);
}

#define WK_ROW_LINEAR(ROWS)                                                                                           \
  TS_BOUNDS(512, 2)                                                                                                   \
  WK(rowLinear##ROWS)(                                                                                                \
      ts_u32 *fault, const float *x, const float *gain, const float *shift, const ts_i8 *weight, const float *scales, \
      const float *bias, const ts_i8 *weight2, const float *scales2, const float *bias2, const float *other,          \
      float *out, ts_u32 rows, ts_u32 k, ts_u32 outputs, ts_u32 then, float epsilon) {                                \
    const wk_matrix first = {weight, scales, bias}, second = {weight2, scales2, bias2};                               \
    wk_row_linear<ROWS>(fault, x, gain, shift, first, second, other, out, rows, k, outputs, then, epsilon);           \
  }
WK_ROW_LINEAR(1)
WK_ROW_LINEAR(4)

/* A pair of numbers of a head, turned by its place (W2.11.5). */
static TS_INLINE void wk_turn(ts_u32 position, float frequency, float *low, float *high) {
  float sine, cosine;
  ts_sine_cosine((float)position * frequency, &sine, &cosine);
  const float a = *low, b = *high;
  *low = a * cosine - b * sine;
  *high = b * cosine + a * sine;
}

/* A head of up to 128 numbers, in two halves over a warp, quantised: bytes of lane + 32 n and half + lane + 32 n. */
struct wk_head {
  float low[2], high[2];
};

static TS_INLINE float wk_quantise_head(ts_u32 *worst, wk_head y, ts_u32 half, ts_i8 *out) {
  ts_u32 largest = 0;
  TS_UNROLL
  for (ts_u32 n = 0; n < 2; n++)
    if (WK_LANE + 32 * n < half) largest = wk_worse(wk_worse(largest, y.low[n]), y.high[n]);
  *worst = largest > *worst ? largest : *worst;
  const float s = ts_scale(wk_warp_largest(largest)), by = 1.0f / s;
  *worst = wk_worse(*worst, s);
  TS_UNROLL
  for (ts_u32 n = 0; n < 2; n++) {
    const ts_u32 i = WK_LANE + 32 * n;
    if (i >= half) continue;
    out[i] = (ts_i8)ts_round_nearest(y.low[n] * by);
    out[half + i] = (ts_i8)ts_round_nearest(y.high[n] * by);
  }
  return s;
}

/* Four bytes of four rows each: the rows by r, column by column, added to four sums. */
static TS_INLINE void wk_add_turned(ts_i32 *sum, ts_u32 a, ts_u32 b, ts_u32 c, ts_u32 d, ts_u32 r) {
  const ts_u32 ab = __byte_perm(a, b, 0x5140), AB = __byte_perm(a, b, 0x7362);
  const ts_u32 cd = __byte_perm(c, d, 0x5140), CD = __byte_perm(c, d, 0x7362);
  sum[0] = wk_dot4(__byte_perm(ab, cd, 0x5410), r, sum[0]);
  sum[1] = wk_dot4(__byte_perm(ab, cd, 0x7632), r, sum[1]);
  sum[2] = wk_dot4(__byte_perm(AB, CD, 0x5410), r, sum[2]);
  sum[3] = wk_dot4(__byte_perm(AB, CD, 0x7632), r, sum[3]);
}

#define WK_SEEN 4096
#define WK_HEAD 128
/* W2.8.12: places of a head are taken in pieces of so many. */
#define WK_HEAD_PIECE 64
/* Loads of a lane that are on their way at once. */
#define WK_AHEAD 8

/*
 * A block for each sequence and head of keys: its key and value go into the cache at `place`, then every head of queries
 * that shares them looks at all places so far. Heads of 16, 32, 64 or 128 numbers.
 */
TS_BOUNDS(512, 1)
WK(attendPlace)(
    ts_u32 *fault, const float *qkv, const ts_u32 *positions, const float *frequencies, ts_i8 *keys, float *key_scales,
    ts_i8 *values, float *value_scales, float *out, ts_u32 heads, ts_u32 key_heads, ts_u32 size, ts_u32 place,
    ts_u32 places, float factor) {
  /* First scores and their exponentials, then what each piece comes to. */
  __shared__ float scores[WK_SEEN / WK_HEAD_PIECE * WK_HEAD];
  __shared__ __attribute__((aligned(16))) ts_i8 query[WK_HEAD], rounded[WK_SEEN];
  __shared__ float piece_scales[WK_SEEN / WK_HEAD_PIECE], query_scale, sum_of_all;
  const ts_u32 sequence = TS_BLOCK / key_heads, group = TS_BLOCK % key_heads, shared_by = heads / key_heads;
  const ts_u32 half = size / 2, seen = place + 1, lanes = size / 16, per_load = 32 / lanes;
  const ts_u32 part = WK_LANE % lanes, mine = WK_LANE / lanes;
  const ts_u32 pieces = (seen + WK_HEAD_PIECE - 1) / WK_HEAD_PIECE;
  const float *row = qkv + (ts_u64)sequence * (heads + 2 * key_heads) * size;
  ts_i8 *k = keys + (ts_u64)TS_BLOCK * places * size, *v = values + (ts_u64)TS_BLOCK * places * size;
  float *ks = key_scales + (ts_u64)TS_BLOCK * places, *vs = value_scales + (ts_u64)TS_BLOCK * places;
  ts_u32 worst = 0;
  auto head_at = [&](ts_u32 head, bool turned) {
    wk_head y = {};
    TS_UNROLL
    for (ts_u32 n = 0; n < 2; n++) {
      const ts_u32 i = WK_LANE + 32 * n;
      if (i >= half) continue;
      y.low[n] = row[head * size + i];
      y.high[n] = row[head * size + half + i];
      if (turned && frequencies) wk_turn(positions[sequence], frequencies[i], &y.low[n], &y.high[n]);
    }
    return y;
  };
  if (WK_WARP == 1) {
    const float s = wk_quantise_head(&worst, head_at(heads + group, true), half, k + (ts_u64)place * size);
    if (WK_LANE == 0) ks[place] = s;
  }
  if (WK_WARP == 2) {
    const float s = wk_quantise_head(&worst, head_at(heads + key_heads + group, false), half, v + (ts_u64)place * size);
    if (WK_LANE == 0) vs[place] = s;
  }
  for (ts_u32 shared = 0; shared < shared_by; shared++) {
    const ts_u32 head = group * shared_by + shared;
    if (WK_WARP == 0) {
      const float s = wk_quantise_head(&worst, head_at(head, true), half, query) * factor;
      worst = wk_worse(worst, s);
      if (WK_LANE == 0) query_scale = s;
    }
    TS_BARRIER();
    const ts_vec4 q = ((const ts_vec4 *)query)[part];
    const float qs = query_scale;
    ts_i32 top = (ts_i32)0x80000000;
    float folded[WK_SEEN / 512];
    TS_UNROLL
    for (ts_u32 n = 0; n < WK_SEEN / 512; n++) {
      const ts_u32 j = TS_THREAD + 512 * n;
      folded[n] = j < seen ? vs[j] : 0.0f;
    }
    for (ts_u32 at = WK_WARP * per_load * WK_AHEAD; at < seen; at += WK_WARPS * per_load * WK_AHEAD) {
      ts_vec4 there[WK_AHEAD];
      float by[WK_AHEAD];
      TS_UNROLL
      for (int n = 0; n < WK_AHEAD; n++) {
        const ts_u32 j = at + n * per_load + mine;
        there[n] = ts_vec4{0, 0, 0, 0};
        by[n] = 0.0f;
        if (j < seen) {
          there[n] = ((const ts_vec4 *)(k + (ts_u64)j * size))[part];
          by[n] = ks[j];
        }
      }
      TS_UNROLL
      for (int n = 0; n < WK_AHEAD; n++) {
        const ts_u32 j = at + n * per_load + mine;
        ts_i32 c = wk_dot16(there[n], q, 0);
        for (ts_u32 other = lanes / 2; other > 0; other /= 2) c += (ts_i32)ts_shuffle_word((ts_u32)c, other);
        if (j >= seen) continue;
        const float t = ts_dequantise(c, qs, by[n], 1.0f);
        if (part == 0) scores[j] = t;
        worst = wk_worse(worst, t);
        const ts_i32 key = ts_order_key(t);
        top = key > top ? key : top;
      }
    }
    /* Keys as words in the same order: the sign flipped. */
    const float maximum = ts_from_order_key((ts_i32)(wk_block_largest((ts_u32)top ^ 0x80000000u) ^ 0x80000000u));
    TS_UNROLL
    for (ts_u32 n = 0; n < WK_SEEN / 512; n++) {
      const ts_u32 j = TS_THREAD + 512 * n;
      if (j >= seen) continue;
      const float e = ts_exp(scores[j] - maximum);
      scores[j] = e;
      scores[WK_SEEN + j] = e * folded[n];
    }
    TS_BARRIER();
    if (WK_WARP == 0) {
      const float total = wk_piece_total(0, seen, [=](ts_u32 i) { return scores[i]; });
      if (WK_LANE == 0) sum_of_all = total;
    } else
      for (ts_u32 p = WK_WARP - 1; p < pieces; p += WK_WARPS - 1) {
        float y[2] = {0.0f, 0.0f};
        ts_u32 largest = 0;
        TS_UNROLL
        for (ts_u32 n = 0; n < 2; n++) {
          const ts_u32 j = p * WK_HEAD_PIECE + 32 * n + WK_LANE;
          if (j < seen) y[n] = scores[WK_SEEN + j];
          largest = wk_worse(largest, y[n]);
        }
        const float s = ts_scale(wk_warp_largest(largest)), by = 1.0f / s;
        worst = wk_worse(worst, s);
        TS_UNROLL
        for (ts_u32 n = 0; n < 2; n++)
          rounded[p * WK_HEAD_PIECE + 32 * n + WK_LANE] = (ts_i8)ts_round_nearest(y[n] * by);
        if (WK_LANE == 0) piece_scales[p] = s;
      }
    TS_BARRIER();
    const float total = sum_of_all;
    worst = wk_worse(worst, total);
    for (ts_u32 p = WK_WARP; p < pieces; p += WK_WARPS) {
      ts_i32 sum[16] = {};
      for (ts_u32 from = 0; from < WK_HEAD_PIECE; from += per_load * WK_AHEAD) {
        ts_vec4 there[WK_AHEAD];
        TS_UNROLL
        for (int n = 0; n < WK_AHEAD; n++) {
          const ts_u32 in = from + n * per_load + mine, j = p * WK_HEAD_PIECE + in;
          there[n] = ts_vec4{0, 0, 0, 0};
          if (in < WK_HEAD_PIECE && j < seen) there[n] = ((const ts_vec4 *)(v + (ts_u64)j * size))[part];
        }
        TS_UNROLL
        for (int four = 0; four < WK_AHEAD; four += 4) {
          ts_u32 r = 0;
          TS_UNROLL
          for (int n = 0; n < 4; n++) {
            const ts_u32 in = from + (four + n) * per_load + mine;
            if (in < WK_HEAD_PIECE) r |= (ts_u32)(ts_u8)rounded[p * WK_HEAD_PIECE + in] << (8 * n);
          }
          TS_UNROLL
          for (int w = 0; w < 4; w++)
            wk_add_turned(sum + 4 * w, there[four][w], there[four + 1][w], there[four + 2][w], there[four + 3][w], r);
        }
      }
      for (ts_u32 other = 16; other >= lanes; other /= 2)
        TS_UNROLL
        for (int e = 0; e < 16; e++) sum[e] += (ts_i32)ts_shuffle_word((ts_u32)sum[e], other);
      if (WK_LANE < lanes)
        TS_UNROLL
        for (int e = 0; e < 16; e++) scores[p * size + 16 * part + e] = (float)sum[e] * piece_scales[p];
    }
    TS_BARRIER();
    for (ts_u32 d = TS_THREAD; d < size; d += TS_THREADS) {
      float y = scores[d];
      worst = wk_worse(worst, y);
      for (ts_u32 p = 1; p < pieces; p++) {
        y = y + scores[p * size + d];
        worst = wk_worse(worst, y);
      }
      y = y / total;
      worst = wk_worse(worst, y);
      out[((ts_u64)sequence * heads + head) * size + d] = y;
    }
    TS_BARRIER();
  }
  wk_report(fault, worst);
}

#endif
