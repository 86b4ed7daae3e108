#include "backends/cuda/rows/contraction.h"

#include "base/float_formats.h"
#include "trine/base/error.h"

namespace trine::cuda {

using namespace dnn;
using contraction::Batches;
using contraction::Finish;
using contraction::Window;

contraction::Number number_of(DType type) {
  switch (type) {
    case DType::f32: return contraction::kF32;
    case DType::f16: return contraction::kF16;
    case DType::bf16: return contraction::kBf16;
    case DType::i8: return contraction::kI8;
    case DType::u8: return contraction::kU8;
    case DType::i32: return contraction::kI32;
    default: throw Error(ErrorCode::invalid_argument, "contraction: an operand of a type that it does not have");
  }
}

Finish finish_of(const ElementTypes& types, const Epilogue& e, float alpha, const Quantization& q) {
  const bool bytes = types.out == DType::u8 || types.out == DType::i8;
  Finish f{};
  f.act = static_cast<int>(e.activation);
  f.residual = static_cast<int>(e.residual);
  f.alpha = e.alpha, f.beta = e.beta;
  f.factor = alpha;
  f.out = number_of(types.out), f.bias = number_of(types.bias);
  f.scale_per_channel = types.scale_per_channel;
  if (types.are_integers()) f.in_zero = q.in_zero;
  f.out_zero = q.out_zero, f.residual_zero = q.residual_zero;
  f.out_multiplier = q.out_multiplier, f.residual_scale = q.residual_scale;
  f.multiply_first = bytes && q.out_multiplier > 0 && e.activation <= Activation::clip;
  return f;
}

const char* types_refusal(const ElementTypes& t, const Epilogue& e) {
  if (!t.are_integers()) {
    if (!is_half_or_f32(t.in) || !is_half_or_f32(t.weights) || !is_half_or_f32(t.out) || !is_half_or_f32(t.bias))
      return "operands other than f32, f16 and bf16, or 8-bit integers";
    return nullptr;
  }
  if (t.weights != DType::i8) return "weights other than i8 by 8-bit integers";
  if (t.bias != DType::f32 && t.bias != DType::i32) return "a bias other than f32 or i32";
  if (t.out == DType::f32 || t.out == DType::u8 || t.out == DType::i8) return nullptr;
  if (t.out != DType::i32) return "an output other than f32, u8, i8 and i32";
  const bool raw =
      e.residual == dnn::Residual::none && e.activation == Activation::none && (!e.bias || t.bias == DType::i32);
  return raw ? nullptr : "an epilogue of i32 sums beyond an i32 bias";
}

static constexpr int64_t kMost = INT32_MAX / 2;

const char* refusal_of(const ConvProblem& p) {
  if (const char* reason = types_refusal(p.types, p.epilogue)) return reason;
  const int64_t taps = volume(p.kernel);
  if (p.n * volume(p.out) > kMost || taps * p.in_per_group() > kMost || p.out_channels > kMost)
    return "more than 2^30 rows, columns or products of a sum";
  for (size_t i = 0; i < 3; ++i)
    if (std::max(p.in[i], p.out[i]) * p.stride[i] + p.kernel[i] * p.dilation[i] + std::abs(p.pad_begin[i]) > kMost)
      return "positions beyond 2^30";
  return nullptr;
}

const char* refusal_of(const MatmulProblem& p) {
  if (const char* reason = types_refusal(p.types, p.epilogue)) return reason;
  if (p.types.out == DType::i32 && p.alpha != 1) return "i32 sums with a factor";
  if (p.b_constant && !p.b_batch.empty()) return "a constant b with batch dimensions; only a plain matrix is packed";
  const MatmulShape shape(p);
  if (shape.batches.rank < 0) return "more than 6 dimensions of batches";
  if (shape.rows > kMost || p.n > kMost || p.k > kMost || shape.batch > kMost)
    return "more than 2^30 rows, columns, products of a sum or matrices";
  return nullptr;
}

namespace {

// Dimensions of a batch, the innermost first, with neighbours merged that both operands walk as one.
struct BatchDim {
  int64_t extent, a, b;
};
std::vector<BatchDim> batch_dims(const MatmulProblem& p) {
  std::vector<BatchDim> dims;
  const Dims batch = batch_of(p);
  int64_t a = p.m * p.k, b = p.k * p.n;
  for (size_t i = 0; i < batch.size(); ++i) {
    const int64_t extent = batch[batch.size() - 1 - i];
    const int64_t own_a = i < p.a_batch.size() ? p.a_batch[p.a_batch.size() - 1 - i] : 1;
    const int64_t own_b = i < p.b_batch.size() ? p.b_batch[p.b_batch.size() - 1 - i] : 1;
    const BatchDim dim{extent, own_a == 1 ? 0 : a, own_b == 1 ? 0 : b};
    a *= own_a, b *= own_b;
    if (extent == 1) continue;
    if (!dims.empty() && dim.a == dims.back().a * dims.back().extent && dim.b == dims.back().b * dims.back().extent)
      dims.back().extent *= extent;
    else dims.push_back(dim);
  }
  return dims;
}

}  // namespace

MatmulShape::MatmulShape(const MatmulProblem& p) : rows(p.m) {
  std::vector<BatchDim> dims = batch_dims(p);
  // Rows of matrices that lie one after the other, times one b, are rows of one matrix.
  if (!dims.empty() && !p.trans_a && dims[0].b == 0 && dims[0].a == p.m * p.k) {
    rows *= dims[0].extent;
    dims.erase(dims.begin());
  }
  if (dims.size() > contraction::kMostBatches) {
    batches.rank = -1;
    return;
  }
  batches.rank = static_cast<int>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    batch *= dims[i].extent;
    batches.extent[i] = static_cast<int>(dims[i].extent);
    batches.a_step[i] = dims[i].a, batches.b_step[i] = dims[i].b;
  }
}

