/* §7 and §8: the fill, the linked passes over it, and bound rounds. sm_50 and up. */
#include "leaves.h"

TS_KERNEL TS_BOUNDS(256, 3)
    ts_leaves_fill(const ts_u32 *c, const ts_chain_state *state, ts_u32 tiles, ts_u32 columns_log2, ts_u32 keep,
                   ts_wide2 *prints, ts_u32 *nodes, ts_u32 *kept) {
  ts_leaves(c, state, tiles, columns_log2, keep, prints, nodes, kept, TS_FILL, 0);
}

TS_KERNEL TS_BOUNDS(256, 2)
    ts_leaves_bind(const ts_u32 *c, const ts_chain_state *state, ts_u32 tiles, ts_u32 columns_log2, ts_u32 keep,
                   ts_wide2 *prints, ts_u32 *nodes) {
  ts_leaves(c, state, tiles, columns_log2, keep, prints, nodes, 0, TS_BIND, 0);
}

/* What passes carry: Z_j, j, and where the host reads Q_j. The layout is that of ts_chain_state. */
typedef ts_chain_state ts_pass_state;

typedef struct {
  ts_vec4 value[4];
} ts_kept_lane;

static TS_INLINE ts_kept_lane ts_read_kept(const ts_u32 *fill, ts_u32 tile, ts_u32 lane) {
  ts_kept_lane w;
  const ts_u32 *from = fill + (ts_u64)tile * TS_KEPT_WORDS + 4u * lane;
  TS_UNROLL
  for (int j = 0; j < 4; j++) w.value[j] = ts_load_stream(from + 128 * j);
  return w;
}

/*
 * One unit of tiles u, each with its partner: `fill` is the device's own, `partners` where the other tile of each pair is
 * read, of `partner_count` tiles. `words` is Z_j. With `prints`, fingerprints of unit `only` go there (openings).
 */
typedef struct {
  const ts_u32 *fill, *partners;
  ts_u32 lane, one;
  ts_vec4 masks[4];
} ts_pass_job;

static TS_INLINE ts_sums ts_print_pair(const ts_pass_job *job, ts_u32 u, ts_u32 partner) {
  const ts_kept_lane own = ts_read_kept(job->fill, u, job->lane);
  const ts_kept_lane other = ts_read_kept(job->partners, partner, job->lane);
  ts_sums s = {0, 0, 0};
  TS_UNROLL
  for (int j = 0; j < 4; j++)
    ts_add_four_pairs(&s, own.value[j], job->masks[j], other.value[j], job->one);
  return s;
}

/*
 * Sums over the lanes of two tiles at once: lanes 0 to 15 end with the first tile's, lanes 16 to 31 with the second's.
 */
static TS_INLINE ts_fingerprint ts_sum_pair(ts_sums first, ts_sums second, ts_u32 lane) {
  const int upper = lane >= 16u;
  ts_sums s = ts_add_sums(upper ? second : first, ts_sums_of_lane(upper ? first : second, 16));
  TS_UNROLL
  for (ts_u32 mask = 8; mask > 0; mask >>= 1) s = ts_add_sums(s, ts_sums_of_lane(s, mask));
  return ts_close_sums(s);
}

/*
 * Pair i of a warp: the eight warps of a block read neighbouring tiles at about the same time, so that pages of the memory
 * are opened once. Sums of pair i end in lanes i and 16 + i.
 */
static TS_INLINE ts_u32 ts_pair_of(ts_u32 warp, ts_u32 i) { return 16u * i + 2u * warp; }

static TS_INLINE void ts_pass_unit(const ts_u32 *fill, const ts_u32 *partners, ts_u32 partner_count, const ts_u32 *words,
                                   ts_u32 unit, ts_u32 unit_index, ts_u32 group, ts_u32 *nodes, ts_u64 node_unit,
                                   ts_wide2 *prints) {
  __shared__ ts_u32 shared[8 * TS_UNIT];
  const ts_u32 lane = TS_THREAD & 31u, warp = TS_THREAD >> 5, first = unit_index * unit;
  ts_pass_job job = {fill, partners, lane, ts_one(), {}};
  TS_UNROLL
  for (int j = 0; j < 4; j++) {
    const ts_u32 word = 128u * j + 4u * lane;
    job.masks[j].x = ts_memory_mask(word, words[2]), job.masks[j].y = ts_memory_mask(word + 1u, words[2]);
    job.masks[j].z = ts_memory_mask(word + 2u, words[2]), job.masks[j].w = ts_memory_mask(word + 3u, words[2]);
  }
  ts_fingerprint mine = {0, 0};
  /* Every lane finds the partner of the tile it will end with; the warp asks it when that tile's turn comes. */
  const ts_u32 own = ts_pair_of(warp, lane & 15u) + (lane >> 4);
  const ts_u32 partner = ts_memory_partner(first + own, words, partner_count);
  for (ts_u32 i = 0; i < 16u && ts_pair_of(warp, i) < unit; i++) {
    const ts_u32 u = first + ts_pair_of(warp, i);
    const ts_sums even = ts_print_pair(&job, u, ts_from_lane(partner, i));
    const ts_sums odd = ts_print_pair(&job, u + 1u, ts_from_lane(partner, i + 16u));
    const ts_fingerprint f = ts_sum_pair(even, odd, lane);
    if ((lane & 15u) == i) mine = f;
  }
  if (prints && own < unit) prints[own] = ts_as_pair(mine);
  ts_finish_unit(shared, mine, first, own, unit, group, nodes, node_unit);
}

