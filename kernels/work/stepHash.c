/* W12.1: SHA-256 of the columns of a code while its rows come, as many columns side by side as a register has lanes. */
#include "lanes.h"
#include "../common/sha256.h"

/* The states of sixteen columns. */
typedef struct {
  lanes_at word[8][SLICES];
} states;

static TS_INLINE lanes turned(lanes x, int n) { return x >> n | x << (32 - n); }
static TS_INLINE lanes swapped(lanes x) { return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24; }

static __attribute__((noinline)) void block(states *s, ts_u32 slice, lanes w[16]) {
  lanes v[8];
  for (int i = 0; i < 8; i++) v[i] = s->word[i][slice];
  TS_ROLLED
  for (int turn = 0; turn < 64; turn += 16) {
    if (turn > 0) {
      TS_UNROLL
      for (int i = 0; i < 16; i++) {
        const lanes w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
        w[i] += (turned(w15, 7) ^ turned(w15, 18) ^ w15 >> 3) + w[(i + 9) & 15] + (turned(w2, 17) ^ turned(w2, 19) ^ w2 >> 10);
      }
    }
    TS_UNROLL
    for (int i = 0; i < 16; i++) {
      const lanes a = v[-i & 7], b = v[(1 - i) & 7], c = v[(2 - i) & 7];
      const lanes e = v[(4 - i) & 7], f = v[(5 - i) & 7], g = v[(6 - i) & 7];
      const lanes t1 = v[(7 - i) & 7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (g ^ (e & (f ^ g))) + w[i] +
                       TS_SHA256_K[turn + i];
      v[(3 - i) & 7] += t1;
      v[(7 - i) & 7] = t1 + (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) | (c & (a | b)));
    }
  }
  for (int i = 0; i < 8; i++) s->word[i][slice] += v[i];
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

/* So many blocks of every column as they lie; a column begins `apart` bytes after the one before. */
TS_WORK(stepHashBlocks)(char *memory, ts_offset at, ts_offset x, ts_u32 columns, ts_u32 apart, ts_u32 blocks) {
  states *s = TS_AT(states, at);
  for (ts_u32 c = 0; c < columns; c += TOGETHER, s++)
    for (ts_u32 slice = 0; slice < SLICES; slice++)
      for (ts_u32 b = 0; b < blocks; b++) {
        const char *from = TS_AT(const char, x + (ts_u64)(c + slice * LANES) * apart + 64ull * b);
        lanes w[16];
        for (ts_u32 part = 0; part < 16; part += LANES) {
          TS_UNROLL
          for (ts_u32 l = 0; l < LANES; l++) w[part + l] = *(const lanes_at *)(from + (ts_u64)l * apart + 4 * part);
          transpose(w + part);
          TS_UNROLL
          for (ts_u32 l = 0; l < LANES; l++) w[part + l] = swapped(w[part + l]);
        }
        block(s, slice, w);
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
