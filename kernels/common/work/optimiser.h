/* W2.9: one parameter of AdamW and of SGD with momentum; g is the clipped gradient. */
#ifndef TS_WORK_OPTIMISER_H
#define TS_WORK_OPTIMISER_H
#include "floats.h"

typedef struct {
  float rate, beta1, beta2, epsilon, decay, correction1, correction2;
} ts_adamw;

static TS_INLINE float ts_adamw_first(ts_adamw a, float m, float g) { return a.beta1 * m + (1.0f - a.beta1) * g; }
static TS_INLINE float ts_adamw_second(ts_adamw a, float v, float g) {
  return a.beta2 * v + ((1.0f - a.beta2) * g) * g;
}
/* m and v are the new moments. */
static TS_INLINE float ts_adamw_weight(ts_adamw a, float w, float m, float v) {
  const float step = (m / a.correction1) / (ts_sqrt(v / a.correction2) + a.epsilon);
  return w - a.rate * (step + a.decay * w);
}

static TS_INLINE float ts_sgd_velocity(float momentum, float v, float g) { return momentum * v + g; }
static TS_INLINE float ts_sgd_weight(float rate, float w, float v) { return w - rate * v; }

/* W2.9.2: what gradients are multiplied by. */
static TS_INLINE float ts_clip_factor(float norm, float clip) { return clip / ts_max(norm, clip); }

#endif
