#include "backends/cpu/primitives/narrow/slices.h"

#include <algorithm>

#include "base/float_formats.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kNhwcChannels = 16;  // of a slice of channels: fewer would read each cache line many times

int64_t pixels_of(const Extents& e) { return e[0] * e[1] * e[2]; }

// Of how many units a problem consists.
int64_t units_of(const ActivationProblem& p) { return p.elements; }
int64_t units_of(const DropoutProblem& p) { return static_cast<int64_t>(p.counters()); }
int64_t units_of(const SoftmaxProblem& p) { return p.outer; }
int64_t units_of(const PoolProblem& p) { return p.n; }
int64_t units_of(const PoolBackwardProblem& p) { return p.forward.n; }
int64_t units_of(const ResizeProblem& p) { return p.n; }
int64_t units_of(const LrnProblem& p) { return p.n; }
int64_t units_of(const GridSampleProblem& p) { return p.n; }
int64_t units_of(const NormProblem& p) {
  if (p.kind == NormKind::batch) return p.channels;
  return p.pass == Pass::backward && (p.scale || p.shift) ? 1 : p.n;  // these gradients are sums over the images
}
int64_t units_of(const BinaryProblem& p) { return p.dims.empty() ? 1 : p.dims[0]; }
int64_t units_of(const ReduceProblem& p) { return p.dims.empty() || p.dims[0] != p.out_dims[0] ? 1 : p.dims[0]; }
int64_t units_of(const AttentionProblem& p) {
  const bool sums_batch = p.pass == Pass::backward && p.mask != MaskKind::none && p.mask_stride[0] == 0;
  return p.dropout > 0 || sums_batch ? 1 : p.batch;  // dropout counts elements through the whole batch
}
template <class P>
int64_t units_of(const P&) {
  return 1;
}

void cut(ActivationProblem& p, int64_t begin, int64_t end) { p.elements = end - begin; }
void cut(DropoutProblem& p, int64_t begin, int64_t end) {
  p.elements = std::min(end * 4, p.elements) - begin * 4;
  p.offset += static_cast<uint64_t>(begin);
}
void cut(SoftmaxProblem& p, int64_t begin, int64_t end) { p.outer = end - begin; }
void cut(PoolBackwardProblem& p, int64_t begin, int64_t end) { p.forward.n = end - begin; }
void cut(BinaryProblem& p, int64_t begin, int64_t end) {
  if (p.dims.empty()) return;
  if (p.b_dims.size() == p.dims.size() && p.b_dims[0] == p.dims[0]) p.b_dims[0] = end - begin;
  p.dims[0] = end - begin;
}
void cut(ReduceProblem& p, int64_t begin, int64_t end) {
  if (units_of(p) != 1) p.dims[0] = p.out_dims[0] = end - begin;
}
void cut(NormProblem& p, int64_t begin, int64_t end) {
  if (units_of(p) != 1) (p.kind == NormKind::batch ? p.channels : p.n) = end - begin;
}
void cut(AttentionProblem& p, int64_t begin, int64_t end) {
  if (units_of(p) != 1) p.batch = end - begin;
}
template <class P>
void cut(P& p, int64_t begin, int64_t end) {
  if constexpr (requires { p.n; })
    if (units_of(p) != 1) p.n = end - begin;
}

void widen(PoolBackwardProblem& p) { p.forward.type = DType::f32; }
void widen(ConvWeightsProblem& p) { p.forward.types = {}; }
void widen(BinaryProblem& p) { p.type = p.b_type = DType::f32; }
template <class P>
void widen(P& p) {
  if constexpr (requires { p.type; }) p.type = DType::f32;
}

// Operands that all slices share.
void share(const NormProblem& p, Slices& s) {
  if (p.kind == NormKind::batch) {
    const int64_t image = p.layout == Layout::nhwc ? 1 : p.pixels;
    s.least = p.layout == Layout::nhwc ? kNhwcChannels : 1;
    std::fill_n(s.in_step, 4, 1), std::fill_n(s.out_step, 3, 1);  // scale, shift, statistics and their gradients
    s.in_step[0] = s.in_step[4] = s.out_step[0] = s.out_step[3] = s.residual_step = image;
    if (p.pass == Pass::backward) s.in_step[1] = image;
    return;
  }
  (p.pass == Pass::forward ? s.in_step[1] : s.in_step[2]) = 0;
  if (p.pass == Pass::forward) s.in_step[2] = 0;
  (p.pass == Pass::forward ? s.out_step[1] : s.in_step[3]) = p.sets() / s.units;
}
void share(const BinaryProblem& p, Slices& s) {
  if (p.b_dims.size() != p.dims.size() || p.b_dims.empty() || p.b_dims[0] != p.dims[0]) s.in_step[1] = 0;
}
// Sizes are those of the last element reached: the steps are told by the strides.
void share(const AttentionProblem& p, Slices& s) {
  const int64_t steps[] = {p.q_stride[0], p.k_stride[0], p.v_stride[0]};
  std::copy_n(steps, 3, s.in_step);
  s.in_step[3] = p.mask_stride[0];
  s.in_step[6] = 0;  // slopes of heads
  s.in_step[8] = s.in_step[9] = p.out_stride[0];
  if (p.pass == Pass::forward) {
    s.out_step[0] = p.out_stride[0];
  } else {
    std::copy_n(steps, 3, s.out_step);
    s.out_step[3] = p.mask_stride[0];
  }
}
void share(const DropoutProblem&, Slices& s) { s.in_step[0] = s.out_step[0] = 4; }
template <class P>
void share(const P&, Slices&) {}

