#include "trine/dnn/pointwise.h"

#include <fmt/format.h>

#include <cmath>

#include "dnn/families.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kUnaryNames[] = {
    "none", "relu",      "clip", "leaky_relu", "sigmoid",      "tanh",  "silu",        "hardsigmoid", "hardswish",
    "gelu", "gelu_tanh", "elu",  "softplus",   "clipped_relu", "swish", "square_root", "logical_not"};
constexpr std::string_view kBinaryNames[] = {"add", "sub", "mul", "div", "min", "max"};
static_assert(static_cast<int>(Unary::gelu_tanh) == static_cast<int>(Activation::gelu_tanh));

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }
// 1 inside (low, high), 0 outside.
double inside(double x, double low, double high) { return x > low && x < high ? 1 : 0; }

double gelu_tanh_derivative(double x) {
  const double root = std::sqrt(2 / M_PI), t = std::tanh(root * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

std::string pass_text(Pass pass) { return pass == Pass::backward ? "_backward" : ""; }

}  // namespace

std::string_view name(Unary function) { return kUnaryNames[static_cast<size_t>(function)]; }

double apply(Unary function, double x, float alpha, float beta) {
  switch (function) {
    case Unary::elu: return x > 0 ? x : alpha * std::expm1(x);
    case Unary::softplus:
      return std::isnan(x) ? x : (std::fmax(beta * x, 0) + std::log1p(std::exp(-std::abs(beta * x)))) / beta;
    case Unary::clipped_relu: return x < 0 ? 0 : x > alpha ? alpha : x;
    case Unary::swish: return x * sigmoid(beta * x);
    case Unary::square_root: return std::sqrt(x);
    case Unary::logical_not: return 1 - x;
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
    case Unary::logical_not: return -1;
  }
  return 0;
}

std::string text_of(const ActivationProblem& p) {
  return fmt::format("activation{} {}({},{}) of {}", pass_text(p.pass), name(p.function), p.alpha, p.beta, p.elements);
}
std::string text_of(const BinaryProblem& p) {
  return fmt::format("binary {} [{}] [{}] alpha {},{} beta {}", kBinaryNames[static_cast<size_t>(p.op)],
                     fmt::join(p.dims, ","), fmt::join(p.b_dims, ","), p.alpha1, p.alpha2, p.beta);
}
std::string text_of(const DropoutProblem& p) {
  return fmt::format("dropout {} of {} seed {} offset {}", p.rate, p.elements, p.seed, p.offset);
}

// An exponential is counted as 16.
double flops_of(const ActivationProblem& p) {
  const bool cheap = p.function <= Unary::leaky_relu || p.function >= Unary::square_root;
  return static_cast<double>(p.elements) * (cheap ? 1 : 24);
}
double flops_of(const BinaryProblem& p) { return 4 * static_cast<double>(element_count(p.dims)); }
double flops_of(const DropoutProblem& p) { return 30 * static_cast<double>(p.elements); }

OperandSizes sizes_of(const ActivationProblem& p) {
  OperandSizes s;
  const int inputs = p.pass == Pass::forward ? 1 : 3;
  for (int i = 0; i < inputs; ++i) s.in[i] = p.elements;
  s.out[0] = p.elements;
  return s;
}
OperandSizes sizes_of(const BinaryProblem& p) {
  OperandSizes s;
  s.in[0] = s.out[0] = element_count(p.dims);
  s.in[1] = element_count(p.b_dims);
  if (p.beta != 0) s.in[2] = s.out[0];
  return s;
}
OperandSizes sizes_of(const DropoutProblem& p) {
  OperandSizes s;
  s.in[0] = s.out[0] = p.elements;
  return s;
}

}  // namespace trine::dnn
