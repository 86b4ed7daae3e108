// The row of max pools of square windows of images (kernels/pool_strips.cu); bound by memory.
#include "backends/cuda/rows/strips.h"

namespace trine::cuda {
namespace {

using namespace dnn;

const PoolProblem& of(const Problem& problem) { return std::get<PoolProblem>(problem); }
StripImage image_of(const PoolProblem& p) { return {p, p.channels, p.type}; }

const char* fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const PoolProblem& p = of(problem);
  if (p.kind != PoolKind::max) return "an average";
  if (p.type != DType::f32 && p.type != DType::f16 && p.type != DType::bf16) return "types other than f32, f16, bf16";
  if (p.layout != Layout::nhwc) return "an nchw image";
  if (p.kernel[1] != p.kernel[2] || (p.kernel[1] != 2 && p.kernel[1] != 3 && p.kernel[1] != 5))
    return "a window other than 2x2, 3x3 and 5x5";
  if (p.dilation[1] != 1 || p.dilation[2] != 1) return "a dilated window";
  const StripImage image = image_of(p);
  if (image.pixel % 8 || image.y_pixel % 8) return "pixels that begin at no multiple of 8 numbers";
  if (p.pad_begin[1] > INT32_MAX / 4 || p.pad_begin[2] > INT32_MAX / 4 || p.stride[1] > INT32_MAX / 4)
    return "positions past 2^29";
  return refusal_of(image);
}

double cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const PoolProblem& p = of(problem);
  const StripTiling t(image_of(p), traits);
  const double size = static_cast<double>(p.kernel[1]), columns = static_cast<double>(t.columns);
  const double read = ((columns - 1) * static_cast<double>(p.stride[2]) + size) / columns * size;
  const double words = p.type == DType::f32 ? 2 : 1;
  const double work = t.seconds(read * 10 * words + size * 4 * words + 60, traits);
  const double memory = bytes(problem) / (0.8 * traits.bytes_per_second);
  return 2.1e-6 + std::max(memory, work) + 0.2 * std::min(memory, work);
}

DeviceCall call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const PoolProblem& p = of(problem);
  const StripImage image = image_of(p);
  const StripTiling t(image, traits);
  DeviceCall call;
  if (t.blocks == 0) return call;
  DeviceLaunch made = launch("pool_strips.cu",
                             fmt::format("pool_strips<{}, {}, {}, {}, {}>", static_cast<int>(number_of(p.type)),
                                         p.kernel[2], p.stride[2], t.columns, overlaps(traits)),
                             {static_cast<uint32_t>(t.blocks)}, {by_value(sizes_of(image, t)), in(0), out(0)},
                             {static_cast<uint32_t>(t.threads), 1, 1});
  made.shape.overlap = overlaps(traits);
  call.launches.push_back(std::move(made));
  return call;
}

const DeviceRow kRows[] = {
    {.name = "pool_any_strips", .op = OpKind::pool, .architecture = 80, .fits = fits, .cost = cost, .call = call}};
const RegisterDeviceRows registered(kRows);

}  // namespace
}  // namespace trine::cuda
