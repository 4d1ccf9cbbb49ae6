/* W6: flow on a D3Q19 lattice, a block of 4 x 4 x 4 cells at a time. A block has 19 rows of 64 cells, one per direction. */
#include "../common/work/flow.h"
#include "../common/work/rounding.h"
#include "work.h"

#define DIRECTIONS TS_FLOW_DIRECTIONS
#define CELLS TS_FLOW_CELLS
#define BLOCK (DIRECTIONS * CELLS)

/* For each direction the rows that it is read from: bit 0, 1, 2 of the place is set where x, y, z lie in the next block. */
typedef const float *source_rows[DIRECTIONS][8];

static TS_INLINE ts_u32 crossings(int d) {
  return (TS_FLOW_X[d] ? 1u : 0u) | (TS_FLOW_Y[d] ? 2u : 0u) | (TS_FLOW_Z[d] ? 4u : 0u);
}

static TS_INLINE ts_u32 next_to(ts_u32 at, int by, ts_u32 count) {
  return by < 0 ? (at == 0 ? count - 1 : at - 1) : by > 0 ? (at + 1 == count ? 0 : at + 1) : at;
}

/* W6.1.5: the rows of block `block` in a whole lattice, which is periodic. */
static void rows_in_lattice(const float *f, const ts_u32 blocks[3], ts_u32 block, source_rows rows) {
  const ts_u32 x = block % blocks[0], y = block / blocks[0] % blocks[1], z = block / blocks[0] / blocks[1];
  for (int d = 0; d < DIRECTIONS; d++)
    for (ts_u32 over = 0; over < 8; over++) {
      if (over & ~crossings(d)) continue;
      const ts_u32 sx = next_to(x, over & 1u ? -TS_FLOW_X[d] : 0, blocks[0]);
      const ts_u32 sy = next_to(y, over & 2u ? -TS_FLOW_Y[d] : 0, blocks[1]);
      const ts_u32 sz = next_to(z, over & 4u ? -TS_FLOW_Z[d] : 0, blocks[2]);
      rows[d][over] = f + ((ts_u64)(sz * blocks[1] + sy) * blocks[0] + sx) * BLOCK + d * CELLS;
    }
}

/* The same rows, gathered one after the other. */
static void rows_gathered(const float *f, source_rows rows) {
  for (int d = 0; d < DIRECTIONS; d++)
    for (ts_u32 over = 0; over < 8; over++) {
      if (over & ~crossings(d)) continue;
      rows[d][over] = f;
      f += CELLS;
    }
}

/* W6.2.5: what arrives in every cell of a block, walls aside. */
static void stream(source_rows rows, float in[DIRECTIONS][CELLS]) {
  for (int d = 0; d < DIRECTIONS; d++) {
    const int cx = TS_FLOW_X[d], cy = TS_FLOW_Y[d], cz = TS_FLOW_Z[d];
    for (int z = 0; z < 4; z++)
      for (int y = 0; y < 4; y++) {
        const int sy = y - cy, sz = z - cz, at = (sz & 3) * 16 + (sy & 3) * 4;
        const ts_u32 over = (sy & ~3 ? 2u : 0u) | (sz & ~3 ? 4u : 0u);
        const float *line = rows[d][over] + at;
        float *to = in[d] + z * 16 + y * 4;
        if (cx == 0) {
          for (int x = 0; x < 4; x++) to[x] = line[x];
          continue;
        }
        const float *next = rows[d][over | 1u] + at;
        if (cx > 0) {
          to[0] = next[3];
          for (int x = 0; x < 3; x++) to[x + 1] = line[x];
        } else {
          for (int x = 0; x < 3; x++) to[x] = line[x + 1];
          to[3] = next[0];
        }
      }
  }
}

static void bounce(source_rows rows, const ts_u32 *cells, float in[DIRECTIONS][CELLS]) {
  for (ts_u32 d = 1; d < DIRECTIONS; d++) {
    const float *back = rows[ts_flow_opposite(d)][0];
    for (int i = 0; i < CELLS; i++) in[d][i] = cells[i] >> d & 1u ? back[i] : in[d][i];
  }
}

static ts_u32 any_of(const ts_u32 *cells) {
  ts_u32 any = 0;
  for (int i = 0; i < CELLS; i++) any |= cells[i];
  return any;
}

/* Solid cells hold +0, driven ones what they are driven to. */
static void override(const ts_u32 *cells, const float driven[DIRECTIONS], float *out) {
  for (int d = 0; d < DIRECTIONS; d++)
    for (int i = 0; i < CELLS; i++) {
      const float y = cells[i] & TS_FLOW_DRIVEN ? driven[d] : out[d * CELLS + i];
      out[d * CELLS + i] = cells[i] & TS_FLOW_SOLID ? 0.0f : y;
    }
}

static ts_u32 worst_of(const float *out) {
  ts_u32 worst = 0;
  for (int i = 0; i < BLOCK; i++) worst = ts_worse(worst, out[i]);
  return worst;
}

/*
 * W6.2: blocks `first` ... of a lattice of bx * by * bz blocks, one transition on. `cells` and `to` point at block `first`,
 * `populations` at block 0; with bx = 0 at the 61 rows of each block, gathered.
 */
