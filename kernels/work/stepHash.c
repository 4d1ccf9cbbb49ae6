/* W12.1: SHA-256 of the columns of a code while its rows come, as many columns side by side as a register has lanes. */
#include "shaLanes.h"

/* The states of sixteen columns. */
typedef struct {
  lanes_at word[8][SLICES];
} states;

static TS_INLINE void block(states *s, ts_u32 slice, lanes w[16]) {
  lanes state[8];
  for (int i = 0; i < 8; i++) state[i] = s->word[i][slice];
  sha_lanes(state, w);
  for (int i = 0; i < 8; i++) s->word[i][slice] = state[i];
}

/* The states of so many columns, a multiple of 16, after one block that all of them begin with. */
TS_WORK(stepHashBegin)(char *memory, ts_offset at, ts_offset first, ts_u32 columns) {
  states *s = TS_AT(states, at);
  ts_u32 start[8], words[16];
  ts_sha256_start(start);
  for (int i = 0; i < 16; i++) words[i] = TS_BSWAP32(TS_AT(const ts_u32, first)[i]);
  for (ts_u32 c = 0; c < columns / TOGETHER; c++)
    for (ts_u32 slice = 0; slice < SLICES; slice++) {
      lanes w[16];
      for (int i = 0; i < 8; i++) s[c].word[i][slice] = (lanes){} + start[i];
      for (int i = 0; i < 16; i++) w[i] = (lanes){} + words[i];
      block(s + c, slice, w);
    }
  return 0;
}

/* A line of the cache has so many columns of bytes. */
#define LINE 64
typedef ts_u8 bytes_at __attribute__((vector_size(LANES), aligned(1), may_alias));

static TS_INLINE lanes bytes_of(const ts_u8 *from) { return __builtin_convertvector(*(const bytes_at *)from, lanes); }

/* 64 rows of bytes: one block of every column; a multiple of 64 columns. */
TS_WORK(stepHashBytes)(char *memory, ts_offset at, ts_offset x, ts_u32 columns) {
  states *s = TS_AT(states, at);
  for (ts_u32 c = 0; c < columns; c += LINE, s += LINE / TOGETHER) {
    lanes w[LINE / LANES][16];
    const ts_u8 *row = TS_AT(const ts_u8, x) + c;
    for (ts_u32 i = 0; i < 16; i++, row += 4 * (ts_u64)columns)
      for (ts_u32 n = 0; n < LINE / LANES; n++) {
        const ts_u8 *from = row + n * LANES;
        w[n][i] = bytes_of(from) << 24 | bytes_of(from + columns) << 16 | bytes_of(from + 2 * (ts_u64)columns) << 8 |
                  bytes_of(from + 3 * (ts_u64)columns);
      }
    for (ts_u32 n = 0; n < LINE / LANES; n++) block(s + n / SLICES, n % SLICES, w[n]);
  }
  return 0;
}

/* Sixteen rows of words: one block of every column. */
TS_WORK(stepHashWords)(char *memory, ts_offset at, ts_offset x, ts_u32 columns) {
  states *s = TS_AT(states, at);
  for (ts_u32 c = 0; c < columns; c += TOGETHER, s++)
    for (ts_u32 slice = 0; slice < SLICES; slice++) {
      const ts_u32 *from = TS_AT(const ts_u32, x) + c + slice * LANES;
      lanes w[16];
      for (ts_u32 i = 0; i < 16; i++, from += columns) w[i] = swapped(*(const lanes_at *)from);
      block(s, slice, w);
    }
  return 0;
}

/* The next block of every column; they lie one after the other. */
TS_WORK(stepHashBlocks)(char *memory, ts_offset at, ts_offset x, ts_u32 columns) {
  states *s = TS_AT(states, at);
  for (ts_u32 c = 0; c < columns; c += TOGETHER, s++)
    for (ts_u32 slice = 0; slice < SLICES; slice++) {
      lanes w[16];
      load_blocks(TS_AT(const char, x + 64ull * (c + slice * LANES)), 64, w);
      block(s, slice, w);
    }
  return 0;
}

/* What SHA-256 puts behind so many bytes, which follow the last whole block of a column: how many blocks that makes. */
static TS_INLINE ts_u32 end_blocks(ts_u32 left) { return left + 9 > 64 ? 2 : 1; }
static void end_column(const ts_u8 *from, ts_u32 bytes, ts_u8 to[128]) {
  const ts_u32 left = bytes % 64, end = 64 * end_blocks(left);
  const ts_u64 bits = 8 * (64 + (ts_u64)bytes);
  for (ts_u32 i = 0; i < left; i++) to[i] = from[bytes - left + i];
  for (ts_u32 i = left; i < end; i++) to[i] = i == left ? 0x80 : 0;
  for (ts_u32 i = 0; i < 8; i++) to[end - 1 - i] = (ts_u8)(bits >> 8 * i);
}

