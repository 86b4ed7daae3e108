// Hyperbolic functions of float and their inverses. Bounds in ulp: sinh 3, cosh 2, tanh 2, asinh 3, acosh 4, atanh 3.
#pragma once

#include "math_exp_float.h"
#include "math_log_float.h"

namespace trine_math {

// A series near zero, 1 - 2 / (e^2x + 1) elsewhere.
TRINE_MATH float tanh(float x) {
  const float a = fabs(x), z = x * x;
  const float near = fma(x * z, poly(z, -0.333333f, 0.13331936f, -0.053784717f, 0.020798625f, -0.0058979667f), x);
  const float far = 1.0f - 2.0f / (exp(a + a) + 1.0f);
  return copysign(a < 0.6f ? near : far, x);
}

// e^a / 2 without overflow where that is finite.
TRINE_MATH float half_exp(float a) {
  const float inside = a > 91.0f ? 91.0f : a;
  i32 n;
  const float f = round_product(inside, 1.44269502f, &n);
  const float r = fma(f, -1.42860677e-6f, fma(f, -0.693145752f, inside));
  const float p = poly(r, 0.49999994f, 0.16666518f, 0.041668236f, 0.008369013f, 0.0013823969f);
  return scale(fma(r * r, p, r) + 1.0f, n - 1);
}

TRINE_MATH float sinh(float x) {
  const float a = fabs(x), z = x * x;
  const float near = fma(x * z, poly(z, 0.16666667f, 0.008333315f, 0.00019841666f, 2.789984e-06f), x);
  const float half = half_exp(a);
  return a < 1.0f ? near : copysign(half - 0.25f / half, x);
}
TRINE_MATH float cosh(float x) {
  const float half = half_exp(fabs(x));
  return half + 0.25f / half;
}

// log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))); log(2 a) where a^2 would overflow.
TRINE_MATH float asinh(float x) {
  const float a = fabs(x);
  const bool large = a > 1e9f;
  const float inside = large ? 1.0f : a;
  const float y = log1p(fma(inside, inside / (1.0f + sqrt(fma(inside, inside, 1.0f))), inside));
  const float big = log(a) + 0.693147182f;
  return copysign(large ? big : isnan(x) ? x : y, x);
}
TRINE_MATH float acosh(float x) {
  const float t = x - 1.0f;
  const bool large = x > 1e9f;
  const float inside = large ? 1.0f : t;
  const float y = log1p(inside + sqrt(fma(inside, inside, inside + inside)));
  return large ? log(x) + 0.693147182f : x < 1.0f ? quiet_nan<float>() : y;
}
TRINE_MATH float atanh(float x) {
  const float a = fabs(x);
  const float y = 0.5f * log1p((a + a) / (1.0f - a));
  return a > 1.0f ? quiet_nan<float>() : copysign(a < 1e-4f ? fma(a * a, a * 0.333333343f, a) : y, x);
}

}  // namespace trine_math
