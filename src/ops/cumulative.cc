// Running sums and products along one axis, forward or in reverse; exclusive ones leave the element itself out.
#include "ops/elementwise.h"
#include "ops/reduction.h"

namespace trine {
namespace {

void infer(InferContext& c) {
  if (auto axis = c.integers(1); axis && axis->size() == 1 && c.shape(0).has_rank())
    c.axis((*axis)[0], std::max(c.shape(0).rank(), 1));
  c.set(0, c.dtype(0), c.shape(0));
}

// Replaces the elements of each group by what came before (and, unless exclusive, themselves).
template <class T, class F>
void run(std::vector<T>& values, const Grouping& groups, const Attrs& attrs, T start, F f) {
  const bool exclusive = attrs.integer("exclusive") != 0, reverse = attrs.integer("reverse") != 0;
  std::vector<int64_t> steps = groups.steps;
  if (reverse) std::reverse(steps.begin(), steps.end());
  for (int64_t first : groups.starts) {
    T total = start;
    for (int64_t step : steps) {
      T& v = values[static_cast<size_t>(first + step)];
      const T with_it = f(total, v);
      v = exclusive ? total : with_it;
      total = with_it;
    }
  }
}

template <class Real, class Integer>
void accumulate(EvalContext& c, int start, Real real, Integer integer) {
  const Tensor& x = c.tensor(0);
  const Tensor& axis_tensor = c.tensor(1);
  if (axis_tensor.elements() != 1) c.fail("axis is " + axis_tensor.type_text() + "; it must have one element");
  Grouping groups{{0}, {0}};
  const int axis = c.axis(axis_tensor.i64_values()[0], std::max(x.rank(), 1));
  if (x.rank() > 0) groups = group(x.dims(), single_axis(x.rank(), axis));
  if (is_float(x.dtype())) {
    std::vector<double> values = x.f64_values();
    run(values, groups, c.attrs(), static_cast<double>(start), real);
    return c.set(0, Tensor::from_f64(x.dtype(), x.dims(), values));
  }
  std::vector<int64_t> values = x.i64_values();
  run(values, groups, c.attrs(), static_cast<int64_t>(start), integer);
  c.set(0, Tensor::from_i64(x.dtype(), x.dims(), values));
}

void reference_cum_sum(EvalContext& c) {
  accumulate(
      c, 0, [](double a, double b) { return a + b; },
      [](int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); });
}

void reference_cum_prod(EvalContext& c) {
  accumulate(
      c, 1, [](double a, double b) { return a * b; },
      [](int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); });
}

const OpDef kCumSum = {.name = "cum_sum",
                       .onnx = "CumSum",
                       .doc = "running sums along axis",
                       .types = "fi x",
                       .min_inputs = 2,
                       .max_inputs = 2,
                       .infer = infer,
                       .reference = reference_cum_sum};
const OpDef kCumProd = {.name = "cum_prod",
                        .onnx = "CumProd",
                        .doc = "running products along axis",
                        .types = "fi x",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .infer = infer,
                        .reference = reference_cum_prod};
const RegisterOp kRegistered[] = {RegisterOp(kCumSum), RegisterOp(kCumProd)};

}  // namespace
}  // namespace trine
