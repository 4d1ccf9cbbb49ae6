#include <immintrin.h>

#include "hashing.h"
#include "../common/sha256.h"

ts_u32 ts_has_sha = 0;

/* The processor keeps the eight words of the state as (a, b, e, f) and (c, d, g, h), and does two rounds at a time. */
__attribute__((target("sha,sse4.1"))) static void block_by_extension(ts_u32 state[8], const ts_u32 words[16]) {
  const __m128i low = _mm_loadu_si128((const __m128i *)state), high = _mm_loadu_si128((const __m128i *)(state + 4));
  const __m128i cdab = _mm_shuffle_epi32(low, 0xb1), efgh = _mm_shuffle_epi32(high, 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  const __m128i abef_before = abef, cdgh_before = cdgh;
  __m128i w[4];
  for (int i = 0; i < 4; i++) w[i] = _mm_loadu_si128((const __m128i *)(words + 4 * i));
  TS_UNROLL
  for (int turn = 0; turn < 16; turn++) {
    if (turn >= 4) {
      const __m128i before = w[(turn + 3) & 3];
      const __m128i some = _mm_sha256msg1_epu32(w[turn & 3], w[(turn + 1) & 3]);
      const __m128i more = _mm_add_epi32(some, _mm_alignr_epi8(before, w[(turn + 2) & 3], 4));
      w[turn & 3] = _mm_sha256msg2_epu32(more, before);
    }
    const __m128i wk = _mm_add_epi32(w[turn & 3], _mm_loadu_si128((const __m128i *)(TS_SHA256_K + 4 * turn)));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
  }
  abef = _mm_add_epi32(abef, abef_before);
  cdgh = _mm_add_epi32(cdgh, cdgh_before);
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

void ts_native_sha256_block(ts_u32 state[8], ts_u32 w[16]) {
  if (ts_has_sha) block_by_extension(state, w);
  else ts_sha256_block(state, w);
}
