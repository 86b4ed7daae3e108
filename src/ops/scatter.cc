// ScatterElements, ScatterND: a copy of x with updates put, added, multiplied, or kept when larger/smaller, at places
// that indices name. TensorScatter: rows of a key/value cache overwritten from each batch's write position on.
#include <algorithm>
#include <cmath>

#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

// Run r of the updates goes to elements [to[r], to[r] + length) of the output.
struct Placement {
  std::vector<int64_t> to;
  int64_t length = 1;
};

enum class Combine { put, add, mul, min, max };

Combine combine_of(const EvalContext& c) {
  const std::string name = c.attrs().string("reduction", "none");
  constexpr std::string_view kNames[] = {"none", "add", "mul", "min", "max"};
  for (int i = 0; i < 5; ++i)
    if (name == kNames[i]) return static_cast<Combine>(i);
  c.fail("reduction '" + name + "'; one of none, add, mul, min, max");
}

template <class T>
T smaller(T a, T b) {
  if constexpr (std::is_same_v<T, double>)
    if (std::isnan(a) || std::isnan(b)) return std::nan("");
  return b < a ? b : a;
}

template <class T>
T combined(Combine how, T a, T b) {
  switch (how) {
    case Combine::add: return a + b;
    case Combine::mul: return a * b;
    case Combine::min: return smaller(a, b);
    case Combine::max:
      if constexpr (std::is_same_v<T, double>) return -smaller(-a, -b);
      else return a < b ? b : a;
    default: return b;
  }
}

// T: double for real types; for integers the unsigned or signed 64 bits, so that sums wrap and order is right.
template <class T, class V>
void combine_runs(Combine how, std::vector<V>& y, const std::vector<V>& updates, const Placement& place) {
  size_t from = 0;
  for (int64_t to : place.to)
    for (int64_t k = 0; k < place.length; ++k, ++from) {
      V& target = y[static_cast<size_t>(to + k)];
      target = static_cast<V>(combined<T>(how, static_cast<T>(target), static_cast<T>(updates[from])));
    }
}

Tensor combine_integers(const Tensor& x, const Tensor& updates, const Placement& place, Combine how) {
  auto y = x.i64_values();
  const bool ordered = how == Combine::min || how == Combine::max;
  if (ordered && x.dtype() != DType::u64) combine_runs<int64_t>(how, y, updates.i64_values(), place);
  else combine_runs<uint64_t>(how, y, updates.i64_values(), place);
  return Tensor::from_i64(x.dtype(), x.dims(), y);
}

void scatter(EvalContext& c, const Placement& place) {
  const Tensor &x = c.tensor(0), &updates = c.tensor(2);
  if (x.dtype() != updates.dtype())
    c.fail("x is " + x.type_text() + ", updates " + updates.type_text() + "; equal types");
  const Combine how = combine_of(c);
  if (how == Combine::put) {
    TensorBuilder y = TensorBuilder::copy_of(x);
    for (size_t r = 0; r < place.to.size(); ++r)
      y.copy(place.to[r], updates, static_cast<int64_t>(r) * place.length, place.length);
    return c.set(0, y.take());
  }
  if (is_integer(x.dtype()) || x.dtype() == DType::boolean) return c.set(0, combine_integers(x, updates, place, how));
  if (!is_float(x.dtype())) c.fail("reduction of " + x.type_text() + "; it needs numbers");
  auto y = x.f64_values();
  combine_runs<double>(how, y, updates.f64_values(), place);
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
}

void infer_scatter(InferContext& c) {
  c.need_rank_at_least(0, 1);
  if (c.shape(0).has_rank()) c.axis(c.attrs().integer("axis"), c.shape(0).rank());
  infer_same_as_first(c);
}

void scatter_elements_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &indices = c.tensor(1), &updates = c.tensor(2);
  const int axis = c.axis(c.attrs().integer("axis"), x.rank());
  if (indices.dims() != updates.dims() || indices.rank() != x.rank())
    c.fail("indices are " + indices.type_text() + ", updates " + updates.type_text() + ", x " + x.type_text() +
           "; indices and updates must have one shape, of the rank of x");
  for (int k = 0; k < x.rank(); ++k)
    if (k != axis && indices.dim(k) > x.dim(k))
      c.fail("indices are " + indices.type_text() + ", larger than x " + x.type_text());
  const auto strides = dense_strides(x.dims());
  const auto at = indices.i64_values();
  Placement place;
  std::vector<int64_t> index(static_cast<size_t>(x.rank()), 0);
  for (size_t i = 0; i < at.size(); ++i, next_index(index, indices.dims())) {
    int64_t to = c.checked_index(at[i], x.dim(axis)) * strides[static_cast<size_t>(axis)];
    for (int k = 0; k < x.rank(); ++k)
      if (k != axis) to += index[static_cast<size_t>(k)] * strides[static_cast<size_t>(k)];
    place.to.push_back(to);
  }
  scatter(c, place);
}

