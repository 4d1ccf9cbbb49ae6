/* W2.2: quantisation to -127 ... 127, and the chance that stochastic rounding uses. */
#ifndef TS_WORK_ROUNDING_H
#define TS_WORK_ROUNDING_H
#include "../philox.h"
#include "floats.h"

/* What a draw belongs to: words 0 and 1 of the seed are the key, tensor and transition end the counter. */
typedef struct {
  ts_u32 key0, key1, tensor, transition;
} ts_draw;

/* W2.2.5: block `block` of a draw. */
static TS_INLINE void ts_draw_block(ts_draw draw, ts_u64 block, ts_u32 out[4]) {
  const ts_u32 seed[8] = {draw.key0, draw.key1, draw.transition, 0, 0, 0, 0, 0};
  ts_philox((ts_u32)block, (ts_u32)(block >> 32), draw.tensor, seed, out);
}

/* Lane `index` of 16 bits: eight to a block, the low half of word 0 first. */
static TS_INLINE ts_u32 ts_draw_lane(ts_draw draw, ts_u64 index) {
  ts_u32 out[4];
  ts_draw_block(draw, index >> 3, out);
  return (out[(index >> 1) & 3u] >> (16u * ((ts_u32)index & 1u))) & 0xffffu;
}

/* W2.2.2: the scale of a row whose largest magnitude has these bits. */
#define TS_LEAST_MAGNITUDE 0x0d800000u /* 2^-100 */
static TS_INLINE float ts_scale(ts_u32 magnitude) {
  return ts_float_of(magnitude > TS_LEAST_MAGNITUDE ? magnitude : TS_LEAST_MAGNITUDE) / 127.0f;
}

static TS_INLINE float ts_clamp127(float v) { return ts_max(ts_min(v, 127.0f), -127.0f); }

/* W2.2.3: v = x * (1 / scale). */
static TS_INLINE ts_i32 ts_round_nearest(float v) { return (ts_i32)ts_nearest(ts_clamp127(v)); }

/* W2.2.4: floor(v + (lane + 1/2) / 65536). */
static TS_INLINE ts_i32 ts_round_stochastic(float v, ts_u32 lane) {
  const float u = ((float)(ts_i32)lane + 0.5f) * 0x1.0p-16f;
  return (ts_i32)ts_clamp127(ts_floor(v + u));
}

/* W2.2.6 */
static TS_INLINE float ts_dequantise(ts_i32 sum, float row, float column, float factor) {
  return (((float)sum * row) * column) * factor;
}

#endif