Window window_of(const ConvProblem& p) {
  Window w{};
  for (size_t i = 0; i < 3; ++i) {
    w.in[i] = static_cast<int>(p.in[i]), w.out[i] = static_cast<int>(p.out[i]);
    w.kernel[i] = static_cast<int>(p.kernel[i]), w.stride[i] = static_cast<int>(p.stride[i]);
    w.dilation[i] = static_cast<int>(p.dilation[i]), w.pad[i] = static_cast<int>(p.pad_begin[i]);
  }
  w.channels = static_cast<int>(p.in_per_group());
  w.transposed = p.transposed;
  const bool nhwc = p.in_layout == Layout::nhwc;
  w.pixel = nhwc ? or_dense(p.in_pixel_stride, p.in_channels) : 1;
  w.image = volume(p.in) * (nhwc ? w.pixel : p.in_channels);
  return w;
}

void add_finish_operands(const ElementTypes& types, const Epilogue& e,
                         std::vector<compute::DeviceArgument>& arguments) {
  using compute::OperandRole;
  const auto null = compute::by_value(static_cast<const void*>(nullptr));
  arguments.push_back(e.bias ? compute::DeviceArgument(OperandRole{OperandRole::Kind::bias}) : null);
  arguments.push_back(
      e.residual != dnn::Residual::none ? compute::DeviceArgument(OperandRole{OperandRole::Kind::residual}) : null);
  arguments.push_back(types.are_integers() ? compute::DeviceArgument(OperandRole{OperandRole::Kind::scale}) : null);
  arguments.push_back(OperandRole{OperandRole::Kind::out});
}

double launch_seconds(const DeviceTraits& traits, double blocks, double bytes, double flops, double block_flops,
                      int resident) {
  constexpr double kStart = 1.9e-6;
  const double units = std::max(traits.multiprocessors, 1);
  const double waves = std::ceil(blocks / (units * resident));
  // From the L2 cache a lone multiprocessor reads 185 GB/s, each of all 132 reads 68 (measured on an H200).
  const double active = std::min(1.0, blocks / units);
  const double unit_bytes = traits.bytes_per_second / units * 2 * (2.7 - 1.7 * std::sqrt(active));
  const double each = std::max(bytes / unit_bytes, flops / block_flops) * std::min<double>(resident, blocks / units);
  return kStart + waves * std::max(each, std::max(bytes / unit_bytes, flops / block_flops));
}

}  // namespace trine::cuda
