/* W12: integer matrices met with numbers of the field of quads, from both sides, and the rounds of a sumcheck over them. */
#include "residues.h"

static const ts_quad ZERO = {{0, 0, 0, 0}};
static const ts_quad ONE = {{1, 0, 0, 0}};

typedef ts_u32 any_word __attribute__((may_alias, aligned(1)));

#ifdef __AVX512VNNI__

/*
 * By VNNI: a weight is its 16 bytes as they lie, a lane for each; four entries meet the bytes of one place of four weights
 * in one step. An entry of four bytes is four digits of -128 ... 127, and has the weight of its own for each of them:
 * times 1, 2^8, 2^16, 2^24.
 */
#define MOST_ENTRIES 512
typedef ts_u8 panel[MOST_ENTRIES][16][4];

static void lay_weights(const ts_quad *weights, ts_u32 count, ts_u32 digits, panel to) {
  for (ts_u32 i = 0; i < (count + 3) / 4 * 4; i++) {
    ts_quad weight = i < count ? weights[i] : ZERO;
    for (ts_u32 d = 0; d < digits; d++) {
      for (ts_u32 b = 0; b < 16; b++) to[i / 4 * digits + d][b][i % 4] = ((const ts_u8 *)&weight)[b];
      for (ts_u32 c = 0; c < 4; c++) weight.at[c] = ts_q_times(weight.at[c], 256);
    }
  }
}

/* The digits of sixteen numbers: first each in -p/2 ... p/2. */
static TS_INLINE __m512i digits_of(__m512i x) {
  const __m512i p = _mm512_set1_epi32((int)TS_Q), most = _mm512_set1_epi32((int)(TS_Q / 2));
  x = _mm512_mask_sub_epi32(x, _mm512_cmpgt_epi32_mask(x, most), x, p);
  x = _mm512_mask_add_epi32(x, _mm512_cmplt_epi32_mask(x, _mm512_sub_epi32(_mm512_setzero_si512(), most)), x, p);
  const __m512i half = _mm512_set1_epi32((int)0x80808080u);
  return _mm512_xor_si512(_mm512_add_epi32(x, half), half);
}

/* Sums by the bytes of weights, for sixteen rows or columns, to quads. */
static TS_INLINE void add_sums(__m512i sums[16], ts_quad *out, ts_u32 count) {
  static const ts_u32 places[4] = {1, 1u << 8, 1u << 16, 1u << 24};
  lanes by[16], coordinate[4];
  TS_UNROLL
  for (int i = 0; i < 16; i++) by[i] = (lanes)sums[i];
  transpose(by);
  TS_UNROLL
  for (int c = 0; c < 4; c++) {
    coordinate[c] = from_signed(by[4 * c]);
    TS_UNROLL
    for (int b = 1; b < 4; b++)
      coordinate[c] = plus(coordinate[c], times(from_signed(by[4 * c + b]), factor_of(places[b])));
  }
  const lanes even[2] = {ZIP(coordinate[0], coordinate[2], 0), ZIP(coordinate[0], coordinate[2], 8)};
  const lanes odd[2] = {ZIP(coordinate[1], coordinate[3], 0), ZIP(coordinate[1], coordinate[3], 8)};
  const lanes quads[4] = {ZIP(even[0], odd[0], 0), ZIP(even[0], odd[0], 8), ZIP(even[1], odd[1], 0), ZIP(even[1], odd[1], 8)};
  if (count == 16) {
    lanes_at *to = (lanes_at *)out;
    for (int i = 0; i < 4; i++) to[i] = plus(to[i], quads[i]);
  } else
    for (ts_u32 i = 0; i < count; i++) out[i] = ts_quad_plus(out[i], ((const ts_quad *)quads)[i]);
}

/* Rows that are met side by side. */
#define ROWS 8

