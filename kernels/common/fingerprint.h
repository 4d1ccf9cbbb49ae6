#ifndef TS_FINGERPRINT_H
#define TS_FINGERPRINT_H
#include "mix32.h"

/* f0 = sum of x, f1 = sum of x * x with x widened, both mod 2^64 (§5). Sums commute: any order gives the same bits. */
typedef struct {
  ts_u64 f0, f1;
} ts_fingerprint;

static TS_INLINE void ts_fingerprint_add(ts_fingerprint *f, ts_u32 x) {
  f->f0 += x;
  f->f1 += (ts_u64)x * x;
}

/* §5: mask(r, c) of element 32 r + c; salt = word 3 of the round seed. */
static TS_INLINE ts_u32 ts_tile_mask(ts_u32 element, ts_u32 salt) { return ts_mix32(ts_mix32(element) ^ salt); }

/* §5: v is the element as u32 (two's complement, or IEEE bits for fp32). */
static TS_INLINE ts_u32 ts_tile_x(ts_u32 v, ts_u32 mask) { return ts_mix32(v ^ mask); }

/* §8: v and the same element of the partner tile. */
static TS_INLINE ts_u32 ts_bind_x(ts_u32 v, ts_u32 mask, ts_u32 partner) { return ts_mix32((v ^ mask) + partner); }

/* §7: mask of kept word i (0 to 511); w2 = word 2 of the pass words. */
static TS_INLINE ts_u32 ts_memory_mask(ts_u32 i, ts_u32 w2) { return ts_mix32(ts_mix32(i) ^ w2); }

/* §7: kept word of tile u and the same word of its partner. */
static TS_INLINE ts_u32 ts_memory_x(ts_u32 own, ts_u32 mask, ts_u32 partner) {
  return ts_mix32((own ^ mask) + partner);
}

/* §7: two neighbouring elements of a tile as one kept word, even column in the low half. */
static TS_INLINE ts_u32 ts_kept_word(ts_u32 even, ts_u32 odd) { return (even & 0xffffu) | (odd << 16); }

#endif
