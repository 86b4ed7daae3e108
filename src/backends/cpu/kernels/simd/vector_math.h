// exp, sigmoid, tanh, erf and the activations over the vectors of simd.h. Errors: exp 1 ulp,
// sigmoid 2.5 ulp, tanh 5 ulp, erf 2e-7 absolute (3.6 ulp of small results).
#pragma once

#include <cmath>

#include "backends/cpu/kernels/simd/simd.h"
#include "trine/dnn/epilogue.h"

namespace trine::cpu {
namespace {

using dnn::Activation;

// e^x for x in [-104.5, 89]: 2^n * e^r with x = n ln 2 + r, |r| <= ln 2 / 2; ln 2 in two parts, degree 6.
[[gnu::always_inline]] inline V exp_bounded(V x) {
  V n = round_even(mul(x, set1(1.44269504f)));
  V r = fnma(n, set1(0.693145752f), x);
  r = fnma(n, set1(1.42860677e-6f), r);
  V p = set1(1.3824426e-3f);
  p = fma(p, r, set1(8.3701893e-3f));
  p = fma(p, r, set1(4.1669480e-2f));
  p = fma(p, r, set1(1.6666519e-1f));
  p = fma(p, r, set1(4.9999991e-1f));
  p = fma(p, r, set1(1.f));
  p = fma(p, r, set1(1.f));
  return scale_by_power(p, n);
}

[[gnu::always_inline]] inline V exp(V x) { return exp_bounded(vmin(set1(89.f), vmax(set1(-104.5f), x))); }

// ln of m = (1 + s) / (1 - s) for |s| <= 1/3: 2 atanh(s), terms up to s^15.
[[gnu::always_inline]] inline V log_of_ratio(V s) {
  V t = mul(s, s);
  V p = set1(2.f / 15);
  p = fma(p, t, set1(2.f / 13));
  p = fma(p, t, set1(2.f / 11));
  p = fma(p, t, set1(2.f / 9));
  p = fma(p, t, set1(2.f / 7));
  p = fma(p, t, set1(2.f / 5));
  p = fma(p, t, set1(2.f / 3));
  p = fma(p, t, set1(2.f));
  return mul(p, s);
}

// For positive normal x; 2e-7 absolute beside 1 ulp. A NaN stays.
[[gnu::always_inline]] inline V log(V x) {
  V n = exponent(mul(x, set1(4.f / 3)));
  V m = scale_by_power(x, sub(zero(), n));  // in [3/4, 3/2)
  V y = log_of_ratio(div(sub(m, set1(1.f)), add(m, set1(1.f))));
  return fma(n, set1(0.693145752f), fma(n, set1(1.42860677e-6f), y));
}

// ln(1 + u) for u in [0, 1], 2 ulp.
[[gnu::always_inline]] inline V log1p_unit(V u) { return log_of_ratio(div(u, add(set1(2.f), u))); }

[[gnu::always_inline]] inline V sigmoid(V x) { return div(set1(1.f), add(set1(1.f), exp(sub(zero(), x)))); }

// x * P(x^2) / Q(x^2), P of degree 6 and Q of degree 3, clamped where tanh rounds to 1.
[[gnu::always_inline]] inline V tanh(V value) {
  V x = vmax(set1(-7.90531f), vmin(set1(7.90531f), value));
  V t = mul(x, x);
  V p = set1(-2.76076847742355e-16f);
  p = fma(p, t, set1(2.00018790482477e-13f));
  p = fma(p, t, set1(-8.60467152213735e-11f));
  p = fma(p, t, set1(5.12229709037114e-08f));
  p = fma(p, t, set1(1.48572235717979e-05f));
  p = fma(p, t, set1(6.37261928875436e-04f));
  p = fma(p, t, set1(4.89352455891786e-03f));
  V q = set1(1.19825839466702e-06f);
  q = fma(q, t, set1(1.18534705686654e-04f));
  q = fma(q, t, set1(2.26843463243900e-03f));
  q = fma(q, t, set1(4.89352518554385e-03f));
  return mul(mul(p, x), reciprocal(q));
}

// erf(x) = x * P(u), u = 2 x^2 / 3.93^2 - 1: Chebyshev interpolation of degree 15, in powers of u.
constexpr float kErf[16] = {3.598201997e-01f, -1.796602924e-01f, 1.337821543e-01f, -1.090015213e-01f,
                            9.055091716e-02f, -7.410812604e-02f, 5.866217771e-02f, -4.382619747e-02f,
                            2.989409484e-02f, -2.005435579e-02f, 1.465562722e-02f, -8.158267690e-03f,
                            1.831784888e-03f, -1.210267102e-03f, 2.219073759e-03f, -9.440908453e-04f};
// Even and odd terms are summed apart: one chain of 15 steps is longer than processors look ahead.
[[gnu::always_inline]] inline V erf(V value) {
  V x = vmax(set1(-3.93f), vmin(set1(3.93f), value));
  V u = fma(mul(x, x), set1(2.f / (3.93f * 3.93f)), set1(-1.f)), u2 = mul(u, u);
  V odd = set1(kErf[15]), even = set1(kErf[14]);
  for (int i = 12; i >= 0; i -= 2) {
    odd = fma(odd, u2, set1(kErf[i + 1]));
    even = fma(even, u2, set1(kErf[i]));
  }
  return mul(fma(odd, u, even), x);
}

[[gnu::always_inline]] inline V clamp(V x, float low, float high) { return vmin(set1(high), vmax(set1(low), x)); }

[[gnu::always_inline]] inline V activate(Activation activation, V x, float alpha, float beta) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::relu: return vmax(zero(), x);
    case Activation::clip: return clamp(x, alpha, beta);
    case Activation::leaky_relu: return select(less(x, zero()), mul(x, set1(alpha)), x);
    case Activation::sigmoid: return sigmoid(x);
    case Activation::tanh: return tanh(x);
    case Activation::silu: return mul(x, sigmoid(x));
    case Activation::hardsigmoid: return clamp(fma(x, set1(alpha), set1(beta)), 0, 1);
    case Activation::hardswish: return mul(x, clamp(fma(x, set1(1.f / 6), set1(.5f)), 0, 1));
    case Activation::gelu: {
      V half = mul(x, set1(.5f));
      return fma(half, erf(mul(x, set1(.70710678f))), half);
    }
    case Activation::gelu_tanh: {
      V inner = mul(mul(x, set1(.79788456f)), fma(mul(x, x), set1(.044715f), set1(1.f)));
      V half = mul(x, set1(.5f));
      return fma(half, tanh(inner), half);
    }
  }
  return x;
}

}  // namespace
}  // namespace trine::cpu