/* Entries of a row in fours: as they lie, or for each four their digits of the lowest place, then of the next ... */
static TS_INLINE const ts_u8 *row_entries(const char *x, ts_u64 stride, ts_u32 width, ts_u32 size, ts_u8 room[4 * MOST_ENTRIES]) {
  if (size == 1 && width % 4 == 0) return (const ts_u8 *)x;
  if (size == 1) {
    for (ts_u32 i = 0; i < (width + 3) / 4 * 4; i++) room[i] = i < width ? (ts_u8)x[i] : 0;
    return room;
  }
  const __m512i by_digit = _mm512_broadcast_i32x4(_mm_set_epi8(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0));
  for (ts_u32 i = 0; i < width; i += 16) {
    const __mmask16 there = width - i >= 16 ? 0xffff : (__mmask16)((1u << (width - i)) - 1);
    /* A row is read in short stretches: those of the next rows are not foreseen. */
    __builtin_prefetch(x + ROWS * stride + 4 * i);
    const __m512i four = digits_of(_mm512_maskz_loadu_epi32(there, x + 4 * i));
    _mm512_storeu_si512(room + 4 * i, _mm512_shuffle_epi8(four, by_digit));
  }
  return room;
}

static TS_INLINE void rows_times(const char *x, const ts_quad *weights, ts_quad *out, ts_u32 size, ts_u32 rows, ts_u32 width, ts_u64 stride) {
  panel by;
  for (ts_u32 r = 0; r < rows; r++) out[r] = ZERO;
  for (ts_u32 from = 0; from < width; from += MOST_ENTRIES) {
    const ts_u32 here = ts_least(MOST_ENTRIES, width - from), steps = (here + 3) / 4;
    lay_weights(weights + from, here, size, by);
    for (ts_u32 r = 0; r < rows; r += 16) {
      __m512i sums[16];
      for (ts_u32 n = 0; n < 16; n++) sums[n] = _mm512_setzero_si512();
      for (ts_u32 first = 0; first < 16 && r + first < rows; first += ROWS) {
        const ts_u8 *entries[ROWS];
        ts_u8 room[ROWS][4 * MOST_ENTRIES];
        for (ts_u32 n = 0; n < ROWS; n++) {
          const ts_u64 row = ts_least(r + first + n, rows - 1);
          entries[n] = row_entries(x + row * stride + (ts_u64)from * size, stride, here, size, room[n]);
        }
        __m512i total[ROWS];
        TS_UNROLL
        for (int n = 0; n < ROWS; n++) total[n] = _mm512_setzero_si512();
        for (ts_u32 s = 0; s < steps; s++)
          for (ts_u32 d = 0; d < size; d++) {
            const __m512i weight = _mm512_loadu_si512(by[s * size + d]);
            TS_UNROLL
            for (int n = 0; n < ROWS; n++)
              total[n] = _mm512_dpbusd_epi32(total[n], weight, _mm512_set1_epi32((int)((const any_word *)entries[n])[s * size + d]));
          }
        TS_UNROLL
        for (int n = 0; n < ROWS; n++) sums[first + n] = total[n];
      }
      add_sums(sums, out + r, ts_least(16, rows - r));
    }
  }
}

/* Columns that are met at a time: a line of the cache of bytes, and of words. */
#define COLUMNS(size) (64 / (size))
/* Rows at a time, so that weights and interleaved entries stay in the first cache. */
#define STRETCH(size) ((size) == 1 ? 128u : 64u)

/* Four rows of a line of columns: for every column its four entries, or digit by digit. */
static TS_INLINE void interleave(const char *x, ts_u64 stride, ts_u32 rows, ts_u32 size, ts_u8 to[256]) {
  __m512i row[4];
  TS_UNROLL
  for (ts_u32 r = 0; r < 4; r++) {
    row[r] = r < rows ? _mm512_loadu_si512(x + r * stride) : _mm512_setzero_si512();
    if (size == 4) row[r] = digits_of(row[r]);
  }
  /* Bytes in pairs of rows, then pairs of pairs: in size 1 four parts of columns come out in turn, in size 4 four digits. */
  const __m512i low[2] = {_mm512_unpacklo_epi8(row[0], row[1]), _mm512_unpacklo_epi8(row[2], row[3])};
  const __m512i high[2] = {_mm512_unpackhi_epi8(row[0], row[1]), _mm512_unpackhi_epi8(row[2], row[3])};
  _mm512_storeu_si512(to, _mm512_unpacklo_epi16(low[0], low[1]));
  _mm512_storeu_si512(to + 64, _mm512_unpackhi_epi16(low[0], low[1]));
  _mm512_storeu_si512(to + 128, _mm512_unpacklo_epi16(high[0], high[1]));
  _mm512_storeu_si512(to + 192, _mm512_unpackhi_epi16(high[0], high[1]));
}
/* Byte b of every line lies, of its four rows, at this word of what is interleaved. */
static TS_INLINE ts_u32 interleaved_at(ts_u32 byte) { return byte % 16 / 4 * 16 + byte / 16 * 4 + byte % 4; }

