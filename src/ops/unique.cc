// Unique: the distinct elements of x, or distinct slices along `axis`, sorted or in order of first occurrence, with the
// index of each first occurrence, the place of every item among the distinct ones, and counts.
#include <algorithm>
#include <numeric>

#include "ops/movement.h"
#include "ops/shape_rules.h"
#include "ops/sort_keys.h"

namespace trine {
namespace {

void infer_unique(InferContext& c) {
  const Shape& x = c.shape(0);
  const Dim count = c.fresh("unique");
  if (!c.attrs().has("axis")) {
    c.set(0, c.dtype(0), {count});
  } else if (x.has_rank()) {
    Shape y = x;
    y[c.axis(c.attrs().integer("axis"), x.rank())] = count;
    c.set(0, c.dtype(0), y);
  } else {
    c.set(0, c.dtype(0), Shape());
  }
  const bool flat = !c.attrs().has("axis");
  const Dim items = !x.has_rank() ? c.fresh() : flat ? x.elements() : x[c.axis(c.attrs().integer("axis"), x.rank())];
  c.set(1, DType::i64, {count});
  c.set(2, DType::i64, {items});
  c.set(3, DType::i64, {count});
}

// Items 0 .. n-1, of one element or one slice each, in the order of their elements.
class Items {
 public:
  Items(const Tensor& x, int axis) : keys_(x), count_(x.dim(axis)) {
    inner_ = dense_strides(x.dims())[static_cast<size_t>(axis)];
    outer_ = 1;
    for (int k = 0; k < axis; ++k) outer_ = checked_mul(outer_, x.dim(k));
    if (x.elements() == 0) outer_ = 0;
  }

  int64_t count() const { return count_; }
  int compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer_; ++o)
      for (int64_t i = 0; i < inner_; ++i) {
        const int64_t row = o * count_ * inner_ + i;
        if (const int by_key = keys_.compare(row + a * inner_, row + b * inner_)) return by_key;
      }
    return 0;
  }

 private:
  SortKeys keys_;
  int64_t count_, inner_, outer_;
};

struct Groups {
  std::vector<int64_t> first, group_of, count;
};

Groups group(const Items& items, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(items.count()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return items.compare(a, b) < 0; });
  Groups g;
  g.group_of.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || items.compare(order[i - 1], order[i]) != 0) {
      g.first.push_back(order[i]);
      g.count.push_back(0);
    }
    ++g.count.back();
    g.group_of[static_cast<size_t>(order[i])] = static_cast<int64_t>(g.first.size()) - 1;
  }
  if (sorted) return g;
  std::vector<size_t> by_first(g.first.size());
  std::iota(by_first.begin(), by_first.end(), size_t{0});
  std::sort(by_first.begin(), by_first.end(), [&](size_t a, size_t b) { return g.first[a] < g.first[b]; });
  Groups result;
  std::vector<int64_t> place(g.first.size());
  for (size_t i = 0; i < by_first.size(); ++i) {
    place[by_first[i]] = static_cast<int64_t>(i);
    result.first.push_back(g.first[by_first[i]]);
    result.count.push_back(g.count[by_first[i]]);
  }
  for (int64_t old : g.group_of) result.group_of.push_back(place[static_cast<size_t>(old)]);
  return result;
}

void unique_reference(EvalContext& c) {
  const Tensor& given = c.tensor(0);
  const bool flat = !c.attrs().has("axis");
  const Tensor x = flat ? given.reshaped({given.elements()}) : given;
  const int axis = flat ? 0 : c.axis(c.attrs().integer("axis"), x.rank());
  const Groups g = group(Items(x, axis), c.attrs().integer("sorted", 1) != 0);
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = static_cast<int64_t>(g.first.size());
  TensorBuilder y(x.dtype(), dims);
  const View to = View::whole(dims), from = View::whole(x.dims());
  for (size_t i = 0; i < g.first.size(); ++i)
    y.copy(to.range(axis, static_cast<int64_t>(i), 1), x, from.range(axis, g.first[i], 1));
  c.set(0, y.take());
  c.set(1, Tensor::vector_i64(g.first));
  c.set(2, Tensor::vector_i64(g.group_of));
  c.set(3, Tensor::vector_i64(g.count));
}

const OpDef kUnique = {.name = "unique",
                       .onnx = "Unique",
                       .doc = "distinct elements or slices, first places, inverse, counts",
                       .types = "a",
                       .max_outputs = 4,
                       .infer = infer_unique,
                       .reference = unique_reference};
const RegisterOp kRegisterUnique(kUnique);

}  // namespace
}  // namespace trine
