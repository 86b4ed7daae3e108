// Activations as operators: y = f(x; attributes), element by element. What an epilogue can do as well is one of
// ops/activation.h and has its formula there.
#include <cmath>

#include "ops/activation.h"
#include "ops/elementwise.h"

namespace trine {
namespace {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;
using Kind = Activation::Kind;

template <Kind kind>
double real_activation(double x, Coefficients k) {
  return apply(Activation{kind, k.a, k.b}, x);
}

template <Kind kind>
Scalar emit_activation(LowerContext& c, Scalar x, Coefficients k) {
  return lower(c, Activation{kind, k.a, k.b}, x);
}

template <Kind kind>
constexpr UnaryRow activation(std::string_view name, std::string_view onnx, std::string_view doc, Parameter a = {},
                              Parameter b = {}) {
  return {name, onnx, doc, "f", real_activation<kind>, nullptr, emit_activation<kind>, a, b};
}

int64_t integer_relu(int64_t x, DType type, Coefficients) { return x < 0 && !is_unsigned(type) ? 0 : x; }

double real_celu(double x, Coefficients k) { return x < 0 ? k.a * std::expm1(x / k.a) : x; }

Scalar emit_celu(LowerContext& c, Scalar x, Coefficients k) {
  if (k.a <= 0) return {};
  Scalar y = lower(c, Activation{Kind::elu, 1, 0}, c.div(x, c.like(x, k.a)));
  return c.mul(c.like(x, k.a), y);
}

double real_selu(double x, Coefficients k) { return k.b * apply(Activation{Kind::elu, k.a, 0}, x); }

Scalar emit_selu(LowerContext& c, Scalar x, Coefficients k) {
  return c.mul(c.like(x, k.b), lower(c, Activation{Kind::elu, k.a, 0}, x));
}

double real_shrink(double x, Coefficients k) { return x < -k.b ? x + k.a : x > k.b ? x - k.a : std::isnan(x) ? x : 0; }

int64_t integer_shrink(int64_t x, DType type, Coefficients k) {
  const double real = is_unsigned(type) ? static_cast<double>(static_cast<uint64_t>(x)) : static_cast<double>(x);
  const auto bias = static_cast<uint64_t>(static_cast<int64_t>(std::fmin(std::fmax(k.a, -9e18), 9e18)));
  if (real < -k.b) return static_cast<int64_t>(static_cast<uint64_t>(x) + bias);
  return real > k.b ? static_cast<int64_t>(static_cast<uint64_t>(x) - bias) : 0;
}

Scalar emit_shrink(LowerContext& c, Scalar x, Coefficients k) {
  if (!is_float(c.type(x))) return {};
  Scalar below = c.apply(ScalarOp::less, x, c.like(x, -k.b)), above = c.apply(ScalarOp::less, c.like(x, k.b), x);
  Scalar middle = c.mul(x, c.like(x, 0));  // NaN stays
  return c.select(below, c.add(x, c.like(x, k.a)), c.select(above, c.sub(x, c.like(x, k.a)), middle));
}

constexpr float kSeluAlpha = 1.67326319217681884765625f, kSeluGamma = 1.05070102214813232421875f;

constexpr UnaryRow kActivations[] = {
    {"relu", "Relu", "max(x, 0)", "fi", real_activation<Kind::relu>, integer_relu, emit_activation<Kind::relu>},
    activation<Kind::sigmoid>("sigmoid", "Sigmoid", "1 / (1 + e^-x)"),
    activation<Kind::silu>("swish", "Swish", "x sigmoid(alpha x)", {"alpha", 1}),
    activation<Kind::silu>("quick_gelu", "com.microsoft:QuickGelu", "x sigmoid(alpha x)", {"alpha", 1.702f}),
    activation<Kind::hard_sigmoid>("hard_sigmoid", "HardSigmoid", "max(0, min(1, alpha x + beta))", {"alpha", 0.2f},
                                   {"beta", 0.5f}),
    activation<Kind::hard_swish>("hard_swish", "HardSwish", "x max(0, min(1, x / 6 + 1/2))"),
    activation<Kind::leaky_relu>("leaky_relu", "LeakyRelu", "x < 0 ? alpha x : x", {"alpha", 0.01f}),
    activation<Kind::elu>("elu", "Elu", "x < 0 ? alpha (e^x - 1) : x", {"alpha", 1}),
    activation<Kind::softplus>("softplus", "Softplus", "ln(1 + e^x)"),
    activation<Kind::softsign>("softsign", "Softsign", "x / (1 + |x|)"),
    activation<Kind::mish>("mish", "Mish", "x tanh(ln(1 + e^x))"),
    activation<Kind::thresholded_relu>("thresholded_relu", "ThresholdedRelu", "x > alpha ? x : 0", {"alpha", 1}),
    // name, onnx, doc, types, real, integer, emit, parameters
    {"celu", "Celu", "max(0, x) + min(0, alpha (e^(x / alpha) - 1))", "f", real_celu, nullptr, emit_celu, {"alpha", 1}},
    {"selu",
     "Selu",
     "gamma (x < 0 ? alpha (e^x - 1) : x)",
     "f",
     real_selu,
     nullptr,
     emit_selu,
     {"alpha", kSeluAlpha},
     {"gamma", kSeluGamma}},
    {"shrink",
     "Shrink",
     "x < -lambd ? x + bias : x > lambd ? x - bias : 0",
     "fi",
     real_shrink,
     integer_shrink,
     emit_shrink,
     {"bias", 0},
     {"lambd", 0.5f}},
};

[[maybe_unused]] const bool kRegistered = register_rows<kActivations>();

}  // namespace
}  // namespace trine
