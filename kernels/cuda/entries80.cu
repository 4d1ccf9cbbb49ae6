/* Entries in fp16 for sm_80 and newer, which turn two floats into two halves in one instruction. */
#include "entries.h"

static TS_INLINE float ts_fp16_value(const ts_u32 out[4], int i, ts_u32 bound) {
  return __uint_as_float(ts_floor_lane(out, i, bound, 8388608.0f)) - (8388608.0f + (float)(int)bound);
}
static TS_INLINE ts_u32 ts_pair_fp16(const ts_u32 out[4], int pair, ts_u32 bound) {
  ts_u32 halves;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;"
      : "=r"(halves)
      : "f"(ts_fp16_value(out, 2 * pair + 1, bound)), "f"(ts_fp16_value(out, 2 * pair, bound)));
  return halves;
}
TS_MAKE_16(ts_make_fp16, ts_pair_fp16)
TS_ENTRIES_KERNEL(ts_entries_fp16, TS_FP16, ts_make_fp16)
