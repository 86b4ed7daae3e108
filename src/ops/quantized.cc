#include "ops/quantized.h"

#include <algorithm>
#include <cmath>

#include "ops/node_error.h"

namespace trine {

int64_t scalar_zero_point(EvalContext& c, int input) {
  if (!c.has(input)) return 0;
  const Tensor& t = c.tensor(input);
  require(c.node(), t.elements() == 1,
          fmt::format("zero point (input {}) is {}; want one element", input, t.type_text()));
  return is_float(t.dtype()) ? 0 : t.i64_values()[0];
}

double scalar_scale(EvalContext& c, int input) {
  const Tensor& t = c.tensor(input);
  require(c.node(), t.elements() == 1, fmt::format("scale (input {}) is {}; want one element", input, t.type_text()));
  return t.f64_values()[0];
}

std::vector<double> dequantize(const Tensor& x, double scale, int64_t zero_point) {
  std::vector<double> values = x.f64_values();
  for (double& v : values) v = f32(f32(v - static_cast<double>(zero_point)) * scale);
  return values;
}

std::vector<double> through_u8(std::vector<double> values) {
  double low = 0, high = 0;
  for (double v : values) low = std::min(low, v), high = std::max(high, v);
  const double scale = f32((high - low) / 255);
  if (scale == 0) return values;
  const double zero = std::clamp(std::nearbyint(over(-low, scale)), 0.0, 255.0);
  for (double& v : values) v = (std::clamp(std::nearbyint(over(v, scale)) + zero, 0.0, 255.0) - zero) * scale;
  return values;
}

Tensor quantize(const std::vector<double>& values, Dims dims, DType dtype, int64_t zero_point) {
  if (is_float(dtype)) return Tensor::from_f64(dtype, std::move(dims), values);
  std::vector<double> q(values.size());
  for (size_t i = 0; i < q.size(); ++i) q[i] = std::nearbyint(values[i]) + static_cast<double>(zero_point);
  return Tensor::from_f64(dtype, std::move(dims), q);
}

}  // namespace trine
