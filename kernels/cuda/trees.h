/* Kernels that make leaves, fold nodes into roots, and make the next seed. */
#ifndef TS_CUDA_TREES_H
#define TS_CUDA_TREES_H
#include "leaves.h"
#include "treeTop.h"

TS_KERNEL TS_BOUNDS(256, 4)
    ts_leaves_int(const ts_u32 *c, const ts_chain_state *state, ts_u32 tiles, ts_u32 columns_log2, ts_u32 keep,
                  ts_wide2 *prints, ts_u32 *nodes) {
  ts_leaves(c, state, tiles, columns_log2, keep, prints, nodes, 0, TS_PLAIN, 0);
}
TS_KERNEL TS_BOUNDS(256, 4)
    ts_leaves_float(const ts_u32 *c, const ts_chain_state *state, ts_u32 tiles, ts_u32 columns_log2, ts_u32 keep,
                    ts_wide2 *prints, ts_u32 *nodes) {
  ts_leaves(c, state, tiles, columns_log2, keep, prints, nodes, 0, TS_PLAIN, 1);
}

/* Where the nodes of a tree level lie: those of the current round or pass, `per_round` of them. */
static TS_INLINE const ts_u32 *ts_round_nodes(const ts_u32 *nodes, ts_u32 round, ts_u32 per_round) {
  return nodes + 8ull * round * per_round;
}

/* Each block folds `width` (at most 256, a power of two) neighbouring nodes of the current round into one. */
TS_KERNEL TS_BOUNDS(TS_TREE_THREADS, 2)
    ts_fold(const ts_u32 *nodes, ts_u32 *folded, const ts_u32 *round, ts_u32 per_round, ts_u32 width) {
  __shared__ ts_tree_space space;
  ts_u32 hash[8];
  ts_root_of(&space, ts_round_nodes(nodes, round ? *round : 0u, per_round) + 8ull * TS_BLOCK * width, width);
  if (TS_THREAD == 0) {
    ts_get(space.hashes, TS_HELD, 0, hash);
    ts_write_hash(folded + 8u * TS_BLOCK, hash);
  }
}

static TS_INLINE void ts_tell_host(ts_chain_state *state, const ts_u32 root[8], ts_u32 round) {
  volatile ts_u32 *to = (volatile ts_u32 *)(state->host_roots + 32ull * round);
  TS_UNROLL
  for (int i = 0; i < 8; i++) to[i] = root[i];
  asm volatile("membar.sys;" ::: "memory");
  *(volatile ts_u32 *)state->host_count = round + 1u;
}

/* The last nodes of a round (at most 256) to its root; the root goes to the host, the next seed into the state. */
TS_KERNEL TS_BOUNDS(TS_TREE_THREADS, 1)
    ts_finish_round(const ts_u32 *nodes, ts_chain_state *state, ts_u32 per_round, ts_u32 width) {
  __shared__ ts_tree_space space;
  const ts_u32 round = state->round;
  ts_u32 hash[8], seed[8];
  ts_read_hash(state->seed, seed);
  ts_root_of(&space, ts_round_nodes(nodes, per_round ? round : 0u, per_round), width);
  ts_root_to_seed(&space, seed, hash);
  if (TS_THREAD == 32u) {
    ts_get(space.hashes, TS_HELD, 0, hash);
    ts_tell_host(state, hash, round);
  }
  if (TS_THREAD == 0) {
    ts_write_hash(state->seed, hash);
    state->round = round + 1u;
  }
}

#endif
