/*
 * W8: evaluations of integer matrices at points of the field, and the rounds of a sumcheck. Weights are cut into limbs so
 * small that their products with entries are summed as 64-bit integers; the field is met once for each sum.
 */
#include "../common/work/field.h"
#include "work.h"

#ifdef __wasm__
#define LANES 2
#elif defined(__AVX512F__)
#define LANES 8
#else
#define LANES 4
#endif
typedef ts_i64 longs __attribute__((vector_size(8 * LANES)));
typedef ts_i32 words __attribute__((vector_size(4 * LANES)));
typedef ts_i8 bytes __attribute__((vector_size(LANES)));
typedef struct {
  words v;
} __attribute__((packed, may_alias)) any_words;
typedef struct {
  bytes v;
} __attribute__((packed, may_alias)) any_bytes;

/* Sums of 2^10 products: of 8 and 31 bits, or of 32 and 21 bits; both below 2^63. */
#define STRETCH 1024
#define STACKED 4
#define MOST_LIMBS 6
/* int8 entries meet 2 limbs of 31 bits for each half of a pair, int32 entries 3 of 21. */
#define LIMBS(size) ((size) == 1 ? 4u : 6u)
#define LIMB_BITS(size) ((size) == 1 ? 31u : 21u)

static TS_INLINE ts_i32 limb_of(ts_pair weight, ts_u32 limb, ts_u32 size) {
  const ts_u32 half = LIMBS(size) / 2, bits = LIMB_BITS(size);
  return (ts_i32)((limb < half ? weight.re : weight.im) >> bits * (limb % half) & ((1ull << bits) - 1));
}

static TS_INLINE ts_u64 from_limbs(const ts_i64 *sums, ts_u32 size) {
  const ts_u32 bits = LIMB_BITS(size);
  ts_u64 total = ts_mod_signed(sums[0]);
  for (ts_u32 i = 1; i < LIMBS(size) / 2; i++)
    total = ts_plus(total, ts_times(ts_mod_signed(sums[i]), 1ull << bits * i));
  return total;
}
static TS_INLINE ts_pair pair_of(const ts_i64 *sums, ts_u32 size) {
  return (ts_pair){from_limbs(sums, size), from_limbs(sums + LIMBS(size) / 2, size)};
}

static TS_INLINE longs widened(const char *from, ts_u32 size) {
  return size == 1 ? __builtin_convertvector(((const any_bytes *)from)->v, longs)
                   : __builtin_convertvector(((const any_words *)from)->v, longs);
}
static TS_INLINE ts_i64 entry(const char *from, ts_u32 size) {
  return size == 1 ? *(const ts_i8 *)from : *(const ts_i32 *)from;
}

/* `count` rows, over the stretch of them that has these limbs. */
static TS_INLINE void meet(
    const char *x, ts_u64 stride, const ts_i32 limbs[][STRETCH], ts_u32 width, ts_u32 count, ts_u32 size, ts_pair *out) {
  longs sums[STACKED][MOST_LIMBS];
  TS_UNROLL
  for (ts_u32 r = 0; r < count; r++) {
    TS_UNROLL
    for (ts_u32 l = 0; l < LIMBS(size); l++) sums[r][l] = (longs){};
  }
  ts_u32 i = 0;
  for (; i + LANES <= width; i += LANES) {
    longs weights[MOST_LIMBS];
    TS_UNROLL
    for (ts_u32 l = 0; l < LIMBS(size); l++) weights[l] = widened((const char *)(limbs[l] + i), 4);
    TS_UNROLL
    for (ts_u32 r = 0; r < count; r++) {
      const longs entries = widened(x + r * stride + i * size, size);
      TS_UNROLL
      for (ts_u32 l = 0; l < LIMBS(size); l++) sums[r][l] += entries * weights[l];
    }
  }
  TS_UNROLL
  for (ts_u32 r = 0; r < count; r++) {
    ts_i64 totals[MOST_LIMBS];
    for (ts_u32 l = 0; l < LIMBS(size); l++) {
      totals[l] = 0;
      for (ts_u32 lane = 0; lane < LANES; lane++) totals[l] += sums[r][l][lane];
      for (ts_u32 j = i; j < width; j++) totals[l] += entry(x + r * stride + j * size, size) * limbs[l][j];
    }
    out[r] = ts_pair_plus(out[r], pair_of(totals, size));
  }
}

