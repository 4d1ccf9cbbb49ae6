/*
 * Rounds of a processor's lane (§12): eight words, each looked up in a table that fills the nearest cache. A round keeps the
 * ports and units of a core busy by itself, so that a core gains nothing by walking several lanes, and lookups by state are
 * what vector units do badly. Compiled for any x86-64 and never vectorised: gathers make it five times as slow.
 */
#include "../common/base.h"

#ifdef __wasm__
#define TS_EXPORT __attribute__((export_name("rounds")))
#define TS_UNROLLED _Pragma("clang loop unroll_count(2)")
#else
#define TS_EXPORT __attribute__((visibility("default")))
#define TS_UNROLLED _Pragma("clang loop unroll_count(8)")
#endif

/* 4096 words of 8 bytes. */
#define TABLE_MASK 0x7ff8u
#define TURN 21

#define LOOKED_UP(word) (*(const ts_u64 *)(table + ((ts_u32)(word)&TABLE_MASK)))
#define NEXT(word, other) (__builtin_rotateleft64(word, TURN) + other)

TS_EXPORT void ts_host_rounds(ts_u64 *state, const ts_u8 *table, ts_u32 rounds) {
  ts_u64 a = state[0], b = state[1], c = state[2], d = state[3];
  ts_u64 e = state[4], f = state[5], g = state[6], h = state[7];
  TS_UNROLLED for (ts_u32 i = 0; i < rounds; i++) {
    const ts_u64 ta = LOOKED_UP(a), tb = LOOKED_UP(b), tc = LOOKED_UP(c), td = LOOKED_UP(d);
    const ts_u64 te = LOOKED_UP(e), tf = LOOKED_UP(f), tg = LOOKED_UP(g), th = LOOKED_UP(h);
    a = NEXT(a, tb), b = NEXT(b, tc), c = NEXT(c, td), d = NEXT(d, te);
    e = NEXT(e, tf), f = NEXT(f, tg), g = NEXT(g, th), h = NEXT(h, ta);
  }
  state[0] = a, state[1] = b, state[2] = c, state[3] = d;
  state[4] = e, state[5] = f, state[6] = g, state[7] = h;
}
