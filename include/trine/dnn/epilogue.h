// Epilogue: what a contraction does to each sum before it is stored, while it is still in registers.
//
//   y = act(sum + bias[channel] + residual)       residual before the activation (ResNet)
//   y = act(sum + bias[channel]) + residual       residual after it (YOLO, MobileNet)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trine::dnn {

enum class Activation : uint8_t {
  none,
  relu,
  clip,        // min(max(x, alpha), beta)
  leaky_relu,  // x < 0 ? alpha * x : x
  sigmoid,
  tanh,
  silu,         // x * sigmoid(x)
  hardsigmoid,  // min(max(alpha * x + beta, 0), 1)
  hardswish,    // x * min(max(x/6 + 1/2, 0), 1)
  gelu,         // x/2 * (1 + erf(x / sqrt 2))
  gelu_tanh,    // x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
};
std::string_view name(Activation activation);

enum class Residual : uint8_t { none, before_activation, after_activation };

struct Epilogue {
  bool bias = false;
  Residual residual = Residual::none;
  Activation activation = Activation::none;
  float alpha = 0;
  float beta = 0;

  bool is_plain() const { return *this == Epilogue{}; }
  std::string text() const;  // "+bias relu", "+bias +residual clip(0,6)"; empty when plain
  friend bool operator==(const Epilogue&, const Epilogue&) = default;
};

// The activation of one value in f64: what every kernel must agree with.
double apply(Activation activation, double x, float alpha, float beta);

}  // namespace trine::dnn
