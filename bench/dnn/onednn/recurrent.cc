// Recurrent layers. Gates lie in another order than ONNX's, so weights are random ones of oneDNN's own layout and
// results are not compared.
#include "onednn/make.h"

namespace trine::bench::onednn {
namespace {

struct Descs {
  memory::desc x, h, c, w, r, b, y;
};

Descs descs_of(const dnn::RnnProblem& p) {
  const int64_t d = p.directions(), bias_gates = p.gates() + (p.linear_before_reset ? 1 : 0);
  const auto any = [](memory::dims dims) { return f32(dims, Tag::any); };
  return {f32({p.steps, p.batch, p.input}, Tag::tnc),        f32({p.layers, d, p.batch, p.hidden}, Tag::ldnc),
          f32({p.layers, d, p.batch, p.hidden}, Tag::ldnc),  any({p.layers, d, p.input, p.gates(), p.hidden}),
          any({p.layers, d, p.hidden, p.gates(), p.hidden}), f32({p.layers, d, bias_gates, p.hidden}, Tag::ldgo),
          f32({p.steps, p.batch, d * p.hidden}, Tag::tnc)};
}

rnn_direction direction_of(const dnn::RnnProblem& p) {
  switch (p.direction) {
    case dnn::RnnDirection::forward: return rnn_direction::unidirectional_left2right;
    case dnn::RnnDirection::reverse: return rnn_direction::unidirectional_right2left;
    default: return rnn_direction::bidirectional_concat;
  }
}

template <class Desc>
PeerRun finish(const Context& context, const Desc& desc, const primitive& primitive, bool has_cell) {
  Arguments args(context);
  args.give_random(DNNL_ARG_SRC_LAYER, desc.src_layer_desc());
  args.give_random(DNNL_ARG_SRC_ITER, desc.src_iter_desc());
  args.give_random(DNNL_ARG_BIAS, desc.bias_desc());
  if (has_cell) {
    args.give_random(DNNL_ARG_SRC_ITER_C, desc.query_md(query::exec_arg_md, DNNL_ARG_SRC_ITER_C));
    args.make(DNNL_ARG_DST_ITER_C, desc.query_md(query::exec_arg_md, DNNL_ARG_DST_ITER_C));
  }
  for (const int name : {DNNL_ARG_WEIGHTS_LAYER, DNNL_ARG_WEIGHTS_ITER}) {
    const memory::desc wanted = name == DNNL_ARG_WEIGHTS_LAYER ? desc.weights_layer_desc() : desc.weights_iter_desc();
    const memory::desc from = f32(wanted.get_dims(), Tag::ldigo);
    std::vector<float> data(from.get_size() / sizeof(float));
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i * 7919 % 2003) * 1e-4F - 0.1F;
    args.give(name, wanted, from, data.data());
  }
  args.make(DNNL_ARG_DST_LAYER, desc.dst_layer_desc());
  args.make(DNNL_ARG_DST_ITER, desc.dst_iter_desc());
  args.make(DNNL_ARG_WORKSPACE, desc.workspace_desc());
  args.make(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
  return args.finish(primitive, desc.impl_info_str(), {});
}

}  // namespace

std::vector<PeerRun> recurrences(const Context& context, const dnn::RnnProblem& p, const Operands&) {
  if (p.projection > 0 || p.peephole) return {};
  const Descs s = descs_of(p);
  const auto kind = prop_kind::forward_inference;
  const rnn_direction direction = direction_of(p);
  const primitive_attr attr = attributes({});
  if (p.kind == dnn::RnnKind::lstm) {
    const lstm_forward::primitive_desc desc(context.engine, kind, direction, s.x, s.h, s.c, s.w, s.r, s.b, s.y, s.h,
                                            s.c, attr);
    return {finish(context, desc, lstm_forward(desc), true)};
  }
  if (p.kind == dnn::RnnKind::gru && p.linear_before_reset) {
    const lbr_gru_forward::primitive_desc desc(context.engine, kind, direction, s.x, s.h, s.w, s.r, s.b, s.y, s.h,
                                               attr);
    return {finish(context, desc, lbr_gru_forward(desc), false)};
  }
  if (p.kind == dnn::RnnKind::gru) {
    const gru_forward::primitive_desc desc(context.engine, kind, direction, s.x, s.h, s.w, s.r, s.b, s.y, s.h, attr);
    return {finish(context, desc, gru_forward(desc), false)};
  }
  const auto activation = p.kind == dnn::RnnKind::rnn_relu ? algorithm::eltwise_relu : algorithm::eltwise_tanh;
  const vanilla_rnn_forward::primitive_desc desc(context.engine, kind, activation, direction, s.x, s.h, s.w, s.r, s.b,
                                                 s.y, s.h, attr);
  return {finish(context, desc, vanilla_rnn_forward(desc), false)};
}

}  // namespace trine::bench::onednn
