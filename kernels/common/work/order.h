/* W2.10: the order of an epoch's windows, any one computed alone: eight Feistel rounds, walked until in range. */
#ifndef TS_WORK_ORDER_H
#define TS_WORK_ORDER_H
#include "../mix32.h"

static TS_INLINE ts_u32 ts_order_round_key(const ts_u32 seed[8], ts_u32 epoch, ts_u32 round) {
  return ts_mix32(seed[round] ^ ts_mix32(epoch + round * 0x9e3779b9u));
}

/* Bits of half a number: 2^(2 half) is the smallest power of four that holds `count`. */
static TS_INLINE ts_u32 ts_order_half(ts_u32 count) {
  ts_u32 half = 1;
  while (half < 16 && (count - 1) >> (2 * half)) half++;
  return half;
}

static TS_INLINE ts_u32 ts_order_at(const ts_u32 keys[8], ts_u32 half, ts_u32 count, ts_u32 index) {
  const ts_u32 mask = (1u << half) - 1u;
  do {
    ts_u32 left = index >> half, right = index & mask;
    for (ts_u32 round = 0; round < 8; round++) {
      const ts_u32 next = left ^ (ts_mix32(right ^ keys[round]) & mask);
      left = right;
      right = next;
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}

#endif
