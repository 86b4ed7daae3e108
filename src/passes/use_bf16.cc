// Convolutions and matrix products of f32 read bf16: half the bytes, and twice the speed where the CPU multiplies bf16.
// Sums and biases stay f32. A result is rounded to bf16 when another product reads it, else it stays f32: norms,
// softmax and everything elementwise work on f32.
#include <algorithm>

#include "passes/number_formats.h"
#include "passes/passes.h"

namespace trine {
namespace {

bool is_f32(const Rewriter& r, ValueId v) { return v == kNoValue || r.dtype(v) == DType::f32; }

bool fits(const Rewriter& r, int n) {
  if (!r.is(n, "conv") && !r.is(n, "fused_matmul")) return false;
  for (ValueId v : r.node(n).inputs)
    if (!is_f32(r, v)) return false;
  if (r.is(n, "fused_matmul")) return true;
  return r.is_constant(r.input(n, 1)) && r.node(n).attrs.string("layout", "nchw") == "nhwc";
}

bool another_reads(const Rewriter& r, int n, const std::vector<bool>& chosen) {
  const std::vector<int>& readers = r.readers(r.output(n));
  return std::any_of(readers.begin(), readers.end(), [&](int m) { return chosen[static_cast<size_t>(m)]; });
}

void convert(Rewriter& r, int n, DType out) {
  std::vector<ValueId> inputs = r.node(n).inputs;
  for (size_t i : {size_t{0}, size_t{1}}) inputs[i] = as_type(r, inputs[i], DType::bf16);
  if (inputs.size() > 3) inputs[3] = as_type(r, inputs[3], out);
  Attrs attrs = r.node(n).attrs;
  if (out == DType::bf16) return compute_elsewhere(r, n, std::move(inputs), std::move(attrs));
  attrs.set("out", std::string(name(out)));
  r.rewrite(n, r.node(n).op->name, std::move(inputs), std::move(attrs));
}

}  // namespace

bool use_bf16(Graph& graph) {
  Rewriter r(graph);
  const int count = r.size();
  std::vector<bool> chosen;
  for (int n = 0; n < count; ++n) chosen.push_back(r.node(n).op && fits(r, n));
  std::vector<bool> rounds;
  for (int n = 0; n < count; ++n) rounds.push_back(chosen[static_cast<size_t>(n)] && another_reads(r, n, chosen));
  for (int n = 0; n < count; ++n)
    if (chosen[static_cast<size_t>(n)]) convert(r, n, rounds[static_cast<size_t>(n)] ? DType::bf16 : DType::f32);
  return r.finish();
}

}  // namespace trine
