// Activations: y = f(x; attributes), element by element. e^x - 1 goes through tanh and ln(1 + t) through Kahan's
// quotient in loop IR, so that small arguments keep their digits in f32.
#include <cmath>

#include "ops/activation.h"
#include "ops/elementwise.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;

// e^x - 1 = 2 t / (1 - t), t = tanh(x / 2); for x <= 0.
static Scalar emit_expm1(LowerContext& c, Scalar x) {
  Scalar t = c.apply(ScalarOp::tanh, c.mul(x, c.like(x, 0.5)));
  return c.div(c.add(t, t), c.sub(c.like(t, 1), t));
}

// ln(1 + t) = t ln(u) / (u - 1), u = 1 + t; for 0 <= t <= 1.
static Scalar emit_log1p(LowerContext& c, Scalar t) {
  Scalar one = c.like(t, 1), u = c.add(one, t);
  Scalar quotient = c.div(c.mul(t, c.apply(ScalarOp::log, u)), c.sub(u, one));
  return c.select(c.apply(ScalarOp::equal, u, one), t, quotient);
}

static Scalar where_negative(LowerContext& c, Scalar x, Scalar below, Scalar otherwise) {
  return c.select(c.apply(ScalarOp::less, x, c.like(x, 0)), below, otherwise);
}

Scalar emit_sigmoid(LowerContext& c, Scalar x) {
  Scalar one = c.like(x, 1);
  return c.div(one, c.add(one, c.exp(c.apply(ScalarOp::neg, x))));
}

double real_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static Scalar emit_softplus(LowerContext& c, Scalar x, Coefficients) {
  Scalar t = c.exp(c.apply(ScalarOp::neg, c.apply(ScalarOp::abs, x)));
  return c.add(c.max(x, c.like(x, 0)), emit_log1p(c, t));
}

static double real_softplus(double x, Coefficients) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x))); }

// tanh(ln(1 + e^x)) as a quotient of polynomials in e = e^-|x|, which cannot overflow.
static Scalar emit_mish(LowerContext& c, Scalar x, Coefficients) {
  Scalar e = c.exp(c.apply(ScalarOp::neg, c.apply(ScalarOp::abs, x))), two = c.like(x, 2), one = c.like(x, 1);
  Scalar twice = c.mul(two, e), square = c.mul(e, e);
  Scalar above = c.div(c.add(one, twice), c.add(c.add(one, twice), c.mul(two, square)));
  Scalar sum = c.add(square, twice);
  return c.mul(x, where_negative(c, x, c.div(sum, c.add(sum, two)), above));
}