static TS_INLINE void rows_times(
    const char *x, const ts_pair *weights, ts_pair *out, ts_u32 rows, ts_u32 width, ts_u32 size) {
  const ts_u64 stride = (ts_u64)width * size;
  for (ts_u32 r = 0; r < rows; r++) out[r] = (ts_pair){0, 0};
  ts_i32 limbs[MOST_LIMBS][STRETCH];
  for (ts_u32 from = 0; from < width; from += STRETCH) {
    const ts_u32 here = ts_least(STRETCH, width - from);
    for (ts_u32 l = 0; l < LIMBS(size); l++)
      for (ts_u32 i = 0; i < here; i++) limbs[l][i] = limb_of(weights[from + i], l, size);
    const char *at = x + (ts_u64)from * size;
    ts_u32 r = 0;
    for (; r + STACKED <= rows; r += STACKED) meet(at + r * stride, stride, limbs, here, STACKED, size, out + r);
    for (; r < rows; r++) meet(at + r * stride, stride, limbs, here, 1, size, out + r);
  }
}

#ifdef __AVX512VNNI__
#include <immintrin.h>

/*
 * int8 entries by VNNI: a weight is the 16 bytes of its halves as they lie, a lane for each; four entries meet four weights'
 * bytes of one place in one step. Sums of a stretch are below 2^25.
 */
#define VNNI_ROWS 8
#define STEPS (STRETCH / 4)

typedef ts_u32 any_word __attribute__((may_alias, aligned(1)));

static void lay_weights(const ts_pair *weights, ts_u32 count, ts_u8 panel[STEPS][16][4]) {
  for (ts_u32 i = 0; i < (count + 3) / 4 * 4; i++)
    for (ts_u32 b = 0; b < 16; b++) panel[i / 4][b][i % 4] = i < count ? ((const ts_u8 *)(weights + i))[b] : 0;
}

static TS_INLINE void meet_bytes(
    const char *x, ts_u64 stride, const ts_u8 panel[STEPS][16][4], ts_u32 width, ts_u32 count, ts_pair *out) {
  __m512i sums[VNNI_ROWS];
  TS_UNROLL
  for (ts_u32 r = 0; r < count; r++) sums[r] = _mm512_setzero_si512();
  const ts_u32 steps = width / 4;
  for (ts_u32 s = 0; s < steps; s++) {
    const __m512i weights = _mm512_loadu_si512(panel[s]);
    TS_UNROLL
    for (ts_u32 r = 0; r < count; r++) {
      const __m512i entries = _mm512_set1_epi32((int)*(const any_word *)(x + r * stride + 4 * s));
      sums[r] = _mm512_dpbusd_epi32(sums[r], weights, entries);
    }
  }
  TS_UNROLL
  for (ts_u32 r = 0; r < count; r++) {
    ts_i32 totals[16];
    _mm512_storeu_si512(totals, sums[r]);
    for (ts_u32 i = 4 * steps; i < width; i++)
      for (ts_u32 b = 0; b < 16; b++) totals[b] += *(const ts_i8 *)(x + r * stride + i) * panel[i / 4][b][i % 4];
    out[r] = ts_pair_plus(out[r], (ts_pair){ts_from_bytes(totals), ts_from_bytes(totals + 8)});
  }
}

static void byte_rows_times(const char *x, const ts_pair *weights, ts_pair *out, ts_u32 rows, ts_u32 width) {
  for (ts_u32 r = 0; r < rows; r++) out[r] = (ts_pair){0, 0};
  ts_u8 panel[STEPS][16][4];
  for (ts_u32 from = 0; from < width; from += STRETCH) {
    const ts_u32 here = ts_least(STRETCH, width - from);
    lay_weights(weights + from, here, panel);
    ts_u32 r = 0;
    for (; r + VNNI_ROWS <= rows; r += VNNI_ROWS)
      meet_bytes(x + (ts_u64)r * width + from, width, panel, here, VNNI_ROWS, out + r);
    for (; r < rows; r++) meet_bytes(x + (ts_u64)r * width + from, width, panel, here, 1, out + r);
  }
}
#else
static void byte_rows_times(const char *x, const ts_pair *weights, ts_pair *out, ts_u32 rows, ts_u32 width) {
  rows_times(x, weights, out, rows, width, 1);
}
#endif

/* out[r] = the sum over i of x[r][i] * weights[i]. */
TS_WORK(rowsTimesI8)(char *memory, ts_offset x, ts_offset weights, ts_offset out, ts_u32 rows, ts_u32 width) {
  byte_rows_times(TS_AT(const char, x), TS_AT(const ts_pair, weights), TS_AT(ts_pair, out), rows, width);
  return 0;
}
TS_WORK(rowsTimesI32)(char *memory, ts_offset x, ts_offset weights, ts_offset out, ts_u32 rows, ts_u32 width) {
  rows_times(TS_AT(const char, x), TS_AT(const ts_pair, weights), TS_AT(ts_pair, out), rows, width, 4);
  return 0;
}

