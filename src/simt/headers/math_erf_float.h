// The error function of float. Bound in ulp: 2.
#pragma once

#include "math_exp_float.h"

namespace trine_math {

// A series near zero, 1 - e^-P(|x|) elsewhere, P by a polynomial.
TRINE_MATH float erf(float x) {
  const float a = fabs(x), z = x * x;
  const float near = fma(
      x, poly(z, 0.12837917f, -0.37612632f, 0.11283674f, -0.026858328f, 0.005198509f, -0.0008114953f, 8.2554e-05f), x);
  const float inside = a > 4.0f ? 4.0f : a;
  const float p = inside * poly(inside, 0.1289022f, 0.6341518f, 0.107848175f, -0.025132129f, 0.004299802f,
                                -0.00049763813f, 3.42045e-05f, -1.0344743e-06f);
  const float far = 1.0f - exp(-(p + inside));
  return a < 0.93f ? near : copysign(isnan(x) ? x : far, x);
}

}  // namespace trine_math
