// Transpose: axis i of y is axis perm[i] of x; by default the axes are reversed.
#include "codegen/lower.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

template <class C>
std::vector<int> permutation(const C& c, int rank) {
  std::vector<int64_t> perm = c.attrs().integers("perm");
  if (!c.attrs().has("perm"))
    for (int i = rank; i-- > 0;) perm.push_back(i);
  if (static_cast<int>(perm.size()) != rank)
    c.fail("perm has " + std::to_string(perm.size()) + " entries, x has rank " + std::to_string(rank));
  return distinct_axes(c, perm, rank);
}

void infer_transpose(InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) {
    const auto perm = c.attrs().integers("perm");
    return c.set(0, c.dtype(0),
                 perm.empty() || perm.size() > kMaxRank ? Shape() : c.fresh_shape(static_cast<int>(perm.size())));
  }
  std::vector<Dim> dims;
  for (int axis : permutation(c, x.rank())) dims.push_back(x[axis]);
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  if (x.rank() <= 1) keep_content(c);
}

void transpose_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const auto strides = dense_strides(x.dims());
  View view;
  for (int axis : permutation(c, x.rank())) {
    view.dims.push_back(x.dim(axis));
    view.strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  c.set(0, copy_view(x, view));
}

codegen::Scalar transpose_lower(codegen::LowerContext& c) {
  const int rank = c.shape(0).rank();
  const auto perm = c.attrs().integers("perm");
  codegen::Index at(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const int64_t axis = perm.empty() ? rank - 1 - i : perm[static_cast<size_t>(i)];
    at[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = c.index()[static_cast<size_t>(i)];
  }
  return c.load(0, at);
}

const OpDef kTranspose = {.name = "transpose",
                          .onnx = "Transpose",
                          .doc = "axis i of y is axis perm[i] of x",
                          .types = "a",
                          .infer = infer_transpose,
                          .reference = transpose_reference,
                          .lower = transpose_lower};
const RegisterOp kRegisterTranspose(kTranspose);

}  // namespace
}  // namespace trine
