/* A token of a model in one launch. */
#ifndef TS_CUDA_WORK_PHASES_H
#define TS_CUDA_WORK_PHASES_H
#include "attendPlace.h"
#include "rowLinear.h"

/* A head is as many blocks' as there are for it, and no more than it has pieces: several only where all heads find some. */
static TS_INLINE ts_u32 wk_members(const wk_attend &of) {
  const ts_u32 blocks = TS_BLOCKS / (of.sequences * of.key_heads), pieces = of.place / WK_HEAD_PIECE + 1;
  const ts_u32 most = wk_least(wk_least(blocks, pieces), WK_MOST_MEMBERS);
  return most > 0 ? most : 1;
}

/* Not kept from before: what the compiler lays aside in memory is slow to come back after a meeting. */
static TS_INLINE ts_u32 wk_lane_anew() {
  ts_u32 lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

template <int ROWS>
static TS_INLINE void wk_phases(
    const wk_phase *list, ts_u32 count, ts_u32 linears, ts_u32 *met, wk_shared_head *told, ts_u32 slots) {
  static_assert(WK_ROW_BYTES + 4 * WK_ROW_FLOATS == WK_SPACE_BYTES, "as the ring has it");
  __shared__ wk_phase now;
  /* Zeros of weights meet what lies behind the bytes. */
  ts_i8 *bytes = (ts_i8 *)wk_phase_room;
  float *numbers = (float *)(wk_phase_room + WK_ROW_BYTES);
  __shared__ wk_rows_ahead ahead[WK_PHASE_WARPS];
  wk_gather_weights(list, count);
  if (WK_LANE == 0) ahead[WK_WARP].begin(linears);
  wk_warp_meet();
  wk_ring ring;
  ring.begin(&ahead[WK_WARP], slots);
  for (ts_u32 p = 0; p < count; p++) {
    const ts_u32 word = WK_WARP == 0 ? ((const ts_u32 *)(list + p))[WK_LANE] : 0;
    if (p > 0) wk_meet(met, TS_BLOCK, TS_BLOCKS);
    if (WK_WARP == 0) ((ts_u32 *)&now)[wk_lane_anew()] = word;
    TS_BARRIER();
    if (now.kind == WK_LINEAR) {
      wk_row_linear<ROWS>(now.fault, now.linear, ring, numbers, bytes);
      continue;
    }
    const ts_u32 members = wk_members(now.attend), units = now.attend.sequences * now.attend.key_heads;
    for (ts_u32 unit = TS_BLOCK / members; unit < units; unit += TS_BLOCKS / members)
      wk_attend_place(now.fault, now.attend, unit, TS_BLOCK % members, members, told + unit, numbers, bytes);
  }
}

#define WK_PHASES(ROWS)                                                                                                \
  TS_BOUNDS(WK_PHASE_THREADS, 1)                                                                                       \
  WK(phases##ROWS)(                                                                                                    \
      ts_u32 *fault, const wk_phase *list, ts_u32 count, ts_u32 linears, ts_u32 *met, wk_shared_head *told,            \
      ts_u32 slots) {                                                                                                  \
    wk_phases<ROWS>(list, count, linears, met, told, slots);                                                           \
  }
WK_PHASES(1)
WK_PHASES(4)

#endif
