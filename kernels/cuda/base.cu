/* Entries that every card can make, leaves, trees and paths: all a series needs besides its product. sm_50 and up. */
#include "entries.h"
#include "leaves.h"
#include "trees.h"

/* At base 1.5 * 2^23 - M the low byte is the entry itself. */
static TS_INLINE ts_u32 ts_pack_int8(const ts_u32 out[4], int first, ts_u32 bound) {
  const float base = 12582912.0f - (float)(int)bound;
  const ts_u32 low = __byte_perm(ts_floor_lane(out, first, bound, base), ts_floor_lane(out, first + 1, bound, base), 0x0040);
  const ts_u32 high =
      __byte_perm(ts_floor_lane(out, first + 2, bound, base), ts_floor_lane(out, first + 3, bound, base), 0x0040);
  return __byte_perm(low, high, 0x5410);
}

static TS_INLINE ts_vec4 ts_make_int8(ts_u32 vector, const ts_philox_keys *keys, ts_u32 bound) {
  ts_u32 even[4], odd[4];
  ts_philox_block(2 * vector, keys, even);
  ts_philox_block(2 * vector + 1, keys, odd);
  ts_vec4 v;
  v.x = ts_pack_int8(even, 0, bound);
  v.y = ts_pack_int8(even, 4, bound);
  v.z = ts_pack_int8(odd, 0, bound);
  v.w = ts_pack_int8(odd, 4, bound);
  return v;
}

static TS_INLINE ts_vec4 ts_make_fp32(ts_u32 vector, const ts_philox_keys *keys, ts_u32 bound) {
  ts_u32 out[4];
  ts_philox_block(vector, keys, out);
  ts_vec4 v;
  v.x = ts_float_bits(ts_entry_fp32(out[0]));
  v.y = ts_float_bits(ts_entry_fp32(out[1]));
  v.z = ts_float_bits(ts_entry_fp32(out[2]));
  v.w = ts_float_bits(ts_entry_fp32(out[3]));
  return v;
}

TS_ENTRIES_KERNEL(ts_entries_int8, TS_INT8, ts_make_int8)
TS_ENTRIES_KERNEL(ts_entries_fp32, TS_FP32, ts_make_fp32)
