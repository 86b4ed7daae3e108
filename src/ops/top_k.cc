// TopK: the k largest (or smallest) elements along an axis with their indices. Ties: the lower index first. NaN counts
// as larger than every number.
#include <algorithm>
#include <numeric>

#include "ops/movement.h"
#include "ops/node_error.h"
#include "ops/shape_rules.h"
#include "ops/sort_keys.h"

namespace trine {
namespace {

void infer_top_k(InferContext& c) {
  const Shape& x = c.shape(0);
  c.need_rank_at_least(0, 1);
  Shape y = x;
  if (x.has_rank()) {
    const int axis = c.axis(c.attrs().integer("axis", -1), x.rank());
    const auto k = c.content(1);
    if (k && k->size() == 1 && (*k)[0].constant() &&
        ((*k)[0].value() < 0 || (x[axis].constant() && (*k)[0].value() > x[axis].value())))
      c.fail("k is " + (*k)[0].text() + ", axis " + std::to_string(axis) + " of " + c.input(0).text() +
             "; k must lie in [0, size]");
    y[axis] = k && k->size() == 1 ? (*k)[0] : c.fresh("k");
  }
  c.set(0, c.dtype(0), y);
  c.set(1, DType::i64, y);
}

void top_k_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  const int axis = c.axis(c.attrs().integer("axis", -1), x.rank());
  const int64_t k = scalar_integer(c, 1, "k"), size = x.dim(axis);
  if (k < 0 || k > size)
    c.fail("k is " + std::to_string(k) + ", axis " + std::to_string(axis) + " of " + x.type_text() +
           "; k must lie in [0, " + std::to_string(size) + "]");
  const int sign = c.attrs().integer("largest", 1) ? -1 : 1;
  const SortKeys keys(x);
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = k;
  TensorBuilder values(x.dtype(), dims);
  std::vector<int64_t> indices(value_count(dims));
  std::vector<int64_t> order(static_cast<size_t>(size));
  const int64_t inner = dense_strides(dims)[static_cast<size_t>(axis)];
  const int64_t lines = k == 0 ? 0 : static_cast<int64_t>(indices.size()) / k;
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t first = line / inner * size * inner + line % inner;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
      const int by_key = sign * keys.compare(first + a * inner, first + b * inner);
      return by_key != 0 ? by_key < 0 : a < b;
    });
    for (int64_t j = 0; j < k; ++j) {
      const int64_t to = line / inner * k * inner + j * inner + line % inner;
      values.copy(to, x, first + order[static_cast<size_t>(j)] * inner);
      indices[static_cast<size_t>(to)] = order[static_cast<size_t>(j)];
    }
  }
  c.set(0, values.take());
  c.set(1, Tensor::from_i64(DType::i64, dims, indices));
}

const OpDef kTopK = {.name = "top_k",
                     .onnx = "TopK",
                     .doc = "values and indices of the k largest or smallest elements along `axis`",
                     .types = "fi x",
                     .min_inputs = 2,
                     .max_inputs = 2,
                     .max_outputs = 2,
                     .infer = infer_top_k,
                     .reference = top_k_reference};
const RegisterOp kRegisterTopK(kTopK);

}  // namespace
}  // namespace trine