/* Columns that are summed at a time; 2^24 rows are the most that their sums hold. */
#define COLUMNS 512
#define I8_LIMBS 4

static void add_rows(const ts_i8 *x, ts_u64 stride, const ts_pair *weights, ts_u32 rows, ts_u32 columns, ts_i64 sums[][COLUMNS]) {
  for (ts_u32 r = 0; r < rows; r++, x += stride) {
    ts_i64 limbs[I8_LIMBS];
    for (ts_u32 l = 0; l < I8_LIMBS; l++) limbs[l] = limb_of(weights[r], l, 1);
    for (ts_u32 c = 0; c < columns; c++)
      for (ts_u32 l = 0; l < I8_LIMBS; l++) sums[l][c] += (ts_i64)x[c] * (ts_i32)limbs[l];
  }
}

/* out[c] = out[c] + the sum over r of weights[r] * x[r][c]. */
TS_WORK(columnsTimesI8)(char *memory, ts_offset x, ts_offset weights, ts_offset to, ts_u32 rows, ts_u32 width) {
  const ts_pair *by = TS_AT(const ts_pair, weights);
  ts_pair *out = TS_AT(ts_pair, to);
  ts_i64 sums[I8_LIMBS][COLUMNS];
  for (ts_u32 from = 0; from < width; from += COLUMNS) {
    const ts_u32 here = ts_least(COLUMNS, width - from);
    for (ts_u32 l = 0; l < I8_LIMBS; l++)
      for (ts_u32 c = 0; c < here; c++) sums[l][c] = 0;
    add_rows(TS_AT(const ts_i8, x) + from, width, by, rows, here, sums);
    for (ts_u32 c = 0; c < here; c++) {
      const ts_i64 totals[I8_LIMBS] = {sums[0][c], sums[1][c], sums[2][c], sums[3][c]};
      out[from + c] = ts_pair_plus(out[from + c], pair_of(totals, 1));
    }
  }
  return 0;
}

/* W8.2.2: the weight of every index at a point of so many coordinates, the first one for the lowest bit. */
TS_WORK(pointWeights)(char *memory, ts_offset point, ts_offset to, ts_u32 coordinates) {
  const ts_pair *at = TS_AT(const ts_pair, point);
  ts_pair *out = TS_AT(ts_pair, to);
  out[0] = (ts_pair){1, 0};
  for (ts_u32 j = 0; j < coordinates; j++)
    for (ts_u32 i = 0; i < 1u << j; i++) {
      const ts_pair high = ts_pair_times(out[i], at[j]);
      out[i + (1u << j)] = high;
      out[i] = ts_pair_minus(out[i], high);
    }
  return 0;
}

/* The sum of v[i] * w[i]. */
TS_WORK(pairDot)(char *memory, ts_offset v, ts_offset w, ts_offset out, ts_u32 count) {
  const ts_pair *a = TS_AT(const ts_pair, v), *b = TS_AT(const ts_pair, w);
  ts_pair sum = {0, 0};
  for (ts_u32 i = 0; i < count; i++) sum = ts_pair_plus(sum, ts_pair_times(a[i], b[i]));
  *TS_AT(ts_pair, out) = sum;
  return 0;
}

/* W8.4.2: the first and the last coefficient of the round's polynomial; v and w have 2 * half numbers each. */
TS_WORK(sumcheckRound)(char *memory, ts_offset v, ts_offset w, ts_offset to, ts_u32 half) {
  const ts_pair *a = TS_AT(const ts_pair, v), *b = TS_AT(const ts_pair, w);
  ts_pair first = {0, 0}, last = {0, 0};
  for (ts_u32 i = 0; i < half; i++) {
    first = ts_pair_plus(first, ts_pair_times(a[i], b[i]));
    const ts_pair x = ts_pair_minus(a[i + half], a[i]), y = ts_pair_minus(b[i + half], b[i]);
    last = ts_pair_plus(last, ts_pair_times(x, y));
  }
  ts_pair *out = TS_AT(ts_pair, to);
  out[0] = first;
  out[1] = last;
  return 0;
}

/* v[i] = v[i] + t * (v[i + half] - v[i]). */
TS_WORK(sumcheckFold)(char *memory, ts_offset v, ts_offset t, ts_u32 half) {
  ts_pair *a = TS_AT(ts_pair, v);
  const ts_pair by = *TS_AT(const ts_pair, t);
  for (ts_u32 i = 0; i < half; i++)
    a[i] = ts_pair_plus(a[i], ts_pair_times(by, ts_pair_minus(a[i + half], a[i])));
  return 0;
}
