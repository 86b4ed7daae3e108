// Data movement as strided copies. Every rule works on bytes, whatever the dtype; strings stay on the host.
#include "plan/kernel_call_rules.h"

namespace trine {
namespace {

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

bool is_plain(const NodeTypes& t) { return t.has(0) && byte_size(t.inputs[0].dtype) > 0; }
int64_t element_bytes(const NodeTypes& t) { return static_cast<int64_t>(byte_size(t.inputs[0].dtype)); }

size_t normal_axis(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

KernelCall copy(dnn::CopyProblem problem, int in, int out, int64_t in_offset, int64_t out_offset) {
  KernelCall call;
  call.in = {in};
  call.out = {out};
  call.in_offset_bytes = in_offset * problem.element_bytes;
  call.out_offset_bytes = out_offset * problem.element_bytes;
  call.problem = std::move(problem);
  return call;
}

}  // namespace

KernelCalls transpose_calls(const Node& node, const NodeTypes& t) {
  if (!is_plain(t)) return {};
  const Dims in = t.in_dims(0);
  std::vector<int> perm;
  for (int64_t p : node.attrs.integers("perm")) perm.push_back(static_cast<int>(p));
  if (perm.empty())
    for (size_t i = in.size(); i-- > 0;) perm.push_back(static_cast<int>(i));
  return {copy(dnn::CopyProblem::transpose(in, perm, element_bytes(t)), 0, 0, 0, 0)};
}

KernelCalls concat_calls(const Node& node, const NodeTypes& t) {
  if (!is_plain(t)) return {};
  const Dims out = t.out_dims(0), out_strides = strides_of(out);
  const size_t axis = normal_axis(node.attrs.integer("axis"), out.size());
  KernelCalls calls;
  int64_t at = 0;
  for (size_t i = 0; i < t.inputs.size(); ++i) {
    const Dims in = t.in_dims(i);
    if (element_count(in) > 0)
      calls.push_back(
          copy({in, strides_of(in), out_strides, element_bytes(t)}, static_cast<int>(i), 0, 0, at * out_strides[axis]));
    at += in[axis];
  }
  return calls;
}

KernelCalls split_calls(const Node& node, const NodeTypes& t) {
  if (!is_plain(t)) return {};
  const Dims in = t.in_dims(0), in_strides = strides_of(in);
  const size_t axis = normal_axis(node.attrs.integer("axis"), in.size());
  KernelCalls calls;
  int64_t at = 0;
  for (size_t i = 0; i < t.outputs.size(); ++i) {
    if (!t.outputs[i].is_tensor()) return {};  // nobody reads it, so its size is not known
    const Dims out = t.out_dims(i);
    if (element_count(out) > 0)
      calls.push_back(
          copy({out, in_strides, strides_of(out), element_bytes(t)}, 0, static_cast<int>(i), at * in_strides[axis], 0));
    at += out[axis];
  }
  return calls;
}

KernelCalls slice_calls(const Node&, const NodeTypes& t) {
  if (!is_plain(t)) return {};
  for (size_t i = 1; i < t.inputs.size(); ++i)
    if (t.has(i) && !t.constants[i].defined()) return {};
  const Dims in = t.in_dims(0), out = t.out_dims(0);
  Dims strides = strides_of(in);
  const std::vector<int64_t> starts = t.constants[1].i64_values();
  std::vector<int64_t> axes, steps;
  if (t.has(3)) axes = t.constants[3].i64_values();
  if (t.has(4)) steps = t.constants[4].i64_values();
  int64_t offset = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t axis = axes.empty() ? i : normal_axis(axes[i], in.size());
    const int64_t step = steps.empty() ? 1 : steps[i], size = in[axis];
    int64_t start = starts[i] < 0 ? starts[i] + size : starts[i];
    start = std::min(std::max<int64_t>(start, 0), step > 0 ? size : size - 1);
    if (out[axis] == 0) continue;
    offset += start * strides[axis];
    strides[axis] = out[axis] > 1 ? strides[axis] * step : strides[axis];  // a huge step over one element moves nothing
  }
  return {copy({out, strides, strides_of(out), element_bytes(t)}, 0, 0, offset, 0)};
}

KernelCalls expand_calls(const Node&, const NodeTypes& t) {
  if (!is_plain(t)) return {};
  const Dims in = t.in_dims(0), out = t.out_dims(0), in_strides = strides_of(in);
  Dims strides(out.size(), 0);
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i] != 1) strides[out.size() - in.size() + i] = in_strides[i];
  return {copy({out, strides, strides_of(out), element_bytes(t)}, 0, 0, 0, 0)};
}

KernelCalls gather_calls(const Node& node, const NodeTypes& t) {
  if (!is_plain(t) || (t.inputs[1].dtype != DType::i64 && t.inputs[1].dtype != DType::i32)) return {};
  const Dims in = t.in_dims(0);
  const size_t axis = normal_axis(node.attrs.integer("axis"), in.size());
  dnn::GatherProblem p;
  for (size_t i = 0; i < axis; ++i) p.outer *= in[i];
  p.axis = in[axis];
  p.inner_bytes = element_bytes(t);
  for (size_t i = axis + 1; i < in.size(); ++i) p.inner_bytes *= in[i];
  p.count = element_count(t.in_dims(1));
  p.index = t.inputs[1].dtype;
  KernelCall call;
  call.problem = p;
  call.in = {0, 1};
  return {call};
}

}  // namespace trine