static TS_INLINE void columns_times(const char *x, const ts_quad *weights, ts_quad *out, ts_u32 size, ts_u32 rows, ts_u32 width) {
  panel by;
  ts_u8 lines[STRETCH(1) / 4][256];
  const ts_u64 stride = (ts_u64)width * size;
  for (ts_u32 from = 0; from < rows; from += STRETCH(size)) {
    const ts_u32 here = ts_least(STRETCH(size), rows - from), steps = (here + 3) / 4;
    lay_weights(weights + from, here, size, by);
    for (ts_u32 c = 0; c < width; c += COLUMNS(size)) {
      for (ts_u32 s = 0; s < steps; s++)
        interleave(x + (from + 4 * s) * stride + (ts_u64)c * size, stride, here - 4 * s, size, lines[s]);
      for (ts_u32 part = 0; part < COLUMNS(size); part += 16) {
        __m512i sums[16];
        TS_UNROLL
        for (int n = 0; n < 16; n++) sums[n] = _mm512_setzero_si512();
        for (ts_u32 s = 0; s < steps; s++)
          for (ts_u32 d = 0; d < size; d++) {
            const __m512i weight = _mm512_loadu_si512(by[s * size + d]);
            const any_word *line = (const any_word *)lines[s];
            TS_UNROLL
            for (int n = 0; n < 16; n++)
              sums[n] = _mm512_dpbusd_epi32(sums[n], weight, _mm512_set1_epi32((int)line[interleaved_at((part + n) * size + d)]));
          }
        add_sums(sums, out + c + part, 16);
      }
    }
  }
}

#else

/* A weight's coordinates in limbs of 16 bits: sums of 2^15 products with entries fit 64. */
#define LIMBS 8
#define STRETCH 512
#define MOST 32768

static TS_INLINE ts_i32 entry(const char *from, ts_u64 i, ts_u32 size) {
  return size == 1 ? (ts_i32)((const ts_i8 *)from)[i] : (ts_i32)((const any_word *)from)[i];
}

static TS_INLINE ts_i32 limb_of(ts_quad weight, ts_u32 limb) { return weight.at[limb / 2] >> 16 * (limb % 2) & 0xffff; }
static TS_INLINE void add_limbs(const ts_i64 sums[LIMBS], ts_quad *out) {
  ts_quad found;
  for (ts_u32 c = 0; c < 4; c++)
    found.at[c] = ts_q_plus(ts_q_signed(sums[2 * c]), ts_q_times(ts_q_signed(sums[2 * c + 1]), 1u << 16));
  *out = ts_quad_plus(*out, found);
}

static TS_INLINE void rows_times(const char *x, const ts_quad *weights, ts_quad *out, ts_u32 size, ts_u32 rows, ts_u32 width, ts_u64 stride) {
  for (ts_u32 r = 0; r < rows; r++) out[r] = ZERO;
  for (ts_u32 from = 0; from < width; from += STRETCH) {
    const ts_u32 here = ts_least(STRETCH, width - from);
    ts_i32 limbs[LIMBS][STRETCH];
    for (ts_u32 l = 0; l < LIMBS; l++)
      for (ts_u32 i = 0; i < here; i++) limbs[l][i] = limb_of(weights[from + i], l);
    for (ts_u32 r = 0; r < rows; r++) {
      const char *row = x + r * stride + (ts_u64)from * size;
      ts_i64 sums[LIMBS] = {0};
      for (ts_u32 i = 0; i < here; i++)
        for (ts_u32 l = 0; l < LIMBS; l++) sums[l] += (ts_i64)entry(row, i, size) * limbs[l][i];
      add_limbs(sums, out + r);
    }
  }
}

