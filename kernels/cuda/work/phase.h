/*
 * One token is a list of phases in one launch: every block takes its part of a phase, then waits for all others. So weights
 * of the next phase are on their way while this one ends, which they would not be from one launch to the next.
 */
#ifndef TS_CUDA_WORK_PHASE_H
#define TS_CUDA_WORK_PHASE_H
#include "base.h"

/* Threads of a block; there is one on each multiprocessor. */
#define WK_PHASE_THREADS 512u

/* A matrix by its outputs. */
struct wk_matrix {
  const ts_i8 *weight;
  const float *scales, *bias;
};

#define WK_THEN_NOTHING 0u
#define WK_THEN_ADD 1u
#define WK_THEN_GELU 2u
#define WK_THEN_SILU 3u

/*
 * Rows of x, normed where there is a gain, quantised, times one matrix, or two of them (SiLU of the first times the
 * second). k is a multiple of 16.
 */
struct wk_linear {
  const float *x, *gain, *shift;
  wk_matrix first, second;
  const float *other;
  float *out;
  ts_u32 rows, k, outputs, then;
  float epsilon;
};

/*
 * For each sequence and head of keys: its key and value go into the cache at `place`, then every head of queries that
 * shares them looks at all places so far. Heads of 16, 32, 64 or 128 numbers.
 */
struct wk_attend {
  const float *qkv;
  const ts_u32 *positions;
  const float *frequencies;
  ts_i8 *keys;
  float *key_scales;
  ts_i8 *values;
  float *value_scales, *out;
  ts_u32 sequences, heads, key_heads, size, place, places;
  float factor;
};

#define WK_LINEAR 0u
#define WK_ATTEND 1u

/* As src/drivers/gpu/cuda/work/phases.ts writes them: 128 bytes. */
struct wk_phase {
  ts_u32 *fault;
  /* `linears`: how many of those before it have weights. */
  ts_u32 kind, linears;
  union {
    wk_linear linear;
    wk_attend attend;
  };
};
static_assert(sizeof(wk_phase) == 128, "as phases.ts has it");

/*
 * Blocks wait for each other; what one wrote before, all read afterwards. They are all on the card at once. The first of
 * them adds what makes the sum of all turn the highest bit: the word needs no reset, and begins as 0 or as it was left.
 */
static TS_INLINE void wk_meet(ts_u32 *word, ts_u32 member, ts_u32 members) {
  TS_BARRIER();
  if (TS_THREAD == 0) {
    const ts_u32 add = member == 0 ? 0x80000000u - (members - 1) : 1u;
    ts_u32 before, now;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(word), "r"(add) : "memory");
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
    while (((before ^ now) & 0x80000000u) == 0);
  }
  TS_BARRIER();
}

#endif
