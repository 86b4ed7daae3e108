// Convolutions, matrix products, attention and recurrent networks, f32.
#include <algorithm>
#include <numeric>

#include "ops/activation.h"
#include "ops/conv.h"
#include "ops/matmul.h"
#include "plan/kernel_call_rules.h"

namespace trine {
namespace {

struct ActivationName {
  Activation::Kind op;
  dnn::Activation kernel;
};
constexpr ActivationName kActivations[] = {
    {Activation::Kind::identity, dnn::Activation::none},
    {Activation::Kind::relu, dnn::Activation::relu},
    {Activation::Kind::clip, dnn::Activation::clip},
    {Activation::Kind::leaky_relu, dnn::Activation::leaky_relu},
    {Activation::Kind::sigmoid, dnn::Activation::sigmoid},
    {Activation::Kind::tanh, dnn::Activation::tanh},
    {Activation::Kind::silu, dnn::Activation::silu},
    {Activation::Kind::hard_sigmoid, dnn::Activation::hardsigmoid},
    {Activation::Kind::hard_swish, dnn::Activation::hardswish},
    {Activation::Kind::gelu, dnn::Activation::gelu},
    {Activation::Kind::gelu_tanh, dnn::Activation::gelu_tanh},
};

dnn::Extents extents(const Dims& dims, int64_t fill) {
  dnn::Extents e{fill, fill, fill};
  for (size_t i = 0; i < dims.size(); ++i) e[3 - dims.size() + i] = dims[i];
  return e;
}

bool all_f32(const NodeTypes& t) {
  for (const Type& type : t.inputs)
    if (type.is_tensor() && type.dtype != DType::f32) return false;
  return t.has(0) && t.has(1);
}

int64_t product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

}  // namespace

bool set_epilogue(const Node& node, bool residual, dnn::Epilogue& epilogue) {
  const Activation f = activation_of(node);
  const auto* found = std::find_if(std::begin(kActivations), std::end(kActivations), [&](const auto& a) { return a.op == f.kind; });
  if (found == std::end(kActivations)) return false;
  epilogue.activation = found->kernel;
  epilogue.alpha = static_cast<float>(f.alpha);
  epilogue.beta = static_cast<float>(f.beta);
  if (residual) epilogue.residual = dnn::Residual::before_activation;
  return true;
}

KernelCalls conv_calls(const Node& node, const NodeTypes& t) {
  if (!all_f32(t) || !t.constants[1].defined() || node.attrs.string("layout", "nchw") != "nhwc") return {};
  if (t.inputs[0].shape.rank() > 5) return {};
  const ConvGeometry g = ConvGeometry::of(node, t.inputs[0].shape, t.inputs[1].shape);
  const WindowGrid grid = WindowGrid::of(node, g.window, g.x.spatial);
  dnn::ConvProblem p;
  p.n = g.x.batch.value();
  p.in_channels = g.x.channels.value();
  p.out_channels = g.y.channels.value();
  p.groups = g.group;
  p.in = extents(grid.in, 1);
  p.out = extents(grid.out, 1);
  p.kernel = extents(grid.kernel, 1);
  p.stride = extents(grid.strides, 1);
  p.dilation = extents(grid.dilations, 1);
  p.pad_begin = extents(grid.pads_begin, 0);
  p.epilogue.bias = t.has(2);
  if (!set_epilogue(node, t.has(3), p.epilogue)) return {};
  KernelCall call;
  call.problem = p;
  call.in = {0};
  call.weights = {1};
  call.bias = t.has(2) ? 2 : -1;
  call.residual = t.has(3) ? 3 : -1;
  return {call};
}

namespace {

// Shared by matmul, gemm and fused_matmul: operands 0 and 1. Batch rows that meet one shared matrix join the rows of a.
bool read_matmul(const NodeTypes& t, const MatmulShape& s, bool trans_a, bool trans_b, dnn::MatmulProblem& p) {
  p.m = s.m.value();
  p.n = s.n.value();
  p.k = s.k.value();
  p.trans_a = trans_a;
  p.trans_b = trans_b;
  p.a_batch = s.a_batch.static_dims();
  p.b_batch = s.b_batch.static_dims();
  if (product(p.b_batch) == 1 && p.b_batch.size() <= p.a_batch.size()) p.b_batch.clear();
  if (p.b_batch.empty() && !trans_a) {
    p.m *= product(p.a_batch);
    p.a_batch.clear();
  }
  p.b_constant = t.constants[1].defined() && p.b_batch.empty();
  return true;
}

KernelCall matmul_call(const dnn::MatmulProblem& p) {
  KernelCall call;
  call.problem = p;
  call.in = {0};
  if (p.b_constant) call.weights = {1};
  else call.in.push_back(1);
  return call;
}

}  // namespace

KernelCalls matmul_calls(const Node& node, const NodeTypes& t) {
  if (!all_f32(t)) return {};
  dnn::MatmulProblem p;
  read_matmul(t, MatmulShape::of(node, t.inputs[0].shape, t.inputs[1].shape), false, false, p);
  return {matmul_call(p)};
}

KernelCalls gemm_calls(const Node& node, const NodeTypes& t) {
  if (!all_f32(t)) return {};
  const bool trans_a = node.attrs.integer("transA") != 0, trans_b = node.attrs.integer("transB") != 0;
  dnn::MatmulProblem p;
  read_matmul(t, MatmulShape::of(node, t.inputs[0].shape, t.inputs[1].shape, trans_a, trans_b), trans_a, trans_b, p);
  p.alpha = static_cast<float>(node.attrs.real("alpha", 1.0));
  if (!t.has(2)) return {matmul_call(p)};
  if (node.attrs.real("beta", 1.0) != 1.0) return {};
  const Dims c = t.in_dims(2);
  const bool row = product(c) == p.n && !c.empty() && c.back() == p.n;
  const bool full = c == Dims{p.m, p.n};
  if (!row && !full) return {};
  p.epilogue.bias = row;
  p.epilogue.residual = row ? dnn::Residual::none : dnn::Residual::before_activation;
  KernelCall call = matmul_call(p);
  (row ? call.bias : call.residual) = 2;
  return {call};
}

KernelCalls fused_matmul_calls(const Node& node, const NodeTypes& t) {
  if (!all_f32(t)) return {};
  const bool trans_a = node.attrs.integer("trans_a") != 0, trans_b = node.attrs.integer("trans_b") != 0;
  const MatmulShape s = MatmulShape::of(node, t.inputs[0].shape, t.inputs[1].shape, trans_a, trans_b);
  dnn::MatmulProblem p;
  read_matmul(t, s, trans_a, trans_b, p);
  p.alpha = static_cast<float>(node.attrs.real("alpha", 1.0));
  p.epilogue.bias = t.has(2);
  if (!set_epilogue(node, t.has(3), p.epilogue)) return {};
  if (t.has(2) && t.in_dims(2) != Dims{p.n}) return {};
  if (t.has(3) && t.in_dims(3) != t.out_dims(0)) return {};
  KernelCall call = matmul_call(p);
  call.bias = t.has(2) ? 2 : -1;
  call.residual = t.has(3) ? 3 : -1;
  return {call};
}

}  // namespace trine
