/*
 * The top of a tree: a dozen levels with few nodes each, one behind the other, while the card waits. What counts is how
 * long one node takes, so two warps share it: one makes the message schedules, the other only runs the rounds.
 */
#ifndef TS_CUDA_TREE_TOP_H
#define TS_CUDA_TREE_TOP_H
#include "hashing.h"

/* Pairs of warps in a block; together they make 64 nodes of a level. The first warps run, the others schedule. */
#define TS_PAIRS 2u
#define TS_TREE_THREADS 128u
/* Hashes a block holds. */
#define TS_HELD 128u
/* A warp alone gains nothing from additions on another pipe. */
#define TS_ALONE 1u

typedef struct {
  ts_u32 hashes[8 * TS_HELD];
  /* W + K of the two blocks of a hash, four words at a time, one lane a hash. */
  ts_vec4 words[TS_PAIRS][32][32];
} ts_tree_space;

/* Hands words from warp to warp: five steps a hash, each with a barrier of its own for each pair (0 is the block's). */
static TS_INLINE ts_u32 ts_step_barrier(ts_u32 pair, ts_u32 step) { return 1u + 5u * pair + step; }
static TS_INLINE void ts_words_ready(ts_u32 pair, ts_u32 step) {
  asm volatile("bar.arrive %0, 64;" ::"r"(ts_step_barrier(pair, step)) : "memory");
}
static TS_INLINE void ts_await_words(ts_u32 pair, ts_u32 step) {
  asm volatile("bar.sync %0, 64;" ::"r"(ts_step_barrier(pair, step)) : "memory");
}

static TS_INLINE void ts_put_words(ts_vec4 (*words)[32], const ts_u32 wk[16], ts_u32 lane) {
  TS_UNROLL
  for (int i = 0; i < 4; i++) {
    ts_vec4 four;
    four.x = wk[4 * i], four.y = wk[4 * i + 1], four.z = wk[4 * i + 2], four.w = wk[4 * i + 3];
    words[i][lane] = four;
  }
}

/* The schedule of one block; each sixteen words are handed over where `hand` says so. */
static TS_INLINE void ts_schedule_block(ts_tree_space *space, ts_u32 pair, ts_u32 half, ts_u32 w[16], int hand) {
  const ts_u32 lane = TS_THREAD & 31u;
  ts_u32 wk[16];
  TS_ROLLED
  for (ts_u32 step = 0; step < 4u; step++) {
    if (step) ts_sha256_schedule(w, TS_ALONE);
    ts_sha256_add_k(w, 16 * (int)step, wk, TS_ALONE);
    ts_put_words(space->words[pair] + 16u * half + 4u * step, wk, lane);
    if (hand) ts_words_ready(pair, step);
  }
}

/* Schedules of node `index`; that of the second block has only to be looked up. */
static TS_INLINE void ts_schedule_node(ts_tree_space *space, ts_u32 pair, ts_u32 index) {
  ts_u32 left[8], right[8], w[16], tail[64];
  ts_get(space->hashes, TS_HELD, 2 * index, left);
  ts_get(space->hashes, TS_HELD, 2 * index + 1, right);
  TS_UNROLL
  for (int i = 0; i < 4; i++) ts_read_tail(right[7], 16 * i, tail + 16 * i);
  ts_node_words(left, right, w);
  ts_schedule_block(space, pair, 0, w, 1);
  TS_UNROLL
  for (int i = 0; i < 4; i++) ts_put_words(space->words[pair] + 16 + 4 * i, tail + 16 * i, TS_THREAD & 31u);
  ts_words_ready(pair, 4);
}

/* Two blocks whose words another warp makes. */
static TS_INLINE void ts_run_scheduled(const ts_tree_space *space, ts_u32 pair, ts_u32 out[8]) {
  ts_u32 v[8], state[8], wk[16];
  ts_sha256_start(v);
  ts_sha256_start(state);
  TS_ROLLED
  for (ts_u32 step = 0; step < 8u; step++) {
    if (step < 5u) ts_await_words(pair, step);
    TS_UNROLL
    for (int i = 0; i < 4; i++) {
      const ts_vec4 four = space->words[pair][4u * step + i][TS_THREAD & 31u];
      wk[4 * i] = four.x, wk[4 * i + 1] = four.y, wk[4 * i + 2] = four.z, wk[4 * i + 3] = four.w;
    }
    ts_sha256_sixteen(v, wk, TS_ALONE);
    if (step == 3u || step == 7u)
      TS_UNROLL
      for (int i = 0; i < 8; i++) v[i] = state[i] += v[i];
  }
  ts_sha256_finish(v, out);
}

/* `width` nodes in memory to at most 128 hashes that the block holds, one a thread: as they are, or one level up. */
static TS_INLINE ts_u32 ts_take_nodes(ts_tree_space *space, const ts_u32 *from, ts_u32 width) {
  const ts_u32 folded = width > TS_HELD, held = folded ? width / 2u : width, i = TS_THREAD;
  ts_u32 hash[8], right[8];
  if (i >= held) return held;
  ts_read_hash(from + (folded ? 16u : 8u) * i, hash);
  if (folded) {
    ts_read_hash(from + 16u * i + 8u, right);
    ts_node_hash(hash, right, hash);
  }
  ts_put(space->hashes, TS_HELD, i, hash);
  return held;
}

/* The root over `width` (at most 256, a power of two) nodes becomes hash 0 of the block. Ends in a barrier. */
static TS_INLINE void ts_root_of(ts_tree_space *space, const ts_u32 *from, ts_u32 width) {
  const ts_u32 warp = TS_THREAD >> 5, pair = warp % TS_PAIRS, index = 32u * pair + (TS_THREAD & 31u);
  const int runs = warp < TS_PAIRS;
  for (ts_u32 nodes = ts_take_nodes(space, from, width) / 2u; nodes > 0; nodes /= 2u) {
    ts_u32 out[8];
    TS_BARRIER();
    if (32u * pair < nodes) {
      if (runs) ts_run_scheduled(space, pair, out);
      else ts_schedule_node(space, pair, index);
    }
    TS_BARRIER();
    if (runs && index < nodes) ts_put(space->hashes, TS_HELD, index, out);
  }
  TS_BARRIER();
}

/* §4.2 from the root in hash 0, by warp 0 with two warps making its words; warp 1 is free meanwhile. */
static TS_INLINE void ts_root_to_seed(ts_tree_space *space, const ts_u32 seed[8], ts_u32 next[8]) {
  const ts_u32 warp = TS_THREAD >> 5;
  ts_u32 root[8], w[16];
  if (warp == 0) ts_run_scheduled(space, 0, next);
  if (warp < TS_PAIRS) return;
  ts_get(space->hashes, TS_HELD, 0, root);
  if (warp == 2) ts_chain_words(TS_LETTERS_NEXT, seed, root, w);
  else ts_chain_tail(root, w);
  ts_schedule_block(space, 0, warp - 2u, w, warp == 2);
  if (warp == 3) ts_words_ready(0, 4);
}

#endif
