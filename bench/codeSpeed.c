/*
 * What it costs to write an entry in a code over a field of 31 bits, as ADR 21 would need it: rows of int8 as coefficients,
 * their values at twice as many roots of unity mod p = 15 * 2^27 + 1. Sixteen rows at a time, a lane each, so that a column's
 * values of sixteen rows lie in one line. One core, by processor time; a value is held against the definition first.
 *   clang-19 -O3 -mavx512f -mavx512dq bench/codeSpeed.c -o /tmp/codeSpeed && /tmp/codeSpeed
 */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define P 2013265921u
#define GENERATOR 31u
#define LANES 16

static uint32_t times(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b % P); }
static uint32_t power(uint32_t x, uint32_t n) {
  uint32_t out = 1;
  for (; n; n >>= 1, x = times(x, x))
    if (n & 1) out = times(out, x);
  return out;
}

/* a * w, with w' = floor(w 2^32 / p): below 2 p for any a. */
static inline __m512i by(__m512i a, uint32_t w, uint32_t shoup) {
  const __m512i s = _mm512_set1_epi32((int)shoup);
  const __m512i even = _mm512_mul_epu32(a, s), odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), s);
  const __m512i quotient = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
  return _mm512_sub_epi32(_mm512_mullo_epi32(a, _mm512_set1_epi32((int)w)),
                          _mm512_mullo_epi32(quotient, _mm512_set1_epi32((int)P)));
}
/* Below 2 p to below p. */
static inline __m512i least(__m512i a) { return _mm512_min_epu32(a, _mm512_sub_epi32(a, _mm512_set1_epi32((int)P))); }

/* Values at all n roots, in the order of turned bits; everything is below p before and after. */
static void transform(__m512i *v, uint32_t n, const uint32_t *w, const uint32_t *shoup) {
  const __m512i p = _mm512_set1_epi32((int)P);
  for (uint32_t h = n / 2, stride = 1; h >= 1; h /= 2, stride *= 2)
    for (uint32_t from = 0; from < n; from += 2 * h)
      for (uint32_t i = 0; i < h; i++) {
        const __m512i a = v[from + i], b = v[from + i + h];
        v[from + i] = least(_mm512_add_epi32(a, b));
        v[from + i + h] = least(by(_mm512_add_epi32(_mm512_sub_epi32(a, b), p), w[i * stride], shoup[i * stride]));
      }
}

static void widen(const int8_t *rows, uint32_t width, __m512i *v) {
  const __m512i p = _mm512_set1_epi32((int)P), at = _mm512_mullo_epi32(_mm512_set1_epi32((int)width),
      _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  for (uint32_t i = 0; i < width; i += 4) {
    const __m512i four = _mm512_i32gather_epi32(at, rows + i, 1);
    for (uint32_t b = 0; b < 4; b++) {
      const __m512i x = _mm512_srai_epi32(_mm512_sllv_epi32(four, _mm512_set1_epi32(24 - 8 * (int)b)), 24);
      v[i + b] = _mm512_min_epu32(x, _mm512_add_epi32(x, p));
    }
  }
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t turned(uint32_t i, uint32_t bits) {
  uint32_t out = 0;
  for (; bits; bits--, i >>= 1) out = out << 1 | (i & 1);
  return out;
}

static int measure(uint32_t bits) {
  const uint32_t width = 1u << bits, n = 2 * width, groups = (1u << 25) / width / LANES;
  int8_t *entries = malloc((size_t)groups * LANES * width);
  __m512i *columns = aligned_alloc(64, (size_t)groups * n * 64), *v = aligned_alloc(64, 64u * (size_t)n);
  uint32_t *w = malloc(4u * (size_t)n), *shoup = malloc(4u * (size_t)n);
  const uint32_t root = power(GENERATOR, (P - 1) / n);
  for (uint32_t i = 0, x = 1; i < n / 2; i++, x = times(x, root)) {
    w[i] = x;
    shoup[i] = (uint32_t)(((uint64_t)x << 32) / P);
  }
  for (size_t i = 0; i < (size_t)groups * LANES * width; i++) entries[i] = (int8_t)(i * 2654435761u >> 13);
  for (size_t i = 0; i < (size_t)groups * n; i += 64) columns[i] = _mm512_setzero_si512();
  const double start = seconds();
  for (uint32_t g = 0; g < groups; g++) {
    widen(entries + (size_t)g * LANES * width, width, v);
    for (uint32_t i = width; i < n; i++) v[i] = _mm512_setzero_si512();
    transform(v, n, w, shoup);
    for (uint32_t i = 0; i < n; i++) _mm512_stream_si512(columns + (size_t)i * groups + g, v[i]);
  }
  const double spent = seconds() - start;
  uint32_t expected = 0;
  const uint32_t place = 12345 % n, x = power(root, turned(place, bits + 1)), lane = 5;
  for (uint32_t i = width; i-- > 0;)
    expected = (uint32_t)(((uint64_t)expected * x + (P + (int64_t)entries[(size_t)lane * width + i])) % P);
  const int isRight = ((uint32_t *)(columns + (size_t)place * groups))[lane] == expected;
  printf("rows of %5u: %.2f ns an entry%s\n", width, 1e9 * spent / (1u << 25), isRight ? "" : ", WRONG");
  free(entries), free(columns), free(v), free(w), free(shoup);
  return isRight ? 0 : 1;
}

int main(void) {
  int wrong = 0;
  for (uint32_t bits = 11; bits <= 14; bits++) wrong |= measure(bits);
  return wrong;
}
