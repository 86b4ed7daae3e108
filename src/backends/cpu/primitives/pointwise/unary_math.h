// The functions of dnn::Unary and their gradients over the vectors of simd.h.
#pragma once

#include "backends/cpu/kernels/simd/vector_math.h"
#include "trine/dnn/pointwise.h"

namespace trine::cpu {
namespace {

using dnn::Unary;

[[gnu::always_inline]] inline V absolute(V x) { return vmax(sub(zero(), x), x); }
// x > low ? a : b; a for a NaN in x.
[[gnu::always_inline]] inline V where_above(V x, float low, V a, V b) {
  return select(less(x, set1(low)), b, select(equal(x, set1(low)), b, a));
}
// x < high ? a : b; a for a NaN in x.
[[gnu::always_inline]] inline V where_below(V x, float high, V a, V b) {
  return select(less(set1(high), x), b, select(equal(x, set1(high)), b, a));
}
[[gnu::always_inline]] inline V where_inside(V x, float low, float high, V a) {
  return where_above(x, low, where_below(x, high, a, zero()), zero());
}

// Functions that are rare enough to go lane by lane.
template <class F>
[[gnu::noinline]] V by_lanes(V x, F f) {
  float lanes[kWidth];
  store(lanes, x);
  for (float& v : lanes) v = f(v);
  return load(lanes);
}

[[gnu::always_inline]] inline V unary(Unary function, V x, float alpha, float beta) {
  switch (function) {
    case Unary::elu: return select(less(zero(), x), x, mul(set1(alpha), sub(exp(x), set1(1.f))));
    case Unary::softplus: {
      V t = mul(x, set1(beta));
      V y = add(vmax(zero(), t), log1p_unit(exp(sub(zero(), absolute(t)))));
      return div(y, set1(beta));
    }
    case Unary::clipped_relu: return clamp(x, 0, alpha);
    case Unary::swish: return mul(x, sigmoid(mul(x, set1(beta))));
    case Unary::square_root: return square_root(x);
    case Unary::logical_not: return sub(set1(1.f), x);
    case Unary::negate: return sub(set1(-0.f), x);
    case Unary::absolute: return absolute(x);
    case Unary::ceil: return by_lanes(x, [](float v) { return std::ceil(v); });
    case Unary::floor: return by_lanes(x, [](float v) { return std::floor(v); });
    case Unary::exponential: return exp(x);
    case Unary::logarithm: return by_lanes(x, [](float v) { return std::log(v); });
    case Unary::reciprocal: return div(set1(1.f), x);
    case Unary::reciprocal_root: return div(set1(1.f), square_root(x));
    case Unary::sine: return by_lanes(x, [](float v) { return std::sin(v); });
    case Unary::cosine: return by_lanes(x, [](float v) { return std::cos(v); });
    case Unary::tangent: return by_lanes(x, [](float v) { return std::tan(v); });
    case Unary::error_function: return by_lanes(x, [](float v) { return std::erf(v); });
    default: return activate(static_cast<Activation>(function), x, alpha, beta);
  }
}

// d/dx (x sigmoid(t)) = s + x t' s (1 - s), s = sigmoid(t). s (1 - s) = e / (1 + e)^2 with e = exp(-|t|): 1 - s itself
// would have no digits left where s is almost 1, and x t' is large there.
[[gnu::always_inline]] inline V gated_slope(V t, V x_dt) {
  V e = exp(sub(zero(), absolute(t)));
  V r = div(set1(1.f), add(set1(1.f), e));
  V s = select(less(t, zero()), mul(e, r), r);
  return fma(x_dt, mul(mul(e, r), r), s);
}

[[gnu::always_inline]] inline V swish_slope(V x, float beta) {
  V t = clamp(mul(x, set1(beta)), -100, 100);  // past 100 the slope is 0 or 1
  return gated_slope(t, t);
}

[[gnu::always_inline]] inline V gelu_slope(V x) {
  V density = mul(exp(mul(mul(x, x), set1(-.5f))), set1(.39894228f));
  return fma(x, density, fma(erf(mul(x, set1(.70710678f))), set1(.5f), set1(.5f)));
}

// gelu_tanh(x) = x sigmoid(t),  t = 2 sqrt(2/pi) (x + 0.044715 x^3).
[[gnu::always_inline]] inline V gelu_tanh_slope(V value) {
  V x = clamp(value, -10, 10), square = mul(x, x);  // past 10 the slope is 0 or 1
  V t = mul(mul(x, set1(1.59576912f)), fma(square, set1(.044715f), set1(1.f)));
  V x_dt = mul(mul(x, set1(1.59576912f)), fma(square, set1(3 * .044715f), set1(1.f)));
  return gated_slope(t, x_dt);
}

// dy * function'(x), y = function(x).
[[gnu::always_inline]] inline V unary_gradient(Unary function, V x, V y, V dy, float alpha, float beta) {
  switch (function) {
    case Unary::none: return dy;
    case Unary::relu: return where_above(x, 0, dy, zero());
    case Unary::clip: return where_inside(x, alpha, beta, dy);
    case Unary::leaky_relu: return where_above(x, 0, dy, mul(dy, set1(alpha)));
    case Unary::sigmoid: return mul(dy, mul(y, sub(set1(1.f), y)));
    case Unary::tanh: return mul(dy, fnma(y, y, set1(1.f)));
    case Unary::silu: return mul(dy, swish_slope(x, 1));
    case Unary::hardsigmoid: return where_inside(fma(x, set1(alpha), set1(beta)), 0, 1, mul(dy, set1(alpha)));
    case Unary::hardswish: {
      V between = mul(dy, fma(x, set1(1.f / 3), set1(.5f)));
      return where_above(x, -3, where_below(x, 3, between, dy), zero());
    }
    case Unary::gelu: return mul(dy, gelu_slope(x));
    case Unary::gelu_tanh: return mul(dy, gelu_tanh_slope(x));
    case Unary::elu: return where_above(x, 0, dy, mul(dy, add(y, set1(alpha))));
    case Unary::softplus: return mul(dy, sigmoid(mul(x, set1(beta))));
    case Unary::clipped_relu: return where_inside(x, 0, alpha, dy);
    case Unary::swish: return mul(dy, swish_slope(x, beta));
    case Unary::square_root: return div(mul(dy, set1(.5f)), y);
    case Unary::logical_not:
    case Unary::negate: return sub(zero(), dy);
    case Unary::absolute: return where_above(x, 0, dy, select(less(x, zero()), sub(zero(), dy), zero()));
    case Unary::ceil:
    case Unary::floor: return zero();
    case Unary::exponential: return mul(dy, y);
    case Unary::logarithm: return div(dy, x);
    case Unary::reciprocal: return sub(zero(), mul(dy, mul(y, y)));
    case Unary::reciprocal_root: return mul(mul(dy, set1(-.5f)), div(y, x));
    case Unary::sine: return mul(dy, by_lanes(x, [](float v) { return std::cos(v); }));
    case Unary::cosine: return sub(zero(), mul(dy, by_lanes(x, [](float v) { return std::sin(v); })));
    case Unary::tangent: return mul(dy, fma(y, y, set1(1.f)));
    case Unary::error_function: return mul(dy, mul(exp(mul(mul(x, x), set1(-1.f))), set1(1.12837917f)));
  }
  return dy;
}

}  // namespace
}  // namespace trine::cpu
