/* One plain kernel per function of the protocol, from the same headers as the WebAssembly engine. Correct, not tuned. */
#include "../common/entries.h"
#include "../common/fingerprint.h"
#include "../common/fma.h"
#include "../common/sha256.h"

#define TS_KERNEL extern "C" __global__ void

static TS_INLINE ts_u64 ts_thread(void) { return (ts_u64)blockIdx.x * blockDim.x + threadIdx.x; }

/* §3: entries of a whole matrix, eight (one Philox block) to a thread, as signed bytes. */
TS_KERNEL ts_entries_i8(const ts_u32 *seed, ts_u32 matrix, ts_u32 bound, ts_u64 count, signed char *out) {
  const ts_u64 block = ts_thread();
  if (8 * block >= count) return;
  ts_u32 words[4];
  ts_philox((ts_u32)block, (ts_u32)(block >> 32), matrix, seed, words);
  TS_UNROLL
  for (ts_u32 i = 0; i < 8; i++) out[8 * block + i] = (signed char)ts_entry_integer(ts_lane(words, i), bound);
}

/* The same as 16-bit integers, for bounds above 127. */
TS_KERNEL ts_entries_i16(const ts_u32 *seed, ts_u32 matrix, ts_u32 bound, ts_u64 count, ts_i16 *out) {
  const ts_u64 block = ts_thread();
  if (8 * block >= count) return;
  ts_u32 words[4];
  ts_philox((ts_u32)block, (ts_u32)(block >> 32), matrix, seed, words);
  TS_UNROLL
  for (ts_u32 i = 0; i < 8; i++) out[8 * block + i] = (ts_i16)ts_entry_integer(ts_lane(words, i), bound);
}

/* §3: fp32 entries, four to a thread. */
TS_KERNEL ts_entries_f32(const ts_u32 *seed, ts_u32 matrix, ts_u64 count, float *out) {
  const ts_u64 block = ts_thread();
  if (4 * block >= count) return;
  ts_u32 words[4];
  ts_philox((ts_u32)block, (ts_u32)(block >> 32), matrix, seed, words);
  TS_UNROLL
  for (ts_u32 i = 0; i < 4; i++) out[4 * block + i] = ts_entry_fp32(words[i]);
}

/* Exact integer product, one element to a thread: blockIdx is the tile (x column, y row), threadIdx the element. */
TS_KERNEL ts_product_i16(const ts_i16 *a, const ts_i16 *b, ts_u32 n, ts_u32 k, ts_i32 *c) {
  const ts_u64 row = 32ull * blockIdx.y + threadIdx.y, column = 32ull * blockIdx.x + threadIdx.x;
  ts_i32 sum = 0;
  for (ts_u32 i = 0; i < k; i++) sum += (ts_i32)a[row * k + i] * b[column * k + i];
  c[row * n + column] = sum;
}

/* §2: the ordered fused chain, k ascending, from +0, one element to a thread. */
TS_KERNEL ts_chain_f32(const float *a, const float *b, ts_u32 n, ts_u32 k, float *c) {
  const ts_u64 row = 32ull * blockIdx.y + threadIdx.y, column = 32ull * blockIdx.x + threadIdx.x;
  float sum = 0.0f;
  for (ts_u32 i = 0; i < k; i++) sum = ts_fma(a[row * k + i], b[column * k + i], sum);
  c[row * n + column] = sum;
}

static TS_INLINE ts_u64 ts_element(ts_u32 tile, ts_u32 i, ts_u32 n) {
  const ts_u32 across = n / TS_TILE_SIDE;
  return ((ts_u64)(tile / across) * TS_TILE_SIDE + i / TS_TILE_SIDE) * n + (tile % across) * TS_TILE_SIDE + i % TS_TILE_SIDE;
}

/* One warp's sums, in lane 0. Addition mod 2^64 commutes, so the order is free. */
static TS_INLINE void ts_store_warp(ts_fingerprint f, ts_u32 index, ts_u64 *out) {
  for (int step = 16; step > 0; step >>= 1) {
    f.f0 += __shfl_down_sync(0xffffffffu, f.f0, step);
    f.f1 += __shfl_down_sync(0xffffffffu, f.f1, step);
  }
  if ((threadIdx.x & 31u) != 0) return;
  out[2ull * index] = f.f0;
  out[2ull * index + 1] = f.f1;
}

