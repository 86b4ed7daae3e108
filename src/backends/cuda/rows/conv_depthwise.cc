// The rows of depthwise convolutions of floats: square windows of images that are made in strips, and all others.
#include "backends/cuda/rows/strips.h"
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

StripImage image_of(const ConvProblem& p) { return {p, p.in_channels, p.types.in}; }

const char* strips_fit(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  if (const char* reason = fits(row, problem, traits)) return reason;
  if (p.kernel[1] != p.kernel[2] || (p.kernel[1] != 3 && p.kernel[1] != 5 && p.kernel[1] != 7))
    return "a window other than 3x3, 5x5 and 7x7";
  if (p.dilation[1] != 1 || p.dilation[2] != 1) return "a dilated window";
  return refusal_of(image_of(p));
}

double strips_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  const StripTiling t(image_of(p), traits);
  // Products, conversions of what is read, what is beside.
  const double size = static_cast<double>(p.kernel[1]), columns = static_cast<double>(t.columns);
  const double read = ((columns - 1) * static_cast<double>(p.stride[2]) + size) / columns * size;
  const double work = t.seconds(size * size * 8.5 + read * (8 + 6) + 70, traits);
  const double memory = bytes(problem) / (0.8 * traits.bytes_per_second);
  return 1.9e-6 + size * 0.1e-6 + std::max(memory, work) + 0.2 * std::min(memory, work);
}

DeviceCall strips_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const ConvProblem& p = of(problem);
  DeviceCall call;
  if (p.n * volume(p.out) * p.in_channels == 0) return call;
  const StripImage image = image_of(p);
  const StripTiling t(image, traits);
  DeviceLaunch launch{
      .source = device_source("conv_depthwise_strips.cu"),
      .kernel = fmt::format("conv_depthwise_strips<{}, {}, {}, {}, {}>", static_cast<int>(number_of(p.types.in)),
                            p.kernel[2], p.stride[2], t.columns, overlaps(traits)),
      .shape = {.grid = {static_cast<uint32_t>(t.blocks)},
                .block = {static_cast<uint32_t>(t.threads)},
                .overlap = overlaps(traits)},
      .arguments = {by_value(sizes_of(image, t)), by_value(finish_of(p.types, p.epilogue, 1, {})), Role{Role::Kind::in},
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
     .architecture = 80,
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
