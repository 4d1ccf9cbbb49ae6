/* W12.1: numbers mod p = 15 * 2^27 + 1, side by side. They are below p but where it says lazy. */
#ifndef TS_STEP_RESIDUES_H
#define TS_STEP_RESIDUES_H
#include "../common/work/quad.h"
#include "lanes.h"

typedef ts_i32 signed_lanes __attribute__((vector_size(4 * LANES)));

/* A factor, and floor(factor * 2^32 / p): with both a product needs no division. */
typedef struct {
  ts_u32 by, share;
} factor;
static TS_INLINE factor factor_of(ts_u32 by) { return (factor){by, (ts_u32)(((ts_u64)by << 32) / TS_Q)}; }

static TS_INLINE lanes least(lanes a) { return __builtin_elementwise_min(a, a - TS_Q); }
static TS_INLINE lanes plus(lanes a, lanes b) { return least(a + b); }
static TS_INLINE lanes minus(lanes a, lanes b) { return __builtin_elementwise_min(a - b, a - b + TS_Q); }
static TS_INLINE lanes lazy_minus(lanes a, lanes b) { return a - b + TS_Q; }

/* A signed word: negative ones take p twice, as they may be below -p. */
static TS_INLINE lanes from_signed(lanes x) { return least(x + ((lanes)((signed_lanes)x >> 31) & (2 * TS_Q))); }

/* The high halves of products, by even and odd lanes. */
static TS_INLINE lanes high_products(lanes a, lanes share) {
#ifdef __AVX512F__
  const __m512i x = (__m512i)a, s = (__m512i)share;
  const __m512i even = _mm512_mul_epu32(x, s), odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(s, 32));
  return (lanes)_mm512_mask_shuffle_epi32(odd, 0x5555, even, 0xf5);
#elif defined(__AVX2__)
  const __m256i x = (__m256i)a, s = (__m256i)share;
  const __m256i even = _mm256_mul_epu32(x, s), odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(s, 32));
  return (lanes)_mm256_blend_epi32(_mm256_shuffle_epi32(even, 0xf5), odd, 0xaa);
#else
  const v128_t x = (v128_t)a, s = (v128_t)share;
  const v128_t low = wasm_u64x2_extmul_low_u32x4(x, s), high = wasm_u64x2_extmul_high_u32x4(x, s);
  return (lanes)wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
#endif
}
/* Any 32 bits times a factor for each lane. */
static TS_INLINE lanes times_each(lanes a, lanes by, lanes share) {
  return least(a * by - high_products(a, share) * TS_Q);
}
static TS_INLINE lanes times(lanes a, factor f) { return times_each(a, (lanes){} + f.by, (lanes){} + f.share); }

#endif
