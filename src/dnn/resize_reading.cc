#include "dnn/resize_reading.h"

#include <algorithm>
#include <cmath>

namespace trine::dnn {
namespace {

// Where output position `out` lies on the input axis.
double coordinate(const ResizeProblem& p, size_t axis, int64_t out) {
  double o = static_cast<double>(out), in_size = static_cast<double>(p.in[axis]);
  double out_size = static_cast<double>(p.out[axis]), scale = p.scale[axis];
  switch (p.coordinates) {
    case ResizeCoordinates::half_pixel: return (o + 0.5) / scale - 0.5;
    case ResizeCoordinates::half_pixel_symmetric: {
      double adjustment = out_size / (scale * in_size);
      return in_size / 2 * (1 - adjustment) + (o + 0.5) / scale - 0.5;
    }
    case ResizeCoordinates::pytorch_half_pixel: return out_size > 1 ? (o + 0.5) / scale - 0.5 : 0;
    case ResizeCoordinates::align_corners: return out_size > 1 ? o * (in_size - 1) / (out_size - 1) : 0;
    case ResizeCoordinates::asymmetric: return o / scale;
  }
  return 0;
}

double round_nearest(ResizeRounding rounding, double x) {
  switch (rounding) {
    case ResizeRounding::round_prefer_floor: return std::ceil(x - 0.5);
    case ResizeRounding::round_prefer_ceil: return std::floor(x + 0.5);
    case ResizeRounding::floor: return std::floor(x);
    case ResizeRounding::ceil: return std::ceil(x);
  }
  return x;
}

}  // namespace

ResizeReading resize_reading(const ResizeProblem& p, size_t axis, int64_t out) {
  double last = static_cast<double>(p.in[axis] - 1);
  auto inside = [&](double i) { return static_cast<int64_t>(std::clamp(i, 0.0, last)); };
  double x = coordinate(p, axis, out);
  if (p.mode == ResizeMode::nearest) {
    int64_t i = inside(round_nearest(p.rounding, x));
    return {i, i, 0};
  }
  double floor = std::floor(x);
  return {inside(floor), inside(floor + 1), static_cast<float>(x - floor)};
}

}  // namespace trine::dnn
