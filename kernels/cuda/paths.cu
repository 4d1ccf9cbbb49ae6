/* Paths for the openings, from fingerprints and nodes that were kept. sm_50 and up. */
#include "hashing.h"

/* One asked path: the unit of leaves around it (when there is one), then the nodes above, to `path`. */
typedef struct {
  ts_u64 prints, first_leaf, nodes, scratch, path;
  ts_u32 unit, in_unit, count, index;
} ts_path_request;

/* Folds `count` nodes in global scratch down to one, copying the sibling of `index` at every level. */
static TS_INLINE ts_u32 *ts_climb(const ts_u32 *nodes, ts_u32 *scratch, ts_u32 count, ts_u32 index, ts_u32 *path) {
  const ts_u32 *level = nodes;
  ts_u32 left[8], right[8], out[8];
  for (; count > 1; count >>= 1, index >>= 1, path += 8) {
    TS_BARRIER();
    if (TS_THREAD < 8) path[TS_THREAD] = level[8u * (index ^ 1u) + TS_THREAD];
    for (ts_u32 i = TS_THREAD; i < count / 2; i += TS_THREADS) {
      ts_read_hash(level + 16u * i, left);
      ts_read_hash(level + 16u * i + 8u, right);
      ts_node_hash(left, right, out);
      ts_write_hash(scratch + 8u * i, out);
    }
    TS_BARRIER();
    level = scratch;
    scratch += 8u * (count / 2);
  }
  return path;
}

/* One block per asked path. Scratch holds 2 * (unit + count) hashes a request. */
TS_KERNEL TS_BOUNDS(256, 2) ts_paths(const ts_path_request *requests) {
  const ts_path_request *r = requests + TS_BLOCK;
  ts_u32 *path = (ts_u32 *)r->path, *scratch = (ts_u32 *)r->scratch;
  ts_u32 hash[8];
  if (r->unit) {
    for (ts_u32 i = TS_THREAD; i < r->unit; i += TS_THREADS) {
      const ts_wide2 f = ((const ts_wide2 *)r->prints)[i];
      ts_leaf_hash(r->first_leaf + i, f.x, f.y, hash);
      ts_write_hash(scratch + 8u * i, hash);
    }
    TS_BARRIER();
    path = ts_climb(scratch, scratch + 8u * r->unit, r->unit, r->in_unit, path);
    scratch += 16u * r->unit;
  }
  ts_climb((const ts_u32 *)r->nodes, scratch, r->count, r->index, path);
}
