/* W7: one path of a picture, in binary32 with + - * / and roots alone; the same bits whatever tree finds the nearest hit. */
#ifndef TS_WORK_PICTURE_H
#define TS_WORK_PICTURE_H
#include "flow.h"
#include "rounding.h"

#define TS_TRIANGLE_WORDS 12
#define TS_MATERIAL_WORDS 8
#define TS_NODE_WORDS 8
#define TS_PATH_DRAW 0xfffffffdu
#define TS_CAMERA_BOUNCE 0xffffffffu
/* W7.2.3: what makes every box a little longer, so that no ray slips between two of them. */
#define TS_BOX_SLACK 0x1.00001p+0f

typedef struct {
  const float *triangles, *materials, *nodes;
  const ts_u32 *kinds;
  ts_u32 triangle_count, material_count, node_count;
  float epsilon;
  ts_vector3 zenith, horizon;
} ts_scene;

static TS_INLINE ts_vector3 ts_vector_at(const float *at) { return (ts_vector3){at[0], at[1], at[2]}; }
static TS_INLINE ts_vector3 ts_plus(ts_vector3 a, ts_vector3 b) { return (ts_vector3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static TS_INLINE ts_vector3 ts_minus(ts_vector3 a, ts_vector3 b) { return (ts_vector3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static TS_INLINE ts_vector3 ts_times(ts_vector3 a, float s) { return (ts_vector3){a.x * s, a.y * s, a.z * s}; }
static TS_INLINE ts_vector3 ts_each(ts_vector3 a, ts_vector3 b) { return (ts_vector3){a.x * b.x, a.y * b.y, a.z * b.z}; }
static TS_INLINE float ts_dot(ts_vector3 a, ts_vector3 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
static TS_INLINE ts_vector3 ts_cross(ts_vector3 a, ts_vector3 b) {
  return (ts_vector3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/* W7.1.2: of length one, or `other` where it is too short to have a direction. */
static TS_INLINE ts_vector3 ts_unit(ts_vector3 a, ts_vector3 other) {
  const float l = ts_dot(a, a);
  return l > 0x1.0p-40f ? ts_times(a, 1.0f / ts_sqrt(l)) : other;
}

/* W7.1.3: 24 bits of a word as 0 ... 1. */
static TS_INLINE float ts_share(ts_u32 word) { return (float)(ts_i32)(word >> 8) * 0x1.0p-24f; }

/* W7.1.4: a direction from two words, each as likely. */
static TS_INLINE ts_vector3 ts_any_direction(ts_u32 a, ts_u32 b) {
  const ts_u32 quadrant = (b + 0x20000000u) >> 30;
  const float r = (float)(ts_i32)(b - (quadrant << 30)) * 0x1.921fb6p-30f, z2 = r * r;
  const float s = r + (r * z2) * ((-0x1.a01a02p-13f * z2 + 0x1.111112p-7f) * z2 - 0x1.555556p-3f);
  const float c = 1.0f + z2 * (((0x1.a01a02p-16f * z2 - 0x1.6c16c2p-10f) * z2 + 0x1.555556p-5f) * z2 - 0.5f);
  const float s1 = quadrant & 1u ? c : s, c1 = quadrant & 1u ? s : c;
  const float sine = quadrant & 2u ? -s1 : s1, cosine = (quadrant + 1u) & 2u ? -c1 : c1;
  const float z = 1.0f - 2.0f * ts_share(a), radius = ts_sqrt(ts_max(1.0f - z * z, 0.0f));
  return (ts_vector3){radius * cosine, radius * sine, z};
}

static TS_INLINE float ts_inverse_of(float d) { return 1.0f / (ts_magnitude(d) < 0x21800000u ? 0x1.0p-60f : d); }

/* W7.2.3: where a ray enters a box; negative where it misses. */
static TS_INLINE float ts_enter(const float *box, ts_vector3 o, ts_vector3 inverse) {
  const float x1 = (box[0] - o.x) * inverse.x, x2 = (box[3] - o.x) * inverse.x;
  const float y1 = (box[1] - o.y) * inverse.y, y2 = (box[4] - o.y) * inverse.y;
  const float z1 = (box[2] - o.z) * inverse.z, z2 = (box[5] - o.z) * inverse.z;
  const float near = ts_max(ts_max(ts_max(ts_min(x1, x2), ts_min(y1, y2)), ts_min(z1, z2)), 0.0f);
  const float far = ts_min(ts_min(ts_max(x1, x2), ts_max(y1, y2)), ts_max(z1, z2)) * TS_BOX_SLACK;
  return near <= far ? near : -1.0f;
}

/* W7.2.4: how far a triangle is along a ray; negative where it is missed. */
static TS_INLINE float ts_hit(const float *triangle, ts_vector3 o, ts_vector3 d) {
  const ts_vector3 e1 = ts_vector_at(triangle + 3), e2 = ts_vector_at(triangle + 6);
  const ts_vector3 p = ts_cross(d, e2), s = ts_minus(o, ts_vector_at(triangle)), q = ts_cross(s, e1);
  const float det = ts_dot(e1, p);
  if (!(ts_magnitude(det) > 0u)) return -1.0f;
  const float r = 1.0f / det, u = ts_dot(s, p) * r, v = ts_dot(d, q) * r, t = ts_dot(e2, q) * r;
  return u >= 0.0f && v >= 0.0f && u + v <= 1.0f && t > 0.0f ? t : -1.0f;
}

/* W7.2: the nearest triangle, of equals the first; triangle_count where there is none, more where the tree is no tree. */
static TS_INLINE ts_u32 ts_nearest_hit(const ts_scene *scene, ts_vector3 o, ts_vector3 d, float *distance) {
  const ts_vector3 inverse = {ts_inverse_of(d.x), ts_inverse_of(d.y), ts_inverse_of(d.z)};
  float best = 0x1.0p100f;
  ts_u32 found = scene->triangle_count;
  for (ts_u32 at = 0; at < scene->node_count;) {
    const float *node = scene->nodes + TS_NODE_WORDS * (ts_u64)at;
    const float skip = node[6], leaf = node[7], near = ts_enter(node, o, inverse);
    if (!(skip > (float)at && skip <= 0x1.0p24f && leaf >= -1.0f && leaf < (float)scene->triangle_count))
      return scene->triangle_count + 1;
    if (near < 0.0f || near > best) {
      at = (ts_u32)skip;
      continue;
    }
    at++;
    if (leaf < 0.0f) continue;
    const ts_u32 index = (ts_u32)leaf;
    const float t0 = ts_hit(scene->triangles + TS_TRIANGLE_WORDS * (ts_u64)index, o, d);
    if (t0 < 0.0f) continue;
    const float t = ts_max(t0, near);
    if (t < best || (t == best && index < found)) {
      best = t;
      found = index;
    }
  }
  *distance = best;
  return found;
}

/* W7.3.6: light through glass, or back from it. */
static TS_INLINE ts_vector3 ts_through(ts_vector3 d, ts_vector3 n, float cosine, ts_u32 enters, float chance) {
  const float eta = enters ? 0x1.555556p-1f : 1.5f, sine2 = (eta * eta) * (1.0f - cosine * cosine);
  const float c = 1.0f - cosine, c2 = c * c, mirrored = 0x1.47ae14p-5f + 0x1.eb851ep-1f * ((c2 * c2) * c);
  if (sine2 > 1.0f || chance < mirrored) return ts_plus(d, ts_times(n, 2.0f * cosine));
  return ts_plus(ts_times(d, eta), ts_times(n, eta * cosine - ts_sqrt(1.0f - sine2)));
}

typedef struct {
  ts_vector3 light;
  ts_u32 rays, is_wrong;
} ts_path;

/* W7.3: one path, from the eye on. */
static TS_INLINE ts_path ts_follow(
    const ts_scene *scene, ts_vector3 o, ts_vector3 d, ts_u32 key0, ts_u32 key1, ts_u32 pixel, ts_u32 sample,
    ts_u32 bounces) {
  ts_path path = {{0.0f, 0.0f, 0.0f}, 0, 0};
  ts_vector3 share = {1.0f, 1.0f, 1.0f};
  for (ts_u32 bounce = 0; bounce <= bounces; bounce++) {
    float t;
    const ts_u32 at = ts_nearest_hit(scene, o, d, &t);
    path.rays++;
    if (at == scene->triangle_count) {
      const ts_vector3 sky = ts_plus(scene->horizon, ts_times(ts_minus(scene->zenith, scene->horizon), ts_max(d.y, 0.0f)));
      path.light = ts_plus(path.light, ts_each(share, sky));
      break;
    }
    path.is_wrong = at > scene->triangle_count || scene->kinds[at] >= scene->material_count;
    if (path.is_wrong) break;
    const float *material = scene->materials + TS_MATERIAL_WORDS * (ts_u64)scene->kinds[at];
    path.light = ts_plus(path.light, ts_each(share, ts_vector_at(material + 3)));
    share = ts_each(share, ts_vector_at(material));
    const ts_vector3 outward = ts_vector_at(scene->triangles + TS_TRIANGLE_WORDS * (ts_u64)at + 9);
    const ts_u32 enters = ts_dot(d, outward) < 0.0f;
    const ts_vector3 n = enters ? outward : ts_times(outward, -1.0f), hit = ts_plus(o, ts_times(d, t));
    const float cosine = -ts_dot(d, n);
    ts_u32 words[4];
    const ts_draw draw = {key0, key1, bounce, TS_PATH_DRAW};
    ts_draw_block(draw, pixel | (ts_u64)sample << 32, words);
    const ts_vector3 any = ts_any_direction(words[0], words[1]);
    if (material[7] == 2.0f) d = ts_unit(ts_through(d, n, cosine, enters, ts_share(words[2])), n);
    else if (material[7] == 1.0f)
      d = ts_unit(ts_plus(ts_plus(d, ts_times(n, 2.0f * cosine)), ts_times(any, material[6])), n);
    else d = ts_unit(ts_plus(n, any), n);
    const float side = ts_dot(d, n) < 0.0f ? -scene->epsilon : scene->epsilon;
    if (material[7] == 1.0f && side < 0.0f) break;
    o = ts_plus(hit, ts_times(n, side));
  }
  return path;
}

#endif
