// Arithmetic, comparison, logic and bits on two tensors that broadcast. Integer division truncates and x / 0 is 0;
// integer results wrap; comparisons with NaN are false.
#include <cmath>

#include "ops/elementwise.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;

static uint64_t bits(int64_t x) { return static_cast<uint64_t>(x); }

static int64_t integer_add(int64_t a, int64_t b, DType) { return static_cast<int64_t>(bits(a) + bits(b)); }
static int64_t integer_sub(int64_t a, int64_t b, DType) { return static_cast<int64_t>(bits(a) - bits(b)); }
static int64_t integer_mul(int64_t a, int64_t b, DType) { return static_cast<int64_t>(bits(a) * bits(b)); }

static int64_t integer_div(int64_t a, int64_t b, DType type) {
  if (b == 0) return 0;
  if (type == DType::u64) return static_cast<int64_t>(bits(a) / bits(b));
  return b == -1 ? static_cast<int64_t>(0 - bits(a)) : a / b;
}

// Only u64 does not fit the signed order of its 64 bits.
static int64_t integer_less(int64_t a, int64_t b, DType type) { return type == DType::u64 ? bits(a) < bits(b) : a < b; }
static int64_t integer_less_equal(int64_t a, int64_t b, DType type) { return !integer_less(b, a, type); }

static int64_t integer_prelu(int64_t x, int64_t slope, DType type) {
  return x < 0 && !is_unsigned(type) ? integer_mul(x, slope, type) : x;
}

static Scalar emit_prelu(LowerContext& c, Scalar x, Scalar slope) {
  if (is_unsigned(c.type(x))) return x;
  return c.select(c.apply(ScalarOp::less, x, c.like(x, 0)), c.mul(x, slope), x);
}

static Dim dim_add(const Dim& a, const Dim& b) { return a + b; }
static Dim dim_sub(const Dim& a, const Dim& b) { return a - b; }
static Dim dim_mul(const Dim& a, const Dim& b) { return a * b; }

template <ScalarOp op>
constexpr BinaryRow arithmetic(std::string_view name, std::string_view onnx, std::string_view doc, RealBinary real,
                               IntegerBinary integer, DimBinary dim) {
  return {name,
          onnx,
          doc,
          "Tfi T",
          real,
          integer,
          emit_binary<op>,
          DType::none,
          dim,
          op == ScalarOp::add || op == ScalarOp::mul};
}

constexpr BinaryRow kBinary[] = {
    arithmetic<ScalarOp::add>(
        "add", "Add", "a + b", [](double a, double b) { return a + b; }, integer_add, dim_add),
    arithmetic<ScalarOp::sub>(
        "sub", "Sub", "a - b", [](double a, double b) { return a - b; }, integer_sub, dim_sub),
    arithmetic<ScalarOp::mul>(
        "mul", "Mul", "a * b", [](double a, double b) { return a * b; }, integer_mul, dim_mul),
    arithmetic<ScalarOp::div>(
        "div", "Div", "a / b", [](double a, double b) { return a / b; }, integer_div, truncated_div),
    // name, onnx, doc, types, real, integer, emit, result, content, commutative
    {"less", "Less", "a < b", "Tfi T", [](double a, double b) { return double(a < b); }, integer_less,
     emit_binary<ScalarOp::less>, DType::boolean},
    {"less_or_equal", "LessOrEqual", "a <= b", "Tfi T", [](double a, double b) { return double(a <= b); },
     integer_less_equal, emit_binary<ScalarOp::less_equal>, DType::boolean},
    {"greater", "Greater", "a > b", "Tfi T", [](double a, double b) { return double(a > b); },
     [](int64_t a, int64_t b, DType type) { return integer_less(b, a, type); }, emit_swapped<ScalarOp::less>,
     DType::boolean},
    {"greater_or_equal", "GreaterOrEqual", "a >= b", "Tfi T", [](double a, double b) { return double(a >= b); },
     [](int64_t a, int64_t b, DType type) { return integer_less_equal(b, a, type); },
     emit_swapped<ScalarOp::less_equal>, DType::boolean},
    {"and", "And", "a and b", "Tb T", nullptr, [](int64_t a, int64_t b, DType) { return int64_t{a && b}; },
     emit_binary<ScalarOp::logical_and>, DType::boolean, dim_mul, true},
    {"or", "Or", "a or b", "Tb T", nullptr, [](int64_t a, int64_t b, DType) { return int64_t{a || b}; },
     emit_binary<ScalarOp::logical_or>, DType::boolean, [](const Dim& a, const Dim& b) { return max(a, b); }, true},
    {"xor", "Xor", "exactly one of a and b", "Tb T", nullptr,
     [](int64_t a, int64_t b, DType) { return int64_t{!a != !b}; }, emit_binary<ScalarOp::logical_xor>, DType::boolean,
     nullptr, true},
    {"bitwise_and", "BitwiseAnd", "a & b", "Ti T", nullptr, [](int64_t a, int64_t b, DType) { return a & b; },
     emit_binary<ScalarOp::bit_and>, DType::none, nullptr, true},
    {"bitwise_or", "BitwiseOr", "a | b", "Ti T", nullptr, [](int64_t a, int64_t b, DType) { return a | b; },
     emit_binary<ScalarOp::bit_or>, DType::none, nullptr, true},
    {"bitwise_xor", "BitwiseXor", "a ^ b", "Ti T", nullptr, [](int64_t a, int64_t b, DType) { return a ^ b; },
     emit_binary<ScalarOp::bit_xor>, DType::none, nullptr, true},
    {"prelu", "PRelu", "x < 0 ? slope x : x; slope broadcasts to x", "Tfi T",
     [](double x, double slope) { return x < 0 ? slope * x : x; }, integer_prelu, emit_prelu},
};

[[maybe_unused]] const bool kRegistered = register_rows<kBinary>();

}  // namespace trine
