/*
 * The C subset shared by every kernel: clang compiles it to WebAssembly, to x86-64 and to PTX, and all give the same bits.
 * Rules: integers and + - * / only, no libm, no contraction, a fixed order of operations, no recursion, no globals that
 * are written. A 32-byte value (seed, hash) is always eight u32 words as its bytes lie in little-endian memory.
 */
#ifndef TS_BASE_H
#define TS_BASE_H

typedef unsigned char ts_u8;
typedef short ts_i16;
typedef unsigned short ts_u16;
typedef int ts_i32;
typedef unsigned int ts_u32;
typedef long long ts_i64;
typedef unsigned long long ts_u64;

#ifdef __CUDACC__
#define TS_INLINE __device__ __forceinline__
/* For large functions: inlined where registers are plenty, called where code is small and fetched over a network. */
#define TS_OUTLINE __device__ __forceinline__
#define TS_CONSTANT __device__ __constant__ constexpr
#define TS_UNROLL _Pragma("unroll")
#define TS_ROLLED _Pragma("unroll 1")
#define TS_BSWAP32(x) __byte_perm((x), 0, 0x0123)
#define TS_ROTR32(x, n) __funnelshift_r((x), (x), (n))
#define TS_MULHI32(a, b) __umulhi((a), (b))
#else
#define TS_INLINE inline __attribute__((always_inline))
#define TS_OUTLINE __attribute__((noinline, unused))
#define TS_CONSTANT const
#define TS_UNROLL _Pragma("clang loop unroll(full)")
#define TS_ROLLED _Pragma("clang loop unroll(disable)")
#define TS_BSWAP32(x) __builtin_bswap32(x)
#define TS_ROTR32(x, n) __builtin_rotateright32((x), (n))
#define TS_MULHI32(a, b) ((ts_u32)(((ts_u64)(a) * (ts_u64)(b)) >> 32))
#endif

/* A tile of C is 32 x 32 (§5). */
#define TS_TILE_SIDE 32
#define TS_TILE_ELEMENTS 1024
/* §7: the low 16 bits of every element, two to a word. */
#define TS_KEPT_WORDS 512

/* Precision codes of §2. */
#define TS_INT8 0
#define TS_FP8 1
#define TS_BF16 2
#define TS_FP16 3
#define TS_FP32 4

#define TS_MATRIX_A 0
#define TS_MATRIX_B 1

#endif
