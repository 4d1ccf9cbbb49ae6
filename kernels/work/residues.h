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

/* The high halves of products, by even and odd lanes; factors of odd lanes lie where those of even ones do. */
static TS_INLINE lanes high_products(lanes a, lanes even_share, lanes odd_share) {
#ifdef __AVX512F__
  const __m512i even = _mm512_mul_epu32((__m512i)a, (__m512i)even_share);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64((__m512i)a, 32), (__m512i)odd_share);
  return (lanes)_mm512_mask_shuffle_epi32(odd, 0x5555, even, 0xf5);
#elif defined(__AVX2__)
  const __m256i even = _mm256_mul_epu32((__m256i)a, (__m256i)even_share);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64((__m256i)a, 32), (__m256i)odd_share);
  return (lanes)_mm256_blend_epi32(_mm256_shuffle_epi32(even, 0xf5), odd, 0xaa);
#else
  /* WebAssembly takes low and high lanes. */
  const v128_t low = wasm_u64x2_extmul_low_u32x4((v128_t)a, (v128_t)even_share);
  const v128_t high = wasm_u64x2_extmul_high_u32x4((v128_t)a, (v128_t)odd_share);
  return (lanes)wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
#endif
}
/* Any 32 bits times a factor. */
static TS_INLINE lanes times(lanes a, factor f) {
  const lanes share = (lanes){} + f.share;
  return least(a * f.by - high_products(a, share, share) * TS_Q);
}
/* Any 32 bits times a factor for each lane. */
static TS_INLINE lanes times_each(lanes a, lanes by, lanes share) {
#ifdef __wasm__
  const lanes odd = share;
#else
  typedef ts_u64 longs __attribute__((vector_size(4 * LANES)));
  const lanes odd = (lanes)((longs)share >> 32);
#endif
  return least(a * by - high_products(a, share, odd) * TS_Q);
}

#endif
