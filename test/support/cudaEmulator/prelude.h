/*
 * Stands in for kernels/cuda/prelude.h when a kernel is compiled for this machine: the threads of a block take turns as
 * fibres and change at every barrier, blocks run one after the other. Slow, and true to what the source says.
 */
#ifndef TS_CUDA_PRELUDE_H
#define TS_CUDA_PRELUDE_H
#include <math.h>

#define TS_KERNEL extern "C" __attribute__((visibility("default"))) void
#define __shared__ static

extern int emulated_thread, emulated_block, emulated_block_y, emulated_blocks, emulated_threads;
void emulated_barrier();

#define TS_THREAD emulated_thread
#define TS_BLOCK emulated_block
#define TS_BLOCK_Y emulated_block_y
#define TS_BLOCKS emulated_blocks
#define TS_THREADS emulated_threads
#define TS_BARRIER() emulated_barrier()

static inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }

#define TS_EXP2 exp2f
#define TS_LOG2 log2f
#define TS_SQRT sqrtf

#include "base.h"
#endif
