#include "trine/dnn/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "dnn/families.h"
#include "trine/base/error.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kOpNames[] = {
    "conv",    "matmul",       "pool",          "attention",   "rnn",         "resize",     "copy",
    "gather",  "conv_weights", "ctc_loss",      "affine_grid", "grid_sample", "activation", "binary",
    "dropout", "softmax",      "pool_backward", "norm",        "lrn",         "reduce",     "transform",
};
constexpr std::string_view kPoolNames[] = {"max", "average", "average_with_pad"};
constexpr std::string_view kCoordinateNames[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                                 "align_corners", "asymmetric"};
constexpr std::string_view kRoundingNames[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};

template <class Names, class E>
std::string_view of(const Names& names, E e) {
  return names[static_cast<size_t>(e)];
}

double product(const Extents& e) {
  return static_cast<double>(e[0]) * static_cast<double>(e[1]) * static_cast<double>(e[2]);
}
double product(const Dims& dims) {
  double p = 1;
  for (int64_t d : dims) p *= static_cast<double>(d);
  return p;
}

// " pad 0x1x1", nothing when every extent is `usual`.
std::string when_unusual(std::string_view what, const Extents& e, int64_t usual) {
  if (e[0] == usual && e[1] == usual && e[2] == usual) return "";
  return fmt::format(" {} {}x{}x{}", what, e[0], e[1], e[2]);
}
std::string strides_text(int64_t in, int64_t out) {
  return in || out ? fmt::format(" pixel strides {},{}", in, out) : "";
}
std::string epilogue_text(const Epilogue& e) { return e.is_plain() ? "" : " " + e.text(); }
std::string types_text(const ElementTypes& t) { return t.are_f32() ? "" : " " + t.text(); }
double size_of(DType type) { return static_cast<double>(byte_size(type)); }
template <class Range>
std::string list(const Range& range) {
  return fmt::format("{}", fmt::join(range, ","));
}

std::string text_of(const ConvProblem& p) {
  return fmt::format("conv{} {} x[{},{},{},{},{}] w[{},{},{}] groups {}{}{}{}{} -> [{},{},{}]{}{}",
                     p.transposed ? "_transposed" : "", name(p.in_layout), p.n, p.in[0], p.in[1], p.in[2],
                     p.in_channels, p.out_channels, p.in_channels / std::max<int64_t>(p.groups, 1), list(p.kernel),
                     p.groups, when_unusual("stride", p.stride, 1), when_unusual("dilation", p.dilation, 1),
                     when_unusual("pad", p.pad_begin, 0), strides_text(p.in_pixel_stride, p.out_pixel_stride), p.out[0],
                     p.out[1], p.out[2], epilogue_text(p.epilogue), types_text(p.types));
}

std::string text_of(const MatmulProblem& p) {
  return fmt::format("matmul {}x{}x{} batch [{}]x[{}]{}{}{}{}{}{}{}", p.m, p.k, p.n, list(p.a_batch), list(p.b_batch),
                     p.trans_a ? " trans_a" : "", p.trans_b ? " trans_b" : "", p.b_constant ? " b_constant" : "",
                     p.alpha == 1 ? "" : fmt::format(" alpha {}", p.alpha),
                     p.out_row_stride ? fmt::format(" row stride {}", p.out_row_stride) : "", epilogue_text(p.epilogue),
                     types_text(p.types));
}

std::string text_of(const PoolProblem& p) {
  return fmt::format("pool {} {} x[{},{},{},{},{}] kernel {}{}{}{}{}{} -> [{},{},{}]{}", of(kPoolNames, p.kind),
                     name(p.layout), p.n, p.in[0], p.in[1], p.in[2], p.channels, list(p.kernel),
                     when_unusual("stride", p.stride, 1), when_unusual("dilation", p.dilation, 1),
                     when_unusual("pad", p.pad_begin, 0), when_unusual("pad_end", p.pad_end, 0),
                     strides_text(p.in_pixel_stride, p.out_pixel_stride), p.out[0], p.out[1], p.out[2],
                     type_text(p.type));
}

