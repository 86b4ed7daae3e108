// What the operators on quantised tensors share: real = (stored - zero_point) * scale, one scale per tensor.
#pragma once

#include "graph/eval.h"

namespace trine {

// One-element inputs; an absent zero point is 0.
int64_t scalar_zero_point(EvalContext& c, int input);
double scalar_scale(EvalContext& c, int input);

// Scales are f32 and so is every step of the arithmetic with them, as the standard's functions are written and as other
// runtimes compute: whether 54.5 is met exactly, and rounds to 54, depends on it.
inline double f32(double value) { return static_cast<float>(value); }

// value / scale.
inline double over(double value, double scale) { return f32(f32(value) / scale); }

// Real values of a quantised input.
std::vector<double> dequantize(const Tensor& x, double scale, int64_t zero_point);

// saturate(round_half_even(value) + zero_point); `values` are already divided by the scale (see `over`). An 8-bit float
// type takes the value as it is.
// The values after a trip through u8 with the range of DynamicQuantizeLinear (0 included): what is left of them.
std::vector<double> through_u8(std::vector<double> values);

Tensor quantize(const std::vector<double>& values, Dims dims, DType dtype, int64_t zero_point);

}  // namespace trine
