/*
 * §5, §7, §8: from the product in device memory to one hash per unit of up to 256 neighbouring tiles. One warp reads
 * sixteen tiles side by side, row by row (2 KiB in one piece, which memory likes), eight lanes to a tile; each lane ends up
 * with the fingerprint of one of the warp's tiles, hashes that leaf, and the block folds its leaves while others read.
 */
#ifndef TS_CUDA_LEAVES_H
#define TS_CUDA_LEAVES_H
#include "hashing.h"
#include "../common/fingerprint.h"
#include "../common/fma.h"

#define TS_UNIT 256u
/* Leaves under one node that leaves the block: below 8 every warp that hashes is full. */
#define TS_GROUP 8u

static TS_INLINE ts_u32 ts_from_float(ts_u32 bits) {
  ts_i32 v;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(v) : "f"(__uint_as_float(bits)));
  return (ts_u32)v;
}

/* Where in C a lane begins to read tile `tile`: four columns of its first row. */
static TS_INLINE ts_u32 ts_tile_place(ts_u32 tile, ts_u32 columns_log2, ts_u32 lane) {
  const ts_u32 row = tile >> columns_log2, column = tile & ((1u << columns_log2) - 1u);
  return (row << (columns_log2 + 10u)) + 32u * column + 4u * (lane & 7u);
}

/*
 * A fingerprint in the making: f1, and f0 in two words that are cheap to add to. `low` is f0 mod 2^32, `high` the sum of
 * the upper halves of the terms; of a tile's 1024 terms neither half can sum up to 2^32, so the two give f0 itself.
 */
typedef struct {
  ts_u32 low, high;
  ts_u64 f1;
} ts_sums;

static TS_INLINE ts_fingerprint ts_close_sums(ts_sums s) {
  ts_fingerprint f;
  f.f0 = ((ts_u64)s.high << 16) + (s.low - (s.high << 16));
  f.f1 = s.f1;
  return f;
}

/* The rest of mix32 after its first xor-shift, and into the sums: x's upper half is that of y, found on the way. */
static TS_INLINE ts_u32 ts_add_mixed(ts_sums *s, ts_u32 x, ts_u32 one) {
  x *= 0x7feb352du;
  x ^= x >> 15;
  const ts_u32 y = x * 0x846ca68bu, high = y >> 16, mixed = y ^ high;
  s->low = ts_add(mixed, s->low, one);
  s->f1 += (ts_u64)mixed * mixed;
  return high;
}

static TS_INLINE ts_sums ts_add_sums(ts_sums a, ts_sums b) {
  ts_sums s = {a.low + b.low, a.high + b.high, a.f1 + b.f1};
  return s;
}
static TS_INLINE ts_sums ts_sums_of_lane(ts_sums s, ts_u32 lane_mask) {
  ts_sums other = {ts_shuffle_word(s.low, lane_mask), ts_shuffle_word(s.high, lane_mask), ts_shuffle_xor(s.f1, lane_mask)};
  return other;
}

/* Tiles a lane works on at once, four tiles apart, and rows it reads at once. */
#define TS_ABREAST 4
#define TS_ROWS_AT_ONCE 2
#define TS_STRIP 16u
/*
 * Leaves of the block's unit to its nodes, one for every `group` leaves. The thread has tile `own` of the unit; `first` +
 * own is hashed into the leaf. All threads of the block call it.
 */
static TS_INLINE void ts_finish_unit(ts_u32 *shared, ts_fingerprint f, ts_u64 first, ts_u32 own, ts_u32 unit,
                                     ts_u32 group, ts_u32 *nodes, ts_u64 unit_index) {
  const ts_u32 thread = TS_THREAD, left = unit > group ? unit / group : 1u;
  ts_u32 hash[8];
  if (own < unit) {
    ts_leaf_hash(first + own, f.f0, f.f1, hash);
    ts_put(shared, TS_UNIT, own, hash);
  }
  ts_reduce_shared(shared, TS_UNIT, unit, left, thread);
  if (thread < left) {
    ts_get(shared, TS_UNIT, thread, hash);
    ts_write_hash(nodes + 8ull * (unit_index * left + thread), hash);
  }
}

static TS_INLINE ts_wide2 ts_as_pair(ts_fingerprint f) {
  ts_wide2 pair;
  pair.x = f.f0, pair.y = f.f1;
  return pair;
}

#define TS_PLAIN 0
#define TS_BIND 1
#define TS_FILL 2

