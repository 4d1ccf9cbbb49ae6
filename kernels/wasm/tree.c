#include "sha256x4.h"

/*
 * A tree over 2^d leaves lies in one array: the leaves, then the level above, and so on, the root last.
 * Level l begins at entry 2 * leaves - 2 * (leaves >> l).
 */
static TS_INLINE ts_u32 *level_of(ts_u32 *tree, ts_u32 leaves, ts_u32 level) {
  return tree + 8 * (2 * leaves - 2 * (leaves >> level));
}

static void level_up(ts_u32 *tree, ts_u32 leaves, ts_u32 level, ts_u32 first, ts_u32 count) {
  const ts_u32 *from = level_of(tree, leaves, level - 1);
  ts_u32 *to = level_of(tree, leaves, level);
  ts_u32 i = first;
  for (; i + 4 <= first + count; i += 4) nodes_x4(from + 16 * i, to + 8 * i);
  for (; i < first + count; i++) ts_node_hash(from + 16 * i, from + 16 * i + 8, to + 8 * i);
}

/*
 * Leaves first .. first + count - 1 from their fingerprints, and every node above them alone. count is a power of two and
 * divides first, so that threads can take their own parts of one tree. Leaf i stands for tile `base` + i (§5, §7).
 */
TS_EXPORT(subtree)
void ts_subtree(const ts_u64 *fingerprints, ts_u32 base, ts_u32 leaves, ts_u32 first, ts_u32 count, ts_u32 *tree) {
  ts_u32 i = first;
  for (; i + 4 <= first + count; i += 4) leaves_x4((ts_u64)base + i, fingerprints + 2 * i, tree + 8 * i);
  for (; i < first + count; i++)
    ts_leaf_hash((ts_u64)base + i, fingerprints[2 * i], fingerprints[2 * i + 1], tree + 8 * i);
  for (ts_u32 level = 1; count >> level > 0; level++) level_up(tree, leaves, level, first >> level, count >> level);
}

/* What is left above subtrees of `count` leaves each, up to the root. */
TS_EXPORT(crown)
void ts_crown(ts_u32 leaves, ts_u32 count, ts_u32 *tree) {
  ts_u32 level = 1;
  while (count >> level > 0) level++;
  for (; leaves >> level > 0; level++) level_up(tree, leaves, level, 0, leaves >> level);
}

TS_EXPORT(nextSeed)
void ts_export_next_seed(const ts_u32 *seed, const ts_u32 *root, ts_u32 *out) { ts_next_seed(seed, root, out); }

TS_EXPORT(nextPass)
void ts_export_next_pass(const ts_u32 *z, const ts_u32 *q, ts_u32 *out) { ts_next_pass(z, q, out); }

TS_EXPORT(passRoot)
void ts_export_pass_root(ts_u32 pass, const ts_u32 *root, ts_u32 *out) { ts_pass_root(pass, root, out); }
