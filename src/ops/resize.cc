// Resize: samples x on another grid, axis by axis (interpolation is separable). An axis whose size and scale stay is
// not touched. Sizes come from `scales` (out = floor(in * scale)) or `sizes`; the coordinate map uses the given scale.
#include <algorithm>
#include <cmath>

#include "codegen/lower.h"
#include "ops/movement.h"
#include "ops/node_error.h"
#include "ops/resize_axis.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

std::vector<int> resize_axes(const InferContext& c, int rank) {
  return axes_or_all(c, optional_integers(c.attrs(), "axes"), rank);
}

bool is_crop(const Attrs& attrs) { return attrs.string("coordinate_transformation_mode") == "tf_crop_and_resize"; }

// floor(in * scale) in f32, as other runtimes compute it.
int64_t scaled_size(int64_t in, double scale) {
  const float size = std::floor(static_cast<float>(in) * static_cast<float>(scale));
  return size >= 0 && size < static_cast<float>(kMaxElements) ? static_cast<int64_t>(size) : -1;
}

// in * scale when the scale is a fraction with a small power of two below it; symbolic sizes keep it exact.
std::optional<Dim> scaled_size(const Dim& in, double scale) {
  if (in.constant()) {
    const int64_t size = scaled_size(in.value(), scale);
    return size < 0 ? std::nullopt : std::optional(Dim(size));
  }
  for (int64_t below = 1; below <= 64; below *= 2) {
    const double above = scale * static_cast<double>(below);
    if (above == std::floor(above) && above > 0 && above < 1 << 20)
      return floor_div(in * Dim(static_cast<int64_t>(above)), below);
  }
  return std::nullopt;
}

std::string aspect_policy(const Attrs& attrs) { return attrs.string("keep_aspect_ratio_policy", "stretch"); }

void infer_resize(InferContext& c) {
  ResizeOptions::from(c.attrs());
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape());
  const auto axes = resize_axes(c, x.rank());
  Shape y = x;
  for (int axis : axes) y[axis] = c.fresh("resize");
  const auto sizes = c.content(3);
  const Tensor scales = c.constant(2);
  if (c.has(3) && sizes && sizes->size() == axes.size() && aspect_policy(c.attrs()) == "stretch") {
    for (size_t i = 0; i < axes.size(); ++i) y[axes[i]] = (*sizes)[i];
  } else if (scales.defined() && scales.elements() == static_cast<int64_t>(axes.size())) {
    const auto values = scales.f64_values();
    for (size_t i = 0; i < axes.size(); ++i) {
      if (!(values[i] > 0)) c.fail("a scale is not > 0");
      const auto size = is_crop(c.attrs()) ? std::nullopt : scaled_size(x[axes[i]], values[i]);
      if (size) y[axes[i]] = *size;
    }
  } else if (scales.defined() && scales.elements() > 0) {
    c.fail(std::to_string(scales.elements()) + " scales for " + std::to_string(axes.size()) + " axes; one per axis");
  }
  c.set(0, c.dtype(0), y);
}

// Size of one axis from its scale; a crop scales only the region of interest.
void set_scaled(const EvalContext& c, AxisResize& a) {
  const bool crop = is_crop(c.attrs());
  a.out = crop ? scaled_size(a.in, (a.roi_end - a.roi_start) * a.scale) : scaled_size(a.in, a.scale);
  if (!(a.scale > 0) || a.out < 0)
    c.fail("scale " + std::to_string(a.scale) + " of an axis of size " + std::to_string(a.in) + "; scales must be > 0");
}