static Scalar emit_clamped(LowerContext& c, Scalar x) { return c.max(c.like(x, 0), c.min(c.like(x, 1), x)); }
// Written so that NaN passes.
static double clamped(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

static double real_shrink(double x, Coefficients k) {
  return x < -k.b ? x + k.a : x > k.b ? x - k.a : std::isnan(x) ? x : 0;
}

static int64_t integer_shrink(int64_t x, DType type, Coefficients k) {
  const double real = is_unsigned(type) ? static_cast<double>(static_cast<uint64_t>(x)) : static_cast<double>(x);
  const auto bias = static_cast<int64_t>(std::fmin(std::fmax(k.a, -9e18), 9e18));
  const auto moved = static_cast<uint64_t>(bias);
  if (real < -k.b) return static_cast<int64_t>(static_cast<uint64_t>(x) + moved);
  return real > k.b ? static_cast<int64_t>(static_cast<uint64_t>(x) - moved) : 0;
}

static Scalar emit_shrink(LowerContext& c, Scalar x, Coefficients k) {
  if (!is_float(c.type(x))) return {};
  Scalar below = c.apply(ScalarOp::less, x, c.like(x, -k.b)), above = c.apply(ScalarOp::less, c.like(x, k.b), x);
  Scalar middle = c.mul(x, c.like(x, 0));
  return c.select(below, c.add(x, c.like(x, k.a)), c.select(above, c.sub(x, c.like(x, k.a)), middle));
}

constexpr float kSeluAlpha = 1.67326319217681884765625f, kSeluGamma = 1.05070102214813232421875f;

constexpr UnaryRow kActivations[] = {
    // name, onnx, doc, types, real, integer, emit, parameters
    {"relu", "Relu", "max(x, 0)", kFloats | kIntegers, [](double x, Coefficients) { return x < 0 ? 0 : x; },
     [](int64_t x, DType type, Coefficients) { return x < 0 && !is_unsigned(type) ? 0 : x; },
     [](LowerContext& c, Scalar x, Coefficients) { return c.max(x, c.like(x, 0)); }},
    {"leaky_relu", "LeakyRelu", "x < 0 ? alpha x : x", kFloats,
     [](double x, Coefficients k) { return x < 0 ? k.a * x : x; }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients k) { return where_negative(c, x, c.mul(x, c.like(x, k.a)), x); },
     {"alpha", 0.01f}},
    {"elu", "Elu", "x < 0 ? alpha (e^x - 1) : x", kFloats,
     [](double x, Coefficients k) { return x < 0 ? k.a * std::expm1(x) : x; }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients k) {
       return where_negative(c, x, c.mul(c.like(x, k.a), emit_expm1(c, x)), x);
     },
     {"alpha", 1}},
    {"celu", "Celu", "max(0, x) + min(0, alpha (e^(x / alpha) - 1))", kFloats,
     [](double x, Coefficients k) { return x < 0 ? k.a * std::expm1(x / k.a) : x; }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients k) {
       if (k.a <= 0) return Scalar{};
       return where_negative(c, x, c.mul(c.like(x, k.a), emit_expm1(c, c.div(x, c.like(x, k.a)))), x);
     },
     {"alpha", 1}},
    {"selu", "Selu", "gamma (x < 0 ? alpha (e^x - 1) : x)", kFloats,
     [](double x, Coefficients k) { return k.b * (x < 0 ? k.a * std::expm1(x) : x); }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients k) {
       return where_negative(c, x, c.mul(c.like(x, k.a * k.b), emit_expm1(c, x)), c.mul(c.like(x, k.b), x));
     },
     {"alpha", kSeluAlpha}, {"gamma", kSeluGamma}},
    {"sigmoid", "Sigmoid", "1 / (1 + e^-x)", kFloats, [](double x, Coefficients) { return real_sigmoid(x); }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients) { return emit_sigmoid(c, x); }},
    {"swish", "Swish", "x sigmoid(alpha x)", kFloats,
     [](double x, Coefficients k) { return x * real_sigmoid(k.a * x); }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients k) { return c.mul(x, emit_sigmoid(c, c.mul(x, c.like(x, k.a)))); },
     {"alpha", 1}},
    {"quick_gelu", "com.microsoft:QuickGelu", "x sigmoid(alpha x)", kFloats,
     [](double x, Coefficients k) { return x * real_sigmoid(k.a * x); }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients k) { return c.mul(x, emit_sigmoid(c, c.mul(x, c.like(x, k.a)))); },
     {"alpha", 1.702f}},
    {"hard_sigmoid", "HardSigmoid", "max(0, min(1, alpha x + beta))", kFloats,
     [](double x, Coefficients k) { return clamped(k.a * x + k.b); }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients k) {
       return emit_clamped(c, c.add(c.mul(x, c.like(x, k.a)), c.like(x, k.b)));
     },
     {"alpha", 0.2f}, {"beta", 0.5f}},
    {"hard_swish", "HardSwish", "x max(0, min(1, x / 6 + 1/2))", kFloats,
     [](double x, Coefficients) { return x * clamped(x / 6 + 0.5); }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients) {
       return c.mul(x, emit_clamped(c, c.add(c.mul(x, c.like(x, 1.0 / 6)), c.like(x, 0.5))));
     }},
    {"mish", "Mish", "x tanh(ln(1 + e^x))", kFloats,
     [](double x, Coefficients k) { return x * std::tanh(real_softplus(x, k)); }, nullptr, emit_mish},
    {"softplus", "Softplus", "ln(1 + e^x)", kFloats, real_softplus, nullptr, emit_softplus},
    {"softsign", "Softsign", "x / (1 + |x|)", kFloats,
     [](double x, Coefficients) { return x / (1 + std::fabs(x)); }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients) {
       return c.div(x, c.add(c.like(x, 1), c.apply(ScalarOp::abs, x)));
     }},
    {"thresholded_relu", "ThresholdedRelu", "x > alpha ? x : 0; NaN stays", kFloats,
     [](double x, Coefficients k) { return x <= k.a ? 0 : x; }, nullptr,
     [](LowerContext& c, Scalar x, Coefficients k) {
       return c.select(c.apply(ScalarOp::less_equal, x, c.like(x, k.a)), c.like(x, 0), x);
     },
     {"alpha", 1}},
    {"shrink", "Shrink", "x < -lambd ? x + bias : x > lambd ? x - bias : 0", kNumbers, real_shrink, integer_shrink,
     emit_shrink, {"bias", 0}, {"lambd", 0.5f}},
};

[[maybe_unused]] const bool kRegistered = register_rows<kActivations>();

}  // namespace trine
