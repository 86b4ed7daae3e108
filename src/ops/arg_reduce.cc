// ArgMax, ArgMin, Hardmax: where along an axis the largest or smallest element lies. The first NaN counts as the
// extreme; among equals the first wins (the last with select_last_index).
#include <cmath>

#include "ops/elementwise.h"
#include "ops/reduction.h"

namespace trine {
namespace {

using codegen::Index;
using codegen::LowerContext;
using codegen::Reduce;
using codegen::Scalar;
using codegen::ScalarOp;

// Index in the group of the best of the elements under `better`; `group` is not empty.
template <class T, class Better>
int64_t best_of(const T* data, const std::vector<int64_t>& steps, bool last, Better better) {
  size_t best = 0;
  for (size_t k = 1; k < steps.size(); ++k) {
    const T v = data[steps[k]], b = data[steps[best]];
    if (better(v, b) || (last && !better(b, v))) best = k;
  }
  return static_cast<int64_t>(best);
}

bool real_greater(double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); }
bool real_less(double a, double b) { return a < b || (std::isnan(a) && !std::isnan(b)); }

std::vector<int64_t> best_of_each(const Tensor& x, const Grouping& groups, bool largest, bool last) {
  std::vector<int64_t> y;
  if (is_float(x.dtype())) {
    const std::vector<double> data = x.f64_values();
    for (int64_t start : groups.starts)
      y.push_back(best_of(data.data() + start, groups.steps, last, largest ? real_greater : real_less));
    return y;
  }
  std::vector<int64_t> data = x.i64_values();
  if (x.dtype() == DType::u64)
    for (int64_t& v : data) v ^= INT64_MIN;  // unsigned order becomes signed order
  const auto less = [](int64_t a, int64_t b) { return a < b; };
  const auto greater = [](int64_t a, int64_t b) { return a > b; };
  for (int64_t start : groups.starts)
    y.push_back(largest ? best_of(data.data() + start, groups.steps, last, greater)
                        : best_of(data.data() + start, groups.steps, last, less));
  return y;
}

void infer_arg(InferContext& c) {
  if (!c.shape(0).has_rank()) return c.set(0, DType::i64, Shape());
  const int rank = c.shape(0).rank();
  if (rank == 0) {
    c.axis(c.attrs().integer("axis"), 1);
    return c.set(0, DType::i64, scalar_shape());
  }
  const int axis = c.axis(c.attrs().integer("axis"), rank);
  if (c.shape(0)[axis] == Dim(0)) c.fail("axis " + std::to_string(axis) + " is empty; there is no extreme to point at");
  c.set(0, DType::i64, reduced_shape(c.shape(0), single_axis(rank, axis), keeps_dims(c.attrs())));
}

void arg_reference(EvalContext& c, bool largest) {
  const Tensor& x = c.tensor(0);
  if (x.rank() == 0) return c.set(0, Tensor::scalar_i64(0));
  const int axis = c.axis(c.attrs().integer("axis"), x.rank());
  const AxisMask folded = single_axis(x.rank(), axis);
  const Grouping groups = group(x.dims(), folded);
  if (groups.steps.empty()) c.fail("axis " + std::to_string(axis) + " of x " + x.type_text() + " is empty");
  const bool last = c.attrs().integer("select_last_index") != 0;
  c.set(0, Tensor::from_i64(DType::i64, reduced_dims(x.dims(), folded, keeps_dims(c.attrs())),
                            best_of_each(x, groups, largest, last)));
}

// The extreme first, then the smallest (or largest) counter at which it stands.
Scalar position_of_extreme(LowerContext& c, const Dim& extent, bool largest, bool last, const FoldedBox::Body& x) {
  Scalar extreme = c.reduce(largest ? Reduce::max : Reduce::min, {extent}, x);
  return c.reduce(last ? Reduce::max : Reduce::min, {extent}, [&](const Index& r) {
    Scalar v = x(r), at = c.index_value(r[0]);
    Scalar found = c.apply(ScalarOp::equal, v, extreme);
    if (is_float(c.type(v))) found = c.apply(ScalarOp::logical_or, found, c.apply(ScalarOp::is_nan, v));
    return c.select(found, at, last ? c.like(at, 0) : c.index_value(extent));
  });
}

Scalar arg_lower(LowerContext& c, bool largest) {
  const Shape& shape = c.shape(0);
  if (!has_loop_form(c.input_type(0).dtype) || c.input_type(0).dtype == DType::u64) return {};
  if (!shape.has_rank() || shape.rank() == 0) return {};
  const int64_t given = c.attrs().integer("axis");
  const int axis = static_cast<int>(given < 0 ? given + shape.rank() : given);
  const FoldedBox box(shape, single_axis(shape.rank(), axis), keeps_dims(c.attrs()));
  const Index result = c.index();
  return position_of_extreme(c, shape[axis], largest, c.attrs().integer("select_last_index") != 0,
                             [&](const Index& r) { return c.load(0, box.at(result, r)); });
}

void reference_arg_max(EvalContext& c) { arg_reference(c, true); }
void reference_arg_min(EvalContext& c) { arg_reference(c, false); }
Scalar lower_arg_max(LowerContext& c) { return arg_lower(c, true); }
Scalar lower_arg_min(LowerContext& c) { return arg_lower(c, false); }

// --- Hardmax: 1 at the first maximum, 0 elsewhere ---

void infer_hardmax(InferContext& c) {
  if (c.shape(0).has_rank()) c.axis(c.attrs().integer("axis", -1), std::max(c.shape(0).rank(), 1));
  c.set(0, c.dtype(0), c.shape(0));
}

void reference_hardmax(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  if (x.rank() == 0) return c.set(0, Tensor::from_f64(x.dtype(), {}, {1}));
  const Grouping groups = group(x.dims(), single_axis(x.rank(), c.axis(c.attrs().integer("axis", -1), x.rank())));
  std::vector<double> y(static_cast<size_t>(x.elements()), 0);
  if (!y.empty()) {
    const std::vector<int64_t> best = best_of_each(x, groups, true, false);
    for (size_t g = 0; g < best.size(); ++g)
      y[static_cast<size_t>(groups.starts[g] + groups.steps[static_cast<size_t>(best[g])])] = 1;
  }
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
}

Scalar lower_hardmax(LowerContext& c) {
  const Shape& shape = c.shape(0);
  if (!shape.has_rank() || shape.rank() == 0) return {};
  const int64_t given = c.attrs().integer("axis", -1);
  const int axis = static_cast<int>(given < 0 ? given + shape.rank() : given);
  const Index at = c.index();
  const auto element = [&](const Index& r) {
    Index index = at;
    index[static_cast<size_t>(axis)] = r[0];
    return c.load(0, index);
  };
  Scalar best = position_of_extreme(c, shape[axis], true, false, element);
  Scalar here = c.apply(ScalarOp::equal, best, c.index_value(at[static_cast<size_t>(axis)]));
  return c.cast(here, c.output_type().dtype);
}

const OpDef kOps[] = {
    {.name = "arg_max",
     .onnx = "ArgMax",
     .doc = "index of the largest x along axis",
     .types = "fi",
     .infer = infer_arg,
     .reference = reference_arg_max,
     .lower = lower_arg_max},
    {.name = "arg_min",
     .onnx = "ArgMin",
     .doc = "index of the smallest x along axis",
     .types = "fi",
     .infer = infer_arg,
     .reference = reference_arg_min,
     .lower = lower_arg_min},
    {.name = "hardmax",
     .onnx = "Hardmax",
     .doc = "1 at the first maximum along axis, else 0",
     .types = "f",
     .infer = infer_hardmax,
     .reference = reference_hardmax,
     .lower = lower_hardmax},
};
const RegisterOp kRegistered[] = {RegisterOp(kOps[0]), RegisterOp(kOps[1]), RegisterOp(kOps[2])};

}  // namespace
}  // namespace trine
