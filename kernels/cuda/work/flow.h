/* W6: flow on a D3Q19 lattice, one thread for each cell. */
#ifndef TS_CUDA_WORK_FLOW_H
#define TS_CUDA_WORK_FLOW_H
#include "base.h"
#include "../../common/work/flow.h"

#define WK_FLOW_BLOCK (TS_FLOW_DIRECTIONS * TS_FLOW_CELLS)

/* Along one axis: what a cell, the one before it and the one after it add to the place of a population. The axis is periodic. */
typedef struct {
  ts_u32 here, before, after;
} wk_flow_axis;

static TS_INLINE wk_flow_axis wk_flow_along(ts_u32 cell, ts_u32 block, ts_u32 blocks, ts_u32 cell_step, ts_u32 block_step) {
  const ts_u32 previous = block == 0 ? blocks - 1 : block - 1, next = block + 1 == blocks ? 0 : block + 1;
  const wk_flow_axis axis = {
      cell * cell_step + block * block_step, ((cell - 1) & 3u) * cell_step + (cell == 0 ? previous : block) * block_step,
      ((cell + 1) & 3u) * cell_step + (cell == 3 ? next : block) * block_step};
  return axis;
}

/* Where a population comes from that moves by `by`. */
static TS_INLINE ts_u32 wk_flow_from(wk_flow_axis axis, int by) {
  return by > 0 ? axis.before : by < 0 ? axis.after : axis.here;
}

/* W6.2.5: solid cells hold +0, driven ones what they are driven to. */
static TS_INLINE void wk_flow_write(
    ts_u32 *fault, ts_u32 flags, float cell[TS_FLOW_DIRECTIONS], ts_vector3 velocity, float *out) {
  if (flags & TS_FLOW_DRIVEN) ts_flow_equilibrium(1.0f, velocity, cell);
  ts_u32 worst = 0;
  TS_UNROLL
  for (int d = 0; d < TS_FLOW_DIRECTIONS; d++) {
    const float y = flags & TS_FLOW_SOLID ? 0.0f : cell[d];
    out[d * TS_FLOW_CELLS] = y;
    worst = wk_worse(worst, y);
  }
  wk_report(fault, worst);
}

WK(flow)(
    ts_u32 *fault, const float *populations, const ts_u32 *cells, float *out, ts_u32 bx, ts_u32 by, ts_u32 bz, ts_u32 first,
    ts_u32 count, float omega, float vx, float vy, float vz, float px, float py, float pz) {
  constexpr int along_x[TS_FLOW_DIRECTIONS] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
  constexpr int along_y[TS_FLOW_DIRECTIONS] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
  constexpr int along_z[TS_FLOW_DIRECTIONS] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
  const ts_u64 at = WK_FIRST;
  if (at >= (ts_u64)count * TS_FLOW_CELLS) return;
  const ts_u32 place = (ts_u32)at & 63u, block = first + (ts_u32)(at >> 6);
  const wk_flow_axis x = wk_flow_along(place & 3u, block % bx, bx, 1, WK_FLOW_BLOCK);
  const wk_flow_axis y = wk_flow_along(place >> 2 & 3u, block / bx % by, by, 4, bx * WK_FLOW_BLOCK);
  const wk_flow_axis z = wk_flow_along(place >> 4, block / bx / by, bz, 16, bx * by * WK_FLOW_BLOCK);
  const ts_u32 flags = cells[at], own = x.here + y.here + z.here;
  float cell[TS_FLOW_DIRECTIONS];
  TS_UNROLL
  for (int d = 0; d < TS_FLOW_DIRECTIONS; d++) {
    const ts_u32 from = wk_flow_from(x, along_x[d]) + wk_flow_from(y, along_y[d]) + wk_flow_from(z, along_z[d]);
    const bool comes_back = d > 0 && (flags >> d & 1u);
    const int back = d == 0 ? 0 : ((d - 1) ^ 1) + 1;
    cell[d] = populations[comes_back ? own + back * TS_FLOW_CELLS : from + d * TS_FLOW_CELLS];
  }
  const ts_vector3 push = {px, py, pz}, velocity = {vx, vy, vz};
  ts_flow_collide(cell, omega, push);
  wk_flow_write(fault, flags, cell, velocity, out + (at >> 6) * WK_FLOW_BLOCK + place);
}

/* W6.3.2 */
static TS_INLINE float wk_stirred(float v, float noise, ts_draw draw, ts_u64 lane) {
  return v + noise * (((float)(ts_i32)ts_draw_lane(draw, lane) + 0.5f) * 0x1.0p-16f - 0.5f);
}

WK(flowBegin)(
    ts_u32 *fault, const ts_u32 *cells, const float *field, float *out, ts_u32 first, ts_u32 count, float vx, float vy,
    float vz, float noise, ts_u32 key0, ts_u32 key1) {
  const ts_u64 at = WK_FIRST;
  if (at >= (ts_u64)count * TS_FLOW_CELLS) return;
  const ts_draw draw = {key0, key1, 0, 0};
  const ts_u64 lane = 4 * ((ts_u64)first * TS_FLOW_CELLS + at), block = at >> 6;
  const ts_u32 place = (ts_u32)at & 63u;
  float rho = 1.0f;
  ts_vector3 u;
  if (field) {
    const float *given = field + block * 4 * TS_FLOW_CELLS + place;
    rho = given[0];
    u = {given[TS_FLOW_CELLS], given[2 * TS_FLOW_CELLS], given[3 * TS_FLOW_CELLS]};
  } else {
    u = {wk_stirred(vx, noise, draw, lane), wk_stirred(vy, noise, draw, lane + 1), wk_stirred(vz, noise, draw, lane + 2)};
  }
  float cell[TS_FLOW_DIRECTIONS];
  ts_flow_equilibrium(rho, u, cell);
  const ts_vector3 velocity = {vx, vy, vz};
  wk_flow_write(fault, cells[at], cell, velocity, out + block * WK_FLOW_BLOCK + place);
}

/* W6.2.6: a warp for each block of cells. */
WK(flowFigures)(ts_u32 *fault, const float *populations, float *mass, float *energy, ts_u32 count) {
  const ts_u32 block = TS_BLOCK * WK_WARPS + WK_WARP;
  if (block >= count) return;
  const float *f = populations + (ts_u64)block * WK_FLOW_BLOCK;
  float masses = 0.0f, energies = 0.0f;
  for (ts_u32 i = WK_LANE; i < TS_FLOW_CELLS; i += 32) {
    float cell[TS_FLOW_DIRECTIONS];
    TS_UNROLL
    for (int d = 0; d < TS_FLOW_DIRECTIONS; d++) cell[d] = f[d * TS_FLOW_CELLS + i];
    const float rho = ts_flow_density(cell);
    masses = masses + rho;
    energies = energies + ts_flow_energy(rho, ts_flow_momentum(cell));
  }
  masses = wk_halves(masses);
  energies = wk_halves(energies);
  if (WK_LANE > 0) return;
  mass[block] = masses;
  energy[block] = energies;
  wk_report(fault, wk_worse(wk_worse(0, masses), energies));
}

#endif
