#include "hashing.h"
#include "lanes.h"
#define TS_OWN_SHA256_BLOCK ts_native_sha256_block
#include "../common/sha256.h"

/* The same rounds as common/sha256.h, one hash to a lane: for many at once that is quicker than the SHA extensions. */
static TS_INLINE ts_words rotr(ts_words x, int n) { return x >> n | x << (32 - n); }

typedef struct {
  ts_words state[8], w[16];
} hashes;

static __attribute__((noinline)) void block_lanes(hashes *h) {
  ts_words v[8], *w = h->w;
  for (int i = 0; i < 8; i++) v[i] = h->state[i];
  TS_ROLLED
  for (int turn = 0; turn < 64; turn += 16) {
    if (turn > 0) {
      TS_UNROLL
      for (int i = 0; i < 16; i++) {
        const ts_words w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
        w[i] += (rotr(w15, 7) ^ rotr(w15, 18) ^ w15 >> 3) + w[(i + 9) & 15] + (rotr(w2, 17) ^ rotr(w2, 19) ^ w2 >> 10);
      }
    }
    TS_UNROLL
    for (int i = 0; i < 16; i++) {
      const ts_words a = v[-i & 7], b = v[(1 - i) & 7], c = v[(2 - i) & 7];
      const ts_words e = v[(4 - i) & 7], f = v[(5 - i) & 7], g = v[(6 - i) & 7];
      const ts_words t1 = v[(7 - i) & 7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (g ^ (e & (f ^ g))) + w[i] +
                          TS_SHA256_K[turn + i];
      v[(3 - i) & 7] += t1;
      v[(7 - i) & 7] = t1 + (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) | (c & (a | b)));
    }
  }
  for (int i = 0; i < 8; i++) h->state[i] += v[i];
}

static TS_INLINE void start(hashes *h) {
  ts_u32 first[8];
  ts_sha256_start(first);
  for (int i = 0; i < 8; i++) h->state[i] = ts_splat(first[i]);
}

static TS_INLINE void put(hashes *h, int lane, const ts_u32 words[16]) {
  for (int i = 0; i < 16; i++) ((ts_u32 *)&h->w[i])[lane] = words[i];
}

static TS_INLINE void finish(const hashes *h, ts_u32 *out) {
  for (int lane = 0; lane < TS_LANES; lane++)
    for (int i = 0; i < 8; i++) out[8 * lane + i] = TS_BSWAP32(((const ts_u32 *)&h->state[i])[lane]);
}

static void leaves_lanes(ts_u64 tile, const ts_u64 *fingerprints, ts_u32 *out) {
  hashes h;
  ts_u32 words[16];
  for (int lane = 0; lane < TS_LANES; lane++) {
    ts_leaf_words(tile + lane, fingerprints[2 * lane], fingerprints[2 * lane + 1], words);
    put(&h, lane, words);
  }
  start(&h);
  block_lanes(&h);
  finish(&h, out);
}

static void nodes_lanes(const ts_u32 *children, ts_u32 *out) {
  hashes h;
  ts_u32 words[16];
  for (int lane = 0; lane < TS_LANES; lane++) {
    ts_node_words(children + 16 * lane, children + 16 * lane + 8, words);
    put(&h, lane, words);
  }
  start(&h);
  block_lanes(&h);
  for (int lane = 0; lane < TS_LANES; lane++)
    ((ts_u32 *)&h.w[0])[lane] = (children[16 * lane + 15] & 0xff000000u) | 0x00800000u;
  for (int i = 1; i < 15; i++) h.w[i] = ts_splat(0);
  h.w[15] = ts_splat(65 * 8);
  block_lanes(&h);
  finish(&h, out);
}

/* As in wasm/tree.c: leaves, then the level above, and so on, the root last; level l begins at 2 * leaves - 2 * (leaves >> l). */
static TS_INLINE ts_u32 *level_of(ts_u32 *tree, ts_u32 leaves, ts_u32 level) {
  return tree + 8 * (ts_u64)(2 * leaves - 2 * (leaves >> level));
}

static void level_up(ts_u32 *tree, ts_u32 leaves, ts_u32 level, ts_u32 first, ts_u32 count) {
  const ts_u32 *from = level_of(tree, leaves, level - 1);
  ts_u32 *to = level_of(tree, leaves, level);
  ts_u64 i = first;
  for (; i + TS_LANES <= first + count; i += TS_LANES) nodes_lanes(from + 16 * i, to + 8 * i);
  for (; i < first + count; i++) ts_node_hash(from + 16 * i, from + 16 * i + 8, to + 8 * i);
}

/* Leaves first .. first + count - 1 from their fingerprints, and every node above them alone; leaf i is tile `base` + i. */
TS_EXPORT void ts_subtree(
    char *memory, ts_u64 fingerprints, ts_u32 base, ts_u32 leaves, ts_u32 first, ts_u32 count, ts_u64 out) {
  const ts_u64 *sums = TS_AT(const ts_u64, fingerprints);
  ts_u32 *tree = TS_AT(ts_u32, out);
  ts_u64 i = first;
  for (; i + TS_LANES <= first + count; i += TS_LANES) leaves_lanes(base + i, sums + 2 * i, tree + 8 * i);
  for (; i < first + count; i++) ts_leaf_hash(base + i, sums[2 * i], sums[2 * i + 1], tree + 8 * i);
  for (ts_u32 level = 1; count >> level > 0; level++) level_up(tree, leaves, level, first >> level, count >> level);
}

/* What is left above subtrees of `count` leaves each, up to the root. */
TS_EXPORT void ts_crown(char *memory, ts_u32 leaves, ts_u32 count, ts_u64 out) {
  ts_u32 level = 1;
  while (count >> level > 0) level++;
  for (; leaves >> level > 0; level++) level_up(TS_AT(ts_u32, out), leaves, level, 0, leaves >> level);
}

TS_EXPORT void ts_export_next_seed(char *memory, ts_u64 seed, ts_u64 root, ts_u64 out) {
  ts_next_seed(TS_AT(const ts_u32, seed), TS_AT(const ts_u32, root), TS_AT(ts_u32, out));
}

TS_EXPORT void ts_export_next_pass(char *memory, ts_u64 z, ts_u64 q, ts_u64 out) {
  ts_next_pass(TS_AT(const ts_u32, z), TS_AT(const ts_u32, q), TS_AT(ts_u32, out));
}

TS_EXPORT void ts_export_pass_root(char *memory, ts_u32 pass, ts_u64 root, ts_u64 out) {
  ts_pass_root(pass, TS_AT(const ts_u32, root), TS_AT(ts_u32, out));
}
