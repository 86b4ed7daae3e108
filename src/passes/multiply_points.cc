// A convolution of images of one pixel (a network that weighs its channels by their averages) is a product:
//
//   conv(x [N,C,1,1], w [M,C,1,1], b)  ->  reshape(x [N,C] w^T + b)
//
// Products of few rows have kernels of their own.
#include <algorithm>

#include "ops/activation.h"
#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

bool is_point(const Rewriter& r, ValueId v) {
  const Shape& shape = r.shape(v);
  if (!shape.has_rank() || shape.rank() < 3) return false;
  for (int i = 2; i < shape.rank(); ++i)
    if (shape[i] != Dim(1)) return false;
  return true;
}

bool multiplies_points(const Rewriter& r, int n) {
  if (!r.is(n, "conv") || !r.is_constant(r.input(n, 1))) return false;
  const Attrs& attrs = r.node(n).attrs;
  const auto pads = attrs.integers("pads");
  if (std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; })) return false;
  return attrs.integer("group", 1) == 1 && attrs.string("layout", "nchw") == "nchw" && is_point(r, r.input(n, 0)) &&
         is_point(r, r.input(n, 1)) && is_point(r, r.output(n));
}

ValueId as_rows(Rewriter& r, ValueId v, int64_t rows, int64_t columns) {
  return r.add("reshape", {v, r.add_constant(Tensor::vector_i64({rows, columns}))});
}

void multiply(Rewriter& r, int n) {
  const Dims weights = r.constant(r.input(n, 1)).dims();
  const int64_t outputs = weights[0], depth = weights[1];
  std::vector<ValueId> inputs = r.node(n).inputs;
  inputs[0] = as_rows(r, inputs[0], -1, depth);
  inputs[1] = as_rows(r, inputs[1], outputs, depth);
  if (inputs.size() > 3 && inputs[3] != kNoValue) inputs[3] = as_rows(r, inputs[3], -1, outputs);
  Attrs attrs;
  attrs.set("trans_b", int64_t{1});
  if (r.node(n).attrs.has("activation")) set_activation(attrs, activation_of(r.node(n)));
  if (r.node(n).attrs.has("residual")) attrs.set("residual", r.node(n).attrs.integer("residual"));
  const ValueId y = r.add("fused_matmul", std::move(inputs), std::move(attrs), {n});
  Dims image(weights.size(), 1);
  image[0] = -1, image[1] = outputs;
  r.rewrite(n, "reshape", {y, r.add_constant(Tensor::vector_i64(image))});
}

}  // namespace

bool multiply_points(Graph& graph) {
  Rewriter r(graph);
  for (int n = 0, count = r.size(); n < count; ++n)
    if (multiplies_points(r, n)) multiply(r, n);
  return r.finish();
}

}  // namespace trine