/* §5: one warp to a tile; c is row-major, u32 words. */
TS_KERNEL ts_fingerprint_tiles(const ts_u32 *seed, const ts_u32 *c, ts_u32 n, ts_u32 tiles, ts_u64 *out) {
  const ts_u32 tile = (ts_u32)(ts_thread() >> 5), lane = threadIdx.x & 31u;
  if (tile >= tiles) return;
  ts_fingerprint f = {0, 0};
  for (ts_u32 i = lane; i < TS_TILE_ELEMENTS; i += 32)
    ts_fingerprint_add(&f, ts_tile_x(c[ts_element(tile, i, n)], ts_tile_mask(i, seed[3])));
  ts_store_warp(f, tile, out);
}

/* §8: one warp to a tile, together with its partner of the same round. */
TS_KERNEL ts_fingerprint_bind(const ts_u32 *seed, const ts_u32 *c, ts_u32 n, ts_u32 tiles, ts_u64 *out) {
  const ts_u32 tile = (ts_u32)(ts_thread() >> 5), lane = threadIdx.x & 31u;
  if (tile >= tiles) return;
  const ts_u32 partner = ts_bind_partner(tile, seed, tiles);
  ts_fingerprint f = {0, 0};
  for (ts_u32 i = lane; i < TS_TILE_ELEMENTS; i += 32)
    ts_fingerprint_add(
        &f, ts_bind_x(c[ts_element(tile, i, n)], ts_tile_mask(i, seed[3]), c[ts_element(partner, i, n)]));
  ts_store_warp(f, tile, out);
}

/* §7: the low 16 bits of every element, tile by tile, one word to a thread. */
TS_KERNEL ts_keep_tiles(const ts_u32 *c, ts_u32 n, ts_u32 tiles, ts_u32 *out) {
  const ts_u64 at = ts_thread();
  const ts_u32 tile = (ts_u32)(at / TS_KEPT_WORDS), i = (ts_u32)(at % TS_KEPT_WORDS);
  if (tile >= tiles) return;
  out[at] = ts_kept_word(c[ts_element(tile, 2 * i, n)], c[ts_element(tile, 2 * i + 1, n)]);
}

/* §7, §8: one pass, one warp to a tile u of the own fill; partners from `peer`, which is the own fill outside a link part. */
TS_KERNEL ts_memory_pass(
    const ts_u32 *z, const ts_u32 *own, const ts_u32 *peer, ts_u32 own_tiles, ts_u32 peer_tiles, ts_u64 *out) {
  const ts_u32 u = (ts_u32)(ts_thread() >> 5), lane = threadIdx.x & 31u;
  if (u >= own_tiles) return;
  const ts_u64 mine = (ts_u64)u * TS_KEPT_WORDS;
  const ts_u64 theirs = (ts_u64)ts_memory_partner(u, z, peer_tiles) * TS_KEPT_WORDS;
  ts_fingerprint f = {0, 0};
  for (ts_u32 i = lane; i < TS_KEPT_WORDS; i += 32)
    ts_fingerprint_add(&f, ts_memory_x(own[mine + i], ts_memory_mask(i, z[2]), peer[theirs + i]));
  ts_store_warp(f, u, out);
}

/* §5: leaves of a tree from fingerprints; leaf i stands for tile base + i. */
TS_KERNEL ts_leaves(const ts_u64 *fingerprints, ts_u64 base, ts_u32 count, ts_u32 *out) {
  const ts_u64 i = ts_thread();
  if (i >= count) return;
  ts_leaf_hash(base + i, fingerprints[2 * i], fingerprints[2 * i + 1], out + 8 * i);
}

/* §5: `count` nodes of the next level. */
TS_KERNEL ts_nodes(const ts_u32 *level, ts_u32 count, ts_u32 *out) {
  const ts_u64 i = ts_thread();
  if (i >= count) return;
  ts_node_hash(level + 16 * i, level + 16 * i + 8, out + 8 * i);
}

/* §4.2: the next seed, so that a chain of rounds needs no host. One thread. */
TS_KERNEL ts_chain_seed(const ts_u32 *seed, const ts_u32 *root, ts_u32 *out) { ts_next_seed(seed, root, out); }

/* §7: Q_j and Z_(j+1). One thread. */
TS_KERNEL ts_chain_pass(ts_u32 pass, const ts_u32 *root, const ts_u32 *z, ts_u32 *q, ts_u32 *next) {
  ts_u32 made[8];
  ts_pass_root(pass, root, made);
  ts_next_pass(z, made, next);
  for (int i = 0; i < 8; i++) q[i] = made[i];
}
