// Exponentials of float: n = round(x / ln 2), e^r by a polynomial on |r| <= ln(2) / 2, times 2^n.
// Bounds in ulp: exp 1, exp2 1, exp10 1, expm1 1.
#pragma once

#include "math_base.h"

namespace trine_math {

// e^(hi + lo) 2^-*n, near 1, of |hi| < 150, lo a correction.
TRINE_MATH float exp_fraction(float hi, float lo, i32* n) {
  const float f = round_product(hi, 1.44269502f, n);
  float r = fma(f, -0.693145752f, hi);
  r = fma(f, -1.42860677e-6f, r) + lo;
  const float p = poly(r, 0.49999994f, 0.16666518f, 0.041668236f, 0.008369013f, 0.0013823969f);
  return fma(r * r, p, r) + 1.0f;
}
TRINE_MATH float exp_of_pair(float hi, float lo) {
  i32 n;
  const float y = exp_fraction(hi, lo, &n);
  return scale(y, n);
}

TRINE_MATH float exp(float x) {
  const float inside = x > 90.0f ? 90.0f : x < -105.0f ? -105.0f : x;
  return exp_of_pair(inside, 0.0f);
}

TRINE_MATH float exp2(float x) {
  const float inside = x > 129.0f ? 129.0f : x < -151.0f ? -151.0f : x;
  i32 n;
  const float r = inside - round_product(inside, 1.0f, &n);
  return scale(poly(r, 1.0f, 0.6931472f, 0.24022645f, 0.05550358f, 0.009618826f, 0.0013391684f, 0.00015244995f), n);
}

TRINE_MATH float exp10(float x) {
  const float inside = x > 39.0f ? 39.0f : x < -46.0f ? -46.0f : x;
  i32 n;
  const float f = round_product(inside, 3.32192802f, &n);
  const float r = fma(f, 1.43209888e-8f, fma(f, -0.30103001f, inside));
  return scale(poly(r, 1.0f, 2.3025851f, 2.6509485f, 2.0346558f, 1.1713235f, 0.5418382f, 0.20536453f), n);
}

// e^x - 1 = 2^n (e^r - 1) + (2^n - 1), with e^r - 1 as a pair since the sum cancels for n = 1.
TRINE_MATH float expm1(float x) {
  const float inside = x > 89.0f ? 89.0f : x < -20.0f ? -20.0f : x;
  i32 n;
  const float f = round_product(inside, 1.44269502f, &n);
  const float r = fma(f, -1.42860677e-6f, fma(f, -0.693145752f, inside));
  const float tail = r * r * poly(r, 0.5f, 0.16666666f, 0.041666474f, 0.008333564f, 0.0013934113f, 0.00019746428f);
  const Pair<float> p = fast_two_sum(r, tail);
  const float half = exp2_normal(0.0f, n - 1);  // 2^n itself would overflow for n = 128
  const float less = half - 0.5f, lacks = (half - less) - 0.5f;
  const Pair<float> sum = fast_two_sum(less, half * p.hi);
  const float y = sum.hi + (fma(half, p.lo, sum.lo) + lacks);
  return fabs(x) < 1e-10f ? x : y + y;
}

}  // namespace trine_math
