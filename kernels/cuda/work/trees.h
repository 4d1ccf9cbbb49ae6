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

/* A leaf of any length that lies anywhere: the few of a tensor with rows of odd sizes. */
static TS_INLINE void wk_odd_leaf_hash(const ts_u8 *bytes, ts_u32 length, ts_u32 state[8]) {
  const ts_u32 blocks = (length + 9) / 64 + 1;
  ts_u32 w[16];
  TS_ROLLED
  for (ts_u32 block = 0; block < blocks; block++) {
    TS_ROLLED
    for (ts_u32 i = 0; i < 16; i++) w[i] = wk_edge_word(bytes, length, 16 * block + i);
    if (block == blocks - 1) w[15] = 8 * (length + 1);
    ts_sha256_block(state, w);
  }
}

/* A leaf of whole vectors and blocks. */
static TS_INLINE void wk_even_leaf_hash(const ts_u8 *bytes, ts_u32 length, ts_u32 state[8]) {
  ts_u32 w[16], before = 0;
  TS_ROLLED
  for (ts_u32 at = 0; at <= length; at += 64) {
    if (at < length) {
      TS_UNROLL
      for (ts_u32 i = 0; i < 4; i++) {
        const ts_vec4 four = ts_load_fixed(bytes + at + 16 * i);
        TS_UNROLL
        for (ts_u32 k = 0; k < 4; k++) {
          /* The last byte of the word before, then the first three of this one. */
          w[4 * i + k] = __byte_perm(four[k], before, 0x7012);
          before = four[k];
        }
      }
    } else {
      TS_UNROLL
      for (ts_u32 i = 1; i < 15; i++) w[i] = 0;
      w[0] = (before & 0xff000000u) | 0x800000u;
      w[15] = 8 * (length + 1);
    }
    ts_sha256_block(state, w);
  }
}

static TS_INLINE void wk_leaf_hash(const ts_u8 *bytes, ts_u32 length, ts_u32 out[8]) {
  ts_u32 state[8];
  ts_sha256_start(state);
  if (((ts_u64)bytes & 15u) == 0 && length % 64 == 0) wk_even_leaf_hash(bytes, length, state);
  else wk_odd_leaf_hash(bytes, length, state);
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
/* A thread leads at most so many levels to one hash. */
#define WK_TREE_GROUP 3

/*
 * A tree among many, or what is left of one: `count` leaves (rows of row_bytes each) or hashes (row_bytes 0) at `level`,
 * of which a thread leads 2^group to one. A block leads those of 2^fold threads to one, or all are written as they are.
 * Its blocks begin at number `first`.
 */
typedef struct {
  ts_u64 from, to, count;
  ts_u32 row_bytes, level, group, fold, first, reserved;
} wk_tree;

/* The tree of a block; trees lie in the order of their blocks. */
static TS_INLINE wk_tree wk_tree_of(ts_u32 block, const wk_tree *trees, ts_u32 count) {
  ts_u32 low = 0, high = count;
  while (high - low > 1) {
    const ts_u32 middle = (low + high) / 2;
    if (trees[middle].first <= block) low = middle;
    else high = middle;
  }
  return trees[low];
}

/*
 * 2^group hashes to one, by one thread: every warp is full, as it would not be where threads share a tree. A hash that
 * waits for its neighbour lies in `shared`. `zeros` has the hash over nothing but padding, for every level.
 */
static TS_INLINE void wk_lead(wk_tree of, ts_u64 from, const ts_u32 *zeros, ts_u32 shared[][8 * WK_TREE_THREADS],
                              ts_u32 hash[8]) {
  TS_ROLLED
  for (ts_u32 j = 0; j >> of.group == 0; j++) {
    if (from + j >= of.count) ts_read_hash(zeros + 8 * of.level, hash);
    else if (of.row_bytes > 0) wk_leaf((const ts_u8 *)of.from, of.row_bytes, from + j, hash);
    else ts_read_hash((const ts_u32 *)of.from + 8 * (from + j), hash);
    ts_u32 level = 0;
    TS_ROLLED
    for (; j >> level & 1u; level++) {
      ts_u32 near[8];
      ts_get(shared[level], WK_TREE_THREADS, TS_THREAD, near);
      ts_node_hash(near, hash, hash);
    }
    if (level < of.group) ts_put(shared[level], WK_TREE_THREADS, TS_THREAD, hash);
  }
}

/* Some levels of many trees, by so many blocks in turn; what lies beyond the last leaf of a tree is zeros. */
TS_KERNEL TS_BOUNDS(WK_TREE_THREADS, 3)
wk_treesUp(ts_u32 *fault, const wk_tree *trees, ts_u32 count, ts_u32 blocks, const ts_u32 *zeros) {
  __shared__ ts_u32 shared[WK_TREE_GROUP][8 * WK_TREE_THREADS];
  TS_ROLLED
  for (ts_u32 block = TS_BLOCK; block < blocks; block += TS_BLOCKS) {
    const wk_tree of = wk_tree_of(block, trees, count);
    const ts_u64 here = (ts_u64)(block - of.first) * WK_TREE_THREADS + TS_THREAD, from = here << of.group;
    ts_u32 hash[8];
    if (from < of.count) wk_lead(of, from, zeros, shared, hash);
    else ts_read_hash(zeros + 8 * (of.level + of.group), hash);
    if (of.fold > 0) {
      ts_put(shared[0], WK_TREE_THREADS, TS_THREAD, hash);
      ts_reduce_shared(shared[0], WK_TREE_THREADS, 1u << of.fold, 1, TS_THREAD);
      ts_get(shared[0], WK_TREE_THREADS, 0, hash);
      TS_BARRIER();
    }
    if (of.fold > 0 ? TS_THREAD == 0 : from < of.count) ts_write_hash((ts_u32 *)of.to + 8 * here, hash);
  }
}

#endif
