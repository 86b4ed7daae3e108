// Nodes of f16 and bf16 whose kernels know f32 only: they compute in f32, and what they make is rounded once, as
// before. Products of bf16 stay what they are, but for the bias: kernels want that in f32. Devices have kernels for
// halves: there biases and masks are all that changes.
#include <algorithm>

#include "base/float_formats.h"
#include "passes/number_formats.h"
#include "passes/passes.h"

namespace trine {
namespace {

bool is_one_of(const Rewriter& r, int n, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return r.is(n, name); });
}

bool is_product(const Rewriter& r, int n) { return is_one_of(r, n, {"conv", "matmul", "gemm", "fused_matmul"}); }

bool has_f32_kernels(const Rewriter& r, int n) {
  if (is_product(r, n)) return true;
  if (is_one_of(r, n, {"max_pool", "average_pool"}))
    return r.node(n).outputs.size() == 1;  // places of the largest would be another type
  return is_one_of(
      r, n, {"conv_transpose", "global_average_pool", "global_max_pool", "sdpa", "lstm", "gru", "rnn", "resize"});
}

bool widen(Rewriter& r, int n) {
  if (!has_f32_kernels(r, n) || !is_half(r.dtype(r.input(n, 0)))) return false;
  std::vector<ValueId> inputs = r.node(n).inputs;
  if (is_product(r, n) && r.dtype(inputs[0]) == DType::bf16 && r.dtype(inputs[1]) == DType::bf16) {
    const ValueId bias = r.input(n, 2);
    if (bias == kNoValue || !is_half(r.dtype(bias))) return false;
    inputs[2] = as_type(r, bias, DType::f32);
    r.set_inputs(n, std::move(inputs));
    return true;
  }
  for (ValueId& v : inputs)
    if (v != kNoValue && is_half(r.dtype(v))) v = as_type(r, v, DType::f32);
  compute_elsewhere(r, n, std::move(inputs), r.node(n).attrs);
  return true;
}

}  // namespace

bool widen_halves(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0, count = r.size(); n < count; ++n)
    if (r.node(n).op) widen(r, n);
  return r.finish();
}

bool widen_biases(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0, count = r.size(); n < count; ++n) {
    const int at = is_one_of(r, n, {"conv", "conv_transpose", "fused_matmul"}) ? 2 : r.is(n, "sdpa") ? 3 : -1;
    const ValueId v = at < 0 ? kNoValue : r.input(n, at);
    if (v == kNoValue || !is_half(r.dtype(v))) continue;
    std::vector<ValueId> inputs = r.node(n).inputs;
    inputs[static_cast<size_t>(at)] = as_type(r, v, DType::f32);
    r.set_inputs(n, std::move(inputs));
  }
  return r.finish();
}

}  // namespace trine
