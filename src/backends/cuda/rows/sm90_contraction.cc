#include "backends/cuda/rows/sm90_contraction.h"

namespace trine::cuda {
namespace {

using namespace dnn;
using compute::TensorMapArgument;
using compute::TensorMapShape;

Sm90Contraction of(const ConvProblem& p) {
  const bool plain =
      p.kernel == Extents{1, 1, 1} && p.stride == Extents{1, 1, 1} && p.pad_begin == Extents{0, 0, 0} && p.in == p.out;
  return {.m = p.n * volume(p.out),
          .n = p.out_channels,
          .k = p.in_channels,
          .taps = volume(p.kernel),
          .image = !plain,
          .out_stride = or_dense(p.out_pixel_stride, p.out_channels),
          .row_stride = or_dense(p.in_pixel_stride, p.in_channels),
          .epilogue = p.epilogue,
          .types = p.types};
}

Sm90Contraction of(const MatmulProblem& p) {
  return {.m = p.m * element_count(p.a_batch),
          .n = p.n,
          .k = p.k,
          .packs = p.b_constant,
          .out_stride = or_dense(p.out_row_stride, p.n),
          .row_stride = p.k,
          .alpha = p.alpha,
          .epilogue = p.epilogue,
          .types = p.types};
}

const char* misfit_of_shape(const ConvProblem& p) {
  if (p.transposed) return "transposed";
  if (p.groups != 1) return "groups";
  if (p.in_layout != Layout::nhwc) return "channels outermost";
  if (p.in[0] != 1 || p.kernel[0] != 1) return "three dimensions";
  for (int i = 1; i < 3; ++i) {
    const int64_t low = -p.pad_begin[i], high = (p.out[i] - 1) * p.stride[i] - p.pad_begin[i] - (p.in[i] - 1);
    if (low < -128 || high < -128 || high > 127 || p.stride[i] > 8) return "pads or strides out of the range of maps";
  }
  return nullptr;
}

const char* misfit_of_shape(const MatmulProblem& p) {
  if (p.trans_a) return "a is transposed";
  if (element_count(p.b_batch) != 1) return "b has a batch";
  return p.b_constant || p.trans_b ? nullptr : "b is [k, n] and not constant";
}

const char* misfit_of_types(const ElementTypes& types) {
  if (types.in != DType::f16 && types.in != DType::bf16) return "operands other than f16 and bf16";
  if (types.weights != types.in) return "operands of two types";
  if (types.out != types.in && types.out != DType::f32) return "a result of another type";
  return types.bias == DType::f32 ? nullptr : "a bias other than f32";
}

TensorMapArgument map_of_rows(const Sm90Contraction& c, int rows) {
  return {in(0), TensorMapShape{.type = c.types.in,
                                .dims = {static_cast<uint64_t>(c.k), static_cast<uint64_t>(c.m)},
                                .stride_bytes = {2 * static_cast<uint64_t>(c.row_stride)},
                                .swizzle_bytes = 128,
                                .box = {kSm90Block, static_cast<uint32_t>(rows)}}};
}

TensorMapArgument map_of_image(const ConvProblem& p, const Sm90Contraction& c, int rows) {
  const auto pixel = 2 * static_cast<uint64_t>(c.row_stride), w = static_cast<uint64_t>(p.in[2]),
             h = static_cast<uint64_t>(p.in[1]);
  const auto corner = [&](int i) {  // of the box in which windows begin
    return static_cast<int>((p.out[i] - 1) * p.stride[i] - p.pad_begin[i] - (p.in[i] - 1));
  };
  return {in(0), TensorMapShape{
                     .type = c.types.in,
                     .dims = {static_cast<uint64_t>(c.k), w, h, static_cast<uint64_t>(p.n)},
                     .stride_bytes = {pixel, pixel * w, pixel * w * h},
                     .element_strides = {1, static_cast<uint32_t>(p.stride[2]), static_cast<uint32_t>(p.stride[1]), 1},
                     .swizzle_bytes = 128,
                     .lower_corner = {static_cast<int>(-p.pad_begin[2]), static_cast<int>(-p.pad_begin[1])},
                     .upper_corner = {corner(2), corner(1)},
                     .channels = kSm90Block,
                     .pixels = static_cast<uint32_t>(rows)}};
}

void add_window(ContractParams& params, const ConvProblem& p) {
  const auto number = [](int64_t v) { return static_cast<int>(v); };
  params.taps_w = number(p.kernel[2]);
  params.step_w = number(p.dilation[2]), params.step_h = number(p.dilation[1]);
  params.out_w = divider_of(p.out[2]), params.out_h = divider_of(p.out[1]);
  params.stride_w = number(p.stride[2]), params.stride_h = number(p.stride[1]);
  params.pad_w = number(p.pad_begin[2]), params.pad_h = number(p.pad_begin[1]);
}

}  // namespace

Sm90Contraction sm90_contraction(const Problem& problem) {
  if (const auto* conv = std::get_if<ConvProblem>(&problem)) return of(*conv);
  return of(std::get<MatmulProblem>(problem));
}

const char* sm90_misfit(const Problem& problem) {
  const Sm90Contraction c = sm90_contraction(problem);
  if (const char* why = misfit_of_types(c.types)) return why;
  if (const char* why = std::visit(
          [](const auto& p) -> const char* {
            if constexpr (requires { misfit_of_shape(p); }) return misfit_of_shape(p);
            else return "another problem";
          },
          problem))
    return why;
  if (c.k % 8 || c.row_stride % 8) return "channels that are no multiples of 8";
  if (c.n % 8 || c.out_stride % 8) return "results that are no multiples of 8";
  return c.m > INT32_MAX / 2 || c.m == 0 || c.n == 0 || c.k == 0 ? "a size out of range" : nullptr;
}

TensorMapArgument sm90_map_of_a(const Problem& problem, int rows) {
  const Sm90Contraction c = sm90_contraction(problem);
  return c.image ? map_of_image(std::get<ConvProblem>(problem), c, rows) : map_of_rows(c, rows);
}

TensorMapArgument sm90_map_of_b(const Sm90Contraction& c, int columns) {
  const auto k = static_cast<uint64_t>(c.k), taps = static_cast<uint64_t>(c.taps);
  return {{c.packs ? Role::Kind::packed : Role::Kind::in, c.packs ? 0 : 1},
          TensorMapShape{.type = c.types.in,
                         .dims = {k, taps, static_cast<uint64_t>(c.n)},
                         .stride_bytes = {2 * k, 2 * k * taps},
                         .swizzle_bytes = 128,
                         .box = {kSm90Block, 1, static_cast<uint32_t>(columns)}}};
}

ContractParams sm90_params(const Problem& problem, int stages) {
  const Sm90Contraction c = sm90_contraction(problem);
  ContractParams params{.m = static_cast<int>(c.m),
                        .n = static_cast<int>(c.n),
                        .chunks = static_cast<int>(c.chunks()),
                        .blocks = static_cast<int>(c.blocks()),
                        .taps_w = 1,
                        .stages = stages,
                        .split = 1,
                        .split_bits = 0,
                        .out_stride = static_cast<int>(c.out_stride),
                        .constant_b = c.packs,
                        .scale = c.alpha,
                        .residual = static_cast<int>(c.epilogue.residual),
                        .alpha = c.epilogue.alpha,
                        .beta = c.epilogue.beta};
  if (const auto* conv = std::get_if<ConvProblem>(&problem)) add_window(params, *conv);
  return params;
}

size_t sm90_packed_bytes(const DeviceRow&, const Problem& problem) {
  const Sm90Contraction c = sm90_contraction(problem);
  return c.packs ? static_cast<size_t>(c.n * c.taps * c.k * 2) : 0;
}

void sm90_prepack(const DeviceRow&, const Problem& problem, std::span<const void* const> weights, void* packed) {
  const Sm90Contraction c = sm90_contraction(problem);
  const auto* from = static_cast<const uint16_t*>(weights[0]);
  auto* to = static_cast<uint16_t*>(packed);
  int64_t of_n = c.k * c.taps, of_tap = 1, of_k = c.taps;
  if (const auto* p = std::get_if<MatmulProblem>(&problem); p && !p->trans_b) of_n = 1, of_k = c.n;
  for (int64_t n = 0; n < c.n; ++n)
    for (int64_t tap = 0; tap < c.taps; ++tap)
      for (int64_t k = 0; k < c.k; ++k) *to++ = from[n * of_n + tap * of_tap + k * of_k];
}

}  // namespace trine::cuda
