/* W2.4: log, exp, sine and cosine in binary64 with + - * / alone, for angles and for fresh weights. */
#ifndef TS_WORK_FUNCTIONS64_H
#define TS_WORK_FUNCTIONS64_H
#include "floats.h"

/* W2.4.1: for positive normal x. */
static TS_INLINE double ts_log64(double x) {
  const ts_i64 from = (ts_i64)(ts_bits64_of(x) - 0x3fe6a09e667f3bcdull);
  const double e = (double)(ts_i32)(from >> 52);
  const double f = ts_double_of(((ts_u64)from & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double q = 0x1.8618618618618p-5 * z + 0x1.af286bca1af28p-5;
  q = q * z + 0x1.e1e1e1e1e1e1ep-5;
  q = q * z + 0x1.1111111111111p-4;
  q = q * z + 0x1.3b13b13b13b14p-4;
  q = q * z + 0x1.745d1745d1746p-4;
  q = q * z + 0x1.c71c71c71c71cp-4;
  q = q * z + 0x1.2492492492492p-3;
  q = q * z + 0x1.999999999999ap-3;
  q = q * z + 0x1.5555555555555p-2;
  return e * 0x1.62e42fefa39efp-1 + (2.0 * s + ((2.0 * s) * z) * q);
}

/* W2.4.2: of -700 ... 700. */
static TS_INLINE double ts_exp64(double x) {
  const double c = x < 700.0 ? (x > -700.0 ? x : -700.0) : 700.0;
  const double shifted = c * 0x1.71547652b82fep+0 + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  const double r = (c - n * 0x1.62e42ep-1) - n * 0x1.efa39ef35793cp-25;
  double q = 0x1.6124613a86d09p-33 * r + 0x1.1eed8eff8d898p-29;
  q = q * r + 0x1.ae64567f544e4p-26;
  q = q * r + 0x1.27e4fb7789f5cp-22;
  q = q * r + 0x1.71de3a556c734p-19;
  q = q * r + 0x1.a01a01a01a01ap-16;
  q = q * r + 0x1.a01a01a01a01ap-13;
  q = q * r + 0x1.6c16c16c16c17p-10;
  q = q * r + 0x1.1111111111111p-7;
  q = q * r + 0x1.5555555555555p-5;
  q = q * r + 0x1.5555555555555p-3;
  q = q * r + 0x1.0p-1;
  return (1.0 + (r + (r * r) * q)) * ts_double_of((ts_bits64_of(shifted) << 52) + 0x3ff0000000000000ull);
}

/* W2.4.3: of |r| <= 0.8. */
static TS_INLINE double ts_sin_near_zero(double r) {
  const double z = r * r;
  double q = 0x1.952c77030ad4ap-49 * z - 0x1.ae7f3e733b81fp-41;
  q = q * z + 0x1.6124613a86d09p-33;
  q = q * z - 0x1.ae64567f544e4p-26;
  q = q * z + 0x1.71de3a556c734p-19;
  q = q * z - 0x1.a01a01a01a01ap-13;
  q = q * z + 0x1.1111111111111p-7;
  q = q * z - 0x1.5555555555555p-3;
  return r + (r * z) * q;
}
static TS_INLINE double ts_cos_near_zero(double r) {
  const double z = r * r;
  double q = 0x1.ae7f3e733b81fp-45 * z - 0x1.93974a8c07c9dp-37;
  q = q * z + 0x1.1eed8eff8d898p-29;
  q = q * z - 0x1.27e4fb7789f5cp-22;
  q = q * z + 0x1.a01a01a01a01ap-16;
  q = q * z - 0x1.6c16c16c16c17p-10;
  q = q * z + 0x1.5555555555555p-5;
  q = q * z - 0x1.0p-1;
  return 1.0 + z * q;
}

/* Sine and cosine of r + quadrant * pi / 2. */
static TS_INLINE void ts_in_quadrant(double r, ts_u32 quadrant, double *sine, double *cosine) {
  const double s = ts_sin_near_zero(r), c = ts_cos_near_zero(r);
  const double s1 = quadrant & 1u ? c : s, c1 = quadrant & 1u ? s : c;
  *sine = quadrant & 2u ? -s1 : s1;
  *cosine = (quadrant + 1u) & 2u ? -c1 : c1;
}

/* W2.4.4: sine and cosine of an angle, held within 0 ... 2^24, rounded to binary32. */
static TS_INLINE void ts_sine_cosine(float angle, float *sine, float *cosine) {
  const double a = (double)ts_max(ts_min(angle, 0x1.0p24f), 0.0f);
  const double n = (a * 0x1.45f306dc9c883p-1 + 0x1.8p52) - 0x1.8p52;
  const double r = (a - n * 0x1.921fb54p+0) - n * 0x1.10b4611a62633p-30;
  double s, c;
  ts_in_quadrant(r, (ts_u32)n, &s, &c);
  *sine = (float)s;
  *cosine = (float)c;
}

/* W2.4.5: base^(-i / half), by which a position is multiplied for pair i of a head of 2 * half numbers. */
static TS_INLINE float ts_rotary_frequency(float base, ts_u32 i, ts_u32 half) {
  return (float)ts_exp64(-((double)i / (double)half) * ts_log64((double)base));
}

/* W2.4.6: a standard normal number from two words of Philox; the last bit of b is not used. */
static TS_INLINE float ts_normal(ts_u32 a, ts_u32 b) {
  const double radius = ts_sqrt64(-2.0 * ts_log64(((double)a + 0.5) * 0x1.0p-32));
  const ts_u32 turn = b >> 1, quadrant = (turn + 0x10000000u) >> 29;
  double s, c;
  ts_in_quadrant((double)(ts_i32)(turn - (quadrant << 29)) * 0x1.921fb54442d18p-29, quadrant, &s, &c);
  return (float)(radius * c);
}

#endif
