// Softmax, normalisations and reductions on devices: kernels/sums.cu.
#include "backends/cuda/rows/axes.h"

namespace trine::cuda {
namespace {

using namespace dnn;

bool is_half_or_f32(DType type) { return type == DType::f32 || type == DType::f16 || type == DType::bf16; }

// Threads of a row of so many elements: a warp, or a block.
int64_t threads_of(int64_t row, int64_t rows, const DeviceTraits& traits) {
  return row <= 256 || (row <= 2048 && rows >= 16 * traits.multiprocessors) ? 32 : 256;
}

double stream_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  return streaming_seconds(bytes(problem), traits, 0.6);
}

const char* softmax_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<SoftmaxProblem>(problem);
  if (p.pass != Pass::forward) return "the backward pass";
  if (!is_half_or_f32(p.type)) return "types other than f32, f16, bf16";
  const double columns = static_cast<double>(p.outer) * static_cast<double>(p.inner);
  return columns > kMostItems || p.axis > kMostItems ? "2^31 rows or more" : nullptr;
}
DeviceCall softmax_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const auto& p = std::get<SoftmaxProblem>(problem);
  DeviceCall call;
  if (p.outer * p.axis * p.inner == 0) return call;
  const SoftmaxSizes s{static_cast<int>(p.kind), static_cast<int>(p.outer), static_cast<int>(p.axis),
                       static_cast<int>(p.inner)};
  const int64_t threads = threads_of(p.axis, p.outer, traits);
  const std::string kernel = p.inner == 1 ? fmt::format("trine::softmax_rows<{}, {}>", element_name(p.type), threads)
                                          : fmt::format("trine::softmax_columns<{}>", element_name(p.type));
  const int64_t each = p.inner == 1 ? 256 / threads : 256;
  call.launches.push_back(launch("sums.cu", kernel, blocks_of(p.outer * p.inner, each), {by_value(s), in(0), out(0)}));
  return call;
}

const char* norm_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<NormProblem>(problem);
  if (p.pass != Pass::forward) return "the backward pass";
  if (!is_half_or_f32(p.type)) return "types other than f32, f16, bf16";
  return static_cast<double>(p.n) * static_cast<double>(p.channels * p.pixels) > kMostItems ? "2^31 elements or more"
                                                                                            : nullptr;
}
DeviceCall norm_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const auto& p = std::get<NormProblem>(problem);
  DeviceCall call;
  if (p.n * p.channels * p.pixels == 0) return call;
  NormSizes s{};
  s.channels = static_cast<int>(p.channels), s.pixels = static_cast<int>(p.pixels);
  s.set_channels = static_cast<int>(p.channels_per_set()), s.sets = static_cast<int>(p.sets());
  s.batch = p.kind == NormKind::batch, s.images = s.batch ? static_cast<int>(p.n) : 1;
  s.channels_inner = p.layout == Layout::nhwc, s.centred = p.kind != NormKind::rms, s.relu = p.relu;
  s.epsilon = p.epsilon, s.momentum = p.momentum;
  s.channel = divider_of(p.channels), s.pixel = divider_of(p.pixels), s.group = divider_of(p.channels_per_set());
  s.items = static_cast<unsigned>(p.n * p.channels * p.pixels);
  const auto given = [](bool is, Role role) { return is ? DeviceArgument(role) : by_value<void*>(nullptr); };
  const auto scale = given(p.scale, in(1)), shift = given(p.shift, in(2));
  const auto z = given(p.add, Role{Role::Kind::residual});
  if (p.uses_running()) {
    call.launches.push_back(launch("sums.cu", fmt::format("trine::norm_known<{}>", element_name(p.type)),
                                   blocks_of(s.items), {by_value(s), in(0), scale, shift, in(3), z, out(0)}));
    return call;
  }
  const int64_t threads = threads_of(s.items / s.sets, s.sets, traits);
  call.launches.push_back(launch("sums.cu", fmt::format("trine::norm_sets<{}, {}>", element_name(p.type), threads),
                                 blocks_of(s.sets, 256 / threads),
                                 {by_value(s), in(0), scale, shift, in(3), z, out(0), out(1), out(2)}));
  return call;
}

const char* reduce_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<ReduceProblem>(problem);
  if (p.dims.size() > kMostAxes) return "more than 16 dimensions";
  if (!element_name(p.type) || p.type == DType::i32) return "types other than f32, f16, bf16, i8, u8";
  return element_count(p.dims) > kMostItems ? "2^31 elements or more" : nullptr;
}
DeviceCall reduce_call(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  const auto& p = std::get<ReduceProblem>(problem);
  const Dims strides = dense_strides(p.dims);
  Dims inside, inside_strides, outside, outside_strides;
  for (size_t i = 0; i < p.dims.size(); ++i) {
    const bool reduced = p.out_dims[i] == 1 && p.dims[i] != 1;
    (reduced ? inside : outside).push_back(p.dims[i]);
    (reduced ? inside_strides : outside_strides).push_back(strides[i]);
  }
  ReduceSizes s{};
  s.kind = static_cast<int>(p.kind), s.indices = p.indices, s.alpha = p.alpha, s.beta = p.beta;
  s.outside = sizes_of(axes_of(outside, outside_strides, dense_strides(outside)));
  s.inside = sizes_of(axes_of(inside, inside_strides, dense_strides(inside)));
  DeviceCall call;
  if (s.outside.items == 0) return call;
  const int64_t threads = threads_of(s.inside.items, s.outside.items, traits);
  const auto given = [](bool is, Role role) { return is ? DeviceArgument(role) : by_value<void*>(nullptr); };
  call.launches.push_back(launch("sums.cu", fmt::format("trine::reduce<{}, {}>", element_name(p.type), threads),
                                 blocks_of(s.outside.items, 256 / threads),
                                 {by_value(s), in(0), given(p.beta != 0, in(1)), out(0), given(p.indices, out(1))}));
  return call;
}

const DeviceRow kSums[] = {
    {.name = "softmax_half_or_f32",
     .op = OpKind::softmax,
     .fits = softmax_fits,
     .cost = stream_cost,
     .call = softmax_call},
    {.name = "norm_half_or_f32", .op = OpKind::norm, .fits = norm_fits, .cost = stream_cost, .call = norm_call},
    {.name = "reduce_any", .op = OpKind::reduce, .fits = reduce_fits, .cost = stream_cost, .call = reduce_call},
};
const RegisterDeviceRows registered(kSums);

}  // namespace
}  // namespace trine::cuda
