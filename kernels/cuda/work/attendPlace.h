/* Attention of one place of a sequence over a cache. A head is several blocks': each has some of the places. */
#ifndef TS_CUDA_WORK_ATTEND_PLACE_H
#define TS_CUDA_WORK_ATTEND_PLACE_H
#include "copies.h"
#include "decode.h"
#include "phase.h"

#define WK_SEEN 4096
#define WK_HEAD 128
/* W2.8.12: places of a head are taken in pieces of so many. */
#define WK_HEAD_PIECE 64
#define WK_SEEN_PIECES (WK_SEEN / WK_HEAD_PIECE)
/* Loads of a lane that are on their way at once; a warp's are of one piece. */
#define WK_AHEAD 4
#define WK_MOST_MEMBERS 16

/* Four bytes of four rows each: the rows by r, column by column, added to four sums. */
static TS_INLINE void wk_add_turned(ts_i32 *sum, ts_u32 a, ts_u32 b, ts_u32 c, ts_u32 d, ts_u32 r) {
  const ts_u32 ab = __byte_perm(a, b, 0x5140), AB = __byte_perm(a, b, 0x7362);
  const ts_u32 cd = __byte_perm(c, d, 0x5140), CD = __byte_perm(c, d, 0x7362);
  sum[0] = wk_dot4(__byte_perm(ab, cd, 0x5410), r, sum[0]);
  sum[1] = wk_dot4(__byte_perm(ab, cd, 0x7632), r, sum[1]);
  sum[2] = wk_dot4(__byte_perm(AB, CD, 0x5410), r, sum[2]);
  sum[3] = wk_dot4(__byte_perm(AB, CD, 0x7632), r, sum[3]);
}

/* What the blocks of a head tell each other, in the card's memory. */
struct wk_shared_head {
  ts_u32 met, unused[15];
  ts_i32 top[WK_MOST_MEMBERS];
  /* exp(score - maximum) of each place, and what each piece of them comes to. */
  float weights[WK_SEEN], pieces[WK_SEEN_PIECES * WK_HEAD];
};

/* The places of one of the blocks that a head has. */
struct wk_share {
  ts_u32 first_piece, pieces, from, count;
};
static TS_INLINE wk_share wk_share_of(ts_u32 seen, ts_u32 member, ts_u32 members) {
  const ts_u32 all = (seen + WK_HEAD_PIECE - 1) / WK_HEAD_PIECE, each = (all + members - 1) / members;
  const ts_u32 first = wk_least(member * each, all), pieces = wk_least(each, all - first);
  const ts_u32 from = wk_least(first * WK_HEAD_PIECE, seen);
  return {first, pieces, from, wk_least(pieces * WK_HEAD_PIECE, seen - from)};
}

/* A warp's lanes in rows of a head, sixteen numbers to each. */
struct wk_lanes {
  ts_u32 across, rows, part, mine;
};

/* Scores of places of keys; the largest, as a key in their order. */
static TS_INLINE ts_i32 wk_scores(
    ts_u32 *worst, const ts_i8 *k, const float *ks, ts_u32 count, ts_u32 size, wk_lanes l, ts_vec4 q, float qs,
    float *scores) {
  ts_i32 top = (ts_i32)0x80000000;
  for (ts_u32 at = WK_WARP * l.rows * WK_AHEAD; at < count; at += WK_WARPS * l.rows * WK_AHEAD) {
    ts_vec4 there[WK_AHEAD];
    float by[WK_AHEAD];
    TS_UNROLL
    for (int n = 0; n < WK_AHEAD; n++) {
      const ts_u32 j = at + n * l.rows + l.mine;
      there[n] = ts_vec4{0, 0, 0, 0};
      by[n] = 0.0f;
      if (j < count) {
        there[n] = ((const ts_vec4 *)(k + (ts_u64)j * size))[l.part];
        by[n] = ks[j];
      }
    }
    TS_UNROLL
    for (int n = 0; n < WK_AHEAD; n++) {
      const ts_u32 j = at + n * l.rows + l.mine;
      ts_i32 c = wk_dot16(there[n], q, 0);
      for (ts_u32 other = l.across / 2; other > 0; other /= 2) c += (ts_i32)ts_shuffle_word((ts_u32)c, other);
      if (j >= count) continue;
      const float t = ts_dequantise(c, qs, by[n], 1.0f);
      if (l.part == 0) scores[j] = t;
      *worst = wk_worse(*worst, t);
      const ts_i32 key = ts_order_key(t);
      top = key > top ? key : top;
    }
  }
  /* Keys as words in the same order: the sign flipped. */
  return (ts_i32)(wk_block_largest((ts_u32)top ^ 0x80000000u) ^ 0x80000000u);
}

