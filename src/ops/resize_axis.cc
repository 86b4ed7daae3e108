#include "ops/resize_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/memory.h"
#include "trine/base/error.h"

namespace trine {
namespace {

template <size_t n>
std::string one_of(const Attrs& attrs, const char* name, const char* otherwise, const char* const (&allowed)[n]) {
  const std::string given = attrs.string(name, otherwise);
  std::string all;
  for (const char* a : allowed) {
    if (given == a) return given;
    all += std::string(all.empty() ? "" : ", ") + a;
  }
  throw Error(ErrorCode::invalid_model, std::string("resize: ") + name + " '" + given + "'; one of " + all);
}

// Source position of output coordinate i.
double source_position(const AxisResize& a, const std::string& mode, int64_t i) {
  const auto x = static_cast<double>(i), length = static_cast<double>(a.in);
  const double resized = a.scale * length;  // may be a fraction
  if (mode == "asymmetric") return x / a.scale;
  if (mode == "align_corners") return resized == 1 ? 0 : x * (length - 1) / (resized - 1);
  if (mode == "pytorch_half_pixel") return a.out > 1 ? (x + 0.5) / a.scale - 0.5 : 0;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / a.scale;
  if (mode == "half_pixel_symmetric")
    return length / 2 * (1 - static_cast<double>(a.out) / resized) + (x + 0.5) / a.scale - 0.5;
  if (mode == "tf_crop_and_resize") {
    const double span = (a.roi_end - a.roi_start) * (length - 1);
    return a.roi_start * (length - 1) + (a.out > 1 ? x * span / (static_cast<double>(a.out) - 1) : 0.5 * span);
  }
  return (x + 0.5) / a.scale - 0.5;  // half_pixel
}

double rounded(double x, const std::string& mode) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::ceil(x - 0.5);  // round_prefer_floor
}

// Keys' cubic kernel.
double cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

double kernel(double x, const ResizeOptions& o) {
  return o.filter == ResizeOptions::Filter::cubic ? cubic(x, o.cubic_a) : std::max(1 - std::fabs(x), 0.0);
}

}  // namespace

ResizeOptions ResizeOptions::from(const Attrs& attrs) {
  ResizeOptions o;
  const std::string mode = one_of(attrs, "mode", "nearest", {"nearest", "linear", "cubic"});
  o.filter = mode == "nearest" ? Filter::nearest : mode == "linear" ? Filter::linear : Filter::cubic;
  o.coordinates = one_of(attrs, "coordinate_transformation_mode", "half_pixel",
                         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                          "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  o.rounding =
      one_of(attrs, "nearest_mode", "round_prefer_floor", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  o.antialias = attrs.integer("antialias") != 0 && o.filter != Filter::nearest;
  o.exclude_outside = attrs.integer("exclude_outside") != 0;
  o.cubic_a = attrs.real("cubic_coeff_a", -0.75);
  return o;
}

namespace {

// An antialiasing filter is stretched by 1/scale; its support grows with it.
double shrink_of(const AxisResize& a, const ResizeOptions& o) { return o.antialias ? std::min(a.scale, 1.0) : 1.0; }

// The first tap, from the left neighbour.
double first_tap(const AxisResize& a, const ResizeOptions& o) {
  const double reach = o.filter == ResizeOptions::Filter::cubic ? 2 : 1;
  return std::floor(-reach / shrink_of(a, o)) + 1;
}

// Sizes and filter support come from the model's numbers: they must fit memory, and the support the axis. With a region
// of interest as large as the input at most, out * taps <= 6 * in + 2 * out.
void check_size(const AxisResize& a, double taps) {
  const double all = taps * static_cast<double>(a.out);
  need_memory(all * (sizeof(int64_t) + sizeof(double)));
  if (all > 16.0 * (static_cast<double>(a.in) + static_cast<double>(a.out)) + 64)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "resize: scale {} makes an antialiasing filter of {:.0f} values on an axis of size {}; give a larger "
            "scale or a smaller region of interest",
            a.scale, taps, a.in));
}

}  // namespace

AxisTaps axis_taps(const AxisResize& a, const ResizeOptions& o) {
  const bool crop = o.coordinates == "tf_crop_and_resize";
  const bool nearest = o.filter == ResizeOptions::Filter::nearest;
  const double shrink = shrink_of(a, o), taps = nearest ? 1 : 2 - 2 * first_tap(a, o);
  check_size(a, taps);
  const auto before = static_cast<int64_t>(nearest ? 0 : first_tap(a, o));
  AxisTaps t;
  t.taps = static_cast<int64_t>(taps);
  const auto last = static_cast<double>(a.in - 1);
  for (int64_t i = 0; i < a.out; ++i) {
    const double x = source_position(a, o.coordinates, i);
    t.outside.push_back(crop && !(x >= 0 && x <= last));
    // Far positions all read the edge: clamped before they become integers.
    const double near = std::clamp(std::isnan(x) ? 0 : x, -4 * last - 1e6, 4 * last + 1e6);
    if (nearest) {
      t.index.push_back(static_cast<int64_t>(std::clamp(rounded(near, o.rounding), 0.0, last)));
      t.weight.push_back(1);
      continue;
    }
    const auto left = static_cast<int64_t>(std::ceil(near)) - 1;  // strictly left: an integer position has ratio 1
    const size_t first = t.weight.size();
    double sum = 0;
    for (int64_t k = 0; k < t.taps; ++k) {
      const int64_t at = left + before + k;
      const bool counts = !o.exclude_outside || (at >= 0 && at < a.in);
      const double w = counts ? kernel((static_cast<double>(at) - near) * shrink, o) : 0;
      t.index.push_back(std::clamp<int64_t>(at, 0, a.in - 1));
      t.weight.push_back(w);
      sum += w;
    }
    if ((o.antialias || o.exclude_outside) && sum != 0)
      for (size_t k = first; k < t.weight.size(); ++k) t.weight[k] /= sum;
  }
  return t;
}

}  // namespace trine
