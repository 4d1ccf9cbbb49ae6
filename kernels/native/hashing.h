#ifndef TS_HASHING_H
#define TS_HASHING_H
#include "../common/base.h"

/* Set by ts_supported, the same by every thread: asking the processor each time would cost more than hashing. */
extern ts_u32 ts_has_sha;

/* One block by the SHA extensions where the processor has them. */
void ts_native_sha256_block(ts_u32 state[8], ts_u32 w[16]);

#endif
