#include <fmt/format.h>

#include <numeric>

#include "dnn/families.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kSamplingNames[] = {"nearest", "linear"};
constexpr std::string_view kPaddingNames[] = {"zeros", "border", "reflection"};

int64_t product(const Extents& e) { return e[0] * e[1] * e[2]; }
std::string_view pass_text(Pass pass) { return pass == Pass::backward ? "_backward" : ""; }
std::string corners_text(bool align) { return align ? " align_corners" : ""; }

}  // namespace

double bytes_of_operands(const OperandSizes& s) {
  double total = 0;
  const auto add = [&](DType type, int64_t count) {
    total += static_cast<double>(byte_size(type)) * static_cast<double>(count);
  };
  for (int i = 0; i < kMostOperands; ++i) add(s.in_types[i], s.in[i]), add(s.out_types[i], s.out[i]);
  for (int i = 0; i < kMostWeights; ++i) add(s.weight_types[i], s.weights[i]);
  add(s.bias_type, s.bias), add(s.residual_type, s.residual);
  return total;
}

std::string text_of(const AffineGridProblem& p) {
  return fmt::format("affine_grid{} {} of [{},{},{}] axes {}{}", pass_text(p.pass), p.n, p.out[0], p.out[1], p.out[2],
                     p.axes, corners_text(p.align_corners));
}
double flops_of(const AffineGridProblem& p) {
  return 2 * static_cast<double>(p.n * product(p.out)) * p.axes * (p.axes + 1);
}
OperandSizes sizes_of(const AffineGridProblem& p) {
  OperandSizes s;
  const int64_t theta = p.n * p.axes * (p.axes + 1), grid = p.n * product(p.out) * p.axes;
  s.in[0] = p.pass == Pass::forward ? theta : grid;
  s.out[0] = p.pass == Pass::forward ? grid : theta;
  return s;
}

std::string text_of(const GridSampleProblem& p) {
  return fmt::format("grid_sample{} {} {} {}{} x[{},{},{},{},{}] axes {} -> [{},{},{}]{}", pass_text(p.pass),
                     kSamplingNames[static_cast<size_t>(p.sampling)], kPaddingNames[static_cast<size_t>(p.padding)],
                     name(p.layout), corners_text(p.align_corners), p.n, p.in[0], p.in[1], p.in[2], p.channels, p.axes,
                     p.out[0], p.out[1], p.out[2], type_text(p.type));
}
double flops_of(const GridSampleProblem& p) {
  const double taps = p.sampling == GridSampling::nearest ? 1 : 1 << p.axes;
  return (p.pass == Pass::forward ? 2 : 4) * taps * static_cast<double>(p.n * p.channels * product(p.out));
}
OperandSizes sizes_of(const GridSampleProblem& p) {
  OperandSizes s;
  const int64_t x = p.n * p.channels * product(p.in), y = p.n * p.channels * product(p.out);
  const int64_t grid = p.n * product(p.out) * p.axes;
  s.in[0] = x;
  s.in[1] = grid;
  if (p.pass == Pass::forward) {
    s.out[0] = y;
  } else {
    s.in[2] = y;
    s.out[0] = x;
    s.out[1] = grid;
  }
  return s;
}

std::string text_of(const CtcLossProblem& p) {
  return fmt::format("ctc_loss steps {} batch {} classes {} labels {} blank {}{}{}", p.steps, p.batch, p.classes,
                     p.max_label, p.blank, p.softmax ? " softmax" : "", p.zero_infinity ? " zero_infinity" : "");
}
double flops_of(const CtcLossProblem& p) {
  return static_cast<double>(p.steps * p.batch) * static_cast<double>(10 * (2 * p.max_label + 1) + 4 * p.classes);
}
OperandSizes sizes_of(const CtcLossProblem& p) {
  OperandSizes s;
  s.in[0] = s.out[1] = p.steps * p.batch * p.classes;
  s.in[1] = p.batch * p.max_label;
  s.in[2] = s.in[3] = s.out[0] = p.batch;
  s.integers[1] = static_cast<int32_t>(p.blank == 0 ? 1 : 0);
  s.integers[2] = static_cast<int32_t>(p.steps);
  s.integers[3] = static_cast<int32_t>(p.max_label);
  return s;
}

}  // namespace trine::dnn