std::string text_of(const ResizeProblem& p) {
  bool nearest = p.mode == ResizeMode::nearest;
  return fmt::format("resize {} {} {}{} x[{},{},{},{},{}] scale {}{} -> [{}]{}", nearest ? "nearest" : "linear",
                     name(p.layout), of(kCoordinateNames, p.coordinates),
                     nearest ? fmt::format(" {}", of(kRoundingNames, p.rounding)) : "", p.n, p.in[0], p.in[1], p.in[2],
                     p.channels, list(p.scale), strides_text(p.in_pixel_stride, p.out_pixel_stride), list(p.out),
                     type_text(p.type));
}

std::string text_of(const CopyProblem& p) {
  return fmt::format("copy [{}] strides [{}] -> [{}] of {} bytes", list(p.dims), list(p.in_strides),
                     list(p.out_strides), p.element_bytes);
}

std::string text_of(const GatherProblem& p) {
  return fmt::format("gather {} of [{},{}] rows of {} bytes by {}", p.count, p.outer, p.axis, p.inner_bytes,
                     name(p.index));
}

std::string text_of(const ConvWeightsProblem& p) {
  return fmt::format("weights of {}{}{}", text_of(p.forward), p.bias ? " and bias" : "", p.add ? " added" : "");
}

std::string text_of(const PoolBackwardProblem& p) { return "gradient of " + text_of(p.forward); }

double flops_of(const ConvProblem& p) {
  double positions = p.transposed ? product(p.in) : product(p.out);
  double pairs = static_cast<double>(p.in_channels) * static_cast<double>(p.out_channels) /
                 static_cast<double>(std::max<int64_t>(p.groups, 1));
  return 2 * static_cast<double>(p.n) * positions * product(p.kernel) * pairs;
}
double flops_of(const MatmulProblem& p) {
  return 2 * product(batch_of(p)) * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}
double flops_of(const PoolProblem& p) {
  return static_cast<double>(p.n) * static_cast<double>(p.channels) * product(p.out) * product(p.kernel);
}
double flops_of(const PoolBackwardProblem& p) { return 2 * flops_of(p.forward); }
double flops_of(const ResizeProblem& p) {
  return static_cast<double>(p.n * p.channels) * product(p.out) * (p.mode == ResizeMode::linear ? 6 : 0);
}
double flops_of(const ConvWeightsProblem& p) { return flops_of(p.forward); }
double flops_of(const CopyProblem&) { return 0; }
double flops_of(const GatherProblem&) { return 0; }

double bytes_of(const ConvProblem& p) {
  double weights = static_cast<double>(p.in_channels) * static_cast<double>(p.out_channels) /
                   static_cast<double>(std::max<int64_t>(p.groups, 1)) * product(p.kernel);
  double out = static_cast<double>(p.n * p.out_channels) * product(p.out);
  double twice = p.epilogue.residual == Residual::none ? 1 : 2;
  return size_of(p.types.in) * static_cast<double>(p.n * p.in_channels) * product(p.in) +
         size_of(p.types.out) * out * twice + size_of(p.types.weights) * weights;
}
double bytes_of(const ConvWeightsProblem& p) { return bytes_of(p.forward); }
double bytes_of(const MatmulProblem& p) {
  double m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  double twice = p.epilogue.residual == Residual::none ? 1 : 2;
  return size_of(p.types.in) * product(p.a_batch) * m * k + size_of(p.types.weights) * product(p.b_batch) * k * n +
         size_of(p.types.out) * product(batch_of(p)) * m * n * twice;
}
double bytes_of(const PoolProblem& p) {
  return size_of(p.type) * static_cast<double>(p.n * p.channels) * (product(p.in) + product(p.out));
}
double bytes_of(const ResizeProblem& p) {
  return size_of(p.type) * static_cast<double>(p.n * p.channels) * (product(p.in) + product(p.out));
}
template <class P>
double bytes_of(const P& p) {
  return bytes_of_operands(operand_sizes(p));
}
double bytes_of(const CopyProblem& p) { return 2 * product(p.dims) * static_cast<double>(p.element_bytes); }
double bytes_of(const GatherProblem& p) {
  return 2 * static_cast<double>(p.outer * p.count) * static_cast<double>(p.inner_bytes);
}

}  // namespace