static TS_INLINE void columns_times(const char *x, const ts_quad *weights, ts_quad *out, ts_u32 size, ts_u32 rows, ts_u32 width) {
  for (ts_u32 first = 0; first < rows; first += MOST)
    for (ts_u32 from = 0; from < width; from += STRETCH) {
      const ts_u32 here = ts_least(STRETCH, width - from), end = first + ts_least(MOST, rows - first);
      ts_i64 sums[LIMBS][STRETCH];
      for (ts_u32 l = 0; l < LIMBS; l++)
        for (ts_u32 c = 0; c < here; c++) sums[l][c] = 0;
      for (ts_u32 r = first; r < end; r++) {
        const char *row = x + ((ts_u64)r * width + from) * size;
        for (ts_u32 c = 0; c < here; c++)
          for (ts_u32 l = 0; l < LIMBS; l++) sums[l][c] += (ts_i64)entry(row, c, size) * limb_of(weights[r], l);
      }
      for (ts_u32 c = 0; c < here; c++) {
        ts_i64 column[LIMBS];
        for (ts_u32 l = 0; l < LIMBS; l++) column[l] = sums[l][c];
        add_limbs(column, out + from + c);
      }
    }
}

#endif

/* out[r] = the sum over i of x[r][i] * weights[i]; rows lie `stride` bytes apart. */
TS_WORK(stepRows)(char *memory, ts_offset x, ts_offset weights, ts_offset to, ts_u32 size, ts_u32 rows, ts_u32 width, ts_u32 stride) {
  const ts_quad *by = TS_AT(const ts_quad, weights);
  if (size == 1) rows_times(TS_AT(const char, x), by, TS_AT(ts_quad, to), 1, rows, width, stride);
  else rows_times(TS_AT(const char, x), by, TS_AT(ts_quad, to), 4, rows, width, stride);
  return 0;
}

/* out[c] = out[c] + the sum over r of weights[r] * x[r][c]; rows lie one after the other, a multiple of 64 columns. */
TS_WORK(stepColumns)(char *memory, ts_offset x, ts_offset weights, ts_offset to, ts_u32 size, ts_u32 rows, ts_u32 width) {
  const ts_quad *by = TS_AT(const ts_quad, weights);
  if (size == 1) columns_times(TS_AT(const char, x), by, TS_AT(ts_quad, to), 1, rows, width);
  else columns_times(TS_AT(const char, x), by, TS_AT(ts_quad, to), 4, rows, width);
  return 0;
}

/*
 * Numbers times one and the same: a sum over its four multiples by 1, x, x^2, x^3, each by a coordinate of the number that
 * is spread over its four lanes.
 */
typedef struct {
  lanes by[4], share[4];
} fixed;

static fixed fixed_of(ts_quad by) {
  fixed f;
  for (int c = 0; c < 4; c++) {
    for (int l = 0; l < LANES; l++) {
      const factor one = factor_of(by.at[l % 4]);
      f.by[c][l] = one.by;
      f.share[c][l] = one.share;
    }
    by = (ts_quad){{ts_q_times(TS_QUAD_ROOT, by.at[3]), by.at[0], by.at[1], by.at[2]}};
  }
  return f;
}
#if LANES == 4
#define SPREAD(v, c) __builtin_shufflevector(v, v, c, c, c, c)
#elif LANES == 8
#define SPREAD(v, c) __builtin_shufflevector(v, v, c, c, c, c, c + 4, c + 4, c + 4, c + 4)
#else
#define SPREAD(v, c)                                                                                                  \
  __builtin_shufflevector(v, v, c, c, c, c, c + 4, c + 4, c + 4, c + 4, c + 8, c + 8, c + 8, c + 8, c + 12, c + 12,   \
                          c + 12, c + 12)
#endif
#define QUADS (LANES / 4)
static TS_INLINE lanes times_fixed(lanes v, const fixed *f) {
  const lanes a = plus(times_each(SPREAD(v, 0), f->by[0], f->share[0]), times_each(SPREAD(v, 1), f->by[1], f->share[1]));
  const lanes b = plus(times_each(SPREAD(v, 2), f->by[2], f->share[2]), times_each(SPREAD(v, 3), f->by[3], f->share[3]));
  return plus(a, b);
}

