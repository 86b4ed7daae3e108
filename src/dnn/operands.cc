#include "dnn/operands.h"

#include <algorithm>

#include "dnn/families.h"

namespace trine::dnn {
namespace {

int64_t product(const Extents& e) { return e[0] * e[1] * e[2]; }
int64_t or_dense(int64_t stride, int64_t dense) { return stride ? stride : dense; }

OperandSizes sizes_of(const ConvProblem& p) {
  OperandSizes s;
  s.in[0] =
      p.n * product(p.in) * (p.in_layout == Layout::nhwc ? or_dense(p.in_pixel_stride, p.in_channels) : p.in_channels);
  s.weights[0] = p.in_channels * p.out_channels / p.groups * product(p.kernel);
  if (p.types.are_integers()) s.scales = p.types.scale_per_channel ? p.out_channels : 1;
  s.out[0] = p.n * product(p.out) * or_dense(p.out_pixel_stride, p.out_channels);
  if (p.epilogue.bias) s.bias = p.out_channels;
  if (p.epilogue.residual != Residual::none) s.residual = s.out[0];
  return s;
}

OperandSizes sizes_of(const MatmulProblem& p) {
  OperandSizes s;
  s.in[0] = element_count(p.a_batch) * p.m * p.k;
  (p.b_constant ? s.weights[0] : s.in[1]) = element_count(p.b_batch) * p.k * p.n;
  if (p.types.are_integers()) s.scales = p.types.scale_per_channel ? p.n : 1;
  s.out[0] = element_count(batch_of(p)) * p.m * or_dense(p.out_row_stride, p.n);
  if (p.epilogue.bias) s.bias = p.n;
  if (p.epilogue.residual != Residual::none) s.residual = s.out[0];
  return s;
}

OperandSizes sizes_of(const PoolProblem& p) {
  OperandSizes s;
  s.in[0] = p.n * product(p.in) * or_dense(p.in_pixel_stride, p.channels);
  s.out[0] = p.n * product(p.out) * or_dense(p.out_pixel_stride, p.channels);
  return s;
}

OperandSizes sizes_of(const PoolBackwardProblem& p) {
  OperandSizes of_forward = sizes_of(p.forward), s;
  if (p.forward.kind == PoolKind::max) s.in[0] = of_forward.in[0];
  s.in[1] = of_forward.out[0];
  s.out[0] = of_forward.in[0];
  return s;
}

OperandSizes sizes_of(const ResizeProblem& p) {
  OperandSizes s;
  s.in[0] = p.n * product(p.in) * or_dense(p.in_pixel_stride, p.channels);
  s.out[0] = p.n * product(p.out) * or_dense(p.out_pixel_stride, p.channels);
  return s;
}

OperandSizes sizes_of(const CopyProblem& p) {
  OperandSizes s;
  int64_t in = 1, out = 1;
  for (size_t i = 0; i < p.dims.size(); ++i) {
    in += std::max<int64_t>(p.in_strides[i], 0) * (p.dims[i] - 1);
    out += p.out_strides[i] * (p.dims[i] - 1);
  }
  s.in[0] = in * p.element_bytes;
  s.out[0] = out * p.element_bytes;
  return s;
}

OperandSizes sizes_of(const GatherProblem& p) {
  OperandSizes s;
  s.in[0] = p.outer * p.axis * p.inner_bytes;
  s.in[1] = p.count;
  s.out[0] = p.outer * p.count * p.inner_bytes;
  return s;
}

OperandSizes sizes_of(const ConvWeightsProblem& p) {
  OperandSizes of_forward = sizes_of(p.forward), s;
  s.in[0] = of_forward.in[0];
  s.in[1] = of_forward.out[0];
  s.out[0] = of_forward.weights[0];
  if (p.bias) s.out[1] = p.forward.out_channels;
  return s;
}

void set_inputs(OperandSizes& s, DType type, std::initializer_list<int> which) {
  for (int i : which) s.in_types[i] = type;
}
void set_outputs(OperandSizes& s, DType type, std::initializer_list<int> which) {
  for (int i : which) s.out_types[i] = type;
}

void set_types(const ElementTypes& t, OperandSizes& s) {
  s.in_types[0] = t.in, s.in_types[1] = s.weight_types[0] = t.weights;
  s.out_types[0] = s.residual_type = t.out, s.bias_type = t.bias;
}
void set_types(const ConvProblem& p, OperandSizes& s) { set_types(p.types, s); }
void set_types(const MatmulProblem& p, OperandSizes& s) { set_types(p.types, s); }
void set_types(const ConvWeightsProblem& p, OperandSizes& s) {
  const ElementTypes& t = p.forward.types;
  s.in_types[0] = t.in, s.in_types[1] = t.out, s.out_types[0] = t.weights, s.out_types[1] = t.bias;
}
void set_types(const CopyProblem&, OperandSizes& s) { s.in_types[0] = s.out_types[0] = DType::u8; }
void set_types(const TransformProblem& p, OperandSizes& s) { s.in_types[0] = p.in, s.out_types[0] = p.out; }
void set_types(const GatherProblem& p, OperandSizes& s) {
  s.in_types[0] = s.out_types[0] = DType::u8, s.in_types[1] = p.index;
}
void set_types(const CtcLossProblem&, OperandSizes&) {}
void set_types(const AffineGridProblem&, OperandSizes&) {}
void set_types(const GridSampleProblem& p, OperandSizes& s) {
  set_inputs(s, p.type, {0, 2});
  set_outputs(s, p.type, {0});
}
void set_types(const AttentionProblem& p, OperandSizes& s) {
  set_inputs(s, p.type, {0, 1, 2, 8, 9});
  if (p.mask == MaskKind::boolean) s.in_types[3] = DType::boolean;
  p.pass == Pass::forward ? set_outputs(s, p.type, {0}) : set_outputs(s, p.type, {0, 1, 2});
}
void set_types(const RnnProblem& p, OperandSizes& s) {
  set_inputs(s, p.type, {0, 1, 2});
  std::fill_n(s.weight_types, kMostWeights, p.type);
  if (p.pass == RnnPass::backward_weights) set_outputs(s, p.type, {0, 1, 2, 3, 4});
  else set_outputs(s, p.type, {0, 1, 2});
  if (p.pass == RnnPass::backward_data) set_inputs(s, p.type, {6, 7, 8});
}
void set_types(const NormProblem& p, OperandSizes& s) {
  s.in_types[0] = s.out_types[0] = s.residual_type = p.type;
  if (p.pass == Pass::backward) set_inputs(s, p.type, {1, 4}), s.out_types[3] = p.type;
}
void set_types(const BinaryProblem& p, OperandSizes& s) {
  s.in_types[0] = s.in_types[2] = s.out_types[0] = p.type, s.in_types[1] = p.b_type;
}
void set_types(const ReduceProblem& p, OperandSizes& s) {
  set_inputs(s, p.type, {0, 1});
  s.out_types[0] = p.type, s.out_types[1] = DType::i32;
}
void set_types(const PoolBackwardProblem& p, OperandSizes& s) {
  set_inputs(s, p.forward.type, {0, 1});
  s.out_types[0] = p.forward.type;
}
// Everything is of one type.
template <class P>
void set_types(const P& p, OperandSizes& s) {
  std::fill_n(s.in_types, kMostOperands, p.type);
  s.out_types[0] = p.type;
}

}  // namespace

OperandSizes operand_sizes(const Problem& problem) {
  return std::visit(
      [](const auto& p) {
        OperandSizes s = sizes_of(p);
        set_types(p, s);
        for (int i = 0; i < kMostOperands; ++i)
          if (s.integers[i]) s.in_types[i] = DType::i32;
        return s;
      },
      problem);
}

}  // namespace trine::dnn
