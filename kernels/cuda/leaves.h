/*
 * §5, §7, §8: from the product in device memory to one hash per unit of up to 256 neighbouring tiles. One warp reads a
 * tile after the other (four rows to a load, 128 bytes each); each lane ends up with the fingerprint of one of the warp's
 * tiles, hashes that leaf, and the block folds its leaves into one node while other blocks keep the memory busy.
 */
#ifndef TS_CUDA_LEAVES_H
#define TS_CUDA_LEAVES_H
#include "hashing.h"
#include "../common/fingerprint.h"
#include "../common/fma.h"

#define TS_UNIT 256u
/* Leaves under one node that leaves the block: below 8 every warp that hashes is full. */
#define TS_GROUP 8u

typedef struct {
  ts_vec4 value[8];
} ts_lane_words;

/* Element (row, column) of word 4 j + q held by a lane: row 4 j + lane / 8, column 4 (lane % 8) + q. */
static TS_INLINE ts_u32 ts_lane_element(ts_u32 lane, int j, int q) {
  return 32u * (4u * (ts_u32)j + (lane >> 3)) + 4u * (lane & 7u) + (ts_u32)q;
}

static TS_INLINE ts_u32 ts_from_float(ts_u32 bits) {
  ts_i32 v;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(v) : "f"(__uint_as_float(bits)));
  return (ts_u32)v;
}

static TS_INLINE ts_lane_words ts_read_tile(const ts_u32 *c, ts_u32 tile, ts_u32 columns_log2, ts_u32 lane) {
  ts_lane_words w;
  const ts_u64 row = (ts_u64)(tile >> columns_log2) * 32u + (lane >> 3);
  const ts_u64 stride = 32ull << columns_log2;
  const ts_u32 column = (tile & ((1u << columns_log2) - 1u)) * 32u + 4u * (lane & 7u);
  const ts_u32 *from = c + row * stride + column;
  TS_UNROLL
  for (int j = 0; j < 8; j++) w.value[j] = ts_load_stream(from + 4ull * j * stride);
  return w;
}

