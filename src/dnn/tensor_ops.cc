#include <fmt/format.h>

#include <algorithm>

#include "dnn/families.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kReduceNames[] = {"add", "mul",   "min",   "max",         "amax",
                                             "avg", "norm1", "norm2", "mul_no_zeros"};

}  // namespace

std::string text_of(const ReduceProblem& p) {
  return fmt::format("reduce {} [{}] -> [{}]{} alpha {} beta {}{}", kReduceNames[static_cast<size_t>(p.kind)],
                     fmt::join(p.dims, ","), fmt::join(p.out_dims, ","), p.indices ? " indices" : "", p.alpha, p.beta,
                     type_text(p.type));
}
std::string text_of(const TransformProblem& p) {
  return fmt::format("transform [{}] {} strides [{}] -> {} strides [{}] alpha {} beta {}", fmt::join(p.dims, ","),
                     name(p.in), fmt::join(p.in_strides, ","), name(p.out), fmt::join(p.out_strides, ","), p.alpha,
                     p.beta);
}

double flops_of(const ReduceProblem& p) { return static_cast<double>(element_count(p.dims)); }
double flops_of(const TransformProblem& p) { return 4 * static_cast<double>(element_count(p.dims)); }

OperandSizes sizes_of(const ReduceProblem& p) {
  OperandSizes s;
  s.in[0] = element_count(p.dims);
  s.out[0] = element_count(p.out_dims);
  if (p.beta != 0) s.in[1] = s.out[0];
  if (p.indices) s.out[1] = s.out[0];
  return s;
}
OperandSizes sizes_of(const TransformProblem& p) {
  OperandSizes s;
  if (element_count(p.dims) == 0) return s;
  int64_t in = 1, out = 1;
  for (size_t i = 0; i < p.dims.size(); ++i) {
    in += std::max<int64_t>(p.in_strides[i], 0) * (p.dims[i] - 1);
    out += p.out_strides[i] * (p.dims[i] - 1);
  }
  s.in[0] = in;
  s.out[0] = out;
  return s;
}

double bytes_of(const TransformProblem& p) {
  const double each =
      static_cast<double>(byte_size(p.in)) + static_cast<double>(byte_size(p.out)) * (p.beta == 0 ? 1 : 2);
  return static_cast<double>(element_count(p.dims)) * each;
}

}  // namespace trine::dnn
