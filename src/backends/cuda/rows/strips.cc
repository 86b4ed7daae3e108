#include "backends/cuda/rows/strips.h"

#include <cstdlib>

namespace trine::cuda {

using namespace dnn;

const char* refusal_of(const StripImage& p) {
  if (p.in[0] != 1 || p.out[0] != 1 || p.kernel[0] != 1 || p.pad[0] != 0) return "a volume";
  if (p.channels % 8) return "channels that are no multiple of 8";
  if (p.stride[2] != 1 && p.stride[2] != 2) return "a stride other than 1 and 2";
  const auto reach = [&](size_t i) {  // pixels that windows reach, before and behind the image, too
    return std::max(p.in[i], p.out[i] * p.stride[i]) + 2 * (std::abs(p.pad[i]) + p.kernel[i]);
  };
  if (std::max(p.pixel, p.y_pixel) > INT32_MAX / 64 || volume(p.out) * p.y_pixel > INT32_MAX / 4 ||
      std::max(reach(1), reach(2)) > INT32_MAX / 64 || reach(1) * reach(2) > INT32_MAX / 4 / p.pixel)
    return "an image of more than 2^29 numbers";
  if (p.n * volume(p.out) * p.channels / 8 > INT32_MAX / 2) return "more than 2^30 eights of outputs";
  return nullptr;
}

StripTiling::StripTiling(const StripImage& p, const DeviceTraits& traits) {
  constexpr int64_t kMostGroups = 8;  // as in strips.cuh
  const int64_t all_groups = p.channels / 8, units = std::max(traits.multiprocessors, 1);
  slices = ceil_div(all_groups, kMostGroups), groups = ceil_div(all_groups, std::max<int64_t>(slices, 1));
  if (p.n * volume(p.out) * all_groups == 0) return;
  const auto threads_of = [&](int64_t outputs) { return p.n * p.out[1] * ceil_div(p.out[2], outputs) * all_groups; };
  if (p.type == DType::f32 || threads_of(4) < units * 512) columns = 2;
  while (threads > 64 && threads_of(columns) < units * 2 * threads) threads /= 2;
  // Few pixels read for those that are made, and few threads without work.
  const int64_t most = threads / groups, line = ceil_div(p.out[2], columns);
  double best = 0;
  for (int64_t wide = 1; wide <= std::min(most, line); ++wide) {
    const int64_t tall = std::min(most / wide, p.out[1]), x = ceil_div(line, wide), y = ceil_div(p.out[1], tall);
    const double read = static_cast<double>(((wide * columns - 1) * p.stride[2] + p.kernel[2]) *
                                            ((tall - 1) * p.stride[1] + p.kernel[1]));
    const double made = static_cast<double>(most * columns * p.stride[1] * p.stride[2]);
    const double work = static_cast<double>(x * y) * (made + 0.5 * read);
    if (best != 0 && work >= best) continue;
    best = work;
    strips = wide, rows = tall, tiles_x = x, tiles_y = y;
  }
  blocks = p.n * slices * tiles_x * tiles_y;
}

double StripTiling::seconds(double each, const DeviceTraits& traits) const {
  const double outputs = static_cast<double>(blocks * threads * columns) / 32;
  return outputs * each / (0.7 * traits.flops_per_second / 64);
}

StripSizes sizes_of(const StripImage& p, const StripTiling& t) {
  const auto number = [](int64_t n) { return static_cast<int>(n); };
  StripSizes s{};
  s.in_h = number(p.in[1]), s.in_w = number(p.in[2]), s.out_h = number(p.out[1]), s.out_w = number(p.out[2]);
  s.stride_y = number(p.stride[1]), s.pad_y = number(p.pad[1]), s.pad_x = number(p.pad[2]);
  s.pixel = number(p.pixel), s.row = number(p.in[2] * p.pixel), s.image = p.in[1] * s.row;
  s.y_pixel = number(p.y_pixel), s.y_row = number(p.out[2] * p.y_pixel), s.y_image = p.out[1] * s.y_row;
  s.channels = number(p.channels), s.slice_channels = number(t.groups * 8);
  s.tile_strips = number(t.strips), s.tile_rows = number(t.rows);
  s.groups = divider_of(t.groups), s.strips = divider_of(t.strips), s.slices = divider_of(t.slices);
  s.tiles_x = divider_of(t.tiles_x), s.tiles_y = divider_of(t.tiles_y);
  s.aligned = p.pixel % 8 == 0, s.y_aligned = p.y_pixel % 8 == 0;
  return s;
}

}  // namespace trine::cuda