/* Weights of values, folded with their scales, as bytes with a scale for each piece. */
static TS_INLINE void wk_round_pieces(
    ts_u32 *worst, const float *folded, ts_u32 count, ts_u32 pieces, ts_i8 *rounded, float *scales) {
  for (ts_u32 p = WK_WARP; p < pieces; p += WK_WARPS) {
    float y[2] = {0.0f, 0.0f};
    ts_u32 largest = 0;
    TS_UNROLL
    for (ts_u32 n = 0; n < 2; n++) {
      const ts_u32 j = p * WK_HEAD_PIECE + 32 * n + WK_LANE;
      if (j < count) y[n] = folded[j];
      largest = wk_worse(largest, y[n]);
    }
    const float s = ts_scale(wk_warp_largest(largest)), by = 1.0f / s;
    *worst = wk_worse(*worst, s);
    TS_UNROLL
    for (ts_u32 n = 0; n < 2; n++)
      rounded[p * WK_HEAD_PIECE + 32 * n + WK_LANE] = (ts_i8)ts_round_nearest(y[n] * by);
    if (WK_LANE == 0) scales[p] = s;
  }
}

/*
 * Bytes of weights times values: sums of whole numbers, in any order. A warp takes so many places of a piece, and adds to
 * what the others have of it.
 */
static TS_INLINE void wk_piece_sums(
    const ts_i8 *v, ts_u32 count, ts_u32 size, wk_lanes l, const ts_i8 *rounded, ts_i32 *sums) {
  const ts_u32 each = wk_least(l.rows * WK_AHEAD, WK_HEAD_PIECE);
  for (ts_u32 from = WK_WARP * each; from < count; from += WK_WARPS * each) {
    ts_i32 sum[16] = {};
    ts_vec4 there[WK_AHEAD];
    ts_u32 r = 0;
    TS_UNROLL
    for (int n = 0; n < WK_AHEAD; n++) {
      const ts_u32 in = n * l.rows + l.mine, j = from + in;
      there[n] = ts_vec4{0, 0, 0, 0};
      if (in < each && j < count) {
        there[n] = ((const ts_vec4 *)(v + (ts_u64)j * size))[l.part];
        r |= (ts_u32)(ts_u8)rounded[j] << (8 * n);
      }
    }
    TS_UNROLL
    for (int w = 0; w < 4; w++) wk_add_turned(sum + 4 * w, there[0][w], there[1][w], there[2][w], there[3][w], r);
    for (ts_u32 other = 16; other >= l.across; other /= 2)
      TS_UNROLL
      for (int e = 0; e < 16; e++) sum[e] += (ts_i32)ts_shuffle_word((ts_u32)sum[e], other);
    if (WK_LANE >= l.across) continue;
    const ts_u32 to = wk_shared_address(sums + from / WK_HEAD_PIECE * size + 16 * l.part);
    TS_UNROLL
    for (int e = 0; e < 16; e++)
      asm volatile("red.shared.add.s32 [%0], %1;" ::"r"(to + 4 * e), "r"(sum[e]) : "memory");
  }
}

/* The same as numbers, piece by piece. `sums` has room for all pieces. */
static TS_INLINE void wk_piece_values(
    const ts_i8 *v, wk_share share, ts_u32 size, wk_lanes l, const ts_i8 *rounded, const float *scales, ts_i32 *sums,
    float *out) {
  for (ts_u32 i = TS_THREAD; i < share.pieces * size; i += TS_THREADS) sums[i] = 0;
  TS_BARRIER();
  wk_piece_sums(v, share.count, size, l, rounded, sums);
  TS_BARRIER();
  for (ts_u32 i = TS_THREAD; i < share.pieces * size; i += TS_THREADS) out[i] = (float)sums[i] * scales[i / size];
}

/* Numbers of the result that are this block's: pieces in their order, over the sum of all weights. */
static TS_INLINE void wk_join_pieces(
    ts_u32 *worst, const wk_shared_head *told, ts_u32 seen, ts_u32 size, ts_u32 member, ts_u32 members, float *out) {
  __shared__ float sum_of_all;
  const ts_u32 each = (size + members - 1) / members, end = wk_least((member + 1) * each, size);
  const ts_u32 d = member * each + TS_THREAD - 32, pieces = (seen + WK_HEAD_PIECE - 1) / WK_HEAD_PIECE;
  const bool makes = TS_THREAD >= 32 && d < end;
  float y = 0.0f;
  if (WK_WARP == 0) {
    const float total = wk_deep_total(seen, [=](ts_u32 i) { return told->weights[i]; });
    if (WK_LANE == 0) sum_of_all = total;
  } else if (makes) {
    y = told->pieces[d];
    *worst = wk_worse(*worst, y);
    _Pragma("unroll 8")
    for (ts_u32 p = 1; p < pieces; p++) {
      y = y + told->pieces[p * size + d];
      *worst = wk_worse(*worst, y);
    }
  }
  TS_BARRIER();
  const float total = sum_of_all;
  *worst = wk_worse(*worst, total);
  if (!makes) return;
  y = y / total;
  *worst = wk_worse(*worst, y);
  out[d] = y;
}