const OpDef kScatterElements = {.name = "scatter_elements",
                                .onnx = "ScatterElements",
                                .doc = "y = x; y[i... with coordinate `axis` = indices[i...]] (op)= updates[i...]",
                                .types = "T x T",
                                .min_inputs = 3,
                                .max_inputs = 3,
                                .infer = infer_scatter,
                                .reference = scatter_elements_reference};
const RegisterOp kRegisterScatterElements(kScatterElements);

void infer_scatter_nd(InferContext& c) {
  c.need_rank_at_least(0, 1);
  c.need_rank_at_least(1, 1);
  infer_same_as_first(c);
}

void scatter_nd_reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &indices = c.tensor(1), &updates = c.tensor(2);
  if (indices.rank() < 1 || indices.dim(indices.rank() - 1) < 0 || indices.dim(indices.rank() - 1) > x.rank())
    c.fail("indices are " + indices.type_text() + ", x " + x.type_text() + "; tuples have at most rank(x) entries");
  const int tuple = static_cast<int>(indices.dim(indices.rank() - 1));
  Dims wanted(indices.dims().begin(), indices.dims().end() - 1);
  const int64_t tuples = element_count(wanted);
  wanted.insert(wanted.end(), x.dims().begin() + tuple, x.dims().end());
  if (updates.dims() != wanted)
    c.fail("updates are " + updates.type_text() + "; their shape must be [" + to_string(wanted) + "]");
  const auto strides = dense_strides(x.dims());
  const auto at = indices.i64_values();
  Placement place;
  place.length = tuple == 0 ? x.elements() : strides[static_cast<size_t>(tuple - 1)];
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t to = 0;
    for (int k = 0; k < tuple; ++k)
      to += c.checked_index(at[static_cast<size_t>(t * tuple + k)], x.dim(k)) * strides[static_cast<size_t>(k)];
    place.to.push_back(to);
  }
  scatter(c, place);
}

const OpDef kScatterNd = {.name = "scatter_nd",
                          .onnx = "ScatterND",
                          .doc = "y = x; y[indices[i..., :], s...] (op)= updates[i..., s...]",
                          .types = "T x T",
                          .min_inputs = 3,
                          .max_inputs = 3,
                          .infer = infer_scatter_nd,
                          .reference = scatter_nd_reference};
const RegisterOp kRegisterScatterNd(kScatterNd);

void infer_tensor_scatter(InferContext& c) {
  c.need_rank_at_least(0, 2);
  if (c.shape(0).has_rank()) c.axis(c.attrs().integer("axis", -2), c.shape(0).rank());
  infer_same_as_first(c);
}

void tensor_scatter_reference(EvalContext& c) {
  const Tensor &past = c.tensor(0), &update = c.tensor(1);
  const std::string mode = c.attrs().string("mode", "linear");
  if (mode != "linear" && mode != "circular") c.fail("mode '" + mode + "'; one of linear, circular");
  const int axis = c.axis(c.attrs().integer("axis", -2), past.rank());
  if (axis == 0) c.fail("axis 0 is the batch axis; it cannot be written along");
  bool fits = past.rank() == update.rank() && past.dtype() == update.dtype();
  for (int k = 0; fits && k < past.rank(); ++k)
    fits = k == axis ? update.dim(k) <= past.dim(k) : update.dim(k) == past.dim(k);
  if (!fits) c.fail("update is " + update.type_text() + ", cache " + past.type_text() + "; it must fit into the cache");
  const int64_t batches = past.dim(0), room = past.dim(axis), length = update.dim(axis);
  auto start = c.has(2) ? c.tensor(2).i64_values() : std::vector<int64_t>(static_cast<size_t>(batches), 0);
  if (static_cast<int64_t>(start.size()) != batches)
    c.fail(std::to_string(start.size()) + " write_indices for a batch of " + std::to_string(batches));
  TensorBuilder y = TensorBuilder::copy_of(past);
  if (update.elements() == 0) return c.set(0, y.take());
  const int64_t inner = dense_strides(past.dims())[static_cast<size_t>(axis)];
  const int64_t rows = past.elements() / batches / room / inner;  // between batch and written axis
  for (int64_t b = 0; b < batches; ++b) {
    const int64_t first = start[static_cast<size_t>(b)];
    const int64_t last = mode == "circular" ? room - 1 : room - length;
    if (first < 0 || (mode == "linear" && first > last))
      c.fail("write index " + std::to_string(first) + " outside [0, " + std::to_string(last) + "]");
    for (int64_t r = b * rows; r < (b + 1) * rows; ++r)
      for (int64_t s = 0; s < length; ++s)
        y.copy((r * room + (first % room + s) % room) * inner, update, (r * length + s) * inner, inner);
  }
  c.set(0, y.take());
}

const OpDef kTensorScatter = {.name = "tensor_scatter",
                              .onnx = "TensorScatter",
                              .doc = "y = past; y[b, ..., write_indices[b] + s, ...] = update[b, ..., s, ...]",
                              .types = "T T x",
                              .min_inputs = 2,
                              .max_inputs = 3,
                              .infer = infer_tensor_scatter,
                              .reference = tensor_scatter_reference};
const RegisterOp kRegisterTensorScatter(kTensorScatter);

}  // namespace
}  // namespace trine