std::string_view name(Layout layout) { return layout == Layout::nhwc ? "nhwc" : "nchw"; }
std::string_view name(OpKind op) { return of(kOpNames, op); }

std::string ElementTypes::text() const {
  if (are_f32()) return {};
  return fmt::format("{}*{}->{}{}{}", name(in), name(weights), name(out),
                     bias == DType::f32 ? "" : fmt::format(" +{}", name(bias)),
                     scale_per_channel ? " per channel" : "");
}

ElementTypes types_of(const Problem& problem) {
  if (const auto* conv = std::get_if<ConvProblem>(&problem)) return conv->types;
  if (const auto* matmul = std::get_if<MatmulProblem>(&problem)) return matmul->types;
  if (const auto* weights = std::get_if<ConvWeightsProblem>(&problem)) return weights->forward.types;
  return {};
}

namespace {
DType own_type(const ConvWeightsProblem& p) {
  const ElementTypes t = p.forward.types;
  return t.in != DType::f32 ? t.in : t.out != DType::f32 ? t.out : t.weights != DType::f32 ? t.weights : t.bias;
}
DType own_type(const PoolBackwardProblem& p) { return p.forward.type; }
DType own_type(const BinaryProblem& p) { return p.type == DType::f32 ? p.b_type : p.type; }
template <class P>
DType own_type(const P& p) {
  if constexpr (requires { p.type; }) return p.type;
  else return DType::f32;
}
}  // namespace

DType type_of(const Problem& problem) {
  return std::visit([](const auto& p) { return own_type(p); }, problem);
}

std::string type_text(DType type) { return type == DType::f32 ? std::string() : fmt::format(" {}", trine::name(type)); }

std::string text(const Problem& problem) {
  return std::visit([](const auto& p) { return text_of(p); }, problem);
}
size_t hash(const Problem& problem) { return std::hash<std::string>()(text(problem)); }
double flops(const Problem& problem) {
  return std::visit([](const auto& p) { return flops_of(p); }, problem);
}
double bytes(const Problem& problem) {
  return std::visit([](const auto& p) { return bytes_of(p); }, problem);
}

ConvProblem backward_data(const ConvProblem& forward) {
  ConvProblem p = forward;
  p.transposed = !forward.transposed;
  std::swap(p.in, p.out);
  std::swap(p.in_channels, p.out_channels);
  std::swap(p.in_pixel_stride, p.out_pixel_stride);
  p.in_layout = Layout::nhwc;
  p.epilogue = {};
  return p;
}

Dims batch_of(const MatmulProblem& p) {
  size_t rank = std::max(p.a_batch.size(), p.b_batch.size());
  Dims batch(rank, 1);
  auto merge = [&](const Dims& dims) {
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t& d = batch[rank - dims.size() + i];
      if (d == 1) d = dims[i];
    }
  };
  merge(p.a_batch);
  merge(p.b_batch);
  return batch;
}

CopyProblem CopyProblem::transpose(const Dims& in_dims, const std::vector<int>& perm, int64_t element_bytes) {
  size_t rank = in_dims.size();
  TRINE_CHECK(perm.size() == rank);
  Dims in_strides(rank, 1);
  for (size_t i = rank; i-- > 1;) in_strides[i - 1] = in_strides[i] * in_dims[i];
  CopyProblem p{Dims(rank), Dims(rank), Dims(rank, 1), element_bytes};
  for (size_t i = 0; i < rank; ++i) {
    auto from = static_cast<size_t>(perm[i]);
    p.dims[i] = in_dims[from];
    p.in_strides[i] = in_strides[from];
  }
  for (size_t i = rank; i-- > 1;) p.out_strides[i - 1] = p.out_strides[i] * p.dims[i];
  return p;
}

}  // namespace trine::dnn