/* W8.2.2: the weight of every index at a point of so many coordinates, the first one for the lowest bit. */
TS_WORK(stepWeights)(char *memory, ts_offset point, ts_offset to, ts_u32 coordinates) {
  const ts_quad *at = TS_AT(const ts_quad, point);
  ts_quad *out = TS_AT(ts_quad, to);
  out[0] = ONE;
  for (ts_u32 j = 0; j < coordinates; j++) {
    const ts_u32 half = 1u << j;
    const fixed by = fixed_of(at[j]);
    ts_u32 i = 0;
    for (; i + QUADS <= half; i += QUADS) {
      lanes_at *low = (lanes_at *)(out + i), *high = (lanes_at *)(out + half + i);
      *high = times_fixed(*low, &by);
      *low = minus(*low, *high);
    }
    for (; i < half; i++) {
      out[half + i] = ts_quad_times(out[i], at[j]);
      out[i] = ts_quad_minus(out[i], out[half + i]);
    }
  }
  return 0;
}

/*
 * Sums of products of two numbers, every coordinate of the one by every one of the other: those of lanes l of the one and
 * l + turn of the other within their four, even lanes and odd ones apart, low and high halves apart, so that 2^32 fit.
 */
typedef ts_u64 longs __attribute__((vector_size(4 * LANES)));
typedef struct {
  longs low[4][2], high[4][2];
} coordinate_sums;

#if LANES == 4
#define TURN(v, t) __builtin_shufflevector(v, v, t, (t + 1) % 4, (t + 2) % 4, (t + 3) % 4)
#elif LANES == 8
#define TURN(v, t)                                                                                                    \
  __builtin_shufflevector(v, v, t, (t + 1) % 4, (t + 2) % 4, (t + 3) % 4, 4 + t, 4 + (t + 1) % 4, 4 + (t + 2) % 4,    \
                          4 + (t + 3) % 4)
#else
#define TURN(v, t)                                                                                                    \
  __builtin_shufflevector(v, v, t, (t + 1) % 4, (t + 2) % 4, (t + 3) % 4, 4 + t, 4 + (t + 1) % 4, 4 + (t + 2) % 4,    \
                          4 + (t + 3) % 4, 8 + t, 8 + (t + 1) % 4, 8 + (t + 2) % 4, 8 + (t + 3) % 4, 12 + t,          \
                          12 + (t + 1) % 4, 12 + (t + 2) % 4, 12 + (t + 3) % 4)
#endif
#define HALF 0xffffffffull

static TS_INLINE void add_products(longs low[2], longs high[2], lanes a, lanes b) {
  const longs even = ((longs)a & HALF) * ((longs)b & HALF), odd = ((longs)a >> 32) * ((longs)b >> 32);
  low[0] += even & HALF;
  high[0] += even >> 32;
  low[1] += odd & HALF;
  high[1] += odd >> 32;
}
static TS_INLINE void add_quads(coordinate_sums *sums, lanes a, lanes b) {
  add_products(sums->low[0], sums->high[0], a, b);
  add_products(sums->low[1], sums->high[1], a, TURN(b, 1));
  add_products(sums->low[2], sums->high[2], a, TURN(b, 2));
  add_products(sums->low[3], sums->high[3], a, TURN(b, 3));
}
static ts_quad quad_of(const coordinate_sums *sums) {
  ts_quad out = ZERO;
  for (ts_u32 turn = 0; turn < 4; turn++)
    for (ts_u32 i = 0; i < 4; i++) {
      ts_u64 low = 0, high = 0;
      for (ts_u32 l = i / 2; l < LANES / 2; l += 2) {
        low += sums->low[turn][i % 2][l] % TS_Q;
        high += sums->high[turn][i % 2][l] % TS_Q;
      }
      const ts_u32 j = (i + turn) % 4, product = ts_q_plus(low % TS_Q, ts_q_times(high % TS_Q, (ts_u32)((1ull << 32) % TS_Q)));
      out.at[(i + j) % 4] = ts_q_plus(out.at[(i + j) % 4], i + j < 4 ? product : ts_q_times(TS_QUAD_ROOT, product));
    }
  return out;
}

