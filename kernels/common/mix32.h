#ifndef TS_MIX32_H
#define TS_MIX32_H
#include "base.h"

/* §5: a bijection of 32-bit words, non-linear in every way that could help a forger. */
static TS_INLINE ts_u32 ts_mix32(ts_u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return x;
}

/* §7, §8: floor(mix32(mix32(u ^ wa) ^ wb) * count / 2^32), a partner anywhere in [0, count). */
static TS_INLINE ts_u32 ts_partner(ts_u32 u, ts_u32 wa, ts_u32 wb, ts_u32 count) {
  return TS_MULHI32(ts_mix32(ts_mix32(u ^ wa) ^ wb), count);
}

/* §7: pass words z give tile u of a fill of `count` tiles (the peer's count in a link part) its partner. */
static TS_INLINE ts_u32 ts_memory_partner(ts_u32 u, const ts_u32 z[8], ts_u32 count) {
  return ts_partner(u, z[0], z[1], count);
}

/* §8: the round seed gives tile u its partner among the `tiles` of the same round. */
static TS_INLINE ts_u32 ts_bind_partner(ts_u32 u, const ts_u32 seed[8], ts_u32 tiles) {
  return ts_partner(u, seed[4], seed[5], tiles);
}

#endif
