/* W2.9: one parameter of AdamW and of SGD with momentum; g is the clipped gradient. */
#ifndef TS_WORK_OPTIMISER_H
#define TS_WORK_OPTIMISER_H
#include "floats.h"

static TS_INLINE float ts_adamw_first(float beta1, float m, float g) { return beta1 * m + (1.0f - beta1) * g; }
static TS_INLINE float ts_adamw_second(float beta2, float v, float g) { return beta2 * v + ((1.0f - beta2) * g) * g; }

typedef struct {
  float rate, epsilon, decay, correction1, correction2;
} ts_adamw;

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
