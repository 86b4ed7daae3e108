// The fast functions of float, __expf and its like: on GPUs the machine's approximations, on CPUs short polynomials
// without the care for denormal numbers. Errors: docs/device-math.md.
#pragma once

#include "math_base.h"

namespace trine_math {

// 2^x: a polynomial of the fraction.
TRINE_MATH float fast_exp2(float x) {
#ifdef __CUDA_ARCH__
  if (!TRINE_ON_CPU) return __nvvm_ex2_approx_f(x);
#endif
  const float inside = x > 129.0f ? 129.0f : x < -130.0f ? -130.0f : x;
  i32 n;
  const float r = inside - round_product(inside, 1.0f, &n);
  return scale(poly(r, 1.0000001f, 0.6931472f, 0.24022107f, 0.05550357f, 0.009676032f, 0.0013390863f), n);
}
// The exponent, and f P(f) of the mantissa 1 + f in [2/3, 4/3).
TRINE_MATH float fast_log2(float x) {
#ifdef __CUDA_ARCH__
  if (!TRINE_ON_CPU) return __nvvm_lg2_approx_f(x);
#endif
  const u32 bits = to_bits(x), exponent = (bits - 0x3f2aaaabu) & 0xff800000u;
  const float e = static_cast<float>(static_cast<i32>(exponent) >> 23);
  const float f = from_bits(bits - exponent) - 1.0f;
  const float y = fma(f,
                      poly(f, 1.4426948f, -0.72134733f, 0.48096457f, -0.36073357f, 0.28560448f, -0.23779967f,
                           0.24672696f, -0.21699235f),
                      e);
  const bool plain = x >= 1.17549435e-38f && x < infinity<float>();
  return plain                                ? y
         : x >= infinity<float>() || isnan(x) ? x
         : x > -1.17549435e-38f               ? -infinity<float>()
                                              : quiet_nan<float>();
}
TRINE_MATH float fast_exp(float x) { return fast_exp2(x * 1.44269504f); }
TRINE_MATH float fast_exp10(float x) { return fast_exp2(x * 3.32192809f); }
TRINE_MATH float fast_log(float x) { return fast_log2(x) * 0.693147181f; }
TRINE_MATH float fast_log10(float x) { return fast_log2(x) * 0.301029996f; }
TRINE_MATH float fast_pow(float x, float y) { return fast_exp2(y * fast_log2(x)); }

// sin(r + n pi), where f = n is taken from x first: good while x has few turns.
TRINE_MATH float fast_wave(float x, float f, i32 n) {
  const float r = fma(f, 8.74227766e-8f, fma(f, -3.14159274f, x)), z = r * r;
  const float y = fma(r * z, poly(z, -0.16666658f, 0.00833305f, -0.00019809017f, 2.6051077e-06f), r);
  return from_bits(to_bits(y) ^ static_cast<u32>(n) << 31);
}
TRINE_MATH float fast_sin(float x) {
#ifdef __CUDA_ARCH__
  if (!TRINE_ON_CPU) return __nvvm_sin_approx_f(x);
#endif
  i32 n;
  const float f = round_product(x, 0.318309886f, &n);
  return fast_wave(x, f, n);
}
TRINE_MATH float fast_cos(float x) {
#ifdef __CUDA_ARCH__
  if (!TRINE_ON_CPU) return __nvvm_cos_approx_f(x);
#endif
  i32 n;
  const float f = round_product(x + 1.57079633f, 0.318309886f, &n) - 0.5f;
  return fast_wave(x, f, n);
}
TRINE_MATH float fast_divide(float x, float y) {
#ifdef __CUDA_ARCH__
  if (!TRINE_ON_CPU) return __nvvm_div_approx_f(x, y);
#endif
  return x / y;
}
TRINE_MATH float fast_tan(float x) { return fast_divide(fast_sin(x), fast_cos(x)); }

}  // namespace trine_math
