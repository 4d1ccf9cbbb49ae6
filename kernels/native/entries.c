#include "strip.h"

/* As in wasm/entries.c: the first two rounds of Philox have one multiplication each that depends on the block. */
void ts_strip_start(ts_strip *strip, const ts_u32 *seed, ts_u32 matrix, ts_u32 precision, ts_u32 first_row, ts_u32 k) {
  ts_u32 k0 = seed[0], k1 = seed[1];
  const ts_u32 c0 = TS_MULHI32(TS_PHILOX_M1, matrix) ^ k0, c1 = TS_PHILOX_M1 * matrix;
  strip->mask2 = ts_splat64(seed[2] ^ k1);
  k0 += TS_PHILOX_W0, k1 += TS_PHILOX_W1;
  strip->c0 = ts_splat64(c1 ^ k0);
  strip->c2 = ts_splat64(TS_MULHI32(TS_PHILOX_M0, c0) ^ k1);
  strip->c3 = ts_splat64(TS_PHILOX_M0 * c0);
  for (int i = 0; i < 8; i++) {
    k0 += TS_PHILOX_W0, k1 += TS_PHILOX_W1;
    strip->k0[i] = ts_splat64(k0);
    strip->k1[i] = ts_splat64(k1);
  }
  /* Even rows of a group of lanes in one vector, odd rows in the next: philox_lanes joins them in order. */
  const ts_u64 blocks = k / (precision == TS_FP32 ? 4 : 8);
  ts_u64 *next = (ts_u64 *)strip->next;
  for (ts_u32 group = 0; group < TS_TILE_SIDE; group += TS_LANES)
    for (ts_u32 lane = 0; lane < TS_LANES; lane++)
      next[group + TS_LANES / 2 * (lane & 1) + lane / 2] = TS_PHILOX_M0 * ((first_row + group + lane) * blocks);
  strip->precision = precision;
  strip->matrix = matrix;
}

typedef struct {
  ts_longs c0, c1, c2, c3;
} blocks;

/* Rows that go through Philox together, in vectors of one block to 64 bits: the steps of one hide the waiting of another. */
#define AT_ONCE TS_BY_WIDTH(2, 4)

/* The low half of each 64 bits is a word of Philox, the high half is what multiplications left there. */
static TS_INLINE void philox(const ts_longs *first, const ts_strip *s, blocks c[AT_ONCE]) {
  const ts_longs m0 = ts_splat64(TS_PHILOX_M0), m1 = ts_splat64(TS_PHILOX_M1);
  TS_UNROLL
  for (int i = 0; i < AT_ONCE; i++) {
    const ts_longs p = ts_multiply_low((first[i] >> 32) ^ s->mask2, m1);
    c[i] = (blocks){(p >> 32) ^ s->c0, p, first[i] ^ s->c2, s->c3};
  }
  TS_UNROLL
  for (int round = 0; round < TS_PHILOX_ROUNDS - 2; round++) {
    TS_UNROLL
    for (int i = 0; i < AT_ONCE; i++) {
      const ts_longs a = ts_multiply_low(c[i].c0, m0), b = ts_multiply_low(c[i].c2, m1);
      c[i] = (blocks){(b >> 32) ^ (c[i].c1 ^ s->k0[round]), b, (a >> 32) ^ (c[i].c3 ^ s->k1[round]), a};
    }
  }
}

static TS_INLINE ts_words join(ts_longs even, ts_longs odd) {
  return (ts_words)TS_BY_WIDTH(
      _mm256_blend_epi32((ts_vector)even, _mm256_slli_epi64((ts_vector)odd, 32), 0xaa),
      _mm512_mask_shuffle_epi32((ts_vector)even, 0xaaaa, (ts_vector)odd, _MM_PERM_CCAA));
}

/* Words 0 to 3 of the next block of each row, for AT_ONCE / 2 groups of lanes. */
static TS_INLINE void philox_lanes(ts_longs *next, const ts_strip *strip, ts_words out[AT_ONCE / 2][4]) {
  blocks c[AT_ONCE];
  philox(next, strip, c);
  TS_UNROLL
  for (int i = 0; i < AT_ONCE; i++) next[i] += TS_PHILOX_M0;
  TS_UNROLL
  for (int i = 0; i < AT_ONCE / 2; i++) {
    const blocks even = c[2 * i], odd = c[2 * i + 1];
    out[i][0] = join(even.c0, odd.c0);
    out[i][1] = join(even.c1, odd.c1);
    out[i][2] = join(even.c2, odd.c2);
    out[i][3] = join(even.c3, odd.c3);
  }
}