TS_WORK(flow)(
    char *memory, ts_offset populations, ts_offset flags, ts_offset to, ts_u32 bx, ts_u32 by, ts_u32 bz, ts_u32 first,
    ts_u32 count, float omega, float vx, float vy, float vz, float px, float py, float pz) {
  TS_EXACT
  const float *f = TS_AT(const float, populations);
  const ts_u32 *cells = TS_AT(const ts_u32, flags), blocks[3] = {bx, by, bz};
  const ts_vector3 velocity = {vx, vy, vz}, push = {px, py, pz};
  float *out = TS_AT(float, to), driven[DIRECTIONS];
  ts_flow_equilibrium(1.0f, velocity, driven);
  ts_u32 worst = 0;
  for (ts_u32 b = 0; b < count; b++, cells += CELLS, out += BLOCK) {
    source_rows rows;
    float in[DIRECTIONS][CELLS];
    if (bx) rows_in_lattice(f, blocks, first + b, rows);
    else rows_gathered(f + (ts_u64)b * TS_FLOW_ROWS * CELLS, rows);
    stream(rows, in);
    const ts_u32 any = any_of(cells);
    if (any & TS_FLOW_WALLS) bounce(rows, cells, in);
    for (int i = 0; i < CELLS; i++) {
      float cell[DIRECTIONS];
      TS_UNROLL
      for (int d = 0; d < DIRECTIONS; d++) cell[d] = in[d][i];
      ts_flow_collide(cell, omega, push);
      TS_UNROLL
      for (int d = 0; d < DIRECTIONS; d++) out[d * CELLS + i] = cell[d];
    }
    if (any & (TS_FLOW_SOLID | TS_FLOW_DRIVEN)) override(cells, driven, out);
    const ts_u32 here = worst_of(out);
    worst = here > worst ? here : worst;
  }
  return ts_faulty(worst);
}

/* W6.3.2: the part of a velocity that is chance. */
static TS_INLINE float stirred(float v, float noise, ts_draw draw, ts_u64 lane) {
  return v + noise * (((float)(ts_i32)ts_draw_lane(draw, lane) + 0.5f) * 0x1.0p-16f - 0.5f);
}

/* W6.3: blocks `first` ... at the beginning, everything pointing at block `first`; a field has rows of density and velocity. */
TS_WORK(flowBegin)(
    char *memory, ts_offset flags, ts_offset field, ts_offset to, ts_u32 first, ts_u32 count, float vx, float vy, float vz,
    float noise, ts_u32 key0, ts_u32 key1) {
  TS_EXACT
  const ts_u32 *cells = TS_AT(const ts_u32, flags);
  const float *given = TS_AT_OR_NULL(const float, field);
  const ts_vector3 velocity = {vx, vy, vz};
  const ts_draw draw = {key0, key1, 0, 0};
  float *out = TS_AT(float, to), driven[DIRECTIONS];
  ts_flow_equilibrium(1.0f, velocity, driven);
  ts_u32 worst = 0;
  for (ts_u32 b = 0; b < count; b++, cells += CELLS, out += BLOCK) {
    for (ts_u32 i = 0; i < CELLS; i++) {
      const ts_u64 lane = ((ts_u64)(first + b) * CELLS + i) * 4;
      const float *at = given ? given + (ts_u64)b * 4 * CELLS + i : 0;
      const ts_vector3 u = {
          at ? at[CELLS] : stirred(vx, noise, draw, lane), at ? at[2 * CELLS] : stirred(vy, noise, draw, lane + 1),
          at ? at[3 * CELLS] : stirred(vz, noise, draw, lane + 2)};
      float cell[DIRECTIONS];
      ts_flow_equilibrium(at ? at[0] : 1.0f, u, cell);
      for (int d = 0; d < DIRECTIONS; d++) out[d * CELLS + i] = cell[d];
    }
    override(cells, driven, out);
    const ts_u32 here = worst_of(out);
    worst = here > worst ? here : worst;
  }
  return ts_faulty(worst);
}

/* W6.2.6: mass and kinetic energy of each block, the cells summed as W2.5 says. */
TS_WORK(flowFigures)(char *memory, ts_offset populations, ts_offset mass, ts_offset energy, ts_u32 count) {
  TS_EXACT
  const float *f = TS_AT(const float, populations);
  float *masses = TS_AT(float, mass), *energies = TS_AT(float, energy);
  ts_u32 worst = 0;
  for (ts_u32 b = 0; b < count; b++, f += BLOCK) {
    float rho[CELLS], moving[CELLS];
    for (int i = 0; i < CELLS; i++) {
      float cell[DIRECTIONS];
      TS_UNROLL
      for (int d = 0; d < DIRECTIONS; d++) cell[d] = f[d * CELLS + i];
      rho[i] = ts_flow_density(cell);
      moving[i] = ts_flow_energy(rho[i], ts_flow_momentum(cell));
    }
    TS_PIECE_TOTAL(masses[b], 0, CELLS, i, rho[i])
    TS_PIECE_TOTAL(energies[b], 0, CELLS, i, moving[i])
    worst = ts_worse(ts_worse(worst, masses[b]), energies[b]);
  }
  return ts_faulty(worst);
}
