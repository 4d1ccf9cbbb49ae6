#include "lanes.h"

static TS_INLINE ts_words mix(ts_words x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

typedef struct {
  ts_longs f0, f1;
} sums;

static TS_INLINE void add(sums *f, ts_words x) {
  const ts_longs even = (ts_longs)x, odd = even >> 32;
  f->f0 += (even & 0xffffffffu) + odd;
  f->f1 += ts_multiply_low(even, even) + ts_multiply_low(odd, odd);
}

static TS_INLINE void finish(const sums *f, ts_u64 *out) {
  ts_fingerprint whole = {0, 0};
  for (int i = 0; i < TS_LANES / 2; i++) {
    whole.f0 += f->f0[i];
    whole.f1 += f->f1[i];
  }
  out[0] = whole.f0;
  out[1] = whole.f1;
}

/* mask(0) .. mask(count - 1) under a salt (§5) or under word 2 of the pass words (§7): the formula is the same. */
TS_EXPORT void ts_masks(char *memory, ts_u32 salt, ts_u32 count, ts_u64 out) {
  ts_u32 *masks = TS_AT(ts_u32, out);
  for (ts_u32 i = 0; i < count; i++) masks[i] = ts_tile_mask(i, salt);
}

/* §5 */
TS_EXPORT void ts_fingerprint_tile(char *memory, ts_u64 tile, ts_u64 masks, ts_u64 out) {
  const ts_u32 *own = TS_AT(const ts_u32, tile), *mask = TS_AT(const ts_u32, masks);
  sums f = {};
  for (ts_u32 i = 0; i < TS_TILE_ELEMENTS; i += TS_LANES) add(&f, mix(ts_load(own + i) ^ ts_load(mask + i)));
  finish(&f, TS_AT(ts_u64, out));
}

static TS_INLINE void pair(const ts_u32 *own, const ts_u32 *other, const ts_u32 *mask, ts_u32 count, ts_u64 *out) {
  sums f = {};
  for (ts_u32 i = 0; i < count; i += TS_LANES)
    add(&f, mix((ts_load(own + i) ^ ts_load(mask + i)) + ts_load(other + i)));
  finish(&f, out);
}

/* §7 with count = 512 kept words, §8 with count = 1024 elements: own and partner's, the formula is the same. */
TS_EXPORT void ts_fingerprint_pair(
    char *memory, ts_u64 tile, ts_u64 partner, ts_u64 masks, ts_u32 count, ts_u64 out) {
  pair(TS_AT(const ts_u32, tile), TS_AT(const ts_u32, partner), TS_AT(const ts_u32, masks), count, TS_AT(ts_u64, out));
}

/* Tile u of a fill that lies in pieces of so many tiles each, anywhere in this process. */
static TS_INLINE const ts_u32 *kept_tile(const ts_u32 *const *pieces, ts_u32 in_piece, ts_u32 u) {
  return pieces[u / in_piece] + (ts_u64)(u % in_piece) * TS_KEPT_WORDS;
}

/* §7: tiles first .. first + count - 1 of a fill, each with its partner of the peer's fill under the pass words z. */
TS_EXPORT void ts_fingerprint_pass(
    char *memory, const ts_u32 *const *own, ts_u32 own_in_piece, const ts_u32 *const *peer, ts_u32 peer_in_piece,
    ts_u32 peer_tiles, ts_u64 z, ts_u64 masks, ts_u32 first, ts_u32 count, ts_u64 out) {
  const ts_u32 *words = TS_AT(const ts_u32, z), *mask = TS_AT(const ts_u32, masks);
  ts_u64 *to = TS_AT(ts_u64, out);
  const ts_u32 *other = kept_tile(peer, peer_in_piece, ts_memory_partner(first, words, peer_tiles));
  for (ts_u32 i = 0; i < count; i++) {
    const ts_u32 u = first + i, *now = other;
    /* Partners lie anywhere: the next one is fetched while this one is mixed. */
    other = kept_tile(peer, peer_in_piece, ts_memory_partner(u + 1, words, peer_tiles));
    for (ts_u32 word = 0; word < TS_KEPT_WORDS; word += 16) __builtin_prefetch(other + word);
    pair(kept_tile(own, own_in_piece, u), now, mask, TS_KEPT_WORDS, to + 2 * (ts_u64)i);
  }
}

/* §7: the low 16 bits of every element of a tile. */
TS_EXPORT void ts_keep(char *memory, ts_u64 tile, ts_u64 out) {
  const ts_u32 *from = TS_AT(const ts_u32, tile);
  ts_u16 *to = TS_AT(ts_u16, out);
  for (ts_u32 i = 0; i < TS_TILE_ELEMENTS; i++) to[i] = (ts_u16)from[i];
}

/* §7, §8 */
TS_EXPORT ts_u32 ts_export_partner(char *memory, ts_u32 u, ts_u32 wa, ts_u32 wb, ts_u32 count) {
  (void)memory;
  return ts_partner(u, wa, wb, count);
}
