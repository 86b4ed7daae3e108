// Products of one matrix that attention reads side by side are one product, and attention reads parts of its rows:
//
//   q = fused_matmul(x, wq, bq), k = fused_matmul(x, wk, bk), v = ...   ->   y = fused_matmul(x, [wq wk wv], [bq bk
//   bv]) sdpa(q, k, v)                                                            sdpa(y[.., 0:n], y[.., n:2n], y[..,
//   2n:])
#include <algorithm>
#include <cstring>
#include <map>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

// Attention's kernels read rows of heads wherever they lie.
bool only_attention_reads(const Rewriter& r, ValueId v) {
  const auto& readers = r.readers(v);
  return !readers.empty() && !r.is_output(v) && std::all_of(readers.begin(), readers.end(), [&](int m) {
    if (!r.is(m, "sdpa") || r.node(m).attrs.string("layout", "") != "bshd") return false;
    const auto& inputs = r.node(m).inputs;
    return std::find(inputs.begin() + std::min<std::ptrdiff_t>(3, std::ssize(inputs)), inputs.end(), v) == inputs.end();
  });
}

// x times constant columns, and at most a constant bias.
bool is_plain_product(const Rewriter& r, int n) {
  if (!r.is(n, "fused_matmul") || r.input(n, 3) != kNoValue) return false;
  const Attrs& attrs = r.node(n).attrs;
  for (std::string_view name : {"trans_a", "trans_b", "alpha", "activation", "residual", "out"})
    if (attrs.has(name)) return false;
  const ValueId w = r.input(n, 1), bias = r.input(n, 2);
  return r.is_constant(w) && r.constant(w).rank() == 2 &&
         (bias == kNoValue || (r.is_constant(bias) && r.constant(bias).dims() == Dims{r.constant(w).dim(1)}));
}

// Matrices of as many rows, or vectors, side by side.
Tensor side_by_side(const std::vector<Tensor>& parts) {
  Dims dims = parts[0].dims();
  dims.back() = 0;
  for (const Tensor& t : parts) dims.back() += t.dim(t.rank() - 1);
  Tensor all(parts[0].dtype(), dims);
  const size_t item = byte_size(all.dtype());
  const int64_t rows = all.rank() == 2 ? all.dim(0) : 1;
  auto* to = static_cast<char*>(all.mutable_data());
  for (int64_t row = 0; row < rows; ++row)
    for (const Tensor& t : parts) {
      const size_t bytes = static_cast<size_t>(t.dim(t.rank() - 1)) * item;
      std::memcpy(to, static_cast<const char*>(t.data()) + static_cast<size_t>(row) * bytes, bytes);
      to += bytes;
    }
  return all;
}

Tensor bias_of(const Rewriter& r, int n) {
  const Tensor& w = r.constant(r.input(n, 1));
  if (r.input(n, 2) != kNoValue) return r.constant(r.input(n, 2));
  return Tensor::from_f64(w.dtype(), {w.dim(1)}, std::vector<double>(static_cast<size_t>(w.dim(1))));
}

void join(Rewriter& r, const std::vector<int>& products) {
  std::vector<Tensor> weights, biases;
  for (int n : products) weights.push_back(r.constant(r.input(n, 1))), biases.push_back(bias_of(r, n));
  const bool has_bias = std::any_of(products.begin(), products.end(), [&](int n) { return r.input(n, 2) != kNoValue; });
  std::vector<ValueId> inputs{r.input(products[0], 0), r.add_constant(side_by_side(weights))};
  if (has_bias) inputs.push_back(r.add_constant(side_by_side(biases)));
  const ValueId y = r.add("fused_matmul", std::move(inputs), {}, products);
  const ValueId axes = r.add_constant(Tensor::vector_i64({r.rank(y) - 1}));
  int64_t begin = 0;
  for (size_t i = 0; i < products.size(); ++i) {
    const int64_t end = begin + weights[i].dim(1);
    r.rewrite(products[i], "slice",
              {y, r.add_constant(Tensor::vector_i64({begin})), r.add_constant(Tensor::vector_i64({end})), axes});
    begin = end;
  }
}

}  // namespace

bool join_products(Graph& graph) {
  Rewriter r(graph);
  std::map<std::pair<ValueId, DType>, std::vector<int>> of;  // by x and the type of the weights
  for (int n = 0; n < r.size(); ++n)
    if (is_plain_product(r, n) && only_attention_reads(r, r.output(n)))
      of[{r.input(n, 0), r.dtype(r.input(n, 1))}].push_back(n);
  for (const auto& [x, products] : of)
    if (products.size() > 1) join(r, products);
  return r.finish();
}

}  // namespace trine
