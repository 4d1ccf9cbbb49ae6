/* Merkle work inside one block of threads: hashes lie in shared memory word by word, so that neighbours do not collide. */
#ifndef TS_CUDA_HASHING_H
#define TS_CUDA_HASHING_H
#include "nodeHash.h"

static TS_INLINE void ts_put(ts_u32 *shared, ts_u32 stride, ts_u32 index, const ts_u32 hash[8]) {
  TS_UNROLL
  for (int i = 0; i < 8; i++) shared[i * stride + index] = hash[i];
}

static TS_INLINE void ts_get(const ts_u32 *shared, ts_u32 stride, ts_u32 index, ts_u32 hash[8]) {
  TS_UNROLL
  for (int i = 0; i < 8; i++) hash[i] = shared[i * stride + index];
}

static TS_INLINE void ts_read_hash(const ts_u32 *from, ts_u32 hash[8]) {
  const ts_vec4 low = *(const ts_vec4 *)from, high = *(const ts_vec4 *)(from + 4);
  hash[0] = low.x, hash[1] = low.y, hash[2] = low.z, hash[3] = low.w;
  hash[4] = high.x, hash[5] = high.y, hash[6] = high.z, hash[7] = high.w;
}

static TS_INLINE void ts_write_hash(ts_u32 *to, const ts_u32 hash[8]) {
  ts_vec4 low, high;
  low.x = hash[0], low.y = hash[1], low.z = hash[2], low.w = hash[3];
  high.x = hash[4], high.y = hash[5], high.z = hash[6], high.w = hash[7];
  *(ts_vec4 *)to = low;
  *(ts_vec4 *)(to + 4) = high;
}

/* `count` hashes in shared memory to `left` (powers of two), in place, by the first threads. Ends in a barrier. */
static TS_INLINE void ts_reduce_shared(ts_u32 *shared, ts_u32 stride, ts_u32 count, ts_u32 left, ts_u32 thread) {
  for (ts_u32 nodes = count >> 1; nodes >= left; nodes >>= 1) {
    ts_u32 near[8], far[8], out[8];
    TS_BARRIER();
    if (thread < nodes) {
      ts_get(shared, stride, 2 * thread, near);
      ts_get(shared, stride, 2 * thread + 1, far);
      ts_node_hash(near, far, out);
    }
    TS_BARRIER();
    if (thread < nodes) ts_put(shared, stride, thread, out);
  }
  TS_BARRIER();
}

#endif
