// Convolutions and matrix products of f32, f16 and bf16; recurrent networks of f32.
#include <algorithm>
#include <numeric>

#include "base/float_formats.h"
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

// Types of operands x, w, bias, residual and the result, when dnn has such contractions.
bool read_types(const NodeTypes& t, dnn::ElementTypes& types) {
  if (!t.has(0) || !t.has(1)) return false;
  types = {.in = t.inputs[0].dtype, .weights = t.inputs[1].dtype, .out = t.outputs[0].dtype};
  if (t.has(2) && t.inputs[2].dtype != DType::f32) return false;
  if (t.has(3) && t.inputs[3].dtype != types.out) return false;
  return is_half_or_f32(types.in) && is_half_or_f32(types.weights) && is_half_or_f32(types.out);
}

int64_t product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

}  // namespace

bool set_epilogue(const Node& node, bool residual, dnn::Epilogue& epilogue) {
  const Activation f = activation_of(node);
  const auto* found =
      std::find_if(std::begin(kActivations), std::end(kActivations), [&](const auto& a) { return a.op == f.kind; });
  if (found == std::end(kActivations)) return false;
  epilogue.activation = found->kernel;
  epilogue.alpha = static_cast<float>(f.alpha);
  epilogue.beta = static_cast<float>(f.beta);
  if (!residual) return true;
  const bool last = node.attrs.integer("residual", 1) == 2;
  epilogue.residual = last ? dnn::Residual::after_activation : dnn::Residual::before_activation;
  return true;
}

KernelCalls conv_calls(const Node& node, const NodeTypes& t) {
  dnn::ConvProblem p;
  if (!read_types(t, p.types) || !t.constants[1].defined() || node.attrs.string("layout", "nchw") != "nhwc") return {};
  if (t.inputs[0].shape.rank() > 5) return {};
  const ConvGeometry g = ConvGeometry::of(node, t.inputs[0].shape, t.inputs[1].shape);
  const WindowGrid grid = WindowGrid::of(node, g.window, g.x.spatial);
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
  dnn::MatmulProblem p;
  if (!read_types(t, p.types)) return {};
  read_matmul(t, MatmulShape::of(node, t.inputs[0].shape, t.inputs[1].shape), false, false, p);
  return {matmul_call(p)};
}

KernelCalls gemm_calls(const Node& node, const NodeTypes& t) {
  dnn::MatmulProblem p;
  if (!read_types(t, p.types)) return {};
  const bool trans_a = node.attrs.integer("transA") != 0, trans_b = node.attrs.integer("transB") != 0;
  read_matmul(t, MatmulShape::of(node, t.inputs[0].shape, t.inputs[1].shape, trans_a, trans_b), trans_a, trans_b, p);
  p.alpha = static_cast<float>(node.attrs.real("alpha", 1.0));
  if (!t.has(2)) return {matmul_call(p)};
  if (node.attrs.real("beta", 1.0) != 1.0) return {};
  const Dims c = t.in_dims(2);
  const bool row = product(c) == p.n && !c.empty() && c.back() == p.n;
  const bool full = c == Dims{p.m, p.n};
  if ((!row && !full) || (full && !row && p.types.out != DType::f32)) return {};
  p.epilogue.bias = row;
  p.epilogue.residual = row ? dnn::Residual::none : dnn::Residual::before_activation;
  KernelCall call = matmul_call(p);
  (row ? call.bias : call.residual) = 2;
  return {call};
}

