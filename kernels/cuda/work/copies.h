/* Copies into shared memory that nobody waits for until they are asked for (sm_80). */
#ifndef TS_CUDA_WORK_COPIES_H
#define TS_CUDA_WORK_COPIES_H
#include "base.h"

static TS_INLINE ts_u32 wk_shared_address(const void *pointer) {
  ts_u64 address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(pointer));
  return (ts_u32)address;
}
static TS_INLINE void wk_copy_sixteen(ts_u32 to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
/* Zeros where `bytes` is 0, else 16 of them. */
static TS_INLINE void wk_copy_or_clear(ts_u32 to, const void *from, ts_u32 bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
static TS_INLINE void wk_copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

#endif