void set_sizes(const EvalContext& c, std::vector<AxisResize>& plan, const std::vector<int>& axes) {
  const auto sizes = c.tensor(3).i64_values();
  if (sizes.size() != axes.size())
    c.fail(std::to_string(sizes.size()) + " sizes for " + std::to_string(axes.size()) + " axes; one per axis");
  const std::string policy = aspect_policy(c.attrs());
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    c.fail("keep_aspect_ratio_policy '" + policy + "'; one of stretch, not_larger, not_smaller");
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisResize& a = plan[static_cast<size_t>(axes[i])];
    if (sizes[i] < 0 || (a.in == 0 && sizes[i] > 0))
      c.fail("size " + std::to_string(sizes[i]) + " from an axis of size " + std::to_string(a.in));
    a.out = sizes[i];
    a.scale = a.in == 0 ? 1 : static_cast<double>(a.out) / static_cast<double>(a.in);
    const bool first = i == 0;
    common = first ? a.scale : policy == "not_larger" ? std::min(common, a.scale) : std::max(common, a.scale);
  }
  if (policy == "stretch") return;
  for (int axis : axes) {
    AxisResize& a = plan[static_cast<size_t>(axis)];
    a.scale = common;
    const double size = std::floor(common * static_cast<double>(a.in) + 0.5);
    a.out = size < static_cast<double>(kMaxElements) ? static_cast<int64_t>(size) : kMaxElements;
  }
}

std::vector<AxisResize> axis_plan(const EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto axes = axes_or_all(c, optional_integers(c.attrs(), "axes"), x.rank());
  std::vector<AxisResize> plan;
  for (int64_t d : x.dims()) plan.push_back({d, d, 1, 0, 1});
  if (is_crop(c.attrs()) && c.has(1) && c.tensor(1).elements() > 0) {
    const auto roi = c.tensor(1).f64_values();
    if (roi.size() != 2 * axes.size())
      c.fail(std::to_string(roi.size()) + " roi entries for " + std::to_string(axes.size()) + " axes; two per axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      plan[static_cast<size_t>(axes[i])].roi_start = roi[i];
      plan[static_cast<size_t>(axes[i])].roi_end = roi[i + axes.size()];
    }
  }
  const bool by_size = c.has(3) && c.tensor(3).elements() > 0;
  const bool by_scale = c.has(2) && c.tensor(2).elements() > 0;
  if (by_size == by_scale && !axes.empty()) c.fail("both or neither of scales and sizes; exactly one must be given");
  if (by_size) {
    set_sizes(c, plan, axes);
  } else if (by_scale) {
    const auto scales = c.tensor(2).f64_values();
    if (scales.size() != axes.size())
      c.fail(std::to_string(scales.size()) + " scales for " + std::to_string(axes.size()) + " axes; one per axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      plan[static_cast<size_t>(axes[i])].scale = scales[i];
      set_scaled(c, plan[static_cast<size_t>(axes[i])]);
    }
  }
  return plan;
}

bool stays(const AxisResize& a) { return a.in == a.out && a.scale == 1 && a.roi_start == 0 && a.roi_end == 1; }

// One axis of values [outer][in][inner] -> [outer][out][inner].
std::vector<double> resample(const std::vector<double>& x, const AxisTaps& t, int64_t outer, int64_t in, int64_t out,
                             int64_t inner, double extrapolation) {
  std::vector<double> y(value_count({outer, out, inner}));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < out; ++i)
      for (int64_t k = 0; k < inner; ++k) {
        double sum = 0;
        for (int64_t tap = i * t.taps; tap < (i + 1) * t.taps; ++tap) {
          const auto at = static_cast<size_t>(tap);
          if (t.weight[at] != 0) sum += t.weight[at] * x[static_cast<size_t>((o * in + t.index[at]) * inner + k)];
        }
        y[static_cast<size_t>((o * out + i) * inner + k)] = t.outside[static_cast<size_t>(i)] ? extrapolation : sum;
      }
  return y;
}

// Rounded to an integer type as its neighbours in the field do: half to even, saturating.
Tensor to_dtype(DType dtype, const Dims& dims, std::vector<double> values) {
  if (!is_float(dtype))
    for (double& v : values) v = std::nearbyint(v);
  return Tensor::from_f64(dtype, dims, values);
}

