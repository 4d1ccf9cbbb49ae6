/* W12.1: SHA-256 of the columns of a code while its rows come, sixteen columns side by side. */
#include "work.h"
#include "../common/sha256.h"

#define LANES 16
typedef ts_u32 lanes __attribute__((vector_size(4 * LANES)));
/* Where it lies in memory: quicker at multiples of 64, right anywhere. */
typedef ts_u32 lanes_at __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef ts_u32 any_word __attribute__((aligned(1), may_alias));
/* The states of sixteen columns. */
typedef struct {
  lanes_at word[8];
} states;

static TS_INLINE lanes turned(lanes x, int n) { return x >> n | x << (32 - n); }
static __attribute__((noinline)) void block(states *s, lanes w[16]) {
  lanes v[8];
  for (int i = 0; i < 8; i++) v[i] = s->word[i];
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
  for (int i = 0; i < 8; i++) s->word[i] += v[i];
}

/* The states of so many columns, a multiple of 16, after one block that all of them begin with. */
TS_WORK(stepHashBegin)(char *memory, ts_offset at, ts_offset first, ts_u32 columns) {
  states *s = TS_AT(states, at), begun;
  ts_u32 start[8];
  lanes w[16];
  ts_sha256_start(start);
  for (int i = 0; i < 8; i++) begun.word[i] = (lanes){} + start[i];
  for (int i = 0; i < 16; i++) w[i] = (lanes){} + TS_BSWAP32(TS_AT(const ts_u32, first)[i]);
  block(&begun, w);
  for (ts_u32 c = 0; c < columns / LANES; c++) s[c] = begun;
  return 0;
}

/* 64 rows of bytes: one block of every column. */
TS_WORK(stepHashBytes)(char *memory, ts_offset at, ts_offset x, ts_u32 columns) {
  states *s = TS_AT(states, at);
  const ts_u8 *row = TS_AT(const ts_u8, x);
  for (ts_u32 c = 0; c < columns; c += LANES, s++) {
    lanes w[16];
    for (ts_u32 i = 0; i < 16; i++)
      for (ts_u32 l = 0; l < LANES; l++) {
        ts_u32 word = 0;
        for (ts_u32 b = 0; b < 4; b++) word = word << 8 | row[(ts_u64)(4 * i + b) * columns + c + l];
        w[i][l] = word;
      }
    block(s, w);
  }
  return 0;
}

/* Sixteen rows of words: one block of every column. */
TS_WORK(stepHashWords)(char *memory, ts_offset at, ts_offset x, ts_u32 columns) {
  states *s = TS_AT(states, at);
  const ts_u32 *row = TS_AT(const ts_u32, x);
  for (ts_u32 c = 0; c < columns; c += LANES, s++) {
    lanes w[16];
    for (ts_u32 i = 0; i < 16; i++)
      for (ts_u32 l = 0; l < LANES; l++) w[i][l] = TS_BSWAP32(row[(ts_u64)i * columns + c + l]);
    block(s, w);
  }
  return 0;
}

/* So many blocks of every column as they lie; a column begins `apart` bytes after the one before. */
TS_WORK(stepHashBlocks)(char *memory, ts_offset at, ts_offset x, ts_u32 columns, ts_u32 apart, ts_u32 blocks) {
  states *s = TS_AT(states, at);
  for (ts_u32 c = 0; c < columns; c += LANES, s++)
    for (ts_u32 b = 0; b < blocks; b++) {
      lanes w[16];
      for (ts_u32 l = 0; l < LANES; l++) {
        const any_word *from = TS_AT(const any_word, x + (ts_u64)(c + l) * apart + 64ull * b);
        for (ts_u32 i = 0; i < 16; i++) w[i][l] = TS_BSWAP32(from[i]);
      }
      block(s, w);
    }
  return 0;
}

/* The hashes of columns, `apart` bytes from each other. */
TS_WORK(stepHashEnd)(char *memory, ts_offset at, ts_offset to, ts_u32 columns, ts_u32 apart) {
  const states *s = TS_AT(const states, at);
  for (ts_u32 c = 0; c < columns; c++)
    for (ts_u32 i = 0; i < 8; i++)
      TS_AT(ts_u32, to + (ts_u64)c * apart)[i] = TS_BSWAP32(s[c / LANES].word[i][c % LANES]);
  return 0;
}
