// The rows of depthwise convolutions of floats: square windows of images that are made in strips, and all others.
#include "backends/cuda/kernels/depthwise_sizes.cuh"
#include "backends/cuda/rows/contraction.h"
#include "base/float_formats.h"

namespace trine::cuda {
namespace {

using namespace dnn;

constexpr int64_t kStrip = 4, kThreads = 128;  // as in conv_depthwise.cu

const ConvProblem& of(const Problem& p) { return std::get<ConvProblem>(p); }

int64_t blocks_of(const ConvProblem& p) {
  return ceil_div(p.n * p.out[0] * p.out[1] * ceil_div(p.out[2], kStrip) * (p.in_channels / 8), kThreads);
}

const char* fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const ConvProblem& p = of(problem);
  if (const char* reason = refusal_of(p)) return reason;
  if (p.types.are_integers()) return "8-bit integers";
  if (p.in_per_group() != 1 || p.out_per_group() != 1) return "not depthwise, or with a multiplier";
  if (p.in_channels % 8) return "channels that are no multiple of 8";
  if (p.transposed) return "a transposed convolution";
  if (p.in_layout == Layout::nchw) return "an nchw input";
  return blocks_of(p) > INT32_MAX / kThreads ? "more than 2^31 threads" : nullptr;
}

double cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  const double taps = static_cast<double>(volume(p.kernel));
  // Measured on an H200: taps come one after the other, multiply-adds with conversions and addresses around them reach
  // a twentieth of the peak.
  return 2.2e-6 + taps * 0.8e-6 +
         std::max(bytes(problem) / traits.bytes_per_second, flops(problem) / (0.055 * traits.flops_per_second));
}

void prepack(const DeviceRow&, const Problem& problem, std::span<const void* const> weights, void* packed) {
  const ConvProblem& p = of(problem);
  const int64_t taps = volume(p.kernel);
  auto* to = static_cast<float*>(packed);
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t c = 0; c < p.in_channels; ++c) {
      const int64_t from = c * taps + tap;
      *to++ =
          p.types.weights == DType::f32
              ? static_cast<const float*>(weights[0])[from]
              : static_cast<float>(small_float_value(p.types.weights, static_cast<const uint16_t*>(weights[0])[from]));
    }
}

DeviceCall call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  DeviceCall call;
  const int64_t blocks = blocks_of(p);
  if (blocks == 0) return call;
  contraction::Product q{};
  q.rows = static_cast<int>(p.n * volume(p.out)), q.columns = static_cast<int>(p.in_channels);
  q.y_row = or_dense(p.out_pixel_stride, p.out_channels);
  const contraction::Window window = window_of(p);
  DeviceLaunch launch{
      .source = device_source("conv_depthwise.cu"),
      .kernel = fmt::format("conv_depthwise<{}, {}>", static_cast<int>(number_of(p.types.in)), overlaps(traits)),
      .shape = {.grid = {static_cast<uint32_t>(blocks)},
                .block = {static_cast<uint32_t>(kThreads)},
                .overlap = overlaps(traits)},
      .arguments = {by_value(q), by_value(window), by_value(finish_of(p.types, p.epilogue, 1, {})),
                    by_value(static_cast<int>(window.pixel % 8 == 0)), by_value(static_cast<int>(q.y_row % 8 == 0)),
                    Role{Role::Kind::in}, Role{Role::Kind::packed}}};
  add_finish_operands(p.types, p.epilogue, launch.arguments);
  call.launches.push_back(std::move(launch));
  return call;
}

// How blocks of strips share out the outputs.
struct Tiling {
  int64_t columns = 4;  // outputs of a strip
  int64_t threads = 256;
  int64_t groups = 1, slices = 1;  // groups of 8 channels of a slice
  int64_t strips = 1, rows = 1;    // of a tile
  int64_t tiles_x = 1, tiles_y = 1;

  int64_t blocks(const ConvProblem& p) const { return p.n * slices * tiles_x * tiles_y; }
};

Tiling tiling_of(const ConvProblem& p, const DeviceTraits& traits) {
  constexpr int64_t kMostGroups = 8;  // as in conv_depthwise_strips.cu
  Tiling t;
  const int64_t all_groups = p.in_channels / 8, units = std::max(traits.multiprocessors, 1);
  t.slices = ceil_div(all_groups, kMostGroups), t.groups = ceil_div(all_groups, t.slices);
  const auto threads_of = [&](int64_t columns) { return p.n * p.out[1] * ceil_div(p.out[2], columns) * all_groups; };
  if (p.types.in == DType::f32 || threads_of(4) < units * 512) t.columns = 2;
  while (t.threads > 64 && threads_of(t.columns) < units * 2 * t.threads) t.threads /= 2;
  // Few pixels read for those that are made, and few threads without work.
  const int64_t most = t.threads / t.groups, line = ceil_div(p.out[2], t.columns);
  double best = 0;
  for (int64_t strips = 1; strips <= std::min(most, line); ++strips) {
    const int64_t rows = std::min(most / strips, p.out[1]);
    const int64_t tiles_x = ceil_div(line, strips), tiles_y = ceil_div(p.out[1], rows);
    const double read = static_cast<double>(((strips * t.columns - 1) * p.stride[2] + p.kernel[2]) *
                                            ((rows - 1) * p.stride[1] + p.kernel[1]));
    const double made = static_cast<double>(most * t.columns * p.stride[1] * p.stride[2]);
    const double work = static_cast<double>(tiles_x * tiles_y) * (made + 0.5 * read);
    if (best != 0 && work >= best) continue;
    best = work;
    t.strips = strips, t.rows = rows, t.tiles_x = tiles_x, t.tiles_y = tiles_y;
  }
  return t;
}

