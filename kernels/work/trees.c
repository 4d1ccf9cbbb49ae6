/* W4.1: leaves of up to 1,024 bytes of one row, and the nodes above them, as SHA-256. */
#include "work.h"
#ifndef __wasm__
#include "../native/hashing.h"
#define TS_OWN_SHA256_BLOCK ts_native_sha256_block
#endif
#include "shaLanes.h"

#define LEAF_BYTES 1024
#define HASH_WORDS 8

static TS_INLINE ts_u32 blocks_of(ts_u32 length) { return (length + 9) / 64 + 1; }

/* A first byte, then others: every word is the end of one word of them and the beginning of the next. */
static void prefixed_blocks(ts_u32 state[8], ts_u32 prefix, const ts_u8 *bytes, ts_u32 length, ts_u32 from, ts_u32 to) {
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
        const ts_u32 byte = j == 0 ? prefix : j > total ? 0u : j == total ? 0x80u : bytes[j - 1];
        word = word << 8 | byte;
      }
      w[i] = word;
    }
    if (block == blocks - 1) w[15] = 8 * total;
    ts_sha256_block(state, w);
  }
}

static void prefixed_hash(ts_u32 prefix, const ts_u8 *bytes, ts_u32 length, ts_u32 out[HASH_WORDS]) {
  ts_u32 state[8];
  ts_sha256_start(state);
  prefixed_blocks(state, prefix, bytes, length, 0, blocks_of(length));
  ts_sha256_finish(state, out);
}

#ifndef __wasm__
/* Two at once by the SHA extensions: all blocks but the first and the last are bytes as they lie. */
static ts_u32 hashes_by_extension(ts_u32 prefix, const ts_u8 *bytes, ts_u32 length, ts_u32 count, ts_u32 *out) {
  const ts_u32 inner = length / 64 - 1;
  ts_u32 i = 0;
  if (length % 64 != 0) return 0;
  for (; i + TS_HASHES_AT_ONCE <= count; i += TS_HASHES_AT_ONCE, bytes += TS_HASHES_AT_ONCE * length) {
    ts_u32 states[TS_HASHES_AT_ONCE][8];
    for (ts_u32 n = 0; n < TS_HASHES_AT_ONCE; n++) {
      ts_sha256_start(states[n]);
      prefixed_blocks(states[n], prefix, bytes + n * length, length, 0, 1);
    }
    ts_native_sha256_together(states, bytes + 63, length, inner);
    for (ts_u32 n = 0; n < TS_HASHES_AT_ONCE; n++) {
      prefixed_blocks(states[n], prefix, bytes + n * length, length, inner + 1, inner + 2);
      ts_sha256_finish(states[n], out + (i + n) * HASH_WORDS);
    }
  }
  return i;
}
#endif

/* A lane for each. Blocks are read as they lie, and every word takes the last byte of the one before, the first the prefix. */
static ts_u32 hashes_by_lanes(ts_u32 prefix, const ts_u8 *bytes, ts_u32 length, ts_u32 count, ts_u32 *out) {
  ts_u32 i = 0;
  if (length % 64 != 0) return 0;
  for (; i + LANES <= count; i += LANES, bytes += LANES * length) {
    lanes state[8], w[16], before = (lanes){} + prefix;
    ts_u32 start[8];
    ts_sha256_start(start);
    for (int n = 0; n < 8; n++) state[n] = (lanes){} + start[n];
    for (ts_u32 block = 0; block < length / 64; block++) {
      /* Those that come next: streams as short as these are not foreseen. */
      for (ts_u32 l = 0; l < LANES; l++) __builtin_prefetch(bytes + (LANES + l) * length + 64 * block);
      load_blocks((const char *)bytes + 64 * block, length, w);
      const lanes last = w[15];
      TS_UNROLL
      for (int n = 15; n > 0; n--) w[n] = w[n - 1] << 24 | w[n] >> 8;
      w[0] = before << 24 | w[0] >> 8;
      before = last;
      sha_lanes(state, w);
    }
    w[0] = before << 24 | 0x800000;
    for (int n = 1; n < 15; n++) w[n] = (lanes){};
    w[15] = (lanes){} + 8 * (length + 1);
    sha_lanes(state, w);
    for (ts_u32 n = 0; n < LANES; n++)
      for (int word = 0; word < 8; word++) out[(i + n) * HASH_WORDS + word] = TS_BSWAP32(state[word][n]);
  }
  return i;
}

