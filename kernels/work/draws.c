/* Ops that draw by Philox or by the order of windows, and embeddings' gradients. */
#include "../common/work/functions64.h"
#include "../common/work/order.h"
#include "manyDraws.h"
#include "work.h"

/* W2.10.1: fresh weights, two to a block; with a `mean` the sign of each weight's own is the last bit of its second word. */
TS_WORK(normal)(
    char *memory, ts_offset to, ts_u32 count, float deviation, float mean, ts_u32 key0, ts_u32 key1, ts_u32 tensor,
    ts_u32 transition, double index) {
  TS_EXACT
  const ts_draw draw = {key0, key1, tensor, transition};
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 from = 0; from < count;) {
    const ts_u64 at = (ts_u64)index + from;
    const ts_u32 skip = (ts_u32)at & 1u, here = ts_least(2 * TS_MANY - skip, count - from);
    ts_u32 words[4 * TS_MANY];
    ts_draw_many(draw, at >> 1, words);
    for (ts_u32 i = 0; i < here; i++) {
      const ts_u32 a = words[2 * (skip + i)], b = words[2 * (skip + i) + 1];
      const float centre = b & 1u ? -mean : mean, y = centre + ts_normal(a, b) * deviation;
      worst = ts_worse(worst, y);
      out[from + i] = y;
    }
    from += here;
  }
  return ts_faulty(worst);
}

/* W2.10.2: places `first` ... of an epoch's order of `windows` windows. */
TS_WORK(windowOrder)(
    char *memory, ts_offset seed, ts_offset to, ts_u32 epoch, ts_u32 windows, ts_u32 first, ts_u32 count) {
  if (windows == 0 || first >= windows || count > windows - first) return 1;
  ts_u32 keys[8];
  for (ts_u32 round = 0; round < 8; round++) keys[round] = ts_order_round_key(TS_AT(const ts_u32, seed), epoch, round);
  ts_u32 *out = TS_AT(ts_u32, to);
  const ts_u32 half = ts_order_half(windows);
  for (ts_u32 i = 0; i < count; i++) out[i] = ts_order_at(keys, half, windows, first + i);
  return 0;
}

static TS_INLINE float noise_of(ts_u32 word) {
  const float u = ((float)(ts_i32)(word >> 9) + 0.5f) * 0x1.0p-23f;
  return ts_log(-ts_log(u));
}

/* W2.10.3: logits * factor + noise of (sequence, position); the largest is the sample. `first` is the first column here. */
TS_WORK(sampleNoise)(
    char *memory, ts_offset x, ts_offset sequence, ts_offset position, ts_offset to, ts_u32 rows, ts_u32 width,
    ts_u32 first, float factor, ts_u32 key0, ts_u32 key1) {
  TS_EXACT
  const float *in = TS_AT(const float, x);
  const ts_u32 *sequences = TS_AT(const ts_u32, sequence), *positions = TS_AT(const ts_u32, position);
  float *out = TS_AT(float, to);
  ts_u32 worst = 0;
  for (ts_u32 r = 0; r < rows; r++, in += width, out += width) {
    const ts_draw draw = {key0, key1, sequences[r], 0xfffffffeu};
    for (ts_u32 from = 0; from < width;) {
      const ts_u32 skip = (first + from) & 3u, here = ts_least(4 * TS_MANY - skip, width - from);
      ts_u32 words[4 * TS_MANY];
      ts_draw_many(draw, (ts_u64)positions[r] << 32 | (first + from) >> 2, words);
      for (ts_u32 i = 0; i < here; i++) {
        const float y = in[from + i] * factor - noise_of(words[skip + i]);
        worst = ts_worse(worst, y);
        out[from + i] = y;
      }
      from += here;
    }
  }
  return ts_faulty(worst);
}

/* Columns side by side: a line of the gradient is written whole. */
#define SIDE 16
typedef ts_i32 sixteen[SIDE];
#define NO_KIND 0xffffffffu

/*
 * W2.11.6: q[channels][tokens] times one-hot rows: the integer sum over a piece's tokens of each kind, times the channel's
 * scale of that piece, added as floats in order. out[kinds][width], of which columns `first` ... are written; `scratch` has
 * room for 16 sums for each kind. A token that is 0xffffffff is of no kind.
 */
TS_WORK(embedBackward)(
    char *memory, ts_offset token, ts_offset q, ts_offset scales, ts_offset scratch, ts_offset to, ts_u32 tokens,
    ts_u32 kinds, ts_u32 width, ts_u32 first, ts_u32 channels, ts_u32 piece) {
  TS_EXACT
  if (piece == 0) return 1;
  const ts_u32 *t = TS_AT(const ts_u32, token), pieces = (tokens + piece - 1) / piece;
  sixteen *sums = TS_AT(sixteen, scratch);
  ts_u32 worst = 0;
  for (ts_u32 i = 0; i < tokens; i++)
    if (t[i] >= kinds && t[i] != NO_KIND) return 1;
  for (ts_u32 kind = 0; kind < kinds; kind++)
    for (ts_u32 c = 0; c < SIDE; c++) sums[kind][c] = 0;
  for (ts_u32 c0 = 0; c0 < channels; c0 += SIDE) {
    const ts_u32 here = channels - c0 < SIDE ? channels - c0 : SIDE;
    const ts_i8 *rows = TS_AT(const ts_i8, q) + (ts_u64)c0 * tokens;
    const float *scale = TS_AT(const float, scales) + (ts_u64)c0 * pieces;
    float *out = TS_AT(float, to) + first + c0;
    for (ts_u32 kind = 0; kind < kinds; kind++)
      for (ts_u32 c = 0; c < here; c++) out[(ts_u64)kind * width + c] = 0.0f;
    for (ts_u32 p = 0; p < pieces; p++) {
      const ts_u32 from = p * piece, end = tokens - from < piece ? tokens : from + piece;
      for (ts_u32 c = 0; c < here; c++)
        for (ts_u32 i = from; i < end; i++)
          if (t[i] != NO_KIND) sums[t[i]][c] += rows[(ts_u64)c * tokens + i];
      /* A kind that comes again finds its sums at 0, and adds +0 to what is never -0. */
      for (ts_u32 i = from; i < end; i++) {
        if (t[i] == NO_KIND) continue;
        float *row = out + (ts_u64)t[i] * width;
        for (ts_u32 c = 0; c < here; c++) {
          row[c] = row[c] + (float)sums[t[i]][c] * scale[(ts_u64)c * pieces + p];
          worst = ts_worse(worst, row[c]);
          sums[t[i]][c] = 0;
        }
      }
    }
  }
  return ts_faulty(worst);
}