const char* strips_fit(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  if (const char* reason = fits(row, problem, traits)) return reason;
  if (p.in[0] != 1 || p.out[0] != 1 || p.kernel[0] != 1 || p.pad_begin[0] != 0) return "a volume";
  if (p.kernel[1] != p.kernel[2] || (p.kernel[1] != 3 && p.kernel[1] != 5 && p.kernel[1] != 7))
    return "a window other than 3x3, 5x5 and 7x7";
  if (p.stride[2] != 1 && p.stride[2] != 2) return "a stride other than 1 and 2";
  if (p.dilation[1] != 1 || p.dilation[2] != 1) return "a dilated window";
  const int64_t pixel =
      std::max(or_dense(p.in_pixel_stride, p.in_channels), or_dense(p.out_pixel_stride, p.in_channels));
  if (pixel > INT32_MAX / 64 || volume(p.in) * 2 > INT32_MAX)
    return "an image of more than 2^30 pixels or their channels of 2^25";
  return tiling_of(p, traits).blocks(p) > INT32_MAX / 2 ? "more than 2^30 blocks" : nullptr;
}

double strips_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  const Tiling t = tiling_of(p, traits);
  // Instructions for eight channels of an output: products, conversions of what it reads, what is beside. Four warps
  // of a multiprocessor begin one in each cycle.
  const double size = static_cast<double>(p.kernel[1]), columns = static_cast<double>(t.columns);
  const double read = ((columns - 1) * static_cast<double>(p.stride[2]) + size) / columns * size;
  const double each = size * size * 8.5 + read * (8 + 6) + 60;
  const double outputs = static_cast<double>(t.blocks(p) * t.threads) * columns / 32;
  const double work = outputs * each / (0.7 * traits.flops_per_second / 64);
  const double memory = bytes(problem) / (0.8 * traits.bytes_per_second);
  return 1.9e-6 + size * 0.1e-6 + std::max(memory, work) + 0.2 * std::min(memory, work);
}

DepthwiseSizes sizes_of(const ConvProblem& p, const Tiling& t) {
  const auto number = [](int64_t n) { return static_cast<int>(n); };
  const int64_t pixel = or_dense(p.in_pixel_stride, p.in_channels),
                y_row = or_dense(p.out_pixel_stride, p.out_channels);
  DepthwiseSizes s{};
  s.in_h = number(p.in[1]), s.in_w = number(p.in[2]), s.out_h = number(p.out[1]), s.out_w = number(p.out[2]);
  s.stride_y = number(p.stride[1]), s.pad_y = number(p.pad_begin[1]), s.pad_x = number(p.pad_begin[2]);
  s.pixel = number(pixel), s.y_row = number(y_row);
  s.channels = number(p.in_channels), s.slice_channels = number(t.groups * 8);
  s.tile_strips = number(t.strips), s.tile_rows = number(t.rows);
  s.groups = divider_of(t.groups), s.strips = divider_of(t.strips), s.slices = divider_of(t.slices);
  s.tiles_x = divider_of(t.tiles_x), s.tiles_y = divider_of(t.tiles_y);
  s.aligned = pixel % 8 == 0, s.y_aligned = y_row % 8 == 0;
  return s;
}

DeviceCall strips_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  DeviceCall call;
  if (p.n * volume(p.out) * p.in_channels == 0) return call;
  const Tiling t = tiling_of(p, traits);
  DeviceLaunch launch{
      .source = device_source("conv_depthwise_strips.cu"),
      .kernel = fmt::format("conv_depthwise_strips<{}, {}, {}, {}, {}>", static_cast<int>(number_of(p.types.in)),
                            p.kernel[2], p.stride[2], t.columns, overlaps(traits)),
      .shape = {.grid = {static_cast<uint32_t>(t.blocks(p))},
                .block = {static_cast<uint32_t>(t.threads)},
                .overlap = overlaps(traits)},
      .arguments = {by_value(sizes_of(p, t)), by_value(finish_of(p.types, p.epilogue, 1, {})), Role{Role::Kind::in},
                    Role{Role::Kind::packed}}};
  add_finish_operands(p.types, p.epilogue, launch.arguments);
  call.launches.push_back(std::move(launch));
  return call;
}

size_t packed_bytes(const DeviceRow&, const Problem& problem) {
  return static_cast<size_t>(volume(of(problem).kernel) * of(problem).in_channels) * sizeof(float);
}

const DeviceRow kRows[] = {
    {.name = "conv_any_any_depthwise_strips",
     .op = OpKind::conv,
     .fits = strips_fit,
     .cost = strips_cost,
     .packed_bytes = packed_bytes,
     .prepack = prepack,
     .call = strips_call},
    {.name = "conv_any_any_depthwise",
     .op = OpKind::conv,
     .fits = fits,
     .cost = cost,
     .packed_bytes = packed_bytes,
     .prepack = prepack,
     .call = call},
};
const RegisterDeviceRows registered(kRows);

}  // namespace
}  // namespace trine::cuda