/* Nobody waits for it: it is on its way to the second-level cache. */
static TS_INLINE void wk_send_for(const void *from, ts_u32 bytes) {
  for (ts_u32 at = 128 * TS_THREAD; at < bytes; at += 128 * TS_THREADS)
    asm volatile("prefetch.global.L2 [%0];" ::"l"((const ts_u8 *)from + at));
}

/* What one block does for a sequence and a head of keys. `numbers` has room for all pieces, `bytes` for every place. */
static TS_INLINE void wk_attend_place(
    ts_u32 *fault, const wk_attend &of, ts_u32 unit, ts_u32 member, ts_u32 members, wk_shared_head *told, float *numbers,
    ts_i8 *bytes) {
  __shared__ __attribute__((aligned(16))) ts_i8 query[WK_HEAD];
  __shared__ float piece_scales[WK_SEEN_PIECES], query_scale;
  const ts_u32 size = of.size, half = size / 2, seen = of.place + 1, shared_by = of.heads / of.key_heads;
  const ts_u32 sequence = unit / of.key_heads, group = unit % of.key_heads;
  const ts_u32 across = size / 16;
  const wk_lanes l = {across, 32 / across, WK_LANE % across, WK_LANE / across};
  const wk_share share = wk_share_of(seen, member, members);
  const float *row = of.qkv + (ts_u64)sequence * (of.heads + 2 * of.key_heads) * size;
  const ts_u64 first = (ts_u64)unit * of.places;
  ts_i8 *k = of.keys + first * size, *v = of.values + first * size;
  float *ks = of.key_scales + first, *vs = of.value_scales + first;
  wk_send_for(k + (ts_u64)share.from * size, share.count * size);
  wk_send_for(ks + share.from, 4 * share.count);
  wk_send_for(v + (ts_u64)share.from * size, share.count * size);
  wk_send_for(vs + share.from, 4 * share.count);
  ts_u32 worst = 0;
  auto head_at = [&](ts_u32 head, bool turned) {
    wk_head y = {};
    TS_UNROLL
    for (ts_u32 n = 0; n < 2; n++) {
      const ts_u32 i = WK_LANE + 32 * n;
      if (i >= half) continue;
      y.low[n] = row[head * size + i];
      y.high[n] = row[head * size + half + i];
      if (turned && of.frequencies) wk_turn(of.positions[sequence], of.frequencies[i], &y.low[n], &y.high[n]);
    }
    return y;
  };
  /* The new place is the last one: whoever has it puts it into the cache. */
  const bool has_new = share.count > 0 && share.from + share.count == seen;
  if (has_new && (WK_WARP == 1 || WK_WARP == 2)) {
    const bool is_key = WK_WARP == 1;
    const wk_head y = head_at(of.heads + (is_key ? group : of.key_heads + group), is_key);
    const float s = wk_quantise_head(&worst, y, half, (is_key ? k : v) + (ts_u64)of.place * size);
    if (WK_LANE == 0) (is_key ? ks : vs)[of.place] = s;
  }
  for (ts_u32 shared = 0; shared < shared_by; shared++) {
    const ts_u32 head = group * shared_by + shared;
    if (WK_WARP == 0) {
      const float s = wk_quantise_head(&worst, head_at(head, true), half, query) * of.factor;
      worst = wk_worse(worst, s);
      if (WK_LANE == 0) query_scale = s;
    }
    TS_BARRIER();
    const ts_i8 *keys = k + (ts_u64)share.from * size, *values = v + (ts_u64)share.from * size;
    const ts_vec4 q = ((const ts_vec4 *)query)[l.part];
    const ts_i32 here = wk_scores(&worst, keys, ks + share.from, share.count, size, l, q, query_scale, numbers);
    if (TS_THREAD == 0) told->top[member] = here;
    wk_meet(&told->met, member, members);
    ts_i32 top = told->top[0];
    for (ts_u32 m = 1; m < members; m++) top = told->top[m] > top ? told->top[m] : top;
    const float maximum = ts_from_order_key(top);
    for (ts_u32 j = TS_THREAD; j < share.count; j += TS_THREADS) {
      const float e = ts_exp(numbers[j] - maximum);
      told->weights[share.from + j] = e;
      numbers[j] = e * vs[share.from + j];
    }
    TS_BARRIER();
    wk_round_pieces(&worst, numbers, share.count, share.pieces, bytes, piece_scales);
    TS_BARRIER();
    float *made = told->pieces + share.first_piece * size;
    wk_piece_values(values, share, size, l, bytes, piece_scales, (ts_i32 *)numbers, made);
    wk_meet(&told->met, member, members);
    float *out = of.out + ((ts_u64)sequence * of.heads + head) * size;
    wk_join_pieces(&worst, told, seen, size, member, members, out);
    TS_BARRIER();
  }
  wk_report(fault, worst);
}

#endif
