// Mean and variance of groups, as every normalisation needs them: two passes, so that a large mean costs no digits.
#pragma once

#include "ops/reduction.h"

namespace trine {

struct Moments {
  double mean, variance;  // of the population; NaN for no elements
};
// Of the elements group[steps[k]]; with `centred` false the mean is taken as 0.
Moments moments(const double* group, const std::vector<int64_t>& steps, bool centred = true);

struct LoweredMoments {
  codegen::Scalar mean, variance;
};
LoweredMoments lower_moments(codegen::LowerContext& c, const FoldedBox& box, const FoldedBox::Body& x,
                             bool centred = true);

// 1 / sqrt(variance + epsilon)
codegen::Scalar lower_inverse_deviation(codegen::LowerContext& c, codegen::Scalar variance, double epsilon);

// Values of a parameter that must have one element for each of `channels`; fails naming the input.
std::vector<double> channel_values(EvalContext& c, int input, int64_t channels);
void need_channels(InferContext& c, int input, const Dim& channels);

}  // namespace trine
