#include "codegen/cuda/scalar_text.h"

#include <fmt/format.h>

#include "codegen/cuda/math_text.h"
#include "codegen/scalar_types.h"
#include "trine/base/error.h"

namespace trine::codegen {
namespace {

[[noreturn]] void refuse(DType type) {
  throw Error(ErrorCode::unsupported,
              fmt::format("loop kernel: an operation has no function for scalars of type {}", name(type)));
}

bool is_floating(DType type) { return type == DType::f32 || type == DType::f64; }

std::string call(const char* function, const std::string& a) { return fmt::format("{}({})", function, a); }
std::string call(const char* function, const std::string& a, const std::string& b) {
  return fmt::format("{}({}, {})", function, a, b);
}

// CUDA's function of a floating type: "::sinf", "::sin".
std::string math_call(const char* function, DType type, const std::string& a) {
  return fmt::format("::{}{}({})", function, type == DType::f32 ? "f" : "", a);
}

std::string float_unary(ScalarOp op, DType type, const std::string& a) {
  if (const std::string own = function_name(op); !own.empty() && type == DType::f32) return own + "(" + a + ")";
  switch (op) {
    case ScalarOp::sqrt: return call("sqrt", a);
    case ScalarOp::reciprocal: return call("reciprocal", a);
    case ScalarOp::exp: return math_call("exp", type, a);
    case ScalarOp::log: return math_call("log", type, a);
    case ScalarOp::sin: return math_call("sin", type, a);
    case ScalarOp::cos: return math_call("cos", type, a);
    case ScalarOp::tan: return math_call("tan", type, a);
    case ScalarOp::asin: return math_call("asin", type, a);
    case ScalarOp::acos: return math_call("acos", type, a);
    case ScalarOp::atan: return math_call("atan", type, a);
    case ScalarOp::sinh: return math_call("sinh", type, a);
    case ScalarOp::cosh: return math_call("cosh", type, a);
    case ScalarOp::tanh: return math_call("tanh", type, a);
    case ScalarOp::asinh: return math_call("asinh", type, a);
    case ScalarOp::acosh: return math_call("acosh", type, a);
    case ScalarOp::atanh: return math_call("atanh", type, a);
    case ScalarOp::erf: return math_call("erf", type, a);
    case ScalarOp::floor: return math_call("floor", type, a);
    case ScalarOp::ceil: return math_call("ceil", type, a);
    case ScalarOp::round: return math_call("rint", type, a);
    case ScalarOp::trunc: return math_call("trunc", type, a);
    case ScalarOp::is_nan: return fmt::format("{0} != {0}", a);
    case ScalarOp::is_inf: return call("is_inf", a);
    default: refuse(type);
  }
}

std::string boolean_binary(ScalarOp op, const std::string& a, const std::string& b) {
  switch (op) {
    case ScalarOp::logical_and:
    case ScalarOp::bit_and:
    case ScalarOp::min: return a + " && " + b;
    case ScalarOp::logical_or:
    case ScalarOp::bit_or:
    case ScalarOp::max: return a + " || " + b;
    case ScalarOp::logical_xor:
    case ScalarOp::bit_xor: return a + " != " + b;
    case ScalarOp::equal: return a + " == " + b;
    default: refuse(DType::boolean);
  }
}

std::string integer_binary(ScalarOp op, DType type, const std::string& a, const std::string& b) {
  switch (op) {
    case ScalarOp::shift_left: return call("shift_left", a, b);
    case ScalarOp::shift_right: return call("shift_right", a, b);
    case ScalarOp::bit_and: return a + " & " + b;
    case ScalarOp::bit_or: return a + " | " + b;
    case ScalarOp::bit_xor: return a + " ^ " + b;
    default: refuse(type);
  }
}

int bits_of(DType type) {
  switch (type) {
    case DType::i4:
    case DType::u4: return 4;
    case DType::i2:
    case DType::u2: return 2;
    default: return 8 * static_cast<int>(byte_size(type));
  }
}

}  // namespace

std::string compute_type_text(DType type) {
  switch (type) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::i32: return "int";
    case DType::i64: return "long long";
    case DType::u32: return "unsigned";
    case DType::u64: return "unsigned long long";
    case DType::boolean: return "bool";
    default: refuse(type);
  }
}

