// matmul and gemm become fused_matmul, the form that kernels know: alpha, transposed operands, a bias per column.
//
//   matmul(a, b)                       -> fused_matmul a b
//   alpha op(a) op(b) + beta c         -> fused_matmul a b c' {alpha, trans_a, trans_b}, c' = beta c, one row
//   transposes of the last two axes of an operand become trans_a, trans_b
//   products by a number                become alpha
#include <algorithm>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

bool is_matrix_product(const Rewriter& r, int n) {
  return is_float(r.dtype(r.input(n, 0))) && r.rank(r.input(n, 0)) >= 2 && r.rank(r.input(n, 1)) >= 2;
}

bool from_matmul(Rewriter& r, int n) {
  if (!r.is(n, "matmul") || !is_matrix_product(r, n)) return false;
  r.rewrite(n, "fused_matmul", {r.input(n, 0), r.input(n, 1)});
  return true;
}

// A constant c of one row (or one number) as bias of `columns` elements, times beta.
std::optional<Tensor> row_bias(const Tensor& c, int64_t columns, double beta) {
  if (c.elements() != columns && c.elements() != 1) return std::nullopt;
  if (c.elements() == columns && columns != 1 && c.dim(c.rank() - 1) != columns) return std::nullopt;
  std::vector<double> values = c.f64_values();
  if (c.elements() == 1) values.assign(static_cast<size_t>(columns), values[0]);
  for (double& v : values) v *= beta;
  return Tensor::from_f64(c.dtype(), {columns}, values);
}

bool from_gemm(Rewriter& r, int n) {
  if (!r.is(n, "gemm") || !is_matrix_product(r, n)) return false;
  const Attrs& given = r.node(n).attrs;
  const double beta = given.real("beta", 1);
  const ValueId c = beta == 0 ? kNoValue : r.input(n, 2);
  std::vector<ValueId> inputs = {r.input(n, 0), r.input(n, 1)};
  if (c != kNoValue) {
    const auto columns = r.shape(r.output(n))[1].constant();
    const auto bias = columns && r.is_constant(c) ? row_bias(r.constant(c), *columns, beta) : std::nullopt;
    if (bias) inputs.push_back(r.add_constant(*bias));
    else if (beta == 1 && r.rank(c) == 1 && r.shape(c)[0] == r.shape(r.output(n))[1]) inputs.push_back(c);
    else if (beta == 1 && r.type(c) == r.type(r.output(n))) inputs.insert(inputs.end(), {kNoValue, c});
    else return false;
  }
  Attrs attrs;
  if (given.integer("transA")) attrs.set("trans_a", int64_t{1});
  if (given.integer("transB")) attrs.set("trans_b", int64_t{1});
  if (given.real("alpha", 1) != 1) attrs.set("alpha", given.real("alpha", 1));
  r.rewrite(n, "fused_matmul", inputs, std::move(attrs));
  return true;
}

bool swaps_last_two(const Rewriter& r, int n) {
  if (!r.is(n, "transpose")) return false;
  auto perm = r.node(n).attrs.integers("perm");
  if (perm.size() < 2) return false;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return std::is_sorted(perm.begin(), perm.end());
}

bool absorb_transpose(Rewriter& r, int n) {
  bool any = false;
  for (int i : {0, 1}) {
    const int turn = r.made_by(r.input(n, i), "transpose");
    if (!swaps_last_two(r, turn)) continue;
    const char* name = i == 0 ? "trans_a" : "trans_b";
    const bool was = r.node(n).attrs.integer(name) != 0;
    std::vector<ValueId> inputs = r.node(n).inputs;
    inputs[static_cast<size_t>(i)] = r.input(turn, 0);
    r.set_inputs(n, std::move(inputs));
    if (was) r.erase_attr(n, name);
    else r.set_attr(n, name, int64_t{1});
    any = true;
  }
  return any;
}

// fused_matmul(a * number, b), and fused_matmul(a, b) * number while there is nothing else in the epilogue.
bool absorb_number(Rewriter& r, int n) {
  for (int i : {0, 1}) {
    const int times = r.made_by(r.input(n, i), "mul");
    const auto step = r.with_number(times);
    if (!step || !r.used_once(r.input(n, i)) || r.type(step->value) != r.type(r.input(n, i)) ||
        r.is_constant(step->value))
      continue;
    std::vector<ValueId> inputs = r.node(n).inputs;
    inputs[static_cast<size_t>(i)] = step->value;
    r.set_inputs(n, std::move(inputs));
    r.set_attr(n, "alpha", r.node(n).attrs.real("alpha", 1) * step->number);
    return true;
  }
  const ValueId y = r.output(n);
  const int after = r.used_once(y) && r.node(n).inputs.size() == 2 ? r.readers(y)[0] : -1;
  const auto step = r.with_number(after);
  if (!step || step->value != y || r.type(r.output(after)) != r.type(y)) return false;
  const bool over = r.is(after, "div") && step->at == 1 && step->number != 0;
  if (!over && !r.is(after, "mul")) return false;
  Attrs attrs = r.node(n).attrs;
  if (attrs.has("activation")) return false;
  const double alpha = attrs.real("alpha", 1);
  attrs.set("alpha", over ? alpha / step->number : alpha * step->number);
  r.rewrite(after, "fused_matmul", r.node(n).inputs, std::move(attrs), {n});
  return true;
}

}  // namespace

bool fuse_matmul(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n) {
    if (!r.node(n).op) continue;
    from_matmul(r, n) || from_gemm(r, n);
    if (r.is(n, "fused_matmul")) {
      absorb_transpose(r, n);
      absorb_number(r, n);
    }
  }
  return r.finish();
}

}  // namespace trine
