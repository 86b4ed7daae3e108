// Matrix products: as matmul with plain and with free layouts, and, with constant weights, as inner product.
#include <chrono>

#include "onednn/make.h"

namespace trine::bench::onednn {
namespace {

struct Shapes {
  memory::desc a, b, bias, y;  // plain
};

// Dimensions padded in front to the same number.
memory::dims full(const Dims& batch, size_t rank, int64_t rows, int64_t columns) {
  memory::dims dims(rank, 1);
  for (size_t i = 0; i < batch.size(); ++i) dims[rank - batch.size() + i] = batch[i];
  dims.insert(dims.end(), {rows, columns});
  return dims;
}

memory::desc rows_of(const memory::dims& dims, bool transposed) {
  memory::dims strides(dims.size(), 1);
  const size_t r = dims.size() - 2, c = dims.size() - 1;
  strides[r] = transposed ? 1 : dims[c];
  strides[c] = transposed ? dims[r] : 1;
  int64_t stride = dims[r] * dims[c];
  for (size_t i = r; i-- > 0; stride *= dims[i]) strides[i] = stride;
  return {dims, memory::data_type::f32, strides};
}

Shapes shapes_of(const dnn::MatmulProblem& p) {
  const Dims batch = dnn::batch_of(p);
  const size_t rank = batch.size();
  memory::dims bias(rank + 2, 1);
  bias.back() = p.n;
  return {rows_of(full(p.a_batch, rank, p.m, p.k), p.trans_a), rows_of(full(p.b_batch, rank, p.k, p.n), p.trans_b),
          p.epilogue.bias ? rows_of(bias, false) : memory::desc(), rows_of(full(batch, rank, p.m, p.n), false)};
}

memory::desc free_layout(const memory::desc& d) { return f32(d.get_dims(), Tag::any); }

PeerRun product(const Context& context, const dnn::MatmulProblem& p, const Operands& o, bool any) {
  const Shapes s = shapes_of(p);
  const auto begin = std::chrono::steady_clock::now();
  const matmul::primitive_desc desc(context.engine, any ? free_layout(s.a) : s.a, p.b_constant ? free_layout(s.b) : s.b,
                                    s.bias, any ? free_layout(s.y) : s.y, attributes(p.epilogue));
  const matmul primitive(desc);
  const std::chrono::duration<double, std::milli> create = std::chrono::steady_clock::now() - begin;
  Arguments args(context);
  args.give(DNNL_ARG_SRC, desc.src_desc(), s.a, o.in[0]);
  args.give(DNNL_ARG_WEIGHTS, desc.weights_desc(), s.b, p.b_constant ? o.weights[0] : o.in[1]);
  if (o.bias) args.give(DNNL_ARG_BIAS, desc.bias_desc(), s.bias, o.bias);
  if (o.before) {
    args.give(DNNL_ARG_DST, desc.dst_desc(), s.y, o.before);
  } else {
    args.make(DNNL_ARG_DST, desc.dst_desc());
  }
  args.make(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
  const bool plain = desc.src_desc() == s.a && desc.dst_desc() == s.y;
  PeerRun run = args.finish(primitive, std::string("matmul ") + desc.impl_info_str() + (plain ? "" : " blocked"), s.y);
  run.create_ms = create.count();
  return run;
}

PeerRun inner(const Context& context, const dnn::MatmulProblem& p, const Operands& o) {
  const memory::desc x = f32({p.m, p.k}, Tag::nc), y = f32({p.m, p.n}, Tag::nc);
  const memory::desc w = f32({p.n, p.k}, p.trans_b ? Tag::oi : Tag::io);
  const memory::desc b = p.epilogue.bias ? f32({p.n}, Tag::x) : memory::desc();
  const auto begin = std::chrono::steady_clock::now();
  const inner_product_forward::primitive_desc desc(context.engine, prop_kind::forward_inference, x, free_layout(w), b,
                                                   y, attributes(p.epilogue));
  const inner_product_forward primitive(desc);
  const std::chrono::duration<double, std::milli> create = std::chrono::steady_clock::now() - begin;
  Arguments args(context);
  args.give(DNNL_ARG_SRC, desc.src_desc(), x, o.in[0]);
  args.give(DNNL_ARG_WEIGHTS, desc.weights_desc(), w, o.weights[0]);
  if (o.bias) args.give(DNNL_ARG_BIAS, desc.bias_desc(), b, o.bias);
  if (o.before) {
    args.give(DNNL_ARG_DST, desc.dst_desc(), y, o.before);
  } else {
    args.make(DNNL_ARG_DST, desc.dst_desc());
  }
  args.make(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
  PeerRun run = args.finish(primitive, std::string("ip ") + desc.impl_info_str(), y);
  run.create_ms = create.count();
  return run;
}

}  // namespace

std::vector<PeerRun> products(const Context& context, const dnn::MatmulProblem& p, const Operands& o) {
  std::vector<PeerRun> runs{product(context, p, o, false)};
  PeerRun any = product(context, p, o, true);
  if (any.implementation != runs[0].implementation) runs.push_back(std::move(any));
  if (p.b_constant && p.a_batch.empty() && !p.trans_a) runs.push_back(inner(context, p, o));
  return runs;
}

}  // namespace trine::bench::onednn
