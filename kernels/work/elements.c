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

/* The clip factor, one number, lies in memory: it is a tensor of its own. */
TS_WORK(adamW)(
    char *memory, ts_offset w, ts_offset m, ts_offset v, ts_offset g, ts_offset clip, ts_offset new_w, ts_offset new_m,
    ts_offset new_v, ts_u32 count, float rate, float beta1, float beta2, float epsilon, float decay, float correction1,
    float correction2) {
  TS_EXACT
  const ts_adamw a = {rate, beta1, beta2, epsilon, decay, correction1, correction2};
  const float factor = *TS_AT(const float, clip);
  OPERAND(w0, w)
  OPERAND(m0, m)
  OPERAND(v0, v)
  OPERAND(g0, g)
  float *w1 = TS_AT(float, new_w), *m1 = TS_AT(float, new_m), *v1 = TS_AT(float, new_v);
  ts_u32 worst = 0;
  for (ts_u32 i = 0; i < count; i++) {
    const float gradient = g0[i] * factor;
    const float first = ts_adamw_first(a, m0[i], gradient), second = ts_adamw_second(a, v0[i], gradient);
    const float weight = ts_adamw_weight(a, w0[i], first, second);
    worst = ts_worse(ts_worse(ts_worse(worst, weight), first), second);
    w1[i] = weight;
    m1[i] = first;
    v1[i] = second;
  }
  return ts_faulty(worst);
}

TS_WORK(sgd)(
    char *memory, ts_offset w, ts_offset v, ts_offset g, ts_offset clip, ts_offset new_w, ts_offset new_v, ts_u32 count,
    float rate, float momentum) {
  TS_EXACT
  const float factor = *TS_AT(const float, clip);
  OPERAND(w0, w)
  OPERAND(v0, v)
  OPERAND(g0, g)
  float *w1 = TS_AT(float, new_w), *v1 = TS_AT(float, new_v);
  ts_u32 worst = 0;
  for (ts_u32 i = 0; i < count; i++) {
    const float velocity = ts_sgd_velocity(momentum, v0[i], g0[i] * factor);
    const float weight = ts_sgd_weight(rate, w0[i], velocity);
    worst = ts_worse(ts_worse(worst, weight), velocity);
    w1[i] = weight;
    v1[i] = velocity;
  }
  return ts_faulty(worst);
}