/* The sum of v[i] * w[i]. */
TS_WORK(stepDot)(char *memory, ts_offset v, ts_offset w, ts_offset out, ts_u32 count) {
  const ts_quad *a = TS_AT(const ts_quad, v), *b = TS_AT(const ts_quad, w);
  coordinate_sums sums = {};
  ts_u32 i = 0;
  for (; i + QUADS <= count; i += QUADS) add_quads(&sums, *(const lanes_at *)(a + i), *(const lanes_at *)(b + i));
  ts_quad sum = quad_of(&sums);
  for (; i < count; i++) sum = ts_quad_plus(sum, ts_quad_times(a[i], b[i]));
  *TS_AT(ts_quad, out) = sum;
  return 0;
}

/* out[i] = out[i] + by * v[i]. */
TS_WORK(stepAdd)(char *memory, ts_offset v, ts_offset factor, ts_offset to, ts_u32 count) {
  const ts_quad *a = TS_AT(const ts_quad, v), one = *TS_AT(const ts_quad, factor);
  ts_quad *out = TS_AT(ts_quad, to);
  const fixed by = fixed_of(one);
  ts_u32 i = 0;
  for (; i + QUADS <= count; i += QUADS) {
    lanes_at *sum = (lanes_at *)(out + i);
    *sum = plus(*sum, times_fixed(*(const lanes_at *)(a + i), &by));
  }
  for (; i < count; i++) out[i] = ts_quad_plus(out[i], ts_quad_times(one, a[i]));
  return 0;
}

/* W8.4.2 over quads: the first and the last coefficient of the round's polynomial; v and w have 2 * half numbers each. */
TS_WORK(stepRound)(char *memory, ts_offset v, ts_offset w, ts_offset to, ts_u32 half) {
  const ts_quad *a = TS_AT(const ts_quad, v), *b = TS_AT(const ts_quad, w);
  coordinate_sums firsts = {}, lasts = {};
  ts_u32 i = 0;
  for (; i + QUADS <= half; i += QUADS) {
    const lanes a0 = *(const lanes_at *)(a + i), a1 = *(const lanes_at *)(a + half + i);
    const lanes b0 = *(const lanes_at *)(b + i), b1 = *(const lanes_at *)(b + half + i);
    add_quads(&firsts, a0, b0);
    add_quads(&lasts, minus(a1, a0), minus(b1, b0));
  }
  ts_quad first = quad_of(&firsts), last = quad_of(&lasts);
  for (; i < half; i++) {
    first = ts_quad_plus(first, ts_quad_times(a[i], b[i]));
    last = ts_quad_plus(last, ts_quad_times(ts_quad_minus(a[i + half], a[i]), ts_quad_minus(b[i + half], b[i])));
  }
  ts_quad *out = TS_AT(ts_quad, to);
  out[0] = first;
  out[1] = last;
  return 0;
}

/* v[i] = v[i] + t * (v[i + half] - v[i]). */
TS_WORK(stepFold)(char *memory, ts_offset v, ts_offset t, ts_u32 half) {
  ts_quad *a = TS_AT(ts_quad, v);
  const ts_quad one = *TS_AT(const ts_quad, t);
  const fixed by = fixed_of(one);
  ts_u32 i = 0;
  for (; i + QUADS <= half; i += QUADS) {
    lanes_at *low = (lanes_at *)(a + i);
    *low = plus(*low, times_fixed(minus(*(const lanes_at *)(a + half + i), *low), &by));
  }
  for (; i < half; i++) a[i] = ts_quad_plus(a[i], ts_quad_times(one, ts_quad_minus(a[i + half], a[i])));
  return 0;
}

/* Whether so many words, with `plus` added mod 2^32, are `most` or less: 0 if all are, else 1. */
TS_WORK(stepWithin)(char *memory, ts_offset x, ts_u32 plus, ts_u32 most, ts_u32 count) {
  const any_word *words = TS_AT(const any_word, x);
  lanes largest = {};
  ts_u32 i = 0;
  for (; i + LANES <= count; i += LANES)
    largest = __builtin_elementwise_max(largest, *(const lanes_at *)(words + i) + plus);
  ts_u32 found = 0;
  for (; i < count; i++) found |= words[i] + plus > most;
  for (ts_u32 l = 0; l < LANES; l++) found |= largest[l] > most;
  return found;
}
