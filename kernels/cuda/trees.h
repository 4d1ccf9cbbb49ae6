/* Kernels that fold nodes into roots, and chain the seed. */
#ifndef TS_CUDA_TREES_H
#define TS_CUDA_TREES_H
#include "leaves.h"

#define TS_FOLD 128u
#define TS_LAST 1024u

TS_KERNEL TS_BOUNDS(256, 3)
    ts_leaves_int(const ts_u32 *c, const ts_chain_state *state, ts_u32 tiles, ts_u32 columns_log2, ts_u32 keep,
                  ts_wide2 *prints, ts_u32 *nodes) {
  ts_leaves(c, state, tiles, columns_log2, keep, prints, nodes, 0, TS_PLAIN, 0);
}
TS_KERNEL TS_BOUNDS(256, 3)
    ts_leaves_float(const ts_u32 *c, const ts_chain_state *state, ts_u32 tiles, ts_u32 columns_log2, ts_u32 keep,
                    ts_wide2 *prints, ts_u32 *nodes) {
  ts_leaves(c, state, tiles, columns_log2, keep, prints, nodes, 0, TS_PLAIN, 1);
}

/* Where the nodes of a tree level lie: those of the current round or pass, `per_round` of them. */
static TS_INLINE const ts_u32 *ts_round_nodes(const ts_u32 *nodes, ts_u32 round, ts_u32 per_round) {
  return nodes + 8ull * round * per_round;
}

/* Each block folds `width` (at most 128, a power of two) neighbouring nodes of the current round into one. */
TS_KERNEL TS_BOUNDS(64, 8)
    ts_fold(const ts_u32 *nodes, ts_u32 *folded, const ts_u32 *round, ts_u32 per_round, ts_u32 width) {
  __shared__ ts_u32 shared[8 * TS_FOLD];
  const ts_u32 *from = ts_round_nodes(nodes, round ? *round : 0u, per_round) + 8ull * TS_BLOCK * width;
  ts_u32 hash[8];
  for (ts_u32 i = TS_THREAD; i < width; i += 64u) {
    ts_read_hash(from + 8u * i, hash);
    ts_put(shared, TS_FOLD, i, hash);
  }
  ts_reduce_shared(shared, TS_FOLD, width, 1, TS_THREAD);
  if (TS_THREAD == 0) {
    ts_get(shared, TS_FOLD, 0, hash);
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

/* The last nodes of a round (at most 1024) to its root; the root goes to the host, the next seed into the state. */
TS_KERNEL TS_BOUNDS(512, 1) ts_finish_round(const ts_u32 *nodes, ts_chain_state *state, ts_u32 per_round, ts_u32 width) {
  __shared__ ts_u32 shared[8 * TS_LAST];
  const ts_u32 round = state->round;
  const ts_u32 *from = ts_round_nodes(nodes, per_round ? round : 0u, per_round);
  ts_u32 hash[8], seed[8];
  for (ts_u32 i = TS_THREAD; i < width; i += TS_THREADS) {
    ts_read_hash(from + 8u * i, hash);
    ts_put(shared, TS_LAST, i, hash);
  }
  ts_reduce_shared(shared, TS_LAST, width, 1, TS_THREAD);
  /* Two threads of two warps: the host is told while the next seed is made. */
  if (TS_THREAD == 32u) {
    ts_get(shared, TS_LAST, 0, hash);
    ts_tell_host(state, hash, round);
  }
  if (TS_THREAD == 0) {
    ts_get(shared, TS_LAST, 0, hash);
    ts_read_hash(state->seed, seed);
    ts_next_seed(seed, hash, hash);
    ts_write_hash(state->seed, hash);
    state->round = round + 1u;
  }
}

#endif
