#include "trine/dnn/epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trine::dnn {
namespace {

constexpr std::string_view kNames[] = {"none", "relu",        "clip",      "leaky_relu", "sigmoid",  "tanh",
                                       "silu", "hardsigmoid", "hardswish", "gelu",       "gelu_tanh"};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// As max and min, but a NaN in x stays.
double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

}  // namespace

std::string_view name(Activation activation) { return kNames[static_cast<size_t>(activation)]; }

std::string Epilogue::text() const {
  std::string act;
  if (activation != Activation::none) act = std::string(" ") + std::string(name(activation));
  bool has_alpha =
      activation == Activation::clip || activation == Activation::leaky_relu || activation == Activation::hardsigmoid;
  if (has_alpha)
    act += activation == Activation::leaky_relu ? fmt::format("({})", alpha) : fmt::format("({},{})", alpha, beta);
  std::string text;
  if (bias) text += " +bias";
  if (residual == Residual::before_activation) text += " +residual";
  text += act;
  if (residual == Residual::after_activation) text += " +residual";
  return text.empty() ? text : text.substr(1);
}

double apply(Activation activation, double x, float alpha, float beta) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::relu: return x < 0 ? 0 : x;
    case Activation::clip: return clamp(x, alpha, beta);
    case Activation::leaky_relu: return x < 0 ? alpha * x : x;
    case Activation::sigmoid: return sigmoid(x);
    case Activation::tanh: return std::tanh(x);
    case Activation::silu: return x * sigmoid(x);
    case Activation::hardsigmoid: return clamp(alpha * x + beta, 0, 1);
    case Activation::hardswish: return x * clamp(x / 6 + 0.5, 0, 1);
    case Activation::gelu: return x / 2 * std::erfc(-x * M_SQRT1_2);
    case Activation::gelu_tanh: return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return x;
}

}  // namespace trine::dnn
