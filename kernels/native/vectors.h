/* Vectors of one width, 8 lanes with AVX2 and 16 with AVX-512. */
#ifndef TS_VECTORS_H
#define TS_VECTORS_H
#include <immintrin.h>

#include "../common/base.h"

#ifdef __AVX512F__
#define TS_LANES 16
#define TS_BY_WIDTH(avx2, avx512) avx512
#else
#define TS_LANES 8
#define TS_BY_WIDTH(avx2, avx512) avx2
#endif

#define TS_VECTOR(type) type __attribute__((vector_size(4 * TS_LANES)))
typedef TS_VECTOR(ts_u32) ts_words;
typedef TS_VECTOR(ts_u64) ts_longs;
typedef TS_VECTOR(float) ts_floats;
typedef TS_VECTOR(ts_u16) ts_shorts;
typedef TS_BY_WIDTH(__m256i, __m512i) ts_vector;

typedef struct {
  ts_words v;
} __attribute__((packed, may_alias)) ts_anywhere;

static TS_INLINE ts_words ts_load(const void *from) { return ((const ts_anywhere *)from)->v; }
static TS_INLINE void ts_store(void *to, ts_words v) { ((ts_anywhere *)to)->v = v; }
static TS_INLINE ts_words ts_splat(ts_u32 x) { return (ts_words){} + x; }
static TS_INLINE ts_longs ts_splat64(ts_u64 x) { return (ts_longs){} + x; }

#endif
