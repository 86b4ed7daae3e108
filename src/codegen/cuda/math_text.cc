#include "codegen/cuda/math_text.h"

#include <fmt/format.h>

#include <cmath>

#include "codegen/math.h"
#include "trine/base/error.h"

namespace trine::codegen {
namespace {

// The builder of math.h over names of constants: each operation is one line.
class TextMath {
 public:
  using F = std::string;
  using I = std::string;
  using M = std::string;

  F num(float x) {
    if (std::isnan(x)) return "__builtin_nanf(\"\")";
    if (std::isinf(x)) return x < 0 ? "-__builtin_inff()" : "__builtin_inff()";
    return fmt::format("{:a}f", x);
  }
  I inum(int32_t x) { return std::to_string(x); }
  F add(F a, F b) { return line("float", a + " + " + b); }
  F sub(F a, F b) { return line("float", a + " - " + b); }
  F mul(F a, F b) { return line("float", a + " * " + b); }
  F div(F a, F b) { return line("float", a + " / " + b); }
  F fma(F a, F b, F c) { return line("float", "fmaf(" + a + ", " + b + ", " + c + ")"); }
  F rint(F a) { return line("float", "rounded(" + a + ")"); }  // of arguments of exp, which are small
  I to_int(F a) { return line("int", "static_cast<int>(" + a + ")"); }
  F to_float(I a) { return line("float", "static_cast<float>(" + a + ")"); }
  I bits(F a) { return line("int", "bits_as<int>(" + a + ")"); }
  F from_bits(I a) { return line("float", "bits_as<float>(" + a + ")"); }
  I iadd(I a, I b) { return line("int", "add(" + a + ", " + b + ")"); }
  I isub(I a, I b) { return line("int", "sub(" + a + ", " + b + ")"); }
  I sra(I a, int n) { return line("int", fmt::format("{} >> {}", a, n)); }
  I shl(I a, int n) { return line("int", fmt::format("static_cast<int>(static_cast<unsigned>({}) << {})", a, n)); }
  M less(F a, F b) { return line("bool", a + " < " + b); }
  M equal(F a, F b) { return line("bool", a + " == " + b); }
  F select(M m, F a, F b) { return line("float", m + " ? " + a + " : " + b); }
  F scale(F p, F n) { return line("float", "scaled(" + p + ", " + n + ")"); }

  std::string lines;

 private:
  std::string line(const char* type, const std::string& expression) {
    std::string name = fmt::format("t{}", count_++);
    lines += fmt::format("  const {} {} = {};\n", type, name, expression);
    return name;
  }

  int count_ = 0;
};

std::string result_of(ScalarOp op, TextMath& m) {
  switch (op) {
    case ScalarOp::exp: return math::exp(m, std::string("x"));
    case ScalarOp::log: return math::log(m, std::string("x"));
    case ScalarOp::tanh: return math::tanh(m, std::string("x"));
    case ScalarOp::erf: return math::erf(m, std::string("x"));
    default: throw Error(ErrorCode::unsupported, "loop kernel: a function that math.h does not define");
  }
}

}  // namespace

std::string function_name(ScalarOp op) {
  switch (op) {
    case ScalarOp::exp: return "exp_f32";
    case ScalarOp::log: return "log_f32";
    case ScalarOp::tanh: return "tanh_f32";
    case ScalarOp::erf: return "erf_f32";
    default: return {};
  }
}

std::string function_text(ScalarOp op) {
  TextMath m;
  const std::string result = result_of(op, m);
  return fmt::format("__device__ inline float {}(float x) {{\n{}  return {};\n}}\n", function_name(op), m.lines,
                     result);
}

}  // namespace trine::codegen
