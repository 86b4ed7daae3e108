// Activations, binary operations, conversions and local response on devices: kernels/pointwise.cu.
#include "backends/cuda/rows/axes.h"

namespace trine::cuda {
namespace {

using namespace dnn;

const char* number_refusal(DType type) {
  return element_name(type) && type != DType::i32 ? nullptr : "types other than f32, f16, bf16, i8, u8";
}
const char* count_refusal(double items) { return items > kMostItems ? "2^31 elements or more" : nullptr; }

double stream_cost(const DeviceRow&, const Problem& problem, const DeviceTraits& traits) {
  return streaming_seconds(bytes(problem), traits, 0.7);
}

const char* activation_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<ActivationProblem>(problem);
  if (p.pass != Pass::forward) return "the backward pass";
  const char* reason = number_refusal(p.type);
  return reason ? reason : count_refusal(static_cast<double>(p.elements));
}
DeviceCall activation_call(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<ActivationProblem>(problem);
  DeviceCall call;
  constexpr int64_t vector = 4;  // each element has all functions' code
  if (p.elements)
    call.launches.push_back(launch("pointwise.cu",
                                   fmt::format("trine::activation<{}, {}>", element_name(p.type), vector),
                                   blocks_of((p.elements + vector - 1) / vector),
                                   {by_value(static_cast<int>(p.function)), by_value(p.alpha), by_value(p.beta),
                                    by_value(static_cast<unsigned>(p.elements)), in(0), out(0)}));
  return call;
}

const char* binary_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<BinaryProblem>(problem);
  if (p.dims.size() > kMostAxes) return "more than 16 dimensions";
  for (DType type : {p.type, p.b_type})
    if (const char* reason = number_refusal(type)) return reason;
  return count_refusal(static_cast<double>(element_count(p.dims)));
}
DeviceCall binary_call(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<BinaryProblem>(problem);
  DeviceCall call;
  if (element_count(p.dims) == 0) return call;
  Dims b_dims(p.dims.size() - p.b_dims.size(), 1);
  b_dims.insert(b_dims.end(), p.b_dims.begin(), p.b_dims.end());
  const CopySizes s = sizes_of(axes_of(p.dims, dense_strides(b_dims), dense_strides(p.dims)));
  const DeviceArgument c = p.reads_c() ? DeviceArgument(in(2)) : by_value<void*>(nullptr);
  call.launches.push_back(launch("pointwise.cu",
                                 fmt::format("trine::binary<{}, {}>", element_name(p.type), element_name(p.b_type)),
                                 blocks_of(s.items),
                                 {by_value(s), by_value(static_cast<int>(p.op)), by_value(p.alpha1), by_value(p.alpha2),
                                  by_value(p.beta), in(0), in(1), c, out(0)}));
  return call;
}

const char* transform_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<TransformProblem>(problem);
  if (p.dims.size() > kMostAxes) return "more than 16 dimensions";
  if (!element_name(p.in) || !element_name(p.out)) return "types other than f32, f16, bf16, i8, u8, i32";
  return count_refusal(static_cast<double>(element_count(p.dims)));
}
DeviceCall transform_call(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<TransformProblem>(problem);
  DeviceCall call;
  if (element_count(p.dims) == 0) return call;
  const CopySizes s = sizes_of(axes_of(p.dims, p.in_strides, p.out_strides));
  call.launches.push_back(
      launch("pointwise.cu", fmt::format("trine::transform<{}, {}>", element_name(p.in), element_name(p.out)),
             blocks_of(s.items), {by_value(s), by_value(p.alpha), by_value(p.beta), in(0), out(0)}));
  return call;
}

const char* lrn_fits(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<LrnProblem>(problem);
  if (p.pass != Pass::forward) return "the backward pass";
  if (p.type == DType::i8 || p.type == DType::u8) return "types other than f32, f16, bf16";
  const char* reason = number_refusal(p.type);
  return reason ? reason : count_refusal(static_cast<double>(p.n * p.channels * p.image[0] * p.image[1] * p.image[2]));
}
DeviceCall lrn_call(const DeviceRow&, const Problem& problem, const DeviceTraits&) {
  const auto& p = std::get<LrnProblem>(problem);
  LrnSizes s{};
  s.within = p.within, s.channels = static_cast<int>(p.channels), s.size = static_cast<int>(p.size);
  s.channels_inner = p.layout == Layout::nhwc;
  for (size_t i = 0; i < 3; ++i) s.image[i] = static_cast<int>(p.image[i]);
  s.alpha = p.alpha, s.beta = p.beta, s.k = p.k;
  s.items = static_cast<unsigned>(p.n * p.channels * p.image[0] * p.image[1] * p.image[2]);
  s.channel = divider_of(p.channels), s.depth = divider_of(p.image[0]);
  s.height = divider_of(p.image[1]), s.width = divider_of(p.image[2]);
  DeviceCall call;
  if (s.items)
    call.launches.push_back(launch("pointwise.cu", fmt::format("trine::lrn<{}>", element_name(p.type)),
                                   blocks_of(s.items), {by_value(s), in(0), out(0)}));
  return call;
}

const DeviceRow kPointwise[] = {
    {.name = "activation_any",
     .op = OpKind::activation,
     .fits = activation_fits,
     .cost = stream_cost,
     .call = activation_call},
    {.name = "binary_any", .op = OpKind::binary, .fits = binary_fits, .cost = stream_cost, .call = binary_call},
    {.name = "transform_any",
     .op = OpKind::transform,
     .fits = transform_fits,
     .cost = stream_cost,
     .call = transform_call},
    {.name = "lrn_half_or_f32", .op = OpKind::lrn, .fits = lrn_fits, .cost = stream_cost, .call = lrn_call},
};
const RegisterDeviceRows registered(kPointwise);

}  // namespace
}  // namespace trine::cuda
