// Spatial transformers on devices: kernels/grid.cu.
#include "backends/cuda/rows/row_support.h"

namespace trine::cuda {
namespace {

using namespace dnn;

int64_t volume(const Extents& e) { return e[0] * e[1] * e[2]; }

void set_points(const Extents& out, int axes, int64_t channels, int64_t items, GridSizes& s) {
  s.axes = axes;
  for (size_t i = 0; i < 3; ++i) s.out[i] = static_cast<int>(out[i]);
  s.channel = divider_of(channels), s.width = divider_of(out[2]);
  s.height = divider_of(out[1]), s.depth = divider_of(out[0]);
  s.items = static_cast<unsigned>(items);
}

double cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  return streaming_seconds(bytes(problem), traits, 0.3);
}

const char* affine_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<AffineGridProblem>(problem);
  if (p.pass != Pass::forward) return "the backward pass";
  return p.n * volume(p.out) * p.axes > kMostItems ? "2^31 coordinates or more" : nullptr;
}
DeviceCall affine_call(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<AffineGridProblem>(problem);
  GridSizes s{};
  set_points(p.out, p.axes, p.axes, p.n * volume(p.out) * p.axes, s);
  s.align_corners = p.align_corners;
  DeviceCall call;
  if (s.items)
    call.launches.push_back(launch("grid.cu", "trine::affine_grid", blocks_of(s.items), {by_value(s), in(0), out(0)}));
  return call;
}

const char* sample_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<GridSampleProblem>(problem);
  if (p.pass != Pass::forward) return "the backward pass";
  if (p.type != DType::f32 && p.type != DType::f16 && p.type != DType::bf16) return "types other than f32, f16, bf16";
  for (int64_t size : p.in)
    if (size >= 100'000'000) return "images of 10^8 pixels along an axis";
  return p.n * volume(p.out) * p.channels > kMostItems ? "2^31 elements or more" : nullptr;
}
DeviceCall sample_call(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<GridSampleProblem>(problem);
  const bool nhwc = p.layout == Layout::nhwc;
  GridSizes s{};
  set_points(p.out, p.axes, p.channels, p.n * volume(p.out) * p.channels, s);
  for (size_t i = 0; i < 3; ++i) s.in[i] = static_cast<int>(p.in[i]);
  s.align_corners = p.align_corners, s.nearest = p.sampling == GridSampling::nearest;
  s.padding = static_cast<int>(p.padding), s.channels_inner = nhwc;
  s.x_image = p.channels * volume(p.in), s.y_image = p.channels * volume(p.out);
  s.x_pixel = s.y_pixel = nhwc ? p.channels : 1;
  s.x_channel = nhwc ? 1 : volume(p.in), s.y_channel = nhwc ? 1 : volume(p.out);
  DeviceCall call;
  if (s.items)
    call.launches.push_back(launch("grid.cu", fmt::format("trine::grid_sample<{}>", element_name(p.type)),
                                   blocks_of(s.items), {by_value(s), in(0), in(1), out(0)}));
  return call;
}

const DeviceRow kGrids[] = {
    {.name = "affine_grid_f32", .op = OpKind::affine_grid, .fits = affine_fits, .cost = cost, .call = affine_call},
    {.name = "grid_sample_half_or_f32",
     .op = OpKind::grid_sample,
     .fits = sample_fits,
     .cost = cost,
     .call = sample_call},
};
const RegisterDeviceRows registered(kGrids);

}  // namespace
}  // namespace trine::cuda
