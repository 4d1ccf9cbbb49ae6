/* Ops that make every element from the same place of their operands; a result may overwrite an operand. */
#ifndef TS_CUDA_WORK_ELEMENTS_H
#define TS_CUDA_WORK_ELEMENTS_H
#include "base.h"
#include "../../common/work/optimiser.h"

/* out[i] = of({in[0][i], in[1][i], ...}), four at a time where everything lies on 16 bytes. */
template <int N, class F>
static TS_INLINE void wk_each(ts_u32 *fault, const float *const (&in)[N], float *out, ts_u32 count, F of) {
  ts_u64 places = (ts_u64)out;
  TS_UNROLL
  for (int n = 0; n < N; n++) places |= (ts_u64)in[n];
  const ts_u32 fours = places & 15u ? 0 : count / 4;
  ts_u32 worst = 0;
  for (ts_u64 i = WK_FIRST; i < fours; i += WK_STEP) {
    ts_float4 x[N], y;
    TS_UNROLL
    for (int n = 0; n < N; n++) x[n] = ((const ts_float4 *)in[n])[i];
    TS_UNROLL
    for (int k = 0; k < 4; k++) {
      float a[N];
      TS_UNROLL
      for (int n = 0; n < N; n++) a[n] = x[n][k];
      y[k] = of(a);
      worst = wk_worse(worst, y[k]);
    }
    ((ts_float4 *)out)[i] = y;
  }
  for (ts_u64 i = 4 * (ts_u64)fours + WK_FIRST; i < count; i += WK_STEP) {
    float a[N];
    TS_UNROLL
    for (int n = 0; n < N; n++) a[n] = in[n][i];
    const float y = of(a);
    worst = wk_worse(worst, y);
    out[i] = y;
  }
  wk_report(fault, worst);
}

WK(add)(ts_u32 *fault, const float *a, const float *b, float *out, ts_u32 count) {
  wk_each<2>(fault, {a, b}, out, count, [](const float *x) { return x[0] + x[1]; });
}
WK(scale)(ts_u32 *fault, const float *a, float *out, ts_u32 count, float factor) {
  wk_each<1>(fault, {a}, out, count, [=](const float *x) { return x[0] * factor; });
}
WK(gelu)(ts_u32 *fault, const float *a, float *out, ts_u32 count) {
  wk_each<1>(fault, {a}, out, count, [](const float *x) { return ts_gelu(x[0]); });
}
WK(geluBackward)(ts_u32 *fault, const float *a, const float *dy, float *out, ts_u32 count) {
  wk_each<2>(fault, {a, dy}, out, count, [](const float *x) { return x[1] * ts_gelu_slope(x[0]); });
}
WK(relu)(ts_u32 *fault, const float *a, float *out, ts_u32 count) {
  wk_each<1>(fault, {a}, out, count, [](const float *x) { return ts_relu(x[0]); });
}
WK(reluBackward)(ts_u32 *fault, const float *a, const float *dy, float *out, ts_u32 count) {
  wk_each<2>(fault, {a, dy}, out, count, [](const float *x) { return x[0] > 0.0f ? x[1] : 0.0f; });
}
WK(siluProduct)(ts_u32 *fault, const float *gate, const float *up, float *out, ts_u32 count) {
  wk_each<2>(fault, {gate, up}, out, count, [](const float *x) { return ts_silu(x[0]) * x[1]; });
}
WK(siluProductBackwardGate)(
    ts_u32 *fault, const float *gate, const float *up, const float *dy, float *out, ts_u32 count) {
  wk_each<3>(fault, {gate, up, dy}, out, count, [](const float *x) { return (x[2] * x[1]) * ts_silu_slope(x[0]); });
}
WK(siluProductBackwardUp)(ts_u32 *fault, const float *gate, const float *dy, float *out, ts_u32 count) {
  wk_each<2>(fault, {gate, dy}, out, count, [](const float *x) { return x[1] * ts_silu(x[0]); });
}

WK(adamWFirst)(
    ts_u32 *fault, const float *m, const float *g, const float *clip, float *out, ts_u32 count, float beta1) {
  const float factor = *clip;
  wk_each<2>(fault, {m, g}, out, count, [=](const float *x) { return ts_adamw_first(beta1, x[0], x[1] * factor); });
}
WK(adamWSecond)(
    ts_u32 *fault, const float *v, const float *g, const float *clip, float *out, ts_u32 count, float beta2) {
  const float factor = *clip;
  wk_each<2>(fault, {v, g}, out, count, [=](const float *x) { return ts_adamw_second(beta2, x[0], x[1] * factor); });
}
WK(adamWWeight)(
    ts_u32 *fault, const float *w, const float *m, const float *v, float *out, ts_u32 count, float rate, float epsilon,
    float decay, float correction1, float correction2) {
  const ts_adamw a = {rate, epsilon, decay, correction1, correction2};
  wk_each<3>(fault, {w, m, v}, out, count, [=](const float *x) { return ts_adamw_weight(a, x[0], x[1], x[2]); });
}
WK(sgdVelocity)(
    ts_u32 *fault, const float *v, const float *g, const float *clip, float *out, ts_u32 count, float momentum) {
  const float factor = *clip;
  wk_each<2>(fault, {v, g}, out, count, [=](const float *x) { return ts_sgd_velocity(momentum, x[0], x[1] * factor); });
}
WK(sgdWeight)(ts_u32 *fault, const float *w, const float *v, float *out, ts_u32 count, float rate) {
  wk_each<2>(fault, {w, v}, out, count, [=](const float *x) { return ts_sgd_weight(rate, x[0], x[1]); });
}

#endif
