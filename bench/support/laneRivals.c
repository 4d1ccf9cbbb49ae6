/*
 * What a core gains by walking a processor's lanes (§12) otherwise than one after the other: several at once with plain
 * instructions, or by gathers where it has AVX-512. bench/hostLanes.mjs compiles and runs it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

enum { WORDS = 4096, LANES = 8, ROUNDS = 24000000 };
#define MASK 0x7ff8u

uint64_t tables[LANES][WORDS] __attribute__((aligned(4096)));
static uint64_t first[LANES][8], state[LANES][8];

static inline uint64_t turned(uint64_t x) { return x << 21 | x >> 43; }
#define LOOK(x) (*(const uint64_t *)(t + ((uint32_t)(x) & MASK)))
#define ROUND                                                                                                    \
  const uint64_t A = LOOK(a), B = LOOK(b), C = LOOK(c), D = LOOK(d), E = LOOK(e), F = LOOK(f), G = LOOK(g), H = LOOK(h); \
  a = turned(a) + B, b = turned(b) + C, c = turned(c) + D, d = turned(d) + E;                                    \
  e = turned(e) + F, f = turned(f) + G, g = turned(g) + H, h = turned(h) + A;
#define LOAD(s) uint64_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#define KEEP(s) s[0] = a, s[1] = b, s[2] = c, s[3] = d, s[4] = e, s[5] = f, s[6] = g, s[7] = h;

static void one_by_one(int lanes, uint32_t rounds) {
  for (int l = 0; l < lanes; l++) {
    uint64_t *s = state[l];
    const char *t = (const char *)tables[l];
    LOAD(s)
    for (uint32_t i = 0; i < rounds; i++) { ROUND }
    KEEP(s)
  }
}

static inline __attribute__((always_inline)) void at_once(int lanes, uint32_t rounds) {
  for (uint32_t i = 0; i < rounds; i++)
    for (int l = 0; l < lanes; l++) {
      uint64_t *s = state[l];
      const char *t = (const char *)tables[l];
      LOAD(s) ROUND KEEP(s)
    }
}
static void two_at_once(int lanes, uint32_t rounds) { (void)lanes; at_once(2, rounds); }
static void three_at_once(int lanes, uint32_t rounds) { (void)lanes; at_once(3, rounds); }

#ifdef TWO_LANES
void two_lanes(uint64_t *state, const void *tables, uint32_t rounds);
static void two_by_hand(int lanes, uint32_t rounds) { (void)lanes; two_lanes(state[0], tables, rounds); }
#endif

#ifdef __AVX512F__
/* A register holds one word of eight lanes. */
static void gather_eight(int lanes, uint32_t rounds) {
  (void)lanes;
  const __m512i mask = _mm512_set1_epi64(MASK), size = _mm512_set1_epi64(sizeof tables[0]);
  const __m512i base = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), size);
  const __m512i column = _mm512_setr_epi64(0, 8, 16, 24, 32, 40, 48, 56);
  __m512i v[8], found[8];
  for (int w = 0; w < 8; w++) v[w] = _mm512_i64gather_epi64(column, state[0] + w, 8);
  for (uint32_t i = 0; i < rounds; i++) {
    for (int w = 0; w < 8; w++)
      found[w] = _mm512_i64gather_epi64(_mm512_add_epi64(_mm512_and_si512(v[w], mask), base), tables, 1);
    for (int w = 0; w < 8; w++) v[w] = _mm512_add_epi64(_mm512_rol_epi64(v[w], 21), found[(w + 1) & 7]);
  }
  for (int w = 0; w < 8; w++) _mm512_i64scatter_epi64(state[0] + w, column, v[w], 8);
}

/* A register holds one lane. */
static inline __attribute__((always_inline)) void gathers(int lanes, uint32_t rounds) {
  const __m512i mask = _mm512_set1_epi64(MASK);
  __m512i v[4];
  for (int l = 0; l < lanes; l++) v[l] = _mm512_loadu_si512(state[l]);
  for (uint32_t i = 0; i < rounds; i++)
    for (int l = 0; l < lanes; l++) {
      const __m512i found = _mm512_i64gather_epi64(_mm512_and_si512(v[l], mask), tables[l], 1);
      v[l] = _mm512_add_epi64(_mm512_rol_epi64(v[l], 21), _mm512_alignr_epi64(found, found, 1));
    }
  for (int l = 0; l < lanes; l++) _mm512_storeu_si512(state[l], v[l]);
}
static void gather_two(int lanes, uint32_t rounds) { (void)lanes; gathers(2, rounds); }
static void gather_four(int lanes, uint32_t rounds) { (void)lanes; gathers(4, rounds); }
#endif

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static void run(const char *name, void (*walk)(int, uint32_t), int lanes) {
  const uint32_t rounds = ROUNDS / lanes;
  uint64_t expected[LANES][8];
  memcpy(state, first, sizeof state);
  one_by_one(lanes, rounds);
  memcpy(expected, state, sizeof state);
  double best = 1e9;
  for (int again = 0; again < 3; again++) {
    memcpy(state, first, sizeof state);
    const double from = seconds();
    walk(lanes, rounds);
    const double took = seconds() - from;
    if (took < best) best = took;
  }
  if (memcmp(expected, state, lanes * sizeof state[0])) printf("%s: WRONG\n", name), exit(1);
  printf("%s\t%d\t%.1f\n", name, lanes, 64e-9 * rounds * lanes / best);
}

static uint64_t any(void) {
  static uint64_t x = 1;
  x = x * 6364136223846793005u + 1442695040888963407u;
  return x ^ x >> 29;
}

int main(void) {
  for (int l = 0; l < LANES; l++) {
    for (int i = 0; i < WORDS; i++) tables[l][i] = any();
    for (int i = 0; i < 8; i++) first[l][i] = any();
  }
  run("plain, one by one", one_by_one, 1);
  run("plain, two at once", two_at_once, 2);
  run("plain, three at once", three_at_once, 3);
#ifdef TWO_LANES
  run("by hand, two at once", two_by_hand, 2);
#endif
#ifdef __AVX512F__
  run("gathers, a lane a register, two", gather_two, 2);
  run("gathers, a lane a register, four", gather_four, 4);
  run("gathers, a lane an element, eight", gather_eight, 8);
#endif
  return 0;
}