/* mix32 after its first step: x ^ x >> 16 is linear over XOR, so masks go through it once, ahead. */
static TS_INLINE ts_u32 ts_mix_on(ts_u32 x) {
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/*
 * Sums over the lanes of two tiles at once: lanes 0 to 15 end with the first tile's, lanes 16 to 31 with the second's.
 */
static TS_INLINE ts_fingerprint ts_sum_pair(ts_fingerprint first, ts_fingerprint second, ts_u32 lane) {
  const int upper = lane >= 16u;
  ts_fingerprint f;
  f.f0 = (upper ? second.f0 : first.f0) + ts_shuffle_xor(upper ? first.f0 : second.f0, 16);
  f.f1 = (upper ? second.f1 : first.f1) + ts_shuffle_xor(upper ? first.f1 : second.f1, 16);
  TS_UNROLL
  for (ts_u32 step = 8; step > 0; step >>= 1) {
    f.f0 += ts_shuffle_xor(f.f0, step);
    f.f1 += ts_shuffle_xor(f.f1, step);
  }
  return f;
}

/*
 * Pair i of a warp: the eight warps of a block read neighbouring tiles at about the same time, so that pages of the memory
 * are opened once. Sums of pair i end in lanes i and 16 + i.
 */
static TS_INLINE ts_u32 ts_pair_of(ts_u32 warp, ts_u32 i) { return 16u * i + 2u * warp; }

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

/* A fingerprint for the openings, or nowhere when `prints` is null. */
static TS_INLINE void ts_keep_print(ts_wide2 *prints, ts_u64 at, ts_fingerprint f) {
  ts_wide2 pair;
  pair.x = f.f0, pair.y = f.f1;
  if (prints) prints[at] = pair;
}

#define TS_PLAIN 0
#define TS_BIND 1
#define TS_FILL 2

/* What every tile of a launch shares. */
typedef struct {
  const ts_u32 *c;
  ts_u32 columns_log2, lane, tiles, one;
  const ts_u32 *seed;
  /* Shared by the block: vector 32 j + lane belongs to word 4 j of a lane. */
  const ts_vec4 *masks;
} ts_leaves_job;

/* Four neighbouring elements into the sums. */
static TS_INLINE void ts_add_four(ts_fingerprint *f, ts_vec4 v, ts_vec4 mask) {
  const ts_u32 x = ts_mix_on(v.x ^ (v.x >> 16) ^ mask.x), y = ts_mix_on(v.y ^ (v.y >> 16) ^ mask.y);
  const ts_u32 z = ts_mix_on(v.z ^ (v.z >> 16) ^ mask.z), w = ts_mix_on(v.w ^ (v.w >> 16) ^ mask.w);
  ts_fingerprint_add(f, x), ts_fingerprint_add(f, y), ts_fingerprint_add(f, z), ts_fingerprint_add(f, w);
}

/* (v ^ mask) + other of four neighbours into the sums (§7, §8). */
static TS_INLINE void ts_add_four_pairs(ts_fingerprint *f, ts_vec4 v, ts_vec4 mask, ts_vec4 other, ts_u32 one) {
  const ts_u32 x = ts_add(v.x ^ mask.x, other.x, one), y = ts_add(v.y ^ mask.y, other.y, one);
  const ts_u32 z = ts_add(v.z ^ mask.z, other.z, one), w = ts_add(v.w ^ mask.w, other.w, one);
  ts_fingerprint_add(f, ts_mix32(x)), ts_fingerprint_add(f, ts_mix32(y));
  ts_fingerprint_add(f, ts_mix32(z)), ts_fingerprint_add(f, ts_mix32(w));
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

/* One tile's share of this lane. */
static TS_INLINE ts_fingerprint ts_print_tile(const ts_leaves_job *job, ts_u32 tile, ts_u32 *kept, int kind,
                                              int floats) {
  ts_fingerprint f = {0, 0};
  const ts_lane_words all = ts_read_tile(job->c, tile, job->columns_log2, job->lane);
  ts_lane_words others;
  if (kind == TS_BIND)
    others = ts_read_tile(job->c, ts_bind_partner(tile, job->seed, job->tiles), job->columns_log2, job->lane);
  TS_UNROLL
  for (int j = 0; j < 8; j++) {
    const ts_vec4 v = ts_integers(all.value[j], floats);
    if (kind == TS_FILL)
      ts_keep_four(kept + (ts_u64)tile * TS_KEPT_WORDS + ts_lane_element(job->lane, j, 0) / 2u, v);
    if (kind == TS_BIND) ts_add_four_pairs(&f, v, job->masks[32 * j], others.value[j], job->one);
    else ts_add_four(&f, v, job->masks[32 * j]);
  }
  return f;
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
  const ts_u32 lane = TS_THREAD & 31u, unit = tiles < TS_UNIT ? tiles : TS_UNIT;
  /* Backwards: what the product wrote last is still in the cache. */
  const ts_u32 block = TS_BLOCKS - 1u - TS_BLOCK;
  const ts_u32 warp = TS_THREAD >> 5, first = block * TS_UNIT;
  /* With `keep` every round has its own place; without, the first is used again and asked rounds are computed again. */
  const ts_u64 slot = keep ? state->round : 0u, round_start = slot * tiles;
  ts_leaves_job job = {c, columns_log2, lane, tiles, ts_one(), state->seed, 0};
  __shared__ ts_vec4 masks[256];
  masks[TS_THREAD] = ts_four_masks(4u * TS_THREAD, state->seed[3], kind != TS_BIND);
  TS_BARRIER();
  job.masks = masks + lane;
  kept += round_start * TS_KEPT_WORDS;
  ts_fingerprint mine = {0, 0};
  for (ts_u32 i = 0; i < 16u && ts_pair_of(warp, i) < unit; i++) {
    const ts_u32 tile = first + ts_pair_of(warp, i);
    const ts_fingerprint even = ts_print_tile(&job, tile, kept, kind, floats);
    const ts_fingerprint odd = ts_print_tile(&job, tile + 1u, kept, kind, floats);
    const ts_fingerprint f = ts_sum_pair(even, odd, lane);
    if ((lane & 15u) == i) mine = f;
  }
  const ts_u32 own = ts_pair_of(warp, lane & 15u) + (lane >> 4);
  if (own < unit) ts_keep_print(prints, round_start + first + own, mine);
  /* Bound and kept rounds are many and small: they keep one node a block. */
  const ts_u32 group = kind == TS_PLAIN ? TS_GROUP : TS_UNIT;
  ts_finish_unit(shared, mine, first, own, unit, group, nodes, slot * TS_BLOCKS + block);
}

#endif
