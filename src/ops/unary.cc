// Elementary functions of one number. Source: the ONNX operator text; round is half to even, sign and abs keep NaN.
#include <cmath>
#include <limits>

#include "ops/elementwise.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;

static int64_t integer_abs(int64_t x, DType type, Coefficients) {
  return x < 0 && !is_unsigned(type) ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x;
}

static Scalar emit_abs(LowerContext& c, Scalar x, Coefficients) {
  return is_unsigned(c.type(x)) ? x : c.apply(ScalarOp::abs, x);
}

static double real_sign(double x, Coefficients) { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x; }

static int64_t integer_sign(int64_t x, DType type, Coefficients) {
  if (is_unsigned(type)) return x != 0;
  return (x > 0) - (x < 0);
}

static Scalar emit_sign(LowerContext& c, Scalar x, Coefficients) {
  if (is_unsigned(c.type(x))) return c.select(c.apply(ScalarOp::equal, x, c.like(x, 0)), x, c.like(x, 1));
  return c.apply(ScalarOp::sign, x);
}

static int64_t integer_neg(int64_t x, DType, Coefficients) {
  return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
}

static double real_is_inf(double x, Coefficients detect) {
  return std::isinf(x) && (x > 0 ? detect.a != 0 : detect.b != 0);
}

static Scalar emit_is_inf(LowerContext& c, Scalar x, Coefficients detect) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (detect.a != 0 && detect.b != 0) return c.apply(ScalarOp::is_inf, x);
  if (detect.a == 0 && detect.b == 0) return c.constant(DType::boolean, 0);
  return c.apply(ScalarOp::equal, x, c.like(x, detect.a != 0 ? kInfinity : -kInfinity));
}

static Dim dim_neg(const Dim& x) { return Dim(0) - x; }
static Dim dim_abs(const Dim& x) { return never_negative(x) ? x : max(x, Dim(0) - x); }
static Dim dim_not(const Dim& x) { return Dim(1) - x; }

constexpr UnaryRow kUnary[] = {
    // name, onnx, doc, types, real, integer, emit, parameters, result, content
    {"abs", "Abs", "|x|", "fi", real_of<std::fabs>, integer_abs, emit_abs, {}, {}, DType::none, dim_abs},
    {"sign", "Sign", "-1, 0 or 1; NaN stays", "fi", real_sign, integer_sign, emit_sign},
    {"neg",
     "Neg",
     "-x",
     "fi",
     [](double x, Coefficients) { return -x; },
     integer_neg,
     emit_unary<ScalarOp::neg>,
     {},
     {},
     DType::none,
     dim_neg},
    {"reciprocal", "Reciprocal", "1 / x", "f", [](double x, Coefficients) { return 1 / x; }, nullptr,
     emit_unary<ScalarOp::reciprocal>},
    {"sqrt", "Sqrt", "x^(1/2); NaN below 0", "f", real_of<std::sqrt>, nullptr, emit_unary<ScalarOp::sqrt>},
    {"exp", "Exp", "e^x", "f", real_of<std::exp>, nullptr, emit_unary<ScalarOp::exp>},
    {"log", "Log", "ln x", "f", real_of<std::log>, nullptr, emit_unary<ScalarOp::log>},
    {"erf", "Erf", "error function", "f", real_of<std::erf>, nullptr, emit_unary<ScalarOp::erf>},
    {"floor", "Floor", "largest integer <= x", "f", real_of<std::floor>, nullptr, emit_unary<ScalarOp::floor>},
    {"ceil", "Ceil", "smallest integer >= x", "f", real_of<std::ceil>, nullptr, emit_unary<ScalarOp::ceil>},
    {"round", "Round", "nearest integer, half to even", "f", real_of<std::nearbyint>, nullptr,
     emit_unary<ScalarOp::round>},
    {"sin", "Sin", "sin x", "f", real_of<std::sin>, nullptr, emit_unary<ScalarOp::sin>},
    {"cos", "Cos", "cos x", "f", real_of<std::cos>, nullptr, emit_unary<ScalarOp::cos>},
    {"tan", "Tan", "tan x", "f", real_of<std::tan>, nullptr, emit_unary<ScalarOp::tan>},
    {"asin", "Asin", "asin x", "f", real_of<std::asin>, nullptr, emit_unary<ScalarOp::asin>},
    {"acos", "Acos", "acos x", "f", real_of<std::acos>, nullptr, emit_unary<ScalarOp::acos>},
    {"atan", "Atan", "atan x", "f", real_of<std::atan>, nullptr, emit_unary<ScalarOp::atan>},
    {"sinh", "Sinh", "sinh x", "f", real_of<std::sinh>, nullptr, emit_unary<ScalarOp::sinh>},
    {"cosh", "Cosh", "cosh x", "f", real_of<std::cosh>, nullptr, emit_unary<ScalarOp::cosh>},
    {"tanh", "Tanh", "tanh x", "f", real_of<std::tanh>, nullptr, emit_unary<ScalarOp::tanh>},
    {"asinh", "Asinh", "asinh x", "f", real_of<std::asinh>, nullptr, emit_unary<ScalarOp::asinh>},
    {"acosh", "Acosh", "acosh x", "f", real_of<std::acosh>, nullptr, emit_unary<ScalarOp::acosh>},
    {"atanh", "Atanh", "atanh x", "f", real_of<std::atanh>, nullptr, emit_unary<ScalarOp::atanh>},
    {"is_nan",
     "IsNaN",
     "x is NaN",
     "fe",
     [](double x, Coefficients) { return double(std::isnan(x)); },
     nullptr,
     emit_unary<ScalarOp::is_nan>,
     {},
     {},
     DType::boolean},
    {"is_inf",
     "IsInf",
     "x is +inf (if detect_positive) or -inf (if detect_negative)",
     "fe",
     real_is_inf,
     nullptr,
     emit_is_inf,
     {"detect_positive", 1},
     {"detect_negative", 1},
     DType::boolean},
    {"not",
     "Not",
     "not x",
     "b",
     nullptr,
     [](int64_t x, DType, Coefficients) { return int64_t{x == 0}; },
     emit_unary<ScalarOp::logical_not>,
     {},
     {},
     DType::none,
     dim_not},
    {"bitwise_not", "BitwiseNot", "~x", "i", nullptr, [](int64_t x, DType, Coefficients) { return ~x; },
     emit_unary<ScalarOp::bit_not>},
};

[[maybe_unused]] const bool kRegistered = register_rows<kUnary>();

}  // namespace trine
