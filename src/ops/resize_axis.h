// One axis of a Resize: where each output coordinate reads. Resizing N axes is N such steps, one after the other.
#pragma once

#include <string>

#include "graph/attrs.h"

namespace trine {

// Per output coordinate `taps` source positions (clamped to the axis) with weights; or nothing: the extrapolation
// value.
struct AxisTaps {
  int64_t taps = 0;
  std::vector<int64_t> index;
  std::vector<double> weight;
  std::vector<bool> outside;
};

struct AxisResize {
  int64_t in = 0, out = 0;
  double scale = 1;                   // as given, not out / in: the two differ where in * scale is no integer
  double roi_start = 0, roi_end = 1;  // of tf_crop_and_resize
};

struct ResizeOptions {
  enum class Filter { nearest, linear, cubic };
  Filter filter = Filter::nearest;
  std::string coordinates, rounding;
  bool antialias = false, exclude_outside = false;
  double cubic_a = -0.75;

  static ResizeOptions from(const Attrs& attrs);  // throws Error{invalid_model} for a mode that does not exist
};

AxisTaps axis_taps(const AxisResize& axis, const ResizeOptions& options);

}  // namespace trine
