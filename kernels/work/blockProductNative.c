/*
 * A few rows of A meet two vectors of B's columns in registers. B is turned into panels of 32 columns, a word of each column
 * one after the other: four bytes with VNNI, which multiplies unsigned by signed ones, so that B's are raised by 128 and
 * 128 times the row of A is taken off; two 16-bit numbers without.
 */
#ifndef __wasm__
#include "../native/vectors.h"
#include "blockProduct.h"

#ifdef __AVX512VNNI__
typedef ts_i8 entry;
#define IN_WORD 4
#define DEPTH 1024
#define RAISED 0x80808080u
#define ROWS 8
#else
typedef ts_i16 entry;
#define IN_WORD 2
#define DEPTH 512
#define RAISED 0u
#define ROWS 4
#endif
#define PANEL 32
#define STACKED 128
/* Rows of A lie a little more than a power of two apart: their lines share no place in the cache. */
#define APART (DEPTH + 64 / (int)sizeof(entry))

static TS_INLINE ts_words step(ts_words sum, ts_words a, ts_words b) {
#ifdef __AVX512VNNI__
  return (ts_words)_mm512_dpbusd_epi32((ts_vector)sum, (ts_vector)b, (ts_vector)a);
#else
  return sum + (ts_words)_mm256_madd_epi16((ts_vector)a, (ts_vector)b);
#endif
}

typedef ts_u32 any_word __attribute__((may_alias, aligned(1)));

/* Rows of A, padded with zeros to whole words; starts[r] is what VNNI's raised bytes will have added, negative. */
static void lay_rows(ts_bytes from, ts_u32 rows, ts_u32 count, entry *to, ts_u32 *starts) {
  const ts_u32 padded = (count + IN_WORD - 1) / IN_WORD * IN_WORD;
  for (ts_u32 r = 0; r < rows; r++, to += APART) {
    const ts_i8 *row = from.at + r * from.stride;
    ts_i32 sum = 0;
    for (ts_u32 i = 0; i < count; i++) {
      to[i] = row[i];
      sum += row[i];
    }
    for (ts_u32 i = count; i < padded; i++) to[i] = 0;
    starts[r] = RAISED ? (ts_u32)(-128 * sum) : 0u;
  }
}

static TS_INLINE ts_u32 word_of(const ts_i8 *bytes) {
#ifdef __AVX512VNNI__
  return *(const any_word *)bytes ^ RAISED;
#else
  return (ts_u16)(ts_i16)bytes[0] | (ts_u32)(ts_u16)(ts_i16)bytes[1] << 16;
#endif
}

static void lay_panel(ts_bytes from, ts_u32 columns, ts_u32 count, ts_u32 *to) {
  const ts_u32 whole = count / IN_WORD, steps = (count + IN_WORD - 1) / IN_WORD;
  for (ts_u32 c = 0; c < PANEL; c++) {
    const ts_i8 *row = from.at + c * from.stride;
    ts_u32 *out = to + c;
    const ts_u32 filled = c < columns ? whole : 0;
    for (ts_u32 s = 0; s < filled; s++) out[PANEL * s] = word_of(row + IN_WORD * s);
    for (ts_u32 s = filled; s < steps; s++) out[PANEL * s] = RAISED;
    if (c < columns && whole < steps) {
      ts_i8 last[4] = {0, 0, 0, 0};
      for (ts_u32 i = IN_WORD * whole; i < count; i++) last[i - IN_WORD * whole] = row[i];
      out[PANEL * whole] = word_of(last);
    }
  }
}

/* Adds `count` rows (ROWS, or fewer at the end) of two vectors of columns. */
static TS_INLINE void meet(
    const entry *a, const ts_u32 *starts, const ts_u32 *b, ts_u32 steps, ts_u32 count, ts_u32 sums[][PANEL]) {
  ts_words s[ROWS][2];
  TS_UNROLL
  for (ts_u32 r = 0; r < count; r++) s[r][0] = s[r][1] = ts_splat(starts[r]);
  const any_word *words = (const any_word *)a;
  for (ts_u32 i = 0; i < steps; i++, b += PANEL) {
    const ts_words b0 = ts_load(b), b1 = ts_load(b + TS_LANES);
    TS_UNROLL
    for (ts_u32 r = 0; r < count; r++) {
      const ts_words x = ts_splat(words[r * (APART * sizeof(entry) / 4) + i]);
      s[r][0] = step(s[r][0], x, b0);
      s[r][1] = step(s[r][1], x, b1);
    }
  }
  TS_UNROLL
  for (ts_u32 r = 0; r < count; r++) {
    ts_store(sums[r], s[r][0]);
    ts_store(sums[r] + TS_LANES, s[r][1]);
  }
}

static void store(ts_u32 sums[][PANEL], ts_u32 rows, ts_u32 columns, ts_u32 adds, ts_i32 *out, ts_u64 stride) {
  for (ts_u32 r = 0; r < rows; r++, out += stride)
    if (adds) for (ts_u32 c = 0; c < columns; c++) out[c] += (ts_i32)sums[r][c];
    else for (ts_u32 c = 0; c < columns; c++) out[c] = (ts_i32)sums[r][c];
}

typedef struct {
  entry a[STACKED * APART];
  ts_u32 starts[STACKED], panel[PANEL * DEPTH / IN_WORD];
} layout;

static void panel_product(const layout *laid, ts_u32 rows, ts_u32 columns, ts_u32 steps, ts_u32 adds, ts_i32 *out, ts_u64 stride) {
  ts_u32 sums[ROWS][PANEL];
  for (ts_u32 r = 0; r < rows; r += ROWS) {
    const ts_u32 here = ts_least(ROWS, rows - r);
    for (ts_u32 c = 0; c < PANEL; c += 2 * TS_LANES) {
      ts_u32 (*to)[PANEL] = (ts_u32 (*)[PANEL])(sums[0] + c);
      if (here == ROWS) meet(laid->a + r * APART, laid->starts + r, laid->panel + c, steps, ROWS, to);
      else
        for (ts_u32 i = 0; i < here; i++)
          meet(laid->a + (r + i) * APART, laid->starts + r + i, laid->panel + c, steps, 1, to + i);
    }
    store(sums, here, columns, adds, out + r * stride, stride);
  }
}

void ts_block_product(ts_bytes a, ts_bytes b, ts_u32 rows, ts_u32 columns, ts_u32 k, ts_i32 *out, ts_u64 stride) {
  if (ts_few(rows, columns)) {
    ts_few_products(a, b, rows, columns, k, out, stride);
    return;
  }
  layout laid;
  for (ts_u32 r = 0; r < rows; r += STACKED)
    for (ts_u32 from = 0; from < k; from += DEPTH) {
      const ts_u32 here = ts_least(STACKED, rows - r), count = ts_least(DEPTH, k - from);
      lay_rows((ts_bytes){a.at + r * a.stride + from, a.stride}, here, count, laid.a, laid.starts);
      for (ts_u32 c = 0; c < columns; c += PANEL) {
        const ts_u32 wide = ts_least(PANEL, columns - c);
        lay_panel((ts_bytes){b.at + c * b.stride + from, b.stride}, wide, count, laid.panel);
        panel_product(&laid, here, wide, (count + IN_WORD - 1) / IN_WORD, from > 0, out + r * stride + c, stride);
      }
    }
}
#endif
