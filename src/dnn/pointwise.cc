#include "trine/dnn/pointwise.h"

#include <fmt/format.h>

#include "dnn/families.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kUnaryNames[] = {
    "none",          "relu",        "clip",        "leaky_relu",      "sigmoid",  "tanh",     "silu",
    "hardsigmoid",   "hardswish",   "gelu",        "gelu_tanh",       "elu",      "softplus", "clipped_relu",
    "swish",         "square_root", "logical_not", "negate",          "absolute", "ceil",     "floor",
    "exponential",   "logarithm",   "reciprocal",  "reciprocal_root", "sine",     "cosine",   "tangent",
    "error_function"};
constexpr std::string_view kBinaryNames[] = {"add",        "sub",         "mul",        "div",           "min",
                                             "max",        "power",       "remainder",  "arctangent",    "add_square",
                                             "equal",      "not_equal",   "greater",    "greater_equal", "less",
                                             "less_equal", "logical_and", "logical_or", "select"};
static_assert(static_cast<int>(Unary::gelu_tanh) == static_cast<int>(Activation::gelu_tanh));

std::string pass_text(Pass pass) { return pass == Pass::backward ? "_backward" : ""; }

}  // namespace

std::string_view name(Unary function) { return kUnaryNames[static_cast<size_t>(function)]; }
std::string_view name(Binary op) { return kBinaryNames[static_cast<size_t>(op)]; }

std::string text_of(const ActivationProblem& p) {
  return fmt::format("activation{} {}({},{}) of {}{}", pass_text(p.pass), name(p.function), p.alpha, p.beta, p.elements,
                     type_text(p.type));
}
std::string text_of(const BinaryProblem& p) {
  return fmt::format("binary {} [{}]{} [{}]{} alpha {},{} beta {}", name(p.op), fmt::join(p.dims, ","),
                     type_text(p.type), fmt::join(p.b_dims, ","), type_text(p.b_type), p.alpha1, p.alpha2, p.beta);
}
std::string text_of(const DropoutProblem& p) {
  return fmt::format("dropout {} of {} seed {} offset {}{}", p.rate, p.elements, p.seed, p.offset, type_text(p.type));
}

// An exponential is counted as 16.
double flops_of(const ActivationProblem& p) {
  const bool cheap =
      p.function <= Unary::leaky_relu || (p.function >= Unary::square_root && p.function <= Unary::floor);
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
  if (p.reads_c()) s.in[2] = s.out[0];
  return s;
}
OperandSizes sizes_of(const DropoutProblem& p) {
  OperandSizes s;
  s.in[0] = s.out[0] = p.elements;
  return s;
}

}  // namespace trine::dnn
