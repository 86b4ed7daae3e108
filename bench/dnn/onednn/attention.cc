// Attention through oneDNN's graph API, which fuses it: matmul(softmax(scale * q k^T), v).
#include <cstring>
#include <oneapi/dnnl/dnnl_graph.hpp>

#include "onednn/make.h"

namespace trine::bench::onednn {
namespace {

namespace g = dnnl::graph;
using Logical = g::logical_tensor;

Logical dense(size_t id, const memory::dims& dims) {
  return {id, Logical::data_type::f32, dims, Logical::layout_type::strided};
}
Logical inner(size_t id, const memory::dims& dims) {
  return {id, Logical::data_type::f32, memory::dims(dims.size(), DNNL_GRAPH_UNKNOWN_DIM),
          Logical::layout_type::strided};
}

struct Whole {
  Logical q, k, scale, v, y;
  std::vector<g::partition> partitions;
};

Whole build(const dnn::AttentionProblem& p) {
  const int64_t b = p.batch, h = p.heads;
  Whole w{dense(0, {b, h, p.q_len, p.head_dim}),
          dense(1, {b, p.kv_heads, p.kv_len, p.head_dim}),
          dense(2, {1}),
          dense(3, {b, p.kv_heads, p.kv_len, p.v_head_dim}),
          dense(4, {b, h, p.q_len, p.v_head_dim}),
          {}};
  const memory::dims scores{b, h, p.q_len, p.kv_len};
  const Logical s = inner(5, scores), scaled = inner(6, scores), weights = inner(7, scores);
  g::op product(0, g::op::kind::MatMul, {w.q, w.k}, {s}, "qk");
  product.set_attr<bool>(g::op::attr::transpose_b, true);
  g::op multiply(1, g::op::kind::Multiply, {s, w.scale}, {scaled}, "scale");
  g::op softmax(2, g::op::kind::SoftMax, {scaled}, {weights}, "softmax");
  softmax.set_attr<int64_t>(g::op::attr::axis, -1);
  g::op sum(3, g::op::kind::MatMul, {weights, w.v}, {w.y}, "pv");
  g::graph graph(engine::kind::cpu);
  for (const g::op* op : {&product, &multiply, &softmax, &sum}) graph.add_op(*op);
  graph.finalize();
  w.partitions = graph.get_partitions();
  return w;
}

g::tensor tensor_of(const Context& context, const Logical& logical, const void* data) {
  g::tensor t(logical, context.engine);
  std::memcpy(t.get_data_handle(), data, logical.get_mem_size());
  return t;
}

}  // namespace

std::vector<PeerRun> attentions(const Context& context, const dnn::AttentionProblem& p, const Operands& o) {
  if (p.kv_heads != p.heads) return {};
  const Whole w = build(p);
  if (w.partitions.size() != 1 || !w.partitions[0].is_supported()) return {};
  const auto compiled = w.partitions[0].compile({w.q, w.k, w.scale, w.v}, {w.y}, context.engine);
  const std::vector<g::tensor> in{tensor_of(context, w.q, o.in[0].data), tensor_of(context, w.k, o.in[1].data),
                                  tensor_of(context, w.scale, &p.scale), tensor_of(context, w.v, o.in[2].data)};
  const std::vector<g::tensor> out{g::tensor(w.y, context.engine)};
  PeerRun run;
  run.implementation = "graph sdp";
  run.run = [=, stream = context.stream]() mutable {
    compiled.execute(stream, in, out);
    stream.wait();
  };
  run.output = [out, bytes = w.y.get_mem_size()] {
    const auto* data = static_cast<const float*>(out[0].get_data_handle());
    return std::vector<float>(data, data + bytes / sizeof(float));
  };
  return {run};
}

}  // namespace trine::bench::onednn