/* As many as go together, in the way that is quicker: lanes where messages are short and registers wide. */
static ts_u32 hashes_together(ts_u32 prefix, const ts_u8 *bytes, ts_u32 length, ts_u32 count, ts_u32 *out) {
#ifndef __wasm__
  if (ts_has_sha && LANES == 8) return hashes_by_extension(prefix, bytes, length, count, out);
#endif
  return hashes_by_lanes(prefix, bytes, length, count, out);
}

/* Hashes of messages that lie one after the other. */
static ts_u32 *hash_all(ts_u32 prefix, const ts_u8 *bytes, ts_u32 length, ts_u32 count, ts_u32 *out) {
  for (ts_u32 i = hashes_together(prefix, bytes, length, count, out); i < count; i++)
    prefixed_hash(prefix, bytes + (ts_u64)i * length, length, out + (ts_u64)i * HASH_WORDS);
  return out + (ts_u64)count * HASH_WORDS;
}

/* Leaves of rows that lie one after the other; the last of a row is what is left of it. */
TS_WORK(leaves)(char *memory, ts_offset x, ts_offset to, ts_u32 rows, ts_u32 row_bytes) {
  const ts_u8 *row = TS_AT(const ts_u8, x);
  ts_u32 *out = TS_AT(ts_u32, to);
  const ts_u32 whole = row_bytes / LEAF_BYTES, left = row_bytes % LEAF_BYTES;
  if (whole == 0 || left == 0) {
    hash_all(0, row, whole ? LEAF_BYTES : left, whole ? rows * whole : rows, out);
    return 0;
  }
  for (ts_u32 r = 0; r < rows; r++, row += row_bytes) {
    out = hash_all(0, row, LEAF_BYTES, whole, out);
    out = hash_all(0, row + whole * LEAF_BYTES, left, 1, out);
  }
  return 0;
}

/* One node for each pair of hashes. */
TS_WORK(nodes)(char *memory, ts_offset below, ts_offset to, ts_u32 count) {
  hash_all(1, TS_AT(const ts_u8, below), 2 * 4 * HASH_WORDS, count, TS_AT(ts_u32, to));
  return 0;
}

typedef struct {
  ts_u32 words[HASH_WORDS];
} hash;

/*
 * W4.1.3: from the hashes of so many leaves, ascending and without repeats, and those beside them to the root, which comes
 * to lie where the first of them lay. `leaves` are their numbers, u64; there is room for twice as many hashes. The numbers
 * are lost.
 */
TS_WORK(climb)(char *memory, ts_offset hashes, ts_offset leaves, ts_offset beside, ts_offset room, ts_u32 count, ts_u32 height) {
  hash *at = TS_AT(hash, hashes), *pairs = TS_AT(hash, room);
  const hash *next = TS_AT(const hash, beside);
  ts_u64 *places = TS_AT(ts_u64, leaves);
  for (; height > 0; height--) {
    ts_u32 above = 0;
    for (ts_u32 i = 0; i < count; i++, above++) {
      const ts_u64 place = places[i], side = place & 1;
      const int is_pair = !side && i + 1 < count && places[i + 1] == place + 1;
      pairs[2 * above + side] = at[i];
      pairs[2 * above + 1 - side] = is_pair ? at[++i] : *next++;
      places[above] = place / 2;
    }
    hash_all(1, (const ts_u8 *)pairs, sizeof(hash) * 2, above, at->words);
    count = above;
  }
  return 0;
}
