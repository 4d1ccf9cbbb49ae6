/* Weights on their way to where they are used, in the order of their use, through as many phases as there is room for. */
#ifndef TS_CUDA_WORK_WEIGHT_RING_H
#define TS_CUDA_WORK_WEIGHT_RING_H
#include "copies.h"
#include "phase.h"

/* A turn of a warp: so many times sixteen weights to each lane, of one row. */
#define WK_SENT 4u
#define WK_TURN (32u * WK_SENT)
#define WK_TURN_BYTES (16u * WK_TURN)

#define WK_PHASE_WARPS (WK_PHASE_THREADS / 32)

/* First what phases have for themselves, then the weights of all phases, then the ring. */
extern __shared__ __attribute__((aligned(128))) ts_u8 wk_phase_room[];
#define WK_SPACE_BYTES 47104
#define WK_MOST_LINEAR 512u

struct wk_weights {
  const ts_i8 *first, *second;
  ts_u32 sixteens, outputs;
};
#define WK_RING_AT (WK_SPACE_BYTES + WK_MOST_LINEAR * sizeof(wk_weights))
static TS_INLINE wk_weights *wk_all_weights() { return (wk_weights *)(wk_phase_room + WK_SPACE_BYTES); }

static TS_INLINE void wk_gather_weights(const wk_phase *list, ts_u32 count) {
  for (ts_u32 p = TS_THREAD; p < count; p += TS_THREADS) {
    const wk_linear *of = &list[p].linear;
    if (list[p].kind == WK_LINEAR)
      wk_all_weights()[list[p].linears] = {of->first.weight, of->second.weight, of->k / 16, of->outputs};
  }
  TS_BARRIER();
}

static TS_INLINE void wk_warp_meet() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

/*
 * The rows of weights that a warp will need: it makes one output at a time. Outputs go around the multiprocessors, so that
 * what is left over is spread. In shared memory, as registers are wanted for attention; kept by one lane.
 */
struct wk_rows_ahead {
  ts_u32 linear, linears;
  /* What is left of the row of output j, in so many turns; nothing where there are none. */
  const ts_i8 *from;
  ts_u32 left, turns, j;
  bool in_second;

  static TS_INLINE ts_u32 first_output() { return WK_WARP * TS_BLOCKS + TS_BLOCK; }
  static TS_INLINE ts_u32 output_step() { return WK_WARPS * TS_BLOCKS; }

  TS_INLINE void begin(ts_u32 count) {
    linear = 0;
    linears = count;
    begin_phase();
  }

  TS_INLINE void begin_phase() {
    j = first_output();
    in_second = false;
    turns = 0;
    while (linear < linears && j >= wk_all_weights()[linear].outputs) linear++;
    if (linear < linears) begin_row(wk_all_weights()[linear]);
  }

  TS_INLINE void begin_row(const wk_weights &of) {
    from = (in_second ? of.second : of.first) + (ts_u64)j * of.sixteens * 16;
    left = of.sixteens;
    turns = (of.sixteens + WK_TURN - 1) / WK_TURN;
  }

  TS_INLINE void next_turn() {
    from += WK_TURN_BYTES;
    left -= wk_least(left, WK_TURN);
    if (--turns > 0) return;
    const wk_weights of = wk_all_weights()[linear];
    in_second = of.second != 0 && !in_second;
    if (!in_second) j += output_step();
    if (j < of.outputs) {
      begin_row(of);
      return;
    }
    linear++;
    begin_phase();
  }
};

/* What a ring gives for the oldest turn that was sent for: zeros past the end of a row. */
static TS_INLINE ts_vec4 wk_take_sixteen(ts_u32 at) {
  ts_vec4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(at)
               : "memory");
  return v;
}

#ifdef WK_BULK

#define WK_MOST_SLOTS 5u

/*
 * sm_90: one lane sends for a whole turn, and is not held up by it. So a ring that was read empty fills while nobody
 * reads, as between two phases.
 */
