/* W4.1: leaves of up to 1,024 bytes of one row, and the nodes above them, as SHA-256. */
#include "work.h"
#ifndef __wasm__
#include "../native/hashing.h"
#define TS_OWN_SHA256_BLOCK ts_native_sha256_block
#endif
#include "../common/sha256.h"

#define LEAF_BYTES 1024
#define HASH_WORDS 8

static TS_INLINE ts_u32 blocks_of(ts_u32 length) { return (length + 9) / 64 + 1; }

/* 0x00, then the bytes: every word is the end of one word of the leaf and the beginning of the next. */
static void leaf_blocks(ts_u32 state[8], const ts_u8 *bytes, ts_u32 length, ts_u32 from, ts_u32 to) {
  ts_u32 w[16];
  const ts_u32 total = length + 1, blocks = blocks_of(length);
  for (ts_u32 block = from; block < to; block++) {
    for (ts_u32 i = 0; i < 16; i++) {
      const ts_u32 at = 64 * block + 4 * i;
      if (at > 0 && at + 3 <= length) {
        ts_u32 word;
        __builtin_memcpy(&word, bytes + at - 1, 4);
        w[i] = TS_BSWAP32(word);
        continue;
      }
      ts_u32 word = 0;
      for (ts_u32 j = at; j < at + 4; j++) {
        const ts_u32 byte = j == 0 || j > total ? 0u : j == total ? 0x80u : bytes[j - 1];
        word = word << 8 | byte;
      }
      w[i] = word;
    }
    if (block == blocks - 1) w[15] = 8 * total;
    ts_sha256_block(state, w);
  }
}

static void leaf_hash(const ts_u8 *bytes, ts_u32 length, ts_u32 out[HASH_WORDS]) {
  ts_u32 state[8];
  ts_sha256_start(state);
  leaf_blocks(state, bytes, length, 0, blocks_of(length));
  ts_sha256_finish(state, out);
}

#ifndef __wasm__
/* Whole leaves that lie one after the other: all blocks but the first and the last are bytes as they lie. */
static ts_u32 leaves_together(const ts_u8 *bytes, ts_u32 count, ts_u32 *out) {
  const ts_u32 inner = LEAF_BYTES / 64 - 1;
  ts_u32 i = 0;
  for (; ts_has_sha && i + TS_HASHES_AT_ONCE <= count; i += TS_HASHES_AT_ONCE, bytes += TS_HASHES_AT_ONCE * LEAF_BYTES) {
    ts_u32 states[TS_HASHES_AT_ONCE][8];
    for (ts_u32 n = 0; n < TS_HASHES_AT_ONCE; n++) {
      ts_sha256_start(states[n]);
      leaf_blocks(states[n], bytes + n * LEAF_BYTES, LEAF_BYTES, 0, 1);
    }
    ts_native_sha256_together(states, bytes + 63, LEAF_BYTES, inner);
    for (ts_u32 n = 0; n < TS_HASHES_AT_ONCE; n++) {
      leaf_blocks(states[n], bytes + n * LEAF_BYTES, LEAF_BYTES, inner + 1, inner + 2);
      ts_sha256_finish(states[n], out + (i + n) * HASH_WORDS);
    }
  }
  return i;
}
#else
static ts_u32 leaves_together(const ts_u8 *bytes, ts_u32 count, ts_u32 *out) {
  (void)bytes, (void)count, (void)out;
  return 0;
}
#endif

/* Leaves of rows that lie one after the other; the last of a row is what is left of it. */
TS_WORK(leaves)(char *memory, ts_offset x, ts_offset to, ts_u32 rows, ts_u32 row_bytes) {
  const ts_u8 *row = TS_AT(const ts_u8, x);
  ts_u32 *out = TS_AT(ts_u32, to);
  for (ts_u32 r = 0; r < rows; r++, row += row_bytes) {
    const ts_u32 done = leaves_together(row, row_bytes / LEAF_BYTES, out);
    out += done * HASH_WORDS;
    for (ts_u32 at = done * LEAF_BYTES; at < row_bytes; at += LEAF_BYTES, out += HASH_WORDS)
      leaf_hash(row + at, row_bytes - at < LEAF_BYTES ? row_bytes - at : LEAF_BYTES, out);
  }
  return 0;
}

/* One node for each pair of hashes. */
TS_WORK(nodes)(char *memory, ts_offset below, ts_offset to, ts_u32 count) {
  const ts_u32 *from = TS_AT(const ts_u32, below);
  ts_u32 *out = TS_AT(ts_u32, to);
  for (ts_u32 i = 0; i < count; i++, from += 2 * HASH_WORDS, out += HASH_WORDS)
    ts_node_hash(from, from + HASH_WORDS, out);
  return 0;
}
