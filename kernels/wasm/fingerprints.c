#include "engine.h"

static TS_INLINE v128_t mix(v128_t x) {
  x = wasm_v128_xor(x, wasm_u32x4_shr(x, 16));
  x = wasm_i32x4_mul(x, wasm_u32x4_const_splat(0x7feb352du));
  x = wasm_v128_xor(x, wasm_u32x4_shr(x, 15));
  x = wasm_i32x4_mul(x, wasm_u32x4_const_splat(0x846ca68bu));
  return wasm_v128_xor(x, wasm_u32x4_shr(x, 16));
}

typedef struct {
  v128_t f0, f1;
} sums;

static TS_INLINE void add(sums *f, v128_t x) {
  f->f0 = wasm_i64x2_add(f->f0, wasm_i64x2_add(wasm_u64x2_extend_low_u32x4(x), wasm_u64x2_extend_high_u32x4(x)));
  f->f1 = wasm_i64x2_add(f->f1, wasm_i64x2_add(wasm_u64x2_extmul_low_u32x4(x, x), wasm_u64x2_extmul_high_u32x4(x, x)));
}

static TS_INLINE void finish(const sums *f, ts_u64 *out) {
  out[0] = (ts_u64)wasm_i64x2_extract_lane(f->f0, 0) + (ts_u64)wasm_i64x2_extract_lane(f->f0, 1);
  out[1] = (ts_u64)wasm_i64x2_extract_lane(f->f1, 0) + (ts_u64)wasm_i64x2_extract_lane(f->f1, 1);
}

/* mask(0) .. mask(count - 1) under a salt (§5) or under word 2 of the pass words (§7): the formula is the same. */
TS_EXPORT(masks)
void ts_masks(ts_u32 salt, ts_u32 count, ts_u32 *out) {
  for (ts_u32 i = 0; i < count; i++) out[i] = ts_tile_mask(i, salt);
}

/* §5 */
TS_EXPORT(fingerprintTile)
void ts_fingerprint_tile(const ts_u32 *tile, const ts_u32 *masks, ts_u64 *out) {
  sums f = {wasm_u64x2_const_splat(0), wasm_u64x2_const_splat(0)};
  for (ts_u32 i = 0; i < TS_TILE_ELEMENTS; i += 4)
    add(&f, mix(wasm_v128_xor(wasm_v128_load(tile + i), wasm_v128_load(masks + i))));
  finish(&f, out);
}

/* §7 with count = 512 kept words, §8 with count = 1024 elements: own and partner's, the formula is the same. */
TS_EXPORT(fingerprintPair)
void ts_fingerprint_pair(const ts_u32 *own, const ts_u32 *partner, const ts_u32 *masks, ts_u32 count, ts_u64 *out) {
  sums f = {wasm_u64x2_const_splat(0), wasm_u64x2_const_splat(0)};
  for (ts_u32 i = 0; i < count; i += 4) {
    const v128_t masked = wasm_v128_xor(wasm_v128_load(own + i), wasm_v128_load(masks + i));
    add(&f, mix(wasm_i32x4_add(masked, wasm_v128_load(partner + i))));
  }
  finish(&f, out);
}

/* §7: the low 16 bits of every element of a tile. */
TS_EXPORT(keep)
void ts_keep(const ts_u32 *tile, ts_u32 *out) {
  for (ts_u32 i = 0; i < TS_KEPT_WORDS; i += 4) {
    const v128_t low = wasm_v128_load(tile + 2 * i), high = wasm_v128_load(tile + 2 * i + 4);
    wasm_v128_store(out + i, wasm_i16x8_shuffle(low, high, 0, 2, 4, 6, 8, 10, 12, 14));
  }
}

/* §7, §8 */
TS_EXPORT(partner)
ts_u32 ts_export_partner(ts_u32 u, ts_u32 wa, ts_u32 wb, ts_u32 count) { return ts_partner(u, wa, wb, count); }
