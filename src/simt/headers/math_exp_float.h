// Exponentials of float: n = round(x / ln 2), e^r by a polynomial on |r| <= ln(2) / 2, times 2^n.
// GPUs have an instruction for 2^r, within 2 ulp of 1 <= 2^r < 2, which takes the polynomial's place in exp, exp2 and
// exp10; of what is constant the compiler makes the polynomial.
// Bounds in ulp: exp, exp2, exp10 1 (GPUs 2), expm1 1.
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

#ifdef __CUDA_ARCH__
#define TRINE_MACHINE_EXP(x) (!TRINE_ON_CPU && !__builtin_constant_p(x))

// e^x on GPUs: hi + lo = log2(e), and 2^n with n = floor(x log2(e)) between -126 and 126, by shifting what adding
// 1.5 2^23 + 1 leaves in the low bits. What is past these ends stays in r, and the product overflows or is denormal.
TRINE_MATH float machine_exp(float x, float hi, float lo) {
  const float part = __nvvm_saturate_f(fma(x, hi / 252.0f, 0.5f));
  const float t = __nvvm_fma_rm_f(part, 252.0f, 12582913.0f);
  const float r = fma(x, lo, fma(x, hi, 12583039.0f - t));
  {
#pragma clang fp contract(fast)  // the product is exact but for denormal numbers
    return from_bits(to_bits(t) << 23) * __nvvm_ex2_approx_ftz_f(r);
  }
}
#endif

TRINE_MATH float exp(float x) {
#ifdef __CUDA_ARCH__
  if (TRINE_MACHINE_EXP(x)) return machine_exp(x, 1.44269502f, 1.925963e-8f);
#endif
  const float inside = x > 90.0f ? 90.0f : x < -105.0f ? -105.0f : x;
  return exp_of_pair(inside, 0.0f);
}

TRINE_MATH float exp2(float x) {
#ifdef __CUDA_ARCH__
  if (TRINE_MACHINE_EXP(x)) return __nvvm_ex2_approx_f(x);
#endif
  const float inside = x > 129.0f ? 129.0f : x < -151.0f ? -151.0f : x;
  i32 n;
  const float r = inside - round_product(inside, 1.0f, &n);
  return scale(poly(r, 1.0f, 0.6931472f, 0.24022645f, 0.05550358f, 0.009618826f, 0.0013391684f, 0.00015244995f), n);
}

TRINE_MATH float exp10(float x) {
#ifdef __CUDA_ARCH__
  if (TRINE_MACHINE_EXP(x)) return machine_exp(x, 3.32192802f, 7.0595370e-8f);
#endif
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
