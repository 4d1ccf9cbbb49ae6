#ifndef TS_ENTRIES_H
#define TS_ENTRIES_H
#include "philox.h"

/* §2: bound M of the entries of A or B; fp32 has none. */
static TS_INLINE ts_u32 ts_bound(ts_u32 precision, ts_u32 matrix) {
  if (precision == TS_INT8) return 127u;
  if (precision == TS_FP8) return matrix == TS_MATRIX_A ? 15u : 7u;
  if (precision == TS_BF16) return matrix == TS_MATRIX_A ? 255u : 63u;
  if (precision == TS_FP16) return matrix == TS_MATRIX_A ? 2047u : 15u;
  return 0u;
}

/* §3: lane i (0 to 7) of the block `out`. */
static TS_INLINE ts_u32 ts_lane(const ts_u32 out[4], ts_u32 i) {
  return (out[i >> 1] >> (16u * (i & 1u))) & 0xffffu;
}

/* §3: floor(lane * (2M + 1) / 65536) - M. */
static TS_INLINE ts_i32 ts_entry_integer(ts_u32 lane, ts_u32 bound) {
  return (ts_i32)((lane * (2u * bound + 1u)) >> 16) - (ts_i32)bound;
}

/* §3: (word >> 8) * 2^-23 - 1; every step is exact. */
static TS_INLINE float ts_entry_fp32(ts_u32 word) {
  return (float)((ts_i32)(word >> 8) - 8388608) * 1.1920928955078125e-7f;
}

/* One integer entry alone; entry e of a matrix lies in block e / 8. */
static TS_INLINE ts_i32 ts_entry_integer_at(ts_u64 e, ts_u32 matrix, ts_u32 bound, const ts_u32 seed[8]) {
  ts_u32 out[4];
  const ts_u64 block = e >> 3;
  ts_philox((ts_u32)block, (ts_u32)(block >> 32), matrix, seed, out);
  return ts_entry_integer(ts_lane(out, (ts_u32)e & 7u), bound);
}

/* One fp32 entry alone; entry e of a matrix lies in block e / 4. */
static TS_INLINE float ts_entry_fp32_at(ts_u64 e, ts_u32 matrix, const ts_u32 seed[8]) {
  ts_u32 out[4];
  const ts_u64 block = e >> 2;
  ts_philox((ts_u32)block, (ts_u32)(block >> 32), matrix, seed, out);
  return ts_entry_fp32(out[e & 3u]);
}

#endif
