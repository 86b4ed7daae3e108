// What pointwise problems compute, one value at a time.
#include <cmath>

#include "trine/dnn/pointwise.h"

namespace trine::dnn {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }
// 1 inside (low, high), 0 outside.
double inside(double x, double low, double high) { return x > low && x < high ? 1 : 0; }

double gelu_tanh_derivative(double x) {
  const double root = std::sqrt(2 / M_PI), t = std::tanh(root * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

}  // namespace

double apply(Binary op, double a, double b, double c) {
  switch (op) {
    case Binary::add: return a + b;
    case Binary::sub: return a - b;
    case Binary::mul: return a * b;
    case Binary::div: return a / b;
    case Binary::min: return std::isnan(a + b) ? a + b : std::fmin(a, b);
    case Binary::max: return std::isnan(a + b) ? a + b : std::fmax(a, b);
    case Binary::power: return std::pow(a, b);
    case Binary::remainder: return std::fmod(a, b);
    case Binary::arctangent: return std::atan2(a, b);
    case Binary::add_square: return a + b * b;
    case Binary::equal: return a == b;
    case Binary::not_equal: return a != b;
    case Binary::greater: return a > b;
    case Binary::greater_equal: return a >= b;
    case Binary::less: return a < b;
    case Binary::less_equal: return a <= b;
    case Binary::logical_and: return a != 0 && b != 0;
    case Binary::logical_or: return a != 0 || b != 0;
    case Binary::select: return c != 0 ? a : b;
  }
  return 0;
}

double apply(Unary function, double x, float alpha, float beta) {
  switch (function) {
    case Unary::elu: return x > 0 ? x : alpha * std::expm1(x);
    case Unary::softplus:
      return std::isnan(x) ? x : (std::fmax(beta * x, 0) + std::log1p(std::exp(-std::abs(beta * x)))) / beta;
    case Unary::clipped_relu: return x < 0 ? 0 : x > alpha ? alpha : x;
    case Unary::swish: return x * sigmoid(beta * x);
    case Unary::square_root: return std::sqrt(x);
    case Unary::logical_not: return 1 - x;
    case Unary::negate: return -x;
    case Unary::absolute: return std::abs(x);
    case Unary::ceil: return std::ceil(x);
    case Unary::floor: return std::floor(x);
    case Unary::exponential: return std::exp(x);
    case Unary::logarithm: return std::log(x);
    case Unary::reciprocal: return 1 / x;
    case Unary::reciprocal_root: return 1 / std::sqrt(x);
    case Unary::sine: return std::sin(x);
    case Unary::cosine: return std::cos(x);
    case Unary::tangent: return std::tan(x);
    case Unary::error_function: return std::erf(x);
    default: return apply(static_cast<Activation>(function), x, alpha, beta);
  }
}

double derivative(Unary function, double x, float alpha, float beta) {
  if (std::isnan(x)) return x;
  const double s = sigmoid(x), b = beta;
  switch (function) {
    case Unary::none: return 1;
    case Unary::relu: return x > 0 ? 1 : 0;
    case Unary::clip: return inside(x, alpha, beta);
    case Unary::leaky_relu: return x > 0 ? 1 : alpha;
    case Unary::sigmoid: return s * (1 - s);
    case Unary::tanh: return 1 - std::tanh(x) * std::tanh(x);
    case Unary::silu: return s + x * s * (1 - s);
    case Unary::hardsigmoid: return alpha * inside(alpha * x + b, 0, 1);
    case Unary::hardswish: return x <= -3 ? 0 : x >= 3 ? 1 : x / 3 + 0.5;
    case Unary::gelu: return std::erfc(-x * M_SQRT1_2) / 2 + x * normal_density(x);
    case Unary::gelu_tanh: return gelu_tanh_derivative(x);
    case Unary::elu: return x > 0 ? 1 : alpha * std::exp(x);
    case Unary::softplus: return sigmoid(b * x);
    case Unary::clipped_relu: return inside(x, 0, alpha);
    case Unary::swish: return sigmoid(b * x) * (1 + b * x * (1 - sigmoid(b * x)));
    case Unary::square_root: return 0.5 / std::sqrt(x);
    case Unary::logical_not:
    case Unary::negate: return -1;
    case Unary::absolute: return x > 0 ? 1 : x < 0 ? -1 : 0;
    case Unary::ceil:
    case Unary::floor: return 0;
    case Unary::exponential: return std::exp(x);
    case Unary::logarithm: return 1 / x;
    case Unary::reciprocal: return -1 / (x * x);
    case Unary::reciprocal_root: return -0.5 / (x * std::sqrt(x));
    case Unary::sine: return std::cos(x);
    case Unary::cosine: return -std::sin(x);
    case Unary::tangent: return 1 + std::tan(x) * std::tan(x);
    case Unary::error_function: return 2 / std::sqrt(M_PI) * std::exp(-x * x);
  }
  return 0;
}

}  // namespace trine::dnn