struct wk_ring {
  wk_rows_ahead *rows;
  ts_u32 slots, slot, parity, room, arrived;

  TS_INLINE void begin(wk_rows_ahead *ahead, ts_u32 deep) {
    __shared__ __attribute__((aligned(8))) ts_u64 arrivals[WK_PHASE_WARPS * WK_MOST_SLOTS];
    rows = ahead;
    slots = deep;
    slot = parity = 0;
    room = wk_shared_address(wk_phase_room + WK_RING_AT) + WK_WARP * slots * WK_TURN_BYTES;
    arrived = wk_shared_address(arrivals) + WK_WARP * slots * 8;
    if (WK_LANE == 0)
      for (ts_u32 s = 0; s < slots; s++)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(arrived + 8 * s) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (ts_u32 s = 0; s < slots; s++) send();
    parity = 0;
  }

  /* Into the slot that was just read by all lanes. */
  TS_INLINE void send() {
    wk_warp_meet();
    if (WK_LANE == 0 && rows->turns > 0) {
      const ts_u32 bytes = 16 * wk_least(rows->left, WK_TURN);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(arrived + 8 * slot), "r"(bytes) : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
              room + slot * WK_TURN_BYTES),
          "l"(rows->from), "r"(bytes), "r"(arrived + 8 * slot)
          : "memory");
      rows->next_turn();
    }
    slot++;
    if (slot == slots) slot = 0, parity ^= 1;
  }

  TS_INLINE void wait() const {
    ts_u32 done;
    do
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(arrived + 8 * slot), "r"(parity)
          : "memory");
    while (!done);
  }

  TS_INLINE ts_vec4 take(ts_u32 n, ts_u32 left) const {
    const ts_u32 i = 32 * n + WK_LANE;
    return i < left ? wk_take_sixteen(room + slot * WK_TURN_BYTES + 16 * i) : ts_vec4{0, 0, 0, 0};
  }
};

#else

#define WK_SENT_BYTES (16u * WK_PHASE_THREADS)

/* A lane sends for what it will read itself, and waits for nobody else. */
struct wk_ring {
  wk_rows_ahead *rows;
  /* Where the oldest slot of this lane lies, and the last. */
  ts_u32 slots, here, last;

  TS_INLINE void begin(wk_rows_ahead *ahead, ts_u32 deep) {
    rows = ahead;
    slots = deep;
    here = wk_shared_address(wk_phase_room + WK_RING_AT) + 16 * TS_THREAD;
    last = here + (slots - 1) * WK_SENT * WK_SENT_BYTES;
    for (ts_u32 s = 0; s < slots; s++) send();
  }

  /* Into the slot that was just read. */
  TS_INLINE void send() {
    if (rows->turns > 0) {
      TS_UNROLL
      for (ts_u32 n = 0; n < WK_SENT; n++) {
        const ts_u32 i = 32 * n + WK_LANE;
        wk_copy_or_clear(here + n * WK_SENT_BYTES, rows->from + 16 * i, i < rows->left ? 16 : 0);
      }
      wk_warp_meet();
      if (WK_LANE == 0) rows->next_turn();
      wk_warp_meet();
    }
    wk_copy_commit();
    here = here == last ? last - (slots - 1) * WK_SENT * WK_SENT_BYTES : here + WK_SENT * WK_SENT_BYTES;
  }

  /* As many slots as a card has room for: 5, 3 or 1. */
  TS_INLINE void wait() const {
    if (slots == 5) asm volatile("cp.async.wait_group 4;" ::: "memory");
    else if (slots == 3) asm volatile("cp.async.wait_group 2;" ::: "memory");
    else asm volatile("cp.async.wait_group 0;" ::: "memory");
  }

  TS_INLINE ts_vec4 take(ts_u32 n, ts_u32) const { return wk_take_sixteen(here + n * WK_SENT_BYTES); }
};

#endif
#endif