/*
 * The hashes of columns of so many bytes that lie one after the other, each behind the one block that all begin with;
 * hashes lie `apart` bytes from each other. Up to fifteen columns behind the last are read, and do not count.
 */
TS_WORK(stepHashColumns)(char *memory, ts_offset x, ts_offset first, ts_offset to, ts_u32 columns, ts_u32 bytes, ts_u32 apart) {
  ts_u32 begun[8], words[16];
  ts_sha256_start(begun);
  for (int i = 0; i < 16; i++) words[i] = TS_BSWAP32(TS_AT(const ts_u32, first)[i]);
  ts_sha256_block(begun, words);
  for (ts_u32 c = 0; c < columns; c += LANES) {
    const ts_u8 *from = TS_AT(const ts_u8, x) + (ts_u64)c * bytes;
    ts_u8 ends[LANES][128];
    lanes state[8], w[16];
    for (int i = 0; i < 8; i++) state[i] = (lanes){} + begun[i];
    for (ts_u32 b = 0; b < bytes / 64; b++) {
      load_blocks((const char *)from + 64ull * b, bytes, w);
      sha_lanes(state, w);
    }
    const ts_u32 here = ts_least(LANES, columns - c);
    for (ts_u32 l = 0; l < LANES; l++) end_column(from + (ts_u64)ts_least(l, here - 1) * bytes, bytes, ends[l]);
    for (ts_u32 b = 0; b < end_blocks(bytes % 64); b++) {
      load_blocks((const char *)ends[0] + 64 * b, 128, w);
      sha_lanes(state, w);
    }
    for (ts_u32 l = 0; l < here; l++)
      for (int i = 0; i < 8; i++) TS_AT(ts_u32, to + (ts_u64)(c + l) * apart)[i] = TS_BSWAP32(state[i][l]);
  }
  return 0;
}

/* The hashes of columns, `apart` bytes from each other. */
TS_WORK(stepHashEnd)(char *memory, ts_offset at, ts_offset to, ts_u32 columns, ts_u32 apart) {
  const states *s = TS_AT(const states, at);
  for (ts_u32 c = 0; c < columns; c++)
    for (ts_u32 i = 0; i < 8; i++)
      TS_AT(ts_u32, to + (ts_u64)c * apart)[i] = TS_BSWAP32(s[c / TOGETHER].word[i][c % TOGETHER / LANES][c % LANES]);
  return 0;
}

/* Some columns of rows of `width` entries, each with its entries one after the other; rows lie one after the other. */
TS_WORK(stepPick)(char *memory, ts_offset x, ts_offset columns, ts_offset to, ts_u32 size, ts_u32 rows, ts_u32 width, ts_u32 count) {
  const ts_u32 *wanted = TS_AT(const ts_u32, columns);
  for (ts_u32 first = 0; first < rows; first += TOGETHER) {
    const ts_u32 here = ts_least(TOGETHER, rows - first);
    for (ts_u32 c = 0; c < count; c++) {
      const ts_u64 from = (ts_u64)first * width + wanted[c], at = (ts_u64)c * rows + first;
      if (size == 1)
        for (ts_u32 r = 0; r < here; r++) TS_AT(ts_u8, to)[at + r] = TS_AT(const ts_u8, x)[from + (ts_u64)r * width];
      else
        for (ts_u32 r = 0; r < here; r++) TS_AT(ts_u32, to)[at + r] = TS_AT(const ts_u32, x)[from + (ts_u64)r * width];
    }
  }
  return 0;
}

/* The same of words that lie in blocks of sixteen rows. */
TS_WORK(stepPickBlocks)(char *memory, ts_offset x, ts_offset columns, ts_offset to, ts_u32 rows, ts_u32 width, ts_u32 count) {
  const ts_u32 *wanted = TS_AT(const ts_u32, columns);
  for (ts_u32 first = 0; first < rows; first += TOGETHER) {
    const ts_u32 here = ts_least(TOGETHER, rows - first);
    for (ts_u32 c = 0; c < count; c++) {
      const ts_u32 *from = TS_AT(const ts_u32, x) + (ts_u64)first * width + (ts_u64)TOGETHER * wanted[c];
      for (ts_u32 r = 0; r < here; r++) TS_AT(ts_u32, to)[(ts_u64)c * rows + first + r] = from[r];
    }
  }
  return 0;
}
