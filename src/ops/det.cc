// Det: determinant of the last two dimensions, by elimination with partial pivoting in f64.
#include <cmath>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/node_error.h"

namespace trine {
namespace {

Shape det_shape(const Node& node, const Shape& x) {
  require(node, x.rank() >= 2, fmt::format("x has shape [{}]; want [..., M, M]", x.text()));
  const Dim &rows = x[x.rank() - 2], &columns = x[x.rank() - 1];
  require(node, !rows.is_constant() || !columns.is_constant() || rows == columns,
          fmt::format("x has shape [{}]; want square matrices", x.text()));
  return Shape(std::vector<Dim>(x.dims().begin(), x.dims().end() - 2));
}

void det_infer(InferContext& c) {
  c.set(0, c.dtype(0), c.shape(0).has_rank() ? det_shape(c.node(), c.shape(0)) : Shape());
}

double determinant(double* a, size_t n) {
  double det = 1;
  for (size_t p = 0; p < n; ++p) {
    size_t best = p;
    for (size_t r = p + 1; r < n; ++r)
      if (std::abs(a[r * n + p]) > std::abs(a[best * n + p])) best = r;
    const double pivot = a[best * n + p];
    if (pivot == 0) return 0;
    if (best != p) {
      for (size_t k = 0; k < n; ++k) std::swap(a[best * n + k], a[p * n + k]);
      det = -det;
    }
    det *= pivot;
    for (size_t r = p + 1; r < n; ++r) {
      const double factor = a[r * n + p] / pivot;
      for (size_t k = p; k < n; ++k) a[r * n + k] -= factor * a[p * n + k];
    }
  }
  return det;
}

void det_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const Dims out = det_shape(c.node(), Shape::from(x.dims())).static_dims();
  std::vector<double> a = x.f64_values(), y(value_count(out));
  const size_t n = static_cast<size_t>(x.dims().back());
  for (size_t i = 0; i < y.size(); ++i) y[i] = determinant(a.data() + i * n * n, n);
  c.set(0, Tensor::from_f64(x.dtype(), out, y));
}

const OpDef op_det = {
    .name = "det",
    .onnx = "Det",
    .doc = "determinant of the last two dimensions",
    .types = "f",
    .infer = det_infer,
    .reference = det_reference,
};
const RegisterOp register_det(op_det);

}  // namespace
}  // namespace trine
