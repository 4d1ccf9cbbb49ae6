/* Ops that make every element from the same place of their operands; a result may overwrite an operand. */
#include "../common/work/optimiser.h"
#include "work.h"

#define EACH(expression)                                                                                              \
  TS_EXACT                                                                                                            \
  float *out = TS_AT(float, to);                                                                                      \
  ts_u32 worst = 0;                                                                                                   \
  for (ts_u32 i = 0; i < count; i++) {                                                                                \
    const float y = expression;                                                                                       \
    worst = ts_worse(worst, y);                                                                                       \
    out[i] = y;                                                                                                       \
  }                                                                                                                   \
  return ts_faulty(worst);
#define OPERAND(name, offset) const float *name = TS_AT(const float, offset);

TS_WORK(add)(char *memory, ts_offset a, ts_offset b, ts_offset to, ts_u32 count) {
  OPERAND(x, a)
  OPERAND(y0, b)
  EACH(x[i] + y0[i])
}

TS_WORK(scale)(char *memory, ts_offset a, ts_offset to, ts_u32 count, float factor) {
  OPERAND(x, a)
  EACH(x[i] * factor)
}

TS_WORK(gelu)(char *memory, ts_offset a, ts_offset to, ts_u32 count) {
  OPERAND(x, a)
  EACH(ts_gelu(x[i]))
}

TS_WORK(geluBackward)(char *memory, ts_offset a, ts_offset dy, ts_offset to, ts_u32 count) {
  OPERAND(x, a)
  OPERAND(d, dy)
  EACH(d[i] * ts_gelu_slope(x[i]))
}

TS_WORK(relu)(char *memory, ts_offset a, ts_offset to, ts_u32 count) {
  OPERAND(x, a)
  EACH(ts_relu(x[i]))
}

TS_WORK(reluBackward)(char *memory, ts_offset a, ts_offset dy, ts_offset to, ts_u32 count) {
  OPERAND(x, a)
  OPERAND(d, dy)
  EACH(x[i] > 0.0f ? d[i] : 0.0f)
}

TS_WORK(siluProduct)(char *memory, ts_offset gate, ts_offset up, ts_offset to, ts_u32 count) {
  OPERAND(g, gate)
  OPERAND(u, up)
  EACH(ts_silu(g[i]) * u[i])
}

TS_WORK(siluProductBackwardGate)(
    char *memory, ts_offset gate, ts_offset up, ts_offset dy, ts_offset to, ts_u32 count) {
  OPERAND(g, gate)
  OPERAND(u, up)
  OPERAND(d, dy)
  EACH((d[i] * u[i]) * ts_silu_slope(g[i]))
}

TS_WORK(siluProductBackwardUp)(char *memory, ts_offset gate, ts_offset dy, ts_offset to, ts_u32 count) {
  OPERAND(g, gate)
  OPERAND(d, dy)
  EACH(d[i] * ts_silu(g[i]))
}

/* W2.9.3; the clip factor, one number, lies in memory: it is a tensor of its own. */
TS_WORK(adamWFirst)(
    char *memory, ts_offset m, ts_offset g, ts_offset clip, ts_offset to, ts_u32 count, float beta1) {
  OPERAND(m0, m)
  OPERAND(g0, g)
  const float factor = *TS_AT(const float, clip);
  EACH(ts_adamw_first(beta1, m0[i], g0[i] * factor))
}

TS_WORK(adamWSecond)(
    char *memory, ts_offset v, ts_offset g, ts_offset clip, ts_offset to, ts_u32 count, float beta2) {
  OPERAND(v0, v)
  OPERAND(g0, g)
  const float factor = *TS_AT(const float, clip);
  EACH(ts_adamw_second(beta2, v0[i], g0[i] * factor))
}

/* m and v are the new ones. */
TS_WORK(adamWWeight)(
    char *memory, ts_offset w, ts_offset m, ts_offset v, ts_offset to, ts_u32 count, float rate, float epsilon,
    float decay, float correction1, float correction2) {
  OPERAND(w0, w)
  OPERAND(m0, m)
  OPERAND(v0, v)
  const ts_adamw a = {rate, epsilon, decay, correction1, correction2};
  EACH(ts_adamw_weight(a, w0[i], m0[i], v0[i]))
}

/* W2.9.4 */
TS_WORK(sgdVelocity)(
    char *memory, ts_offset v, ts_offset g, ts_offset clip, ts_offset to, ts_u32 count, float momentum) {
  OPERAND(v0, v)
  OPERAND(g0, g)
  const float factor = *TS_AT(const float, clip);
  EACH(ts_sgd_velocity(momentum, v0[i], g0[i] * factor))
}

/* v is the new one. */
TS_WORK(sgdWeight)(char *memory, ts_offset w, ts_offset v, ts_offset to, ts_u32 count, float rate) {
  OPERAND(w0, w)
  OPERAND(v0, v)
  EACH(ts_sgd_weight(rate, w0[i], v0[i]))
}
