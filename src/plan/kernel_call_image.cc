// Pooling and resizing.
#include <algorithm>

#include "ops/window.h"
#include "plan/kernel_call_rules.h"

namespace trine {
namespace {

// Up to three spatial dimensions, the missing leading ones being `fill`.
dnn::Extents extents(const Dims& dims, int64_t fill) {
  dnn::Extents e{fill, fill, fill};
  for (size_t i = 0; i < dims.size(); ++i) e[3 - dims.size() + i] = dims[i];
  return e;
}

Dims static_of(const std::vector<Dim>& dims) { return Shape(dims).static_dims(); }

// x and y as images of at most three spatial dimensions, f32 or halves.
bool read_images(const Node& node, const NodeTypes& t, dnn::PoolProblem& p) {
  if (!t.is_half_or_f32(0) || t.inputs[0].shape.rank() < 3 || t.inputs[0].shape.rank() > 5) return false;
  const Image x = Image::of(node, t.inputs[0].shape), y = Image::of(node, t.outputs[0].shape);
  p.type = t.inputs[0].dtype;
  p.layout = x.nhwc ? dnn::Layout::nhwc : dnn::Layout::nchw;
  p.n = x.batch.value();
  p.channels = x.channels.value();
  p.in = extents(static_of(x.spatial), 1);
  p.out = extents(static_of(y.spatial), 1);
  return true;
}

KernelCall one_call(dnn::Problem problem) {
  KernelCall call;
  call.problem = std::move(problem);
  call.in = {0};
  return call;
}

}  // namespace

KernelCalls pool_calls(const Node& node, const NodeTypes& t) {
  dnn::PoolProblem p;
  if (!read_images(node, t, p) || (t.outputs.size() > 1 && t.outputs[1].is_tensor())) return {};
  const Image x = Image::of(node, t.inputs[0].shape);
  const Window window = Window::of(node, static_cast<int>(x.spatial.size()));
  const WindowGrid grid = WindowGrid::of(node, window, x.spatial);
  p.kernel = extents(grid.kernel, 1);
  p.stride = extents(grid.strides, 1);
  p.dilation = extents(grid.dilations, 1);
  p.pad_begin = extents(grid.pads_begin, 0);
  Dims pad_end(grid.in.size());
  for (size_t i = 0; i < pad_end.size(); ++i) {
    const int64_t span = (grid.out[i] - 1) * grid.strides[i] + (grid.kernel[i] - 1) * grid.dilations[i] + 1;
    pad_end[i] = window.auto_pad == Window::AutoPad::notset
                     ? window.pads[grid.in.size() + i]
                     : std::max<int64_t>(span - grid.in[i] - grid.pads_begin[i], 0);
  }
  p.pad_end = extents(pad_end, 0);
  if (node.is("max_pool")) p.kind = dnn::PoolKind::max;
  else p.kind = node.attrs.integer("count_include_pad") ? dnn::PoolKind::average_with_pad : dnn::PoolKind::average;
  return {one_call(p)};
}

KernelCalls global_pool_calls(const Node& node, const NodeTypes& t) {
  dnn::PoolProblem p;
  if (!read_images(node, t, p)) return {};
  p.kernel = p.in;
  p.kind = node.is("global_max_pool") ? dnn::PoolKind::max : dnn::PoolKind::average;
  return {one_call(p)};
}

namespace {

struct CoordinateName {
  std::string_view name;
  dnn::ResizeCoordinates value;
};
constexpr CoordinateName kCoordinates[] = {
    {"half_pixel", dnn::ResizeCoordinates::half_pixel},
    {"half_pixel_symmetric", dnn::ResizeCoordinates::half_pixel_symmetric},
    {"pytorch_half_pixel", dnn::ResizeCoordinates::pytorch_half_pixel},
    {"align_corners", dnn::ResizeCoordinates::align_corners},
    {"asymmetric", dnn::ResizeCoordinates::asymmetric},
};

struct RoundingName {
  std::string_view name;
  dnn::ResizeRounding value;
};
constexpr RoundingName kRoundings[] = {
    {"round_prefer_floor", dnn::ResizeRounding::round_prefer_floor},
    {"round_prefer_ceil", dnn::ResizeRounding::round_prefer_ceil},
    {"floor", dnn::ResizeRounding::floor},
    {"ceil", dnn::ResizeRounding::ceil},
};

bool read_modes(const Attrs& a, dnn::ResizeProblem& p) {
  const std::string mode = a.string("mode", "nearest");
  if (mode != "nearest" && mode != "linear") return false;
  p.mode = mode == "linear" ? dnn::ResizeMode::linear : dnn::ResizeMode::nearest;
  if (a.integer("antialias") || a.integer("exclude_outside") ||
      a.string("keep_aspect_ratio_policy", "stretch") != "stretch")
    return false;
  const std::string coordinates = a.string("coordinate_transformation_mode", "half_pixel");
  const auto* c =
      std::find_if(std::begin(kCoordinates), std::end(kCoordinates), [&](auto& x) { return x.name == coordinates; });
  const std::string rounding = a.string("nearest_mode", "round_prefer_floor");
  const auto* r =
      std::find_if(std::begin(kRoundings), std::end(kRoundings), [&](auto& x) { return x.name == rounding; });
  if (c == std::end(kCoordinates) || r == std::end(kRoundings)) return false;
  p.coordinates = c->value;
  p.rounding = r->value;
  return true;
}

// One scale per dimension of x; empty when they are not constant.
std::vector<float> read_scales(const Node& node, const NodeTypes& t, const Dims& in, const Dims& out) {
  std::vector<float> scales(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    scales[i] = in[i] ? static_cast<float>(out[i]) / static_cast<float>(in[i]) : 1.0f;
  if (!t.has(2) || t.inputs[2].shape.elements() == Dim(0)) return scales;
  if (!t.constants[2].defined()) return {};
  const std::vector<double> given = t.constants[2].f64_values();
  std::vector<int64_t> axes = node.attrs.integers("axes");
  for (size_t i = 0; i < given.size(); ++i) {
    const int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    scales[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(in.size()) : axis)] =
        static_cast<float>(given[i]);
  }
  return scales;
}

}  // namespace

KernelCalls resize_calls(const Node& node, const NodeTypes& t) {
  dnn::ResizeProblem p;
  if (!t.is_half_or_f32(0) || !read_modes(node.attrs, p)) return {};
  p.type = t.inputs[0].dtype;
  const Dims in = t.in_dims(0), out = t.out_dims(0);
  if (in.size() < 3 || in.size() > 5 || in[0] != out[0]) return {};
  const std::vector<float> scales = read_scales(node, t, in, out);
  if (scales.empty() || scales[0] != 1.0f) return {};
  // The dimension that keeps its size beside the batch is the channel: the last (nhwc) or the second (nchw).
  const bool nchw = scales[1] == 1.0f && in[1] == out[1];
  const bool nhwc = !nchw && scales.back() == 1.0f && in.back() == out.back();
  if (!nchw && !nhwc) return {};
  p.layout = nhwc ? dnn::Layout::nhwc : dnn::Layout::nchw;
  p.n = in[0];
  p.channels = nhwc ? in.back() : in[1];
  const size_t first = nhwc ? 1 : 2, count = in.size() - 2;
  for (size_t i = 0; i < count; ++i) {
    const size_t to = 3 - count + i;
    p.in[to] = in[first + i];
    p.out[to] = out[first + i];
    p.scale[to] = scales[first + i];
  }
  return {one_call(p)};
}

}  // namespace trine