void resize_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const ResizeOptions options = ResizeOptions::from(c.attrs());
  const auto plan = axis_plan(c);
  Dims dims;
  for (const AxisResize& a : plan) dims.push_back(a.out);
  const int64_t count = element_count(dims);
  if (count > 0 && x.elements() == 0) c.fail("x is " + x.type_text() + "; it holds nothing to sample");
  if (count == 0) return c.set(0, Tensor(x.dtype(), dims));
  const double extrapolation = c.attrs().real("extrapolation_value");
  const bool nearest = options.filter == ResizeOptions::Filter::nearest;
  std::vector<double> values = nearest ? std::vector<double>() : x.f64_values();
  Tensor moved = x;
  Dims now = x.dims();
  for (size_t k = 0; k < plan.size(); ++k) {
    const AxisResize& a = plan[k];
    if (stays(a)) continue;
    const AxisTaps taps = axis_taps(a, options);
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < k; ++i) outer *= now[i];
    for (size_t i = k + 1; i < now.size(); ++i) inner *= now[i];
    now[k] = a.out;
    if (!nearest) {
      values = resample(values, taps, outer, a.in, a.out, inner, extrapolation);
      continue;
    }
    TensorBuilder y(x.dtype(), now);
    const Tensor fill = is_crop(c.attrs()) ? Tensor::from_f64(x.dtype(), {}, {extrapolation}) : Tensor();
    const View whole = View::whole({outer, a.out, inner});
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < a.out; ++i) {
        if (taps.outside[static_cast<size_t>(i)])
          for (int64_t e = 0; e < inner; ++e) y.copy((o * a.out + i) * inner + e, fill, 0);
        else y.copy((o * a.out + i) * inner, moved, (o * a.in + taps.index[static_cast<size_t>(i)]) * inner, inner);
      }
    moved = y.take();
  }
  c.set(0, nearest ? moved : to_dtype(x.dtype(), dims, std::move(values)));
}

// Whether scales, where they are given, are just out / in: the coordinate map uses the scale, not the sizes.
bool scales_are_exact(codegen::LowerContext& c) {
  if (!c.has(2)) return true;
  const Tensor scales = c.constant(2);
  if (!scales.defined()) return false;
  const auto values = scales.f64_values();
  const auto axes = c.attrs().integers("axes");
  const int rank = c.shape(0).rank();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t given = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    const int k = static_cast<int>(given < 0 ? given + rank : given);
    const Dim &in = c.shape(0)[k], &out = c.output_type().shape[k];
    if (values[i] == 1 && in == out) continue;
    if (!in.constant() || !out.constant()) return false;
    if (values[i] * static_cast<double>(in.value()) != static_cast<double>(out.value())) return false;
  }
  return true;
}

// Nearest with whole-number up- or downscaling in the two coordinate modes that then are integer arithmetic.
codegen::Scalar resize_lower(codegen::LowerContext& c) {
  const Attrs& attrs = c.attrs();
  if (attrs.string("mode", "nearest") != "nearest" || !scales_are_exact(c)) return {};
  const std::string coordinates = attrs.string("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = attrs.string("nearest_mode", "round_prefer_floor");
  const bool asymmetric = coordinates == "asymmetric" && rounding == "floor";
  const bool half = coordinates == "half_pixel" || coordinates == "pytorch_half_pixel";
  codegen::Index at = c.index();
  for (int k = 0; k < c.shape(0).rank(); ++k) {
    const Dim &in = c.shape(0)[k], &out = c.output_type().shape[k];
    if (in == out && coordinates != "tf_crop_and_resize") continue;
    if (!in.constant() || !out.constant() || in.value() == 0 || out.value() % in.value() != 0) return {};
    const int64_t factor = out.value() / in.value();
    // (i + 0.5) / factor - 0.5 rounds to floor(i / factor) for whole factors, whichever way ties go but up.
    if (!asymmetric && !(half && (rounding == "round_prefer_floor" || rounding == "round_prefer_ceil"))) return {};
    at[static_cast<size_t>(k)] = floor_div(at[static_cast<size_t>(k)], factor);
  }
  return c.load(0, at);
}

const OpDef kResize = {.name = "resize",
                       .onnx = "Resize",
                       .doc = "x sampled on another grid: nearest, linear or cubic",
                       .types = "fib f f x",
                       .min_inputs = 1,
                       .max_inputs = 4,
                       .infer = infer_resize,
                       .reference = resize_reference,
                       .lower = resize_lower};
const RegisterOp kRegisterResize(kResize);

}  // namespace
}  // namespace trine