std::string memory_type_text(DType type) {
  switch (type) {
    case DType::boolean: return "Flag";
    case DType::f16: return "F16";
    case DType::bf16: return "BF16";
    case DType::i8:
    case DType::i4:
    case DType::i2: return "signed char";
    case DType::u8:
    case DType::u4:
    case DType::u2: return "unsigned char";
    case DType::i16: return "short";
    case DType::u16: return "unsigned short";
    case DType::f8e4m3fn: return "Small<4, 3, 7, false, true, 0x7f, 0x7e>";
    case DType::f8e4m3fnuz: return "Small<4, 3, 8, false, false, 0x80, 0x7f>";
    case DType::f8e5m2: return "Small<5, 2, 15, true, true, 0x7e, 0x7b>";
    case DType::f8e5m2fnuz: return "Small<5, 2, 16, false, false, 0x80, 0x7f>";
    case DType::f8e8m0: return "E8M0";
    case DType::f4e2m1: return "Small<2, 1, 1, false, true, 0, 0x7>";
    case DType::f6e2m3: return "Small<2, 3, 1, false, true, 0, 0x1f>";
    case DType::f6e3m2: return "Small<3, 2, 3, false, true, 0, 0x1f>";
    default: return compute_type_text(type);
  }
}

std::string constant_text(DType type, uint64_t bits) {
  switch (type) {
    case DType::f32: return fmt::format("bits_as<float>(0x{:x}u)", static_cast<uint32_t>(bits));
    case DType::f64: return fmt::format("bits_as<double>(0x{:x}ull)", bits);
    case DType::i32: return fmt::format("static_cast<int>(0x{:x}u)", static_cast<uint32_t>(bits));
    case DType::u32: return fmt::format("0x{:x}u", static_cast<uint32_t>(bits));
    case DType::i64: return fmt::format("static_cast<long long>(0x{:x}ull)", bits);
    case DType::u64: return fmt::format("0x{:x}ull", bits);
    case DType::boolean: return bits ? "true" : "false";
    default: refuse(type);
  }
}

std::string unary_text(ScalarOp op, DType type, const std::string& a) {
  if (type == DType::boolean) {
    if (op == ScalarOp::logical_not) return "!" + a;
    refuse(type);
  }
  switch (op) {
    case ScalarOp::neg: return call("neg", a);
    case ScalarOp::abs: return call("abs", a);
    case ScalarOp::sign: return call("sign", a);
    case ScalarOp::bit_not:
      if (is_floating(type)) refuse(type);
      return "~" + a;
    default:
      if (is_floating(type)) return float_unary(op, type, a);
      refuse(type);
  }
}

std::string binary_text(ScalarOp op, DType type, const std::string& a, const std::string& b) {
  if (type == DType::boolean) return boolean_binary(op, a, b);
  switch (op) {
    case ScalarOp::add: return call("add", a, b);
    case ScalarOp::sub: return call("sub", a, b);
    case ScalarOp::mul: return call("mul", a, b);
    case ScalarOp::div: return call("div", a, b);
    case ScalarOp::mod: return call("mod", a, b);
    case ScalarOp::fmod: return call("fmod", a, b);
    case ScalarOp::pow: return call("pow", a, b);
    case ScalarOp::min: return call("min", a, b);
    case ScalarOp::max: return call("max", a, b);
    case ScalarOp::less: return a + " < " + b;
    case ScalarOp::less_equal: return a + " <= " + b;
    case ScalarOp::equal: return a + " == " + b;
    default:
      if (is_floating(type)) refuse(type);
      return integer_binary(op, type, a, b);
  }
}

// ONNX Cast: to a storage type, staying in its compute type.
std::string cast_text(DType from, DType to, const std::string& a) {
  const DType compute = compute_type(to);
  std::string range;
  if (is_integer(to) && byte_size(to) < 4) range = fmt::format(", {}, {}", integer_min(to), integer_max(to));
  std::string x = from == compute ? a : fmt::format("converted<{}>({}{})", compute_type_text(compute), a, range);
  if (is_compute_type(to)) return x;
  if (is_integer(to)) return fmt::format("wrapped<{}, {}>({})", bits_of(to), is_signed_integer(to), x);
  const std::string memory = memory_type_text(to);
  return fmt::format("value(Stored<{}>::of({}{}))", memory, x, byte_size(to) == 1 ? ", true" : "");
}

std::string fold_text(Reduce fold, DType type) {
  const std::string t = compute_type_text(type);
  if (type == DType::boolean) return (fold == Reduce::any || fold == Reduce::max ? "Any<" : "All<") + t + ">";
  switch (fold) {
    case Reduce::sum: return "Sum<" + t + ">";
    case Reduce::prod: return "Prod<" + t + ">";
    case Reduce::min: return "Min<" + t + ">";
    case Reduce::max: return "Max<" + t + ">";
    default: refuse(type);
  }
}

}  // namespace trine::codegen
