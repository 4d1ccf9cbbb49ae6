#ifndef TS_HASHING_H
#define TS_HASHING_H
#include "../common/base.h"

/* Set by ts_supported, the same by every thread: asking the processor each time would cost more than hashing. */
extern ts_u32 ts_has_sha;

/* One block by the SHA extensions where the processor has them. */
void ts_native_sha256_block(ts_u32 state[8], ts_u32 w[16]);

/* Hashes that are made side by side; more than that do not fit the registers. */
#define TS_HASHES_AT_ONCE 2

/* Whole blocks of bytes for each of them, `stride` apart. Only where ts_has_sha. */
void ts_native_sha256_together(ts_u32 states[][8], const ts_u8 *bytes, ts_u64 stride, ts_u32 blocks);

#endif
