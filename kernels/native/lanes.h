/*
 * The native kernels: one source, compiled for AVX2 and again for AVX-512 with VNNI. A vector has a lane for each of 8 or 16
 * rows of a tile, so that one tile fills every lane, and all that is counted along k stays in its own lane.
 */
#ifndef TS_LANES_H
#define TS_LANES_H
#include "../common/entries.h"
#include "../common/fingerprint.h"
#include "vectors.h"

/* Every export takes the caller's memory first and byte offsets into it, as the WebAssembly kernels do; any alignment. */
#define TS_EXPORT __attribute__((visibility("default")))
#define TS_AT(type, offset) ((type *)(void *)(memory + (offset)))

/* Low half times low half of every 64 bits; what lies in the high halves does not matter. */
static TS_INLINE ts_longs ts_multiply_low(ts_longs a, ts_longs b) {
  return (ts_longs)TS_BY_WIDTH(_mm256_mul_epu32, _mm512_mul_epu32)((ts_vector)a, (ts_vector)b);
}

/* The product of two 16-bit numbers, shifted right by 16. */
static TS_INLINE ts_words ts_high16(ts_words a, ts_words b) {
  return (ts_words)TS_BY_WIDTH(_mm256_mulhi_epu16, _mm512_mulhi_epu16)((ts_vector)a, (ts_vector)b);
}

#endif
