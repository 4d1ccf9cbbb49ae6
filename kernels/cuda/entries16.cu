/* Entries in bf16, fp16 and fp8: only where products of those formats can be (sm_60 and up). */
#include "entries.h"

/* Low halves of two floored lanes. */
static TS_INLINE ts_u32 ts_halves(const ts_u32 out[4], int pair, ts_u32 bound, float base) {
  return __byte_perm(ts_floor_lane(out, 2 * pair, bound, base), ts_floor_lane(out, 2 * pair + 1, bound, base), 0x5410);
}
/* 2^23 + 0x6400: the low half of 2^23 + 0x6400 + x is then the fp16 of 1024 + x. */
#define TS_AS_HALF 8414208.0f

static TS_INLINE ts_u32 ts_half_add(ts_u32 a, ts_u32 b) {
  ts_u32 out;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
  return out;
}
static TS_INLINE ts_u32 ts_half_fma(ts_u32 a, ts_u32 b, ts_u32 c) {
  ts_u32 out;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(c));
  return out;
}

/* Taking 2^23 + M off leaves the entry, whose bf16 is the upper half, exactly. */
static TS_INLINE ts_u32 ts_bf16_bits(const ts_u32 out[4], int i, ts_u32 bound) {
  const float x = __uint_as_float(ts_floor_lane(out, i, bound, 8388608.0f));
  return __float_as_uint(x - (8388608.0f + (float)(int)bound));
}
static TS_INLINE ts_u32 ts_pair_bf16(const ts_u32 out[4], int pair, ts_u32 bound) {
  return __byte_perm(ts_bf16_bits(out, 2 * pair, bound), ts_bf16_bits(out, 2 * pair + 1, bound), 0x7632);
}

/*
 * fp16: bits 0x6400 | x are 1024 + x for x < 1024. B's x is at most 30. A's x has 12 bits: the upper two become multiples
 * of 1024 at exponent 0x7400 (16384, steps of 16); every sum on the way is an integer fp16 holds exactly.
 */
static TS_INLINE ts_u32 ts_pair_fp16(const ts_u32 out[4], int pair, ts_u32 bound) {
  if (bound == 15u) return ts_half_add(ts_halves(out, pair, bound, TS_AS_HALF), 0xe40fe40fu); /* - 1039 */
  const ts_u32 x = ts_halves(out, pair, bound, 8388608.0f);
  const ts_u32 low = ts_half_add((x & 0x03ff03ffu) | 0x64006400u, 0xe7ffe7ffu);          /* 1024 + low - 2047 */
  const ts_u32 high = ts_half_add(((x >> 4) & 0x00c000c0u) | 0x74007400u, 0xf440f440u); /* 16384 + high - 17408 */
  return ts_half_add(low, high);
}

/*
 * fp8: (1024 + x) / 256 - (1024 + M) / 256 is the entry over 256 in fp16, whose exponent is then that of e4m3; shifted by
 * one, byte 1 of each half is the e4m3 code once the sign is back in place. Zero stays zero.
 */
static TS_INLINE ts_u32 ts_codes_fp8(const ts_u32 out[4], int pair, ts_u32 bound) {
  const ts_u32 minus = bound == 15u ? 0xc40fc40fu : 0xc407c407u; /* -(1024 + M) / 256 */
  const ts_u32 h = ts_half_fma(ts_halves(out, pair, bound, TS_AS_HALF), 0x1c001c00u, minus);
  return ((h << 1) & 0x7fff7fffu) | (h & 0x80008000u);
}
static TS_INLINE ts_u32 ts_pack_fp8(const ts_u32 out[4], int first, ts_u32 bound) {
  return __byte_perm(ts_codes_fp8(out, first, bound), ts_codes_fp8(out, first + 1, bound), 0x7531);
}

TS_MAKE_16(ts_make_bf16, ts_pair_bf16)
TS_MAKE_16(ts_make_fp16, ts_pair_fp16)

static TS_INLINE ts_vec4 ts_make_fp8(ts_u32 vector, const ts_philox_keys *keys, ts_u32 bound) {
  ts_u32 even[4], odd[4];
  ts_philox_block(2 * vector, keys, even);
  ts_philox_block(2 * vector + 1, keys, odd);
  ts_vec4 v;
  v.x = ts_pack_fp8(even, 0, bound);
  v.y = ts_pack_fp8(even, 2, bound);
  v.z = ts_pack_fp8(odd, 0, bound);
  v.w = ts_pack_fp8(odd, 2, bound);
  return v;
}

TS_ENTRIES_KERNEL(ts_entries_fp8, TS_FP8, ts_make_fp8)
TS_ENTRIES_KERNEL(ts_entries_bf16, TS_BF16, ts_make_bf16)
TS_ENTRIES_KERNEL(ts_entries_fp16, TS_FP16, ts_make_fp16)
