// Pools and resizing on devices: kernels/pool.cu, kernels/resize.cu.
#include <cmath>

#include "backends/cuda/rows/row_support.h"
#include "dnn/resize_reading.h"

namespace trine::cuda {
namespace {

using namespace dnn;

int64_t volume(const Extents& e) { return e[0] * e[1] * e[2]; }

// Where the elements of an image of `channels` and `pixels` lie.
struct Lie {
  Wide image, pixel, channel;
};
Lie lie_of(Layout layout, int64_t channels, int64_t pixels, int64_t pixel_stride) {
  if (layout == Layout::nchw) return {channels * pixels, 1, pixels};
  const int64_t stride = or_dense(pixel_stride, channels);
  return {pixels * stride, stride, 1};
}

// What both kinds of kernels split their outputs into.
template <class P, class Sizes>
void set_items(const P& p, int64_t vector, Sizes& s) {
  const Lie x = lie_of(p.layout, p.channels, volume(p.in), p.in_pixel_stride);
  const Lie y = lie_of(p.layout, p.channels, volume(p.out), p.out_pixel_stride);
  s.x_image = x.image, s.x_pixel = x.pixel, s.x_channel = x.channel;
  s.y_image = y.image, s.y_pixel = y.pixel, s.y_channel = y.channel;
  const int64_t groups = (p.channels + vector - 1) / vector;
  s.items = static_cast<unsigned>(p.n * volume(p.out) * groups);
  s.channels = static_cast<unsigned>(p.channels);
  s.groups = divider_of(groups), s.width = divider_of(p.out[2]);
  s.height = divider_of(p.out[1]), s.depth = divider_of(p.out[0]);
  s.channels_inner = p.layout == Layout::nhwc;
}

// Channels of one thread: 16 bytes, fewer where that leaves too few threads.
int64_t vector_of(Layout layout, int64_t channels, int64_t pixels, DType type, const DeviceTraits& traits) {
  if (layout == Layout::nchw) return 1;
  int64_t n = 16 / static_cast<int64_t>(byte_size(type));
  const int64_t wanted = int64_t{traits.multiprocessors} * 128;
  while (n > 1 && (n / 2 >= channels || channels * pixels / n < wanted)) n /= 2;
  return n;
}

template <class P>
const char* image_refusal(const P& p) {
  if (!element_name(p.type) || p.type == DType::i32) return "types other than f32, f16, bf16, i8, u8";
  if (p.n * p.channels * std::max(volume(p.in), volume(p.out)) > kMostItems) return "2^31 elements or more";
  return nullptr;
}

const PoolProblem& pool_of(const Problem& problem) { return std::get<PoolProblem>(problem); }

PoolSizes pool_sizes(const PoolProblem& p, int64_t vector) {
  PoolSizes s{};
  set_items(p, vector, s);
  for (size_t i = 0; i < 3; ++i)
    s.axis[i] = {static_cast<int>(p.in[i]),     static_cast<int>(p.out[i]),      static_cast<int>(p.kernel[i]),
                 static_cast<int>(p.stride[i]), static_cast<int>(p.dilation[i]), static_cast<int>(p.pad_begin[i]),
                 static_cast<int>(p.pad_end[i])};
  s.padding_counts = p.kind == PoolKind::average_with_pad;
  return s;
}

std::string pool_kernel(const char* name, const PoolProblem& p, int64_t vector) {
  return fmt::format("trine::{}<{}, {}, {}>", name, element_name(p.type), vector, p.kind == PoolKind::max);
}

const char* pool_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const PoolProblem& p = pool_of(problem);
  for (size_t i = 0; i < 3; ++i)
    if (p.kernel[i] * p.dilation[i] + p.in[i] + p.pad_begin[i] + p.pad_end[i] + p.out[i] * p.stride[i] > kMostItems)
      return "positions past 2^31";
  return image_refusal(p);
}
DeviceCall pool_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const PoolProblem& p = pool_of(problem);
  const int64_t vector = vector_of(p.layout, p.channels, p.n * volume(p.out), p.type, traits);
  const PoolSizes s = pool_sizes(p, vector);
  DeviceCall call;
  if (s.items)
    call.launches.push_back(
        launch("pool.cu", pool_kernel("pool", p, vector), blocks_of(s.items), {by_value(s), in(0), out(0)}));
  return call;
}
double pool_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const PoolProblem& p = pool_of(problem);
  // A thread's window is one load after the other (measured on an H200).
  const double chain = static_cast<double>(volume(p.kernel)) * 0.5e-6;
  const double threads = static_cast<double>(p.n * volume(p.out) * p.channels) / (p.layout == Layout::nhwc ? 8 : 1);
  const double waves = std::max(1.0, threads / (2048.0 * traits.multiprocessors));
  return streaming_seconds(bytes(problem), traits) + chain * waves;
}

