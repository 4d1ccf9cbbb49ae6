#include <immintrin.h>

#include "hashing.h"
#include "../common/sha256.h"

ts_u32 ts_has_sha = 0;

#define BY_EXTENSION __attribute__((target("sha,sse4.1")))

/* The processor keeps the eight words of the state as (a, b, e, f) and (c, d, g, h), and does two rounds at a time. */
typedef struct {
  __m128i abef, cdgh;
} kept;

BY_EXTENSION static TS_INLINE kept keep(const ts_u32 state[8]) {
  const __m128i low = _mm_loadu_si128((const __m128i *)state), high = _mm_loadu_si128((const __m128i *)(state + 4));
  const __m128i cdab = _mm_shuffle_epi32(low, 0xb1), efgh = _mm_shuffle_epi32(high, 0x1b);
  return (kept){_mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xf0)};
}

BY_EXTENSION static TS_INLINE void give(kept k, ts_u32 state[8]) {
  const __m128i feba = _mm_shuffle_epi32(k.abef, 0x1b), dchg = _mm_shuffle_epi32(k.cdgh, 0xb1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* A block of each of `count` hashes, in step: the rounds of one fill the time that those of another wait. */
BY_EXTENSION static TS_INLINE void rounds(kept *k, __m128i w[][4], int count) {
  kept before[TS_HASHES_AT_ONCE];
  TS_UNROLL
  for (int n = 0; n < count; n++) before[n] = k[n];
  TS_UNROLL
  for (int turn = 0; turn < 16; turn++) {
    const __m128i constant = _mm_loadu_si128((const __m128i *)(TS_SHA256_K + 4 * turn));
    TS_UNROLL
    for (int n = 0; n < count; n++) {
      if (turn >= 4) {
        const __m128i last = w[n][(turn + 3) & 3];
        const __m128i some = _mm_sha256msg1_epu32(w[n][turn & 3], w[n][(turn + 1) & 3]);
        const __m128i more = _mm_add_epi32(some, _mm_alignr_epi8(last, w[n][(turn + 2) & 3], 4));
        w[n][turn & 3] = _mm_sha256msg2_epu32(more, last);
      }
      const __m128i wk = _mm_add_epi32(w[n][turn & 3], constant);
      k[n].cdgh = _mm_sha256rnds2_epu32(k[n].cdgh, k[n].abef, wk);
      k[n].abef = _mm_sha256rnds2_epu32(k[n].abef, k[n].cdgh, _mm_shuffle_epi32(wk, 0x0e));
    }
  }
  TS_UNROLL
  for (int n = 0; n < count; n++) {
    k[n].abef = _mm_add_epi32(k[n].abef, before[n].abef);
    k[n].cdgh = _mm_add_epi32(k[n].cdgh, before[n].cdgh);
  }
}

BY_EXTENSION static void block_by_extension(ts_u32 state[8], const ts_u32 words[16]) {
  kept k = keep(state);
  __m128i w[1][4];
  for (int i = 0; i < 4; i++) w[0][i] = _mm_loadu_si128((const __m128i *)(words + 4 * i));
  rounds(&k, w, 1);
  give(k, state);
}

BY_EXTENSION void ts_native_sha256_together(ts_u32 states[][8], const ts_u8 *bytes, ts_u64 stride, ts_u32 blocks) {
  const __m128i turned = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  kept k[TS_HASHES_AT_ONCE];
  for (int n = 0; n < TS_HASHES_AT_ONCE; n++) k[n] = keep(states[n]);
  for (ts_u32 block = 0; block < blocks; block++) {
    __m128i w[TS_HASHES_AT_ONCE][4];
    TS_UNROLL
    for (int n = 0; n < TS_HASHES_AT_ONCE; n++)
      for (int i = 0; i < 4; i++)
        w[n][i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + n * stride + 64 * block) + i), turned);
    rounds(k, w, TS_HASHES_AT_ONCE);
  }
  for (int n = 0; n < TS_HASHES_AT_ONCE; n++) give(k[n], states[n]);
}

void ts_native_sha256_block(ts_u32 state[8], ts_u32 w[16]) {
  if (ts_has_sha) block_by_extension(state, w);
  else ts_sha256_block(state, w);
}
