/* W7: a row of tiles of a picture. A pixel is a warp's, a path a lane's; paths are added in the order of their samples. */
#ifndef TS_CUDA_WORK_PICTURE_H
#define TS_CUDA_WORK_PICTURE_H
#include "base.h"
#include "../../common/work/picture.h"

#define WK_TILE 8u
#define WK_TILE_PIXELS (WK_TILE * WK_TILE)

static TS_INLINE float wk_from_lane(float x, ts_u32 lane) { return ts_float_of(ts_from_lane(ts_bits_of(x), lane)); }

static TS_INLINE ts_u32 wk_warp_count(ts_u32 x) {
  TS_UNROLL
  for (ts_u32 half = 16; half > 0; half /= 2) x += ts_shuffle_word(x, half);
  return x;
}

static TS_INLINE void wk_add_to(ts_u32 *at, ts_u32 x) {
  asm volatile("red.global.add.u32 [%0], %1;" : : "l"(at), "r"(x) : "memory");
}

/* `counts` holds zeros before, and the rays of each tile as whole numbers after; `pictureRays` makes floats of them. */
WK(picture)(
    ts_u32 *fault, const float *triangles, const ts_u32 *kinds, const float *materials, const float *nodes, const float *camera,
    float *out, ts_u32 *counts, ts_u32 triangle_count, ts_u32 material_count, ts_u32 node_count, ts_u32 width, ts_u32 row,
    ts_u32 first, ts_u32 tiles, ts_u32 samples, ts_u32 bounces, float epsilon, float zx, float zy, float zz, float hx,
    float hy, float hz, ts_u32 key0, ts_u32 key1) {
  const ts_u32 at = TS_BLOCK * WK_WARPS + WK_WARP, tile = at / WK_TILE_PIXELS, i = at % WK_TILE_PIXELS;
  if (tile >= tiles) return;
  const ts_scene scene = {
      triangles, materials, nodes, kinds, triangle_count, material_count, node_count, epsilon, {zx, zy, zz}, {hx, hy, hz}};
  const ts_vector3 eye = ts_vector_at(camera), corner = ts_vector_at(camera + 3);
  const ts_vector3 right = ts_vector_at(camera + 6), down = ts_vector_at(camera + 9);
  const ts_u32 x = (first + tile) * WK_TILE + i % WK_TILE, y = row * WK_TILE + i / WK_TILE, pixel = y * width + x;
  ts_vector3 sum = {0.0f, 0.0f, 0.0f};
  ts_u32 rays = 0;
  for (ts_u32 from = 0; from < samples; from += 32) {
    const ts_u32 sample = from + WK_LANE;
    ts_vector3 light = {0.0f, 0.0f, 0.0f};
    if (sample < samples) {
      ts_u32 words[4];
      const ts_draw draw = {key0, key1, TS_CAMERA_BOUNCE, TS_PATH_DRAW};
      ts_draw_block(draw, pixel | (ts_u64)sample << 32, words);
      const float u = (float)(ts_i32)x + ts_share(words[0]), v = (float)(ts_i32)y + ts_share(words[1]);
      const ts_vector3 d = ts_unit(ts_plus(ts_plus(corner, ts_times(right, u)), ts_times(down, v)), corner);
      const ts_path path = ts_follow(&scene, eye, d, key0, key1, pixel, sample, bounces);
      if (path.is_wrong) *fault = 1;
      light = path.light;
      rays += path.rays;
    }
    const ts_u32 here = wk_least(32, samples - from);
    for (ts_u32 lane = 0; lane < here; lane++) {
      const ts_vector3 one = {wk_from_lane(light.x, lane), wk_from_lane(light.y, lane), wk_from_lane(light.z, lane)};
      sum = ts_plus(sum, one);
    }
  }
  rays = wk_warp_count(rays);
  if (WK_LANE > 0) return;
  const float n = (float)(ts_i32)samples;
  const ts_vector3 mean = {sum.x / n, sum.y / n, sum.z / n};
  float *to = out + 3 * (ts_u64)at;
  to[0] = mean.x;
  to[1] = mean.y;
  to[2] = mean.z;
  wk_report(fault, wk_worse(wk_worse(wk_worse(0, mean.x), mean.y), mean.z));
  wk_add_to(counts + tile, rays);
}

WK(pictureRays)(ts_u32 *fault, ts_u32 *counts, ts_u32 tiles) {
  for (ts_u64 i = WK_FIRST; i < tiles; i += WK_STEP) ((float *)counts)[i] = (float)(ts_i32)counts[i];
}

#endif