/* What every tile of a launch shares. */
typedef struct {
  const ts_u32 *c;
  ts_u32 columns_log2, lane, tiles, one;
  const ts_u32 *seed;
  /* Shared by the block, from the lane's column on: vector 8 r belongs to row r. */
  const ts_vec4 *masks;
} ts_leaves_job;

/* Four terms after the first xor-shift of mix32; two upper halves to an addition of three words. */
static TS_INLINE void ts_add_four_shifted(ts_sums *s, ts_vec4 v, ts_u32 one) {
  const ts_u32 x = ts_add_mixed(s, v.x, one), y = ts_add_mixed(s, v.y, one);
  s->high += x + y;
  const ts_u32 z = ts_add_mixed(s, v.z, one), w = ts_add_mixed(s, v.w, one);
  s->high += z + w;
}

/* Four neighbouring elements; x ^ x >> 16 is linear over XOR, so masks have gone through it already. */
static TS_INLINE void ts_add_four(ts_sums *s, ts_vec4 v, ts_vec4 mask, ts_u32 one) {
  ts_add_four_shifted(s, v ^ (v >> 16) ^ mask, one);
}

/* (v ^ mask) + other of four neighbours (§7, §8). */
static TS_INLINE void ts_add_four_pairs(ts_sums *s, ts_vec4 v, ts_vec4 mask, ts_vec4 other, ts_u32 one) {
  ts_vec4 x;
  x.x = ts_add(v.x ^ mask.x, other.x, one), x.y = ts_add(v.y ^ mask.y, other.y, one);
  x.z = ts_add(v.z ^ mask.z, other.z, one), x.w = ts_add(v.w ^ mask.w, other.w, one);
  ts_add_four_shifted(s, x ^ (x >> 16), one);
}

/* §7: low halves of four neighbours, even column low. */
static TS_INLINE void ts_keep_four(ts_u32 *to, ts_vec4 v) {
  ts_vec2 pair;
  pair.x = ts_kept_word(v.x, v.y);
  pair.y = ts_kept_word(v.z, v.w);
  *(ts_vec2 *)to = pair;
}

static TS_INLINE ts_vec4 ts_integers(ts_vec4 v, int floats) {
  if (!floats) return v;
  ts_vec4 out;
  out.x = ts_from_float(v.x), out.y = ts_from_float(v.y), out.z = ts_from_float(v.z), out.w = ts_from_float(v.w);
  return out;
}

/* Where a lane reads: its tiles, for a bound round also their partners, and where it keeps what it has read. */
typedef struct {
  ts_u32 own[TS_ABREAST], other[TS_ABREAST], kept[TS_ABREAST];
} ts_places;

static TS_INLINE ts_places ts_find_places(const ts_leaves_job *job, ts_u32 first, ts_u32 last, int kind) {
  ts_places at;
  TS_UNROLL
  for (ts_u32 q = 0; q < TS_ABREAST; q++) {
    const ts_u32 wanted = first + 4u * q + (job->lane >> 3), tile = wanted < last ? wanted : last;
    at.own[q] = ts_tile_place(tile, job->columns_log2, job->lane);
    if (kind == TS_BIND)
      at.other[q] = ts_tile_place(ts_bind_partner(tile, job->seed, job->tiles), job->columns_log2, job->lane);
    at.kept[q] = tile * TS_KEPT_WORDS + 2u * (job->lane & 7u);
  }
  return at;
}

/* Two rows of the lane's tiles into their sums; `row` elements down. */
static TS_INLINE void ts_print_rows(const ts_leaves_job *job, ts_sums s[TS_ABREAST], const ts_places *at, ts_u32 row,
                                    ts_u32 *kept, int kind, int floats) {
  ts_vec4 own[TS_ROWS_AT_ONCE][TS_ABREAST], other[TS_ROWS_AT_ONCE][TS_ABREAST];
  TS_UNROLL
  for (ts_u32 j = 0; j < TS_ROWS_AT_ONCE; j++)
    TS_UNROLL
    for (int q = 0; q < TS_ABREAST; q++) {
      const ts_u32 down = (row + j) << (job->columns_log2 + 5u);
      own[j][q] = ts_load_stream(job->c + (at->own[q] + down));
      if (kind == TS_BIND) other[j][q] = ts_load_stream(job->c + (at->other[q] + down));
    }
  TS_UNROLL
  for (ts_u32 j = 0; j < TS_ROWS_AT_ONCE; j++) {
    const ts_vec4 mask = job->masks[8u * (row + j)];
    TS_UNROLL
    for (int q = 0; q < TS_ABREAST; q++) {
      const ts_vec4 v = ts_integers(own[j][q], floats);
      if (kind == TS_FILL) ts_keep_four(kept + at->kept[q] + 16u * (row + j), v);
      if (kind == TS_BIND) ts_add_four_pairs(s + q, v, mask, other[j][q], job->one);
      else ts_add_four(s + q, v, mask, job->one);
    }
  }
}

