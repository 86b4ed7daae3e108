#include "onednn/make.h"

#include <cstring>
#include <random>

namespace trine::bench::onednn {
namespace {

struct Eltwise {
  algorithm kind;
  float alpha, beta;
};

Eltwise eltwise_of(const dnn::Epilogue& e) {
  switch (e.activation) {
    case dnn::Activation::relu: return {algorithm::eltwise_relu, 0, 0};
    case dnn::Activation::leaky_relu: return {algorithm::eltwise_relu, e.alpha, 0};
    case dnn::Activation::clip: return {algorithm::eltwise_clip, e.alpha, e.beta};
    case dnn::Activation::sigmoid: return {algorithm::eltwise_logistic, 0, 0};
    case dnn::Activation::tanh: return {algorithm::eltwise_tanh, 0, 0};
    case dnn::Activation::silu: return {algorithm::eltwise_swish, 1, 0};
    case dnn::Activation::hardsigmoid: return {algorithm::eltwise_hardsigmoid, e.alpha, e.beta};
    case dnn::Activation::hardswish: return {algorithm::eltwise_hardswish, 1.0F / 6, 0.5F};
    case dnn::Activation::gelu: return {algorithm::eltwise_gelu_erf, 0, 0};
    default: return {algorithm::eltwise_gelu_tanh, 0, 0};
  }
}

}  // namespace

Context open_context() {
  const dnnl::engine cpu(engine::kind::cpu, 0);
  return {cpu, dnnl::stream(cpu)};
}

memory::data_type type_of(DType type) {
  switch (type) {
    case DType::f16: return memory::data_type::f16;
    case DType::bf16: return memory::data_type::bf16;
    case DType::u8: return memory::data_type::u8;
    case DType::i8: return memory::data_type::s8;
    case DType::i32: return memory::data_type::s32;
    default: return memory::data_type::f32;
  }
}

bool has_depth(std::initializer_list<dnn::Extents> all) {
  for (const dnn::Extents& e : all) {
    if (e[0] != 1) return true;
  }
  return false;
}

memory::dims spatial(const dnn::Extents& e, bool depth) {
  return depth ? memory::dims{e[0], e[1], e[2]} : memory::dims{e[1], e[2]};
}

memory::dims image(int64_t n, int64_t channels, const dnn::Extents& e, bool depth) {
  memory::dims dims{n, channels};
  for (int64_t d : spatial(e, depth)) dims.push_back(d);
  return dims;
}

primitive_attr attributes(const dnn::Epilogue& epilogue, const dnn::Quantization& q) {
  post_ops ops;
  if (epilogue.residual == dnn::Residual::before_activation) ops.append_sum(q.residual_scale, q.residual_zero);
  if (epilogue.activation != dnn::Activation::none) {
    const Eltwise e = eltwise_of(epilogue);
    ops.append_eltwise(e.kind, e.alpha, e.beta);
  }
  if (epilogue.residual == dnn::Residual::after_activation) ops.append_sum(q.residual_scale, q.residual_zero);
  primitive_attr attr;
  attr.set_post_ops(ops);
  attr.set_scratchpad_mode(scratchpad_mode::user);
  return attr;
}

primitive_attr attributes(const dnn::Epilogue& epilogue, const Operands& o, int channels) {
  const dnn::Quantization& q = o.quantization;
  primitive_attr attr = attributes(epilogue, q);
  if (o.scales.size() == 1) attr.set_scales_mask(DNNL_ARG_SRC, 0);
  if (o.scales.size() > 1) attr.set_scales_mask(DNNL_ARG_WEIGHTS, channels);
  if (q.out_multiplier != 1) attr.set_scales_mask(DNNL_ARG_DST, 0);
  if (q.in_zero != 0) attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (q.out_zero != 0) attr.set_zero_points_mask(DNNL_ARG_DST, 0);
  return attr;
}

void Arguments::give_quantization(const Operands& o) {
  const auto values = [&](int name, memory::data_type type, size_t count, const void* data) {
    const memory::desc desc({static_cast<int64_t>(count)}, type, Tag::x);
    give(name, desc, desc, data);
  };
  using Type = memory::data_type;
  const dnn::Quantization& q = o.quantization;
  const float out_scale = 1 / q.out_multiplier;
  const int scaled = o.scales.size() > 1 ? DNNL_ARG_WEIGHTS : DNNL_ARG_SRC;
  if (!o.scales.empty()) values(DNNL_ARG_ATTR_SCALES | scaled, Type::f32, o.scales.size(), o.scales.data());
  if (q.out_multiplier != 1) values(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, Type::f32, 1, &out_scale);
  if (q.in_zero != 0) values(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, Type::s32, 1, &q.in_zero);
  if (q.out_zero != 0) values(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, Type::s32, 1, &q.out_zero);
}

memory Arguments::make(int name, const memory::desc& desc) {
  memory m(desc, context_.engine);
  std::memset(m.get_data_handle(), 0, desc.get_size());  // pages are there before the first run
  args_[name] = m;
  return m;
}

void Arguments::give(int name, const memory::desc& wanted, const memory::desc& plain, const void* data) {
  memory from(plain, context_.engine);
  std::memcpy(from.get_data_handle(), data, plain.get_size());
  if (wanted == plain) {
    args_[name] = from;
    return;
  }
  memory to = make(name, wanted);
  dnnl::stream stream = context_.stream;
  reorder(from, to).execute(stream, from, to);
  stream.wait();
}

void Arguments::give_random(int name, const memory::desc& desc) {
  if (desc.get_size() == 0) return;
  memory m = make(name, desc);
  auto* data = static_cast<float*>(m.get_data_handle());
  std::minstd_rand random(7);
  for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i)
    data[i] = (static_cast<float>(random() % 4096) - 2047.5F) / 2048;
}

PeerRun Arguments::finish(const primitive& primitive, const std::string& label, const memory::desc& plain_out) {
  PeerRun run;
  run.implementation = label;
  run.run = [primitive, args = args_, stream = context_.stream]() mutable {
    primitive.execute(stream, args);
    stream.wait();
  };
  if (!plain_out.is_zero()) {
    const memory::desc floats(plain_out.get_dims(), memory::data_type::f32, plain_out.get_strides());
    run.output = [this_context = context_, out = args_.at(DNNL_ARG_DST), floats]() mutable {
      memory to(floats, this_context.engine);
      reorder(out, to).execute(this_context.stream, out, to);
      this_context.stream.wait();
      const auto* data = static_cast<const float*>(to.get_data_handle());
      return std::vector<float>(data, data + floats.get_size() / sizeof(float));
    };
  }
  return run;
}

}  // namespace trine::bench::onednn
