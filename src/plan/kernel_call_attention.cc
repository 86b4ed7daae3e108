// Scaled dot-product attention.
#include <cmath>

#include "plan/kernel_call_rules.h"

namespace trine {
namespace {

// Element strides of batch, head and position for heads of `size`, and how many there are of each.
struct HeadView {
  int64_t batch, heads, length, size;
  std::array<int64_t, 3> strides;
};

HeadView view_of(const Dims& dims, bool packed, int64_t heads) {
  if (!packed) return {dims[0], dims[1], dims[2], dims[3], {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3]}};
  const int64_t size = dims[2] / heads;
  return {dims[0], heads, dims[1], size, {dims[1] * dims[2], size, dims[2]}};
}

// Broadcasts the mask to [batch, heads, query, key]; false for a dtype that no kernel takes.
bool read_mask(const NodeTypes& t, dnn::AttentionProblem& p) {
  if (!t.has(3)) return true;
  const DType dtype = t.inputs[3].dtype;
  if (dtype != DType::f32 && dtype != DType::boolean) return false;
  p.mask = dtype == DType::boolean ? dnn::MaskKind::boolean : dnn::MaskKind::additive;
  const Dims dims = t.in_dims(3);
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    p.mask_stride[4 - dims.size() + i] = dims[i] == 1 ? 0 : stride;
    stride *= dims[i];
  }
  return true;
}

}  // namespace

KernelCalls sdpa_calls(const Node& node, const NodeTypes& t) {
  if (!t.is_half_or_f32(0) || !t.has(1) || !t.has(2)) return {};
  const bool packed = node.attrs.string("layout", "bhsd") == "bshd";
  const int64_t heads = node.attrs.integer("num_heads"), kv_heads = node.attrs.integer("kv_num_heads", heads);
  const HeadView q = view_of(t.in_dims(0), packed, heads), k = view_of(t.in_dims(1), packed, kv_heads);
  const HeadView v = view_of(t.in_dims(2), packed, kv_heads), out = view_of(t.out_dims(0), packed, heads);
  dnn::AttentionProblem p;
  p.type = t.inputs[0].dtype;
  p.batch = q.batch;
  p.heads = q.heads;
  p.kv_heads = k.heads;
  p.q_len = q.length;
  p.kv_len = k.length;
  p.head_dim = q.size;
  p.v_head_dim = v.size;
  p.scale = static_cast<float>(node.attrs.real("scale", 1.0 / std::sqrt(static_cast<double>(q.size))));
  const int64_t causal = node.attrs.integer("causal");
  p.causal = causal != 0;
  p.causal_offset = causal == 2 ? k.length - q.length : 0;
  if (!read_mask(t, p)) return {};
  p.q_stride = q.strides;
  p.k_stride = k.strides;
  p.v_stride = v.strides;
  p.out_stride = out.strides;
  KernelCall call;
  call.problem = p;
  call.in = {0, 1, 2};
  if (t.has(3)) call.in.push_back(3);
  return {call};
}

}  // namespace trine
