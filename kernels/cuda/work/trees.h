/* W4.1: leaves of up to 1,024 bytes of one row, and the nodes above them, as SHA-256. */
#ifndef TS_CUDA_WORK_TREES_H
#define TS_CUDA_WORK_TREES_H
#include "../hashing.h"
#include "base.h"

#define WK_LEAF_BYTES 1024u

/* Word i of 0x00 || bytes || padding, most significant byte first. */
static TS_INLINE ts_u32 wk_edge_word(const ts_u8 *bytes, ts_u32 length, ts_u32 i) {
  ts_u32 word = 0;
  for (ts_u32 j = 4 * i; j < 4 * i + 4; j++) {
    const ts_u32 byte = j == 0 || j > length + 1 ? 0u : j == length + 1 ? 0x80u : bytes[j - 1];
    word = word << 8 | byte;
  }
  return word;
}

static TS_INLINE void wk_leaf_hash(const ts_u8 *bytes, ts_u32 length, ts_u32 out[8]) {
  ts_u32 state[8], w[16], before = 0;
  const bool in_words = ((ts_u64)bytes & 15u) == 0;
  const ts_u32 total = length + 1, blocks = (total + 8) / 64 + 1;
  ts_sha256_start(state);
  TS_ROLLED
  for (ts_u32 block = 0; block < blocks; block++) {
    if (in_words && 64 * block + 64 <= length)
      TS_UNROLL
      for (ts_u32 i = 0; i < 4; i++) {
        const ts_vec4 four = ts_load_fixed(bytes + 64 * block + 16 * i);
        TS_UNROLL
        for (ts_u32 k = 0; k < 4; k++) {
          const ts_u32 word = TS_BSWAP32(four[k]);
          w[4 * i + k] = before << 24 | word >> 8;
          before = word;
        }
      }
    else if (in_words && 64 * block == length) {
      TS_UNROLL
      for (ts_u32 i = 1; i < 15; i++) w[i] = 0;
      w[0] = before << 24 | 0x800000u;
      w[15] = 8 * total;
    } else {
      TS_UNROLL
      for (ts_u32 i = 0; i < 16; i++) w[i] = wk_edge_word(bytes, length, 16 * block + i);
      if (block == blocks - 1) w[15] = 8 * total;
    }
    ts_sha256_block(state, w);
  }
  ts_sha256_finish(state, out);
}

/* Leaf number `leaf` of rows that lie one after the other. */
static TS_INLINE void wk_leaf(const ts_u8 *x, ts_u32 row_bytes, ts_u64 leaf, ts_u32 out[8]) {
  const ts_u32 per_row = (row_bytes + WK_LEAF_BYTES - 1) / WK_LEAF_BYTES, at = (ts_u32)(leaf % per_row) * WK_LEAF_BYTES;
  wk_leaf_hash(x + leaf / per_row * row_bytes + at, wk_least(WK_LEAF_BYTES, row_bytes - at), out);
}

WK(leaves)(ts_u32 *fault, const ts_u8 *x, ts_u32 *out, ts_u32 rows, ts_u32 row_bytes) {
  const ts_u64 leaves = (ts_u64)rows * ((row_bytes + WK_LEAF_BYTES - 1) / WK_LEAF_BYTES);
  for (ts_u64 leaf = WK_FIRST; leaf < leaves; leaf += WK_STEP) {
    ts_u32 hash[8];
    wk_leaf(x, row_bytes, leaf, hash);
    ts_write_hash(out + 8 * leaf, hash);
  }
}

WK(nodes)(ts_u32 *fault, const ts_u32 *below, ts_u32 *out, ts_u32 count) {
  for (ts_u64 i = WK_FIRST; i < count; i += WK_STEP) {
    ts_u32 near[8], far[8], hash[8];
    ts_read_hash(below + 16 * i, near);
    ts_read_hash(below + 16 * i + 8, far);
    ts_node_hash(near, far, hash);
    ts_write_hash(out + 8 * i, hash);
  }
}

#define WK_TREE_THREADS 256

/* A tree among many: `across` hashes to a block, a power of two up to 256; its blocks begin at number `first`. */
typedef struct {
  ts_u64 from, to;
  ts_u32 rows, row_bytes, across, first;
} wk_tree;

/* The tree of a block; trees lie in the order of their blocks. */
static TS_INLINE wk_tree wk_tree_here(const wk_tree *trees, ts_u32 count) {
  ts_u32 low = 0, high = count;
  while (high - low > 1) {
    const ts_u32 middle = (low + high) / 2;
    if (trees[middle].first <= TS_BLOCK) low = middle;
    else high = middle;
  }
  return trees[low];
}

/* The hashes of a block lead to one. */
static TS_INLINE void wk_tree_top(ts_u32 *shared, ts_u32 hash[8], ts_u32 across, ts_u32 *to) {
  ts_put(shared, WK_TREE_THREADS, TS_THREAD, hash);
  ts_reduce_shared(shared, WK_TREE_THREADS, across, 1, TS_THREAD);
  if (TS_THREAD > 0) return;
  ts_get(shared, WK_TREE_THREADS, 0, hash);
  ts_write_hash(to, hash);
}

/* From the leaves of many tensors; what lies beyond the last leaf of one is zeros. */
WK(leavesTop)(ts_u32 *fault, const wk_tree *trees, ts_u32 count) {
  __shared__ ts_u32 shared[8 * WK_TREE_THREADS];
  const wk_tree of = wk_tree_here(trees, count);
  const ts_u64 leaves = (ts_u64)of.rows * ((of.row_bytes + WK_LEAF_BYTES - 1) / WK_LEAF_BYTES);
  const ts_u32 block = TS_BLOCK - of.first;
  const ts_u64 leaf = (ts_u64)block * of.across + TS_THREAD;
  ts_u32 hash[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  if (TS_THREAD < of.across && leaf < leaves) wk_leaf((const ts_u8 *)of.from, of.row_bytes, leaf, hash);
  wk_tree_top(shared, hash, of.across, (ts_u32 *)of.to + 8 * block);
}

/* From nodes. */
WK(nodesTop)(ts_u32 *fault, const wk_tree *trees, ts_u32 count) {
  __shared__ ts_u32 shared[8 * WK_TREE_THREADS];
  const wk_tree of = wk_tree_here(trees, count);
  const ts_u32 block = TS_BLOCK - of.first;
  ts_u32 hash[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  if (TS_THREAD < of.across) ts_read_hash((const ts_u32 *)of.from + 8 * ((ts_u64)block * of.across + TS_THREAD), hash);
  wk_tree_top(shared, hash, of.across, (ts_u32 *)of.to + 8 * block);
}

#endif
