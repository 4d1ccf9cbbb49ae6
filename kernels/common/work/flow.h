/* W6: one cell of a D3Q19 lattice: what its populations say, what they relax to, where they come from. */
#ifndef TS_WORK_FLOW_H
#define TS_WORK_FLOW_H
#include "floats.h"

#define TS_FLOW_DIRECTIONS 19
/* W6.1.4: cells of a block, and the bits of a cell's flags beside those of the walls (bit d for direction d). */
#define TS_FLOW_CELLS 64
#define TS_FLOW_SOLID 1u
#define TS_FLOW_DRIVEN 0x80000u
#define TS_FLOW_WALLS 0x7fffeu
/* W6.1.5: rows that one block reads: 1 + 6 * 2 + 12 * 4. */
#define TS_FLOW_ROWS 61

/* W6.1.2 */
static TS_CONSTANT signed char TS_FLOW_X[TS_FLOW_DIRECTIONS] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
static TS_CONSTANT signed char TS_FLOW_Y[TS_FLOW_DIRECTIONS] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
static TS_CONSTANT signed char TS_FLOW_Z[TS_FLOW_DIRECTIONS] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};

/* The direction back: they come in pairs. */
static TS_INLINE ts_u32 ts_flow_opposite(ts_u32 d) { return d == 0 ? 0 : ((d - 1) ^ 1u) + 1; }

typedef struct {
  float x, y, z;
} ts_vector3;

/* W6.2.1 */
static TS_INLINE float ts_flow_density(const float f[TS_FLOW_DIRECTIONS]) {
  float rho = f[0];
  TS_UNROLL
  for (int k = 1; k < TS_FLOW_DIRECTIONS; k += 2) rho = rho + (f[k] + f[k + 1]);
  return rho;
}

/* W6.2.2 */
static TS_INLINE ts_vector3 ts_flow_momentum(const float f[TS_FLOW_DIRECTIONS]) {
  const float e1 = f[1] - f[2], e2 = f[3] - f[4], e3 = f[5] - f[6], e4 = f[7] - f[8], e5 = f[9] - f[10];
  const float e6 = f[11] - f[12], e7 = f[13] - f[14], e8 = f[15] - f[16], e9 = f[17] - f[18];
  const ts_vector3 j = {
      (((e1 + e4) + e5) + e6) + e7, (((e2 + e4) - e5) + e8) + e9, (((e3 + e6) - e7) + e8) - e9};
  return j;
}

/* W6.2.3 */
static TS_INLINE void ts_flow_equilibrium(float rho, ts_vector3 u, float out[TS_FLOW_DIRECTIONS]) {
  const float q = 1.0f - 1.5f * ((u.x * u.x + u.y * u.y) + u.z * u.z);
  const float along[9] = {u.x, u.y, u.z, u.x + u.y, u.x - u.y, u.x + u.z, u.x - u.z, u.y + u.z, u.y - u.z};
  const float near = 0x1.c71c72p-5f * rho, far = 0x1.c71c72p-6f * rho;
  out[0] = (0x1.555556p-2f * rho) * q;
  TS_UNROLL
  for (int k = 0; k < 9; k++) {
    const float c = along[k], w = k < 3 ? near : far;
    const float a = w * (q + (4.5f * c) * c), b = (3.0f * c) * w;
    out[2 * k + 1] = a + b;
    out[2 * k + 2] = a - b;
  }
}

/* W6.2.4: f becomes what it relaxes to; `push` is added to the velocity. */
static TS_INLINE void ts_flow_collide(float f[TS_FLOW_DIRECTIONS], float omega, ts_vector3 push) {
  const float rho = ts_flow_density(f), r = 1.0f / rho;
  const ts_vector3 j = ts_flow_momentum(f);
  const ts_vector3 u = {j.x * r + push.x, j.y * r + push.y, j.z * r + push.z};
  float to[TS_FLOW_DIRECTIONS];
  ts_flow_equilibrium(rho, u, to);
  TS_UNROLL
  for (int d = 0; d < TS_FLOW_DIRECTIONS; d++) f[d] = f[d] + omega * (to[d] - f[d]);
}

/* W6.2.6: kinetic energy of a cell; +0 where there is nothing. */
static TS_INLINE float ts_flow_energy(float rho, ts_vector3 j) {
  const float r = rho > 0.0f ? 1.0f / rho : 0.0f;
  return (0.5f * r) * ((j.x * j.x + j.y * j.y) + j.z * j.z);
}

#endif