KernelCalls fused_matmul_calls(const Node& node, const NodeTypes& t) {
  dnn::MatmulProblem p;
  if (!read_types(t, p.types)) return {};
  const bool trans_a = node.attrs.integer("trans_a") != 0, trans_b = node.attrs.integer("trans_b") != 0;
  const MatmulShape s = MatmulShape::of(node, t.inputs[0].shape, t.inputs[1].shape, trans_a, trans_b);
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

KernelCalls conv_transpose_calls(const Node& node, const NodeTypes& t) {
  dnn::ConvProblem p;
  if (!read_types(t, p.types) || !t.constants[1].defined() || node.attrs.string("layout", "nchw") != "nhwc") return {};
  if (t.inputs[0].shape.rank() > 5 || node.attrs.has("output_shape")) return {};
  const Dims w = t.in_dims(1);
  const Image x = Image::of(node, t.inputs[0].shape), y = Image::of(node, t.outputs[0].shape);
  const int rank = static_cast<int>(x.spatial.size());
  const Window window = Window::of(node, rank, {t.inputs[1].shape.dims().begin() + 2, t.inputs[1].shape.dims().end()});
  if (window.auto_pad != Window::AutoPad::notset && window.auto_pad != Window::AutoPad::valid) return {};
  p.transposed = true;
  p.n = x.batch.value();
  p.in_channels = x.channels.value();
  p.out_channels = y.channels.value();
  p.groups = node.attrs.integer("group", 1);
  p.in = extents(Shape(x.spatial).static_dims(), 1);
  p.out = extents(Shape(y.spatial).static_dims(), 1);
  p.kernel = extents({w.begin() + 2, w.end()}, 1);
  p.stride = extents(window.strides, 1);
  p.dilation = extents(window.dilations, 1);
  p.pad_begin = extents({window.pads.begin(), window.pads.begin() + rank}, 0);
  p.epilogue.bias = t.has(2);
  if (!set_epilogue(node, false, p.epilogue)) return {};
  KernelCall call;
  call.problem = p;
  call.in = {0};
  call.weights = {1};
  call.bias = t.has(2) ? 2 : -1;
  return {call};
}

namespace {

bool has_default_activations(const Node& node, std::vector<std::string_view> defaults, size_t directions) {
  if (node.attrs.has("activation_alpha") || node.attrs.has("activation_beta")) return false;
  const std::vector<std::string> given = node.attrs.strings("activations");
  if (given.empty()) return true;
  if (given.size() != defaults.size() * directions) return false;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != defaults[i % defaults.size()]) return false;
  return true;
}

bool read_rnn_kind(const Node& node, size_t directions, dnn::RnnProblem& p) {
  if (node.is("lstm")) {
    p.kind = dnn::RnnKind::lstm;
    return !node.attrs.integer("input_forget") &&
           has_default_activations(node, {"Sigmoid", "Tanh", "Tanh"}, directions);
  }
  if (node.is("gru")) {
    p.kind = dnn::RnnKind::gru;
    p.linear_before_reset = node.attrs.integer("linear_before_reset") != 0;
    return has_default_activations(node, {"Sigmoid", "Tanh"}, directions);
  }
  p.kind = dnn::RnnKind::rnn_tanh;
  if (has_default_activations(node, {"Tanh"}, directions)) return true;
  p.kind = dnn::RnnKind::rnn_relu;
  return has_default_activations(node, {"Relu"}, directions);
}

}  // namespace

// Inputs x, w, r, bias, sequence_lens, initial_h, initial_c, peephole.
KernelCalls rnn_calls(const Node& node, const NodeTypes& t) {
  if (!t.is_f32(0) || !t.is_f32(1) || !t.is_f32(2) || node.attrs.integer("layout")) return {};
  if (t.has(4) && t.inputs[4].dtype != DType::i32) return {};
  for (size_t i : {1, 2, 3, 7})
    if (t.has(i) && !t.constants[i].defined()) return {};
  dnn::RnnProblem p;
  const std::string direction = node.attrs.string("direction", "forward");
  if (direction == "reverse") p.direction = dnn::RnnDirection::reverse;
  if (direction == "bidirectional") p.direction = dnn::RnnDirection::bidirectional;
  if (!read_rnn_kind(node, static_cast<size_t>(p.directions()), p)) return {};
  const Dims x = t.in_dims(0), r = t.in_dims(2);
  p.steps = x[0];
  p.batch = x[1];
  p.input = x[2];
  p.hidden = r[2];
  p.sequence_lens = t.has(4);
  p.peephole = t.has(7);
  p.clip = static_cast<float>(node.attrs.real("clip", 0.0));
  if (node.attrs.has("clip") && !(p.clip > 0)) return {};
  KernelCall call;
  call.problem = p;
  call.in = {0, t.has(5) ? 5 : -1, t.has(6) ? 6 : -1, t.has(4) ? 4 : -1};
  call.out = {0, 1, 2};
  call.weights = {1, 2, t.has(3) ? 3 : -1, t.has(7) ? 7 : -1};
  return {call};
}

}  // namespace trine
