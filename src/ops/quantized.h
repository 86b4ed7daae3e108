// What the operators on quantised tensors share: real = (stored - zero_point) * scale, one scale per tensor.
#pragma once

#include "graph/eval.h"

namespace trine {

// One-element inputs; an absent zero point is 0.
int64_t scalar_zero_point(EvalContext& c, int input);
double scalar_scale(EvalContext& c, int input);

// Real values of a quantised input.
std::vector<double> dequantize(const Tensor& x, double scale, int64_t zero_point);

// saturate(round_half_even(value) + zero_point); `values` are already divided by the scale. An 8-bit float type takes
// the value as it is.
Tensor quantize(const std::vector<double>& values, Dims dims, DType dtype, int64_t zero_point);

}  // namespace trine
