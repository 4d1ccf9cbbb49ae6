/*
 * The few CUDA words the kernels use, spelled for clang's NVPTX target without NVIDIA's headers: clang writes PTX that
 * old drivers load and targets that nvcc 13 no longer knows. Everything else comes from kernels/common.
 */
#ifndef TS_CUDA_PRELUDE_H
#define TS_CUDA_PRELUDE_H

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define TS_BOUNDS(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
#define TS_KERNEL extern "C" __global__ void
#define __CUDACC__ 1

static __device__ __forceinline__ unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned out;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(selector));
  return out;
}
static __device__ __forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  unsigned out;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(low), "r"(high), "r"(by));
  return out;
}
static __device__ __forceinline__ unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a * b) >> 32);
}
static __device__ __forceinline__ float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static __device__ __forceinline__ unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static __device__ __forceinline__ float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }

#define TS_THREAD ((ts_u32)__nvvm_read_ptx_sreg_tid_x())
#define TS_BLOCK ((ts_u32)__nvvm_read_ptx_sreg_ctaid_x())
#define TS_BLOCK_Y __nvvm_read_ptx_sreg_ctaid_y()
#define TS_BLOCKS ((ts_u32)__nvvm_read_ptx_sreg_nctaid_x())
#define TS_THREADS ((ts_u32)__nvvm_read_ptx_sreg_ntid_x())
#define TS_BARRIER() __syncthreads()

#include "../common/base.h"

typedef ts_u32 ts_vec4 __attribute__((ext_vector_type(4)));
typedef ts_u32 ts_vec2 __attribute__((ext_vector_type(2)));
typedef ts_u64 ts_wide2 __attribute__((ext_vector_type(2)));

/* Streamed once: not worth a place in the first-level cache. */
static TS_INLINE ts_vec4 ts_load_stream(const void *address) {
  ts_vec4 v;
  asm("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(address));
  return v;
}

/* Never written while a kernel runs. */
static TS_INLINE ts_vec4 ts_load_fixed(const void *address) {
  ts_vec4 v;
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(address));
  return v;
}

static TS_INLINE ts_u32 ts_shuffle_word(ts_u32 value, ts_u32 lane_mask) {
  asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 31, 0xffffffff;" : "+r"(value) : "r"(lane_mask));
  return value;
}
static TS_INLINE ts_u64 ts_shuffle_xor(ts_u64 value, ts_u32 lane_mask) {
  const ts_u32 low = ts_shuffle_word((ts_u32)value, lane_mask), high = ts_shuffle_word((ts_u32)(value >> 32), lane_mask);
  return ((ts_u64)high << 32) | low;
}

static TS_INLINE ts_u32 ts_from_lane(ts_u32 value, ts_u32 lane) {
  ts_u32 out;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(out) : "r"(value), "r"(lane));
  return out;
}

/*
 * 1, but no compiler knows: blocks here have one row of threads. Hashes and mixes run out of the integer pipe; an addition
 * written as a product with this runs on the multiplier's pipe, where there is room.
 */
static TS_INLINE ts_u32 ts_one() {
  ts_u32 one;
  asm("mov.u32 %0, %%ntid.y;" : "=r"(one));
  return one;
}
static TS_INLINE ts_u32 ts_add(ts_u32 a, ts_u32 b, ts_u32 one) {
  if (__builtin_constant_p(one)) return a + b;
  ts_u32 out;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(one), "r"(b));
  return out;
}

/*
 * What a series carries from round to round in device memory, so that the same captured graph can be replayed: the seed
 * of the round, how many roots were made, and where roots and their counter lie in host memory.
 */
typedef struct {
  ts_u32 seed[8];
  ts_u32 round;
  ts_u32 reserved;
  ts_u64 host_roots;
  ts_u64 host_count;
} ts_chain_state;

#endif
