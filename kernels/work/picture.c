/* W7: tiles of 8 x 8 pixels of a picture, each pixel the mean of its paths. */
#include "../common/work/picture.h"
#include "work.h"

#define SIDE 8

/* Tiles `first` ... of row `row` of tiles, of a picture `width` pixels wide. */
TS_WORK(picture)(
    char *memory, ts_offset triangles, ts_offset kinds, ts_offset materials, ts_offset nodes, ts_offset camera, ts_offset to,
    ts_offset counts, ts_u32 triangle_count, ts_u32 material_count, ts_u32 node_count, ts_u32 width, ts_u32 row, ts_u32 first,
    ts_u32 tiles, ts_u32 samples, ts_u32 bounces, float epsilon, float zx, float zy, float zz, float hx, float hy, float hz,
    ts_u32 key0, ts_u32 key1) {
  TS_EXACT
  const ts_scene scene = {
      TS_AT(const float, triangles), TS_AT(const float, materials), TS_AT(const float, nodes), TS_AT(const ts_u32, kinds),
      triangle_count, material_count, node_count, epsilon, {zx, zy, zz}, {hx, hy, hz}};
  const float *c = TS_AT(const float, camera);
  const ts_vector3 eye = ts_vector_at(c), corner = ts_vector_at(c + 3), right = ts_vector_at(c + 6), down = ts_vector_at(c + 9);
  float *out = TS_AT(float, to), *rays = TS_AT(float, counts);
  ts_u32 worst = 0;
  for (ts_u32 tile = 0; tile < tiles; tile++) {
    ts_u32 count = 0;
    for (ts_u32 i = 0; i < SIDE * SIDE; i++, out += 3) {
      const ts_u32 x = (first + tile) * SIDE + i % SIDE, y = row * SIDE + i / SIDE, pixel = y * width + x;
      ts_vector3 sum = {0.0f, 0.0f, 0.0f};
      for (ts_u32 sample = 0; sample < samples; sample++) {
        ts_u32 words[4];
        const ts_draw draw = {key0, key1, TS_CAMERA_BOUNCE, TS_PATH_DRAW};
        ts_draw_block(draw, pixel | (ts_u64)sample << 32, words);
        const float u = (float)(ts_i32)x + ts_share(words[0]), v = (float)(ts_i32)y + ts_share(words[1]);
        const ts_vector3 d = ts_unit(ts_plus(ts_plus(corner, ts_times(right, u)), ts_times(down, v)), corner);
        const ts_path path = ts_follow(&scene, eye, d, key0, key1, pixel, sample, bounces);
        if (path.is_wrong) return 1;
        sum = ts_plus(sum, path.light);
        count += path.rays;
      }
      const float n = (float)(ts_i32)samples;
      out[0] = sum.x / n;
      out[1] = sum.y / n;
      out[2] = sum.z / n;
      worst = ts_worse(ts_worse(ts_worse(worst, out[0]), out[1]), out[2]);
    }
    rays[tile] = (float)(ts_i32)count;
  }
  return ts_faulty(worst);
}