Rows run_of(int64_t size) { return {.length = size}; }
// Pixels of an nhwc tensor.
Rows pixels_rows(const PoolProblem& p, const Extents& e, int64_t pixel_stride) {
  if (p.layout == Layout::nchw || pixel_stride == 0) return run_of(p.n * pixels_of(e) * p.channels);
  return {{1, 1, p.n * pixels_of(e)}, {0, 0, pixel_stride}, p.channels};
}

Rows rows_of(const PoolProblem& p, Side side, int, int64_t) {
  return side == Side::in ? pixels_rows(p, p.in, p.in_pixel_stride) : pixels_rows(p, p.out, p.out_pixel_stride);
}
Rows rows_of(const PoolBackwardProblem& p, Side side, int i, int64_t) {
  const PoolProblem& f = p.forward;
  return side == Side::in && i == 1 ? pixels_rows(f, f.out, f.out_pixel_stride)
                                    : pixels_rows(f, f.in, f.in_pixel_stride);
}
Rows rows_of(const ResizeProblem& p, Side side, int, int64_t) {
  const PoolProblem like{.n = p.n, .channels = p.channels, .layout = p.layout};
  return side == Side::in ? pixels_rows(like, p.in, p.in_pixel_stride) : pixels_rows(like, p.out, p.out_pixel_stride);
}
Rows rows_of(const ConvWeightsProblem& p, Side side, int i, int64_t size) {
  const ConvProblem& f = p.forward;
  if (side == Side::out || size == 0) return run_of(size);
  const PoolProblem like{.n = f.n, .channels = i == 0 ? f.in_channels : f.out_channels, .layout = f.in_layout};
  return i == 0 ? pixels_rows(like, f.in, f.in_pixel_stride) : pixels_rows(like, f.out, f.out_pixel_stride);
}
Rows rows_of(const AttentionProblem& p, Side side, int i, int64_t size) {
  const auto rows = [&](int64_t heads, int64_t positions, const std::array<int64_t, 3>& s, int64_t length) {
    return Rows{{p.batch, heads, positions}, {s[0], s[1], s[2]}, length};
  };
  const bool like_out = side == Side::in ? i == 8 || i == 9 : p.pass == Pass::forward;
  if (like_out && (side == Side::in || i == 0)) return rows(p.heads, p.q_len, p.out_stride, p.v_head_dim);
  if (i == 0) return rows(p.heads, p.q_len, p.q_stride, p.head_dim);
  if (i == 1) return rows(p.kv_heads, p.kv_len, p.k_stride, p.head_dim);
  if (i == 2) return rows(p.kv_heads, p.kv_len, p.v_stride, p.v_head_dim);
  return run_of(size);
}
template <class P>
Rows rows_of(const P&, Side, int, int64_t size) {
  return run_of(size);
}

}  // namespace

Slices slices_of(const Problem& problem) {
  Slices s;
  s.units = std::visit([](const auto& p) { return units_of(p); }, problem);
  if (s.units <= 1) return s;
  const OperandSizes sizes = operand_sizes(problem);
  for (int i = 0; i < kMostOperands; ++i) s.in_step[i] = sizes.in[i] / s.units, s.out_step[i] = sizes.out[i] / s.units;
  s.residual_step = sizes.residual / s.units;
  std::visit([&](const auto& p) { share(p, s); }, problem);
  return s;
}

Problem slice_of(const Problem& problem, int64_t begin, int64_t end) {
  Problem slice = problem;
  std::visit(
      [&](auto& p) {
        if (end > begin) cut(p, begin, end);
        widen(p);
      },
      slice);
  return slice;
}

Rows rows_of_operand(const Problem& problem, const Problem& slice, Side side, int i) {
  if (is_apart(problem, side, i)) {
    const int64_t sets = std::get<NormProblem>(slice).sets();
    return {{1, 1, 2}, {0, 0, std::get<NormProblem>(problem).sets()}, sets, sets};
  }
  const auto* norm = std::get_if<NormProblem>(&problem);
  if (norm && norm->kind == NormKind::batch) {
    const int64_t channels = std::get<NormProblem>(slice).channels, pixels = norm->pixels;
    if (norm->layout == Layout::nhwc) return {{1, 1, norm->n * pixels}, {0, 0, norm->channels}, channels, channels};
    return {{1, 1, norm->n}, {0, 0, norm->channels * pixels}, channels * pixels, channels * pixels};
  }
  const OperandSizes sizes = operand_sizes(slice);
  const int64_t size = side == Side::in ? sizes.in[i] : side == Side::out ? sizes.out[i] : sizes.residual;
  return std::visit([&](const auto& p) { return rows_of(p, side, i, size); }, slice);
}

bool is_apart(const Problem& problem, Side side, int i) {
  const auto* norm = std::get_if<NormProblem>(&problem);
  if (!norm) return false;
  if (norm->kind == NormKind::batch && norm->pass == Pass::forward)
    return side == Side::in ? i == 3 : side == Side::out && i > 0;
  return norm->pass == Pass::forward ? side == Side::out && i == 1 : side == Side::in && i == 3;
}

NarrowTypes narrow_types(const Problem& problem) {
  switch (op_kind(problem)) {
    case OpKind::pool:
    case OpKind::resize:
    case OpKind::activation:
    case OpKind::binary:
    case OpKind::reduce: return NarrowTypes::all;
    case OpKind::attention:
    case OpKind::rnn:
    case OpKind::conv_weights:
    case OpKind::grid_sample:
    case OpKind::dropout:
    case OpKind::softmax:
    case OpKind::pool_backward:
    case OpKind::norm:
    case OpKind::lrn: return NarrowTypes::halves;
    default: return NarrowTypes::none;
  }
}

bool is_narrow(DType type, NarrowTypes types) {
  if (types == NarrowTypes::none) return false;
  return is_half(type) || (types == NarrowTypes::all && (type == DType::i8 || type == DType::u8));
}

}  // namespace trine::cpu
