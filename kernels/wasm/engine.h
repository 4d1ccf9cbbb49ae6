/* What the WebAssembly kernels export. Pointers are byte offsets into the module's memory; sizes are the caller's duty. */
#ifndef TS_ENGINE_H
#define TS_ENGINE_H
#include <wasm_simd128.h>

#include "../common/entries.h"
#include "../common/fingerprint.h"
#include "../common/fma.h"
#include "../common/sha256.h"

#define TS_EXPORT(name) __attribute__((export_name(#name)))

/* Entries of one row, or part of a row, are made this many k at a time: operands of a tile stay in the nearest caches. */
#define TS_CHUNK 1024
#define TS_CHAIN_CHUNK 256

void ts_entries(const ts_u32 *seed, ts_u32 matrix, ts_u32 precision, ts_u32 row, ts_u32 rows, ts_u32 k, void *out);
void ts_entries_i16(const ts_u32 *seed, ts_u32 matrix, ts_u32 bound, ts_u32 first, ts_u32 count, ts_i16 *out);
void ts_entries_f32(const ts_u32 *seed, ts_u32 matrix, ts_u32 first, ts_u32 count, float *out);

/* out[32][32] += a[32][k] * b[32][k]^T over `count` of the k, rows `stride` entries apart. */
void ts_product_i16(const ts_i16 *a, const ts_i16 *b, ts_u32 stride, ts_u32 count, ts_i32 *out);
/* Continues the ordered chains of out[32][32] over `count` of the k (at most TS_CHAIN_CHUNK, a multiple of 4). */
void ts_chain_f32(const float *a, const float *b, ts_u32 stride, ts_u32 count, float *out);

#endif