/*
 * §3: floor(lane * (2M + 1) / 65536) is the high half of a 16-bit product. A's bytes keep their bias of M, because VNNI
 * multiplies unsigned by signed bytes. Four bytes stand in the order 0, 2, 1, 3 in A and in B alike.
 */
static TS_INLINE void store_bytes(const ts_words o[4], ts_words width, ts_words bias, ts_u32 *out) {
  typedef TS_VECTOR(ts_u8) bytes;
  for (int i = 0; i < 2; i++) {
    const ts_words four = ts_high16(o[2 * i], width) | ts_high16(o[2 * i + 1], width) << 8;
    ts_store(out + TS_TILE_SIDE * i, (ts_words)((bytes)four - (bytes)bias));
  }
}

static TS_INLINE void store_pairs(const ts_words o[4], ts_words width, ts_words bias, ts_u32 *out) {
  for (int i = 0; i < 4; i++)
    ts_store(out + TS_TILE_SIDE * i, (ts_words)((ts_shorts)ts_high16(o[i], width) - (ts_shorts)bias));
}

/* §3: (word >> 8) * 2^-23 - 1; every step is exact. */
static TS_INLINE void store_fractions(const ts_words o[4], ts_u32 *out) {
  typedef TS_VECTOR(ts_i32) ints;
  for (int i = 0; i < 4; i++) {
    const ts_floats x = __builtin_convertvector((ints)(o[i] >> 8) - 8388608, ts_floats) * 1.1920928955078125e-7f;
    ts_store(out + TS_TILE_SIDE * i, (ts_words)x);
  }
}

static TS_INLINE void strip_next(ts_strip *strip, ts_form form, ts_u32 steps, ts_u32 *out) {
  const ts_u32 bound = ts_bound(strip->precision, strip->matrix), in_block = form == TS_BYTES ? 2 : 4;
  const ts_u32 bias = form == TS_PAIRS ? bound * 0x10001u : strip->matrix == TS_MATRIX_B ? bound * 0x1010101u : 0u;
  const ts_words width = ts_splat((2 * bound + 1) * 0x10001u), biases = ts_splat(bias);
  for (ts_u32 step = 0; step < steps; step += in_block, out += TS_TILE_SIDE * in_block)
    TS_UNROLL
    for (ts_u32 group = 0; group < TS_TILE_SIDE / TS_LANES; group += AT_ONCE / 2) {
      ts_words o[AT_ONCE / 2][4];
      philox_lanes(strip->next + 2 * group, strip, o);
      TS_UNROLL
      for (int i = 0; i < AT_ONCE / 2; i++) {
        ts_u32 *to = out + TS_LANES * (group + i);
        if (form == TS_BYTES) store_bytes(o[i], width, biases, to);
        else if (form == TS_PAIRS) store_pairs(o[i], width, biases, to);
        else store_fractions(o[i], to);
      }
    }
}

void ts_strip_next(ts_strip *strip, ts_u32 steps, ts_u32 *out) {
  const ts_form form = ts_form_of(strip->precision);
  if (form == TS_BYTES) strip_next(strip, TS_BYTES, steps, out);
  else if (form == TS_PAIRS) strip_next(strip, TS_PAIRS, steps, out);
  else strip_next(strip, TS_CHAIN, steps, out);
}

/* Whole strips, one after the other: `row` and `rows` are multiples of 32, k too. */
TS_EXPORT void ts_entries(
    char *memory, ts_u64 seed, ts_u32 matrix, ts_u32 precision, ts_u32 row, ts_u32 rows, ts_u32 k, ts_u64 out) {
  const ts_u64 strip_bytes = (ts_u64)TS_TILE_SIDE * k * (precision == TS_FP32 ? 4 : 2);
  for (ts_u32 done = 0; done < rows; done += TS_TILE_SIDE, out += strip_bytes) {
    ts_strip strip;
    ts_strip_start(&strip, TS_AT(const ts_u32, seed), matrix, precision, row + done, k);
    ts_strip_next(&strip, k / ts_entries_in_word(ts_form_of(precision)), TS_AT(ts_u32, out));
  }
}