const char* pool_shared_fits(const DeviceRow& row, const Problem& problem, const DeviceTraits& traits) {
  return volume(pool_of(problem).kernel) < 32 ? "windows of fewer than 32 positions" : pool_fits(row, problem, traits);
}
DeviceCall pool_shared_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const PoolProblem& p = pool_of(problem);
  const int64_t pixels = p.n * volume(p.out);
  const int64_t vector = vector_of(p.layout, p.channels, pixels * 8, p.type, traits);
  const PoolSizes s = pool_sizes(p, vector);
  DeviceCall call;
  const int64_t blocks = p.layout == Layout::nhwc ? pixels * ((s.groups.divisor + 31) / 32) : (s.items + 7) / 8;
  if (s.items)
    call.launches.push_back(launch("pool.cu", pool_kernel("pool_shared", p, vector), blocks_of(blocks, 1),
                                   {by_value(s), in(0), out(0)}, {32, 8, 1}));
  return call;
}
double pool_shared_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const PoolProblem& p = pool_of(problem);
  const double lanes = p.layout == Layout::nhwc ? 8 : 32;
  const double chain = static_cast<double>(volume(p.kernel)) * 30e-9 / lanes + 0.3e-6;
  const double threads =
      static_cast<double>(p.n * volume(p.out) * p.channels) / (p.layout == Layout::nhwc ? 8 : 1) * lanes;
  const double waves = std::max(1.0, threads / (2048.0 * traits.multiprocessors));
  return streaming_seconds(bytes(problem), traits) + chain * waves;
}

const ResizeProblem& resize_of(const Problem& problem) { return std::get<ResizeProblem>(problem); }

Tensor readings(const ResizeProblem& p) {
  constexpr int64_t kWords = sizeof(ResizeTaps) / 4;
  Tensor table(DType::i32, {p.out[0] + p.out[1] + p.out[2], kWords});
  char* to = table.mutable_as<char>();
  for (size_t axis = 0; axis < 3; ++axis)
    for (int64_t o = 0; o < p.out[axis]; ++o, to += sizeof(ResizeTaps)) {
      const dnn::ResizeReading found = resize_reading(p, axis, o);
      const ResizeTaps r{static_cast<int>(found.low), static_cast<int>(found.high), found.weight};
      std::memcpy(to, &r, sizeof r);
    }
  return table;
}

const char* resize_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  return image_refusal(resize_of(problem));
}
DeviceCall resize_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const ResizeProblem& p = resize_of(problem);
  const int64_t vector = vector_of(p.layout, p.channels, p.n * volume(p.out), p.type, traits);
  ResizeSizes s{};
  set_items(p, vector, s);
  for (size_t i = 0; i < 3; ++i) s.in[i] = static_cast<int>(p.in[i]), s.out[i] = static_cast<int>(p.out[i]);
  DeviceCall call;
  if (s.items == 0) return call;
  call.constants.push_back(readings(p));
  call.launches.push_back(launch("resize.cu", fmt::format("trine::resize<{}, {}>", element_name(p.type), vector),
                                 blocks_of(s.items), {by_value(s), in(0), Role{Role::Kind::constant, 0}, out(0)}));
  return call;
}

double resize_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  return streaming_seconds(bytes(problem), traits, 0.6);
}

const DeviceRow kImages[] = {
    {.name = "pool_any_direct", .op = OpKind::pool, .fits = pool_fits, .cost = pool_cost, .call = pool_call},
    {.name = "pool_any_shared_window",
     .op = OpKind::pool,
     .fits = pool_shared_fits,
     .cost = pool_shared_cost,
     .call = pool_shared_call},
    {.name = "resize_any_tables", .op = OpKind::resize, .fits = resize_fits, .cost = resize_cost, .call = resize_call},
};
const RegisterDeviceRows registered(kImages);

}  // namespace
}  // namespace trine::cuda
