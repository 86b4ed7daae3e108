#include <fmt/format.h>

#include "dnn/families.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kKindNames[] = {"accurate", "fast", "log"};

}  // namespace

std::string text_of(const SoftmaxProblem& p) {
  return fmt::format("softmax{} {} [{},{},{}]{}", p.pass == Pass::backward ? "_backward" : "",
                     kKindNames[static_cast<size_t>(p.kind)], p.outer, p.axis, p.inner, type_text(p.type));
}

double flops_of(const SoftmaxProblem& p) { return 20 * static_cast<double>(p.outer * p.axis * p.inner); }

OperandSizes sizes_of(const SoftmaxProblem& p) {
  OperandSizes s;
  s.in[0] = s.out[0] = p.outer * p.axis * p.inner;
  if (p.pass == Pass::backward) s.in[1] = s.out[0];
  return s;
}

}  // namespace trine::dnn