TS_KERNEL TS_BOUNDS(256, 4)
    ts_pass(const ts_u32 *fill, const ts_u32 *partners, ts_u32 partner_count, const ts_pass_state *state, ts_u32 unit,
            ts_u32 *nodes) {
  const ts_u64 node_unit = (ts_u64)state->round * TS_BLOCKS + TS_BLOCK;
  ts_pass_unit(fill, partners, partner_count, state->seed, unit, TS_BLOCK, TS_UNIT, nodes, node_unit, 0);
}

/*
 * The same over large fills: a node for every 8 leaves, below which warps that hash are full, goes to `groups`;
 * ts_fold_many makes the unit's node of them. A card at its power limit is 3 % faster for the hashing it does not do twice.
 */
TS_KERNEL TS_BOUNDS(256, 4)
    ts_pass_wide(const ts_u32 *fill, const ts_u32 *partners, ts_u32 partner_count, const ts_pass_state *state,
                 ts_u32 *groups) {
  ts_pass_unit(fill, partners, partner_count, state->seed, TS_UNIT, TS_BLOCK, TS_GROUP, groups, TS_BLOCK, 0);
}

/* Asked units of past passes again, one block each: {Z_j, which unit}, prints one unit after the other. */
typedef struct {
  ts_u32 words[8];
  ts_u32 unit_index, reserved[7];
} ts_unit_request;

TS_KERNEL TS_BOUNDS(256, 4)
    ts_pass_again(const ts_u32 *fill, const ts_u32 *partners, ts_u32 partner_count, const ts_unit_request *requests,
                  ts_u32 unit, ts_u32 *nodes, ts_wide2 *prints) {
  const ts_unit_request *r = requests + TS_BLOCK;
  ts_pass_unit(fill, partners, partner_count, r->words, unit, r->unit_index, TS_UNIT, nodes, TS_BLOCK,
               prints + (ts_u64)TS_BLOCK * unit);
}

/* Each block folds 512 neighbouring groups of a pass to the nodes of their 16 units. */
TS_KERNEL TS_BOUNDS(256, 3)
    ts_fold_many(const ts_u32 *groups, ts_u32 *nodes, const ts_pass_state *state, ts_u32 units) {
  __shared__ ts_u32 shared[8 * 512];
  ts_u32 hash[8];
  for (ts_u32 i = TS_THREAD; i < 512u; i += 256u) {
    ts_read_hash(groups + 8ull * (512ull * TS_BLOCK + i), hash);
    ts_put(shared, 512u, i, hash);
  }
  ts_reduce_shared(shared, 512u, 512u, 16u, TS_THREAD);
  if (TS_THREAD < 16u) {
    ts_get(shared, 512u, TS_THREAD, hash);
    ts_write_hash(nodes + 8ull * ((ts_u64)state->round * units + 16ull * TS_BLOCK + TS_THREAD), hash);
  }
}

/* The folded root over the kept rounds to Q_j, to the host and to Z_(j+1). */
TS_KERNEL ts_finish_pass(const ts_u32 *root, ts_pass_state *state) {
  const ts_u32 pass = state->round;
  ts_u32 q[8], words[8];
  ts_read_hash(root, q);
  ts_pass_root(pass, q, q);
  volatile ts_u32 *to = (volatile ts_u32 *)(state->host_roots + 32ull * pass);
  TS_UNROLL
  for (int i = 0; i < 8; i++) to[i] = q[i];
  asm volatile("membar.sys;" ::: "memory");
  *(volatile ts_u32 *)state->host_count = pass + 1u;
  ts_read_hash(state->seed, words);
  ts_next_pass(words, q, words);
  ts_write_hash(state->seed, words);
  state->round = pass + 1u;
}