/* Sixteen tiles from `first` on, none after `last`; lanes 0 to 3 of each eight end with one fingerprint each. */
static TS_INLINE ts_fingerprint ts_print_strip(const ts_leaves_job *job, ts_u32 first, ts_u32 last, ts_u32 *kept, int kind,
                                               int floats) {
  const ts_places at = ts_find_places(job, first, last, kind);
  ts_sums s[TS_ABREAST] = {}, mine = {0, 0, 0};
  TS_ROLLED
  for (ts_u32 row = 0; row < 32u; row += TS_ROWS_AT_ONCE) ts_print_rows(job, s, &at, row, kept, kind, floats);
  TS_UNROLL
  for (ts_u32 q = 0; q < TS_ABREAST; q++) {
    TS_UNROLL
    for (ts_u32 mask = 4; mask > 0; mask >>= 1) s[q] = ts_add_sums(s[q], ts_sums_of_lane(s[q], mask));
    if ((job->lane & 3u) == q) mine = s[q];
  }
  return ts_close_sums(mine);
}

/* Masks of four neighbours; `ahead` takes them through the first step of mix32. */
static TS_INLINE ts_vec4 ts_four_masks(ts_u32 element, ts_u32 salt, int ahead) {
  ts_vec4 m;
  m.x = ts_tile_mask(element, salt), m.y = ts_tile_mask(element + 1u, salt);
  m.z = ts_tile_mask(element + 2u, salt), m.w = ts_tile_mask(element + 3u, salt);
  return ahead ? m ^ (m >> 16) : m;
}

/* The body of every leaves kernel; `kind` and `floats` are constants at each call. */
static TS_INLINE void ts_leaves(const ts_u32 *c, const ts_chain_state *state, ts_u32 tiles, ts_u32 columns_log2,
                                ts_u32 keep, ts_wide2 *prints, ts_u32 *nodes, ts_u32 *kept, int kind,
                                int floats) {
  __shared__ ts_u32 shared[8 * TS_UNIT];
  __shared__ ts_vec4 masks[256];
  __shared__ ts_wide2 found[TS_UNIT];
  const ts_u32 thread = TS_THREAD, lane = thread & 31u, unit = tiles < TS_UNIT ? tiles : TS_UNIT;
  /* Backwards: what the product wrote last is still in the cache. */
  const ts_u32 block = TS_BLOCKS - 1u - TS_BLOCK, first = block * unit;
  /* With `keep` every round has its own place; without, the first is used again and asked rounds are computed again. */
  const ts_u64 slot = keep ? state->round : 0u, round_start = slot * tiles;
  const ts_leaves_job job = {c, columns_log2, lane, tiles, ts_one(), state->seed, masks + (lane & 7u)};
  masks[thread] = ts_four_masks(4u * thread, state->seed[3], kind != TS_BIND);
  TS_BARRIER();
  kept += round_start * TS_KEPT_WORDS;
  /* The warps of a block read neighbours at about the same time. */
  for (ts_u32 strip = TS_STRIP * (thread >> 5); strip < unit; strip += 8u * TS_STRIP) {
    const ts_fingerprint f = ts_print_strip(&job, first + strip, first + unit - 1u, kept, kind, floats);
    if ((lane & 7u) < TS_ABREAST) found[strip + 4u * (lane & 3u) + (lane >> 3)] = ts_as_pair(f);
  }
  TS_BARRIER();
  const ts_wide2 mine = found[thread];
  const ts_fingerprint f = {mine.x, mine.y};
  if (prints && thread < unit) prints[round_start + first + thread] = mine;
  /* Bound and kept rounds are many and small: they keep one node a block. */
  const ts_u32 group = kind == TS_PLAIN ? TS_GROUP : TS_UNIT;
  ts_finish_unit(shared, f, first, thread, unit, group, nodes, slot * TS_BLOCKS + block);
}

#endif
