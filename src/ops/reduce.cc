// Reductions over axes. Sums run in f64; NaN wins in max and min; over nothing a sum is 0, a product 1, a maximum -inf
// or the type's smallest value, a mean NaN (0 for integers). Integer results wrap; roots and logarithms of integers
// truncate.
#include <cmath>
#include <limits>

#include "graph/infer.h"
#include "ops/elementwise.h"
#include "ops/reduction.h"
#include "trine/base/error.h"

namespace trine {
namespace {

using codegen::Index;
using codegen::LowerContext;
using codegen::Reduce;
using codegen::Scalar;
using codegen::ScalarOp;

// One group of elements.
template <class T>
struct Group {
  const T* data;
  const std::vector<int64_t>* steps;

  int64_t size() const { return static_cast<int64_t>(steps->size()); }
  template <class Result, class F>
  Result fold(Result start, F f) const {
    for (int64_t step : *steps) start = f(start, data[step]);
    return start;
  }
};

using Reals = Group<double>;
using Integers = Group<int64_t>;
using Body = FoldedBox::Body;

struct ReduceRow {
  std::string_view name, onnx, doc;
  const char* types;
  double (*real)(const Reals& x);
  int64_t (*integer)(const Integers& x, DType type);
  Scalar (*emit)(LowerContext& c, const FoldedBox& box, const Body& x);
  DimBinary dim = nullptr;  // folds symbolic content
  bool lowers_integers = false;

  OpDef describe() const { return {.name = name, .onnx = onnx, .doc = doc, .types = types, .max_inputs = 2}; }
  void infer(InferContext& c) const;
  void reference(EvalContext& c) const;
  Scalar lower(LowerContext& c) const;
};

// --- scalar functions ---

double real_sum(const Reals& x) {
  return x.fold(0.0, [](double s, double v) { return s + v; });
}
double real_mean(const Reals& x) { return real_sum(x) / static_cast<double>(x.size()); }
double real_max(const Reals& x) {
  return x.fold(-std::numeric_limits<double>::infinity(),
                [](double m, double v) { return v > m || std::isnan(v) ? v : m; });
}
double real_min(const Reals& x) {
  return x.fold(std::numeric_limits<double>::infinity(),
                [](double m, double v) { return v < m || std::isnan(v) ? v : m; });
}
double real_prod(const Reals& x) {
  return x.fold(1.0, [](double p, double v) { return p * v; });
}
double real_l1(const Reals& x) {
  return x.fold(0.0, [](double s, double v) { return s + std::fabs(v); });
}
double real_sum_square(const Reals& x) {
  return x.fold(0.0, [](double s, double v) { return s + v * v; });
}
double real_l2(const Reals& x) { return std::sqrt(real_sum_square(x)); }
double real_log_sum(const Reals& x) { return std::log(real_sum(x)); }

// m + log(sum of e^(x - m)), m the maximum where that is finite.
double real_log_sum_exp(const Reals& x) {
  const double top = real_max(x), m = std::isfinite(top) ? top : 0;
  return m + std::log(x.fold(0.0, [m](double s, double v) { return s + std::exp(v - m); }));
}

uint64_t wide(int64_t v) { return static_cast<uint64_t>(v); }
double as_real(int64_t v, DType type) {
  return type == DType::u64 ? static_cast<double>(wide(v)) : static_cast<double>(v);
}

int64_t integer_sum(const Integers& x, DType) {
  return static_cast<int64_t>(x.fold(uint64_t{0}, [](uint64_t s, int64_t v) { return s + wide(v); }));
}
int64_t integer_mean(const Integers& x, DType type) {
  if (x.size() == 0) return 0;
  const int64_t sum = integer_sum(x, type);
  return type == DType::u64 ? static_cast<int64_t>(wide(sum) / wide(x.size())) : sum / x.size();
}
int64_t integer_prod(const Integers& x, DType) {
  return static_cast<int64_t>(x.fold(uint64_t{1}, [](uint64_t p, int64_t v) { return p * wide(v); }));
}
bool integer_less(int64_t a, int64_t b, DType type) { return type == DType::u64 ? wide(a) < wide(b) : a < b; }
int64_t integer_max_of(const Integers& x, DType type) {
  return x.fold(integer_min(type), [type](int64_t m, int64_t v) { return integer_less(m, v, type) ? v : m; });
}
int64_t integer_min_of(const Integers& x, DType type) {
  return x.fold(static_cast<int64_t>(integer_max(type)),
                [type](int64_t m, int64_t v) { return integer_less(v, m, type) ? v : m; });
}
int64_t integer_l1(const Integers& x, DType type) {
  return static_cast<int64_t>(x.fold(uint64_t{0}, [type](uint64_t s, int64_t v) {
    return s + (v < 0 && !is_unsigned(type) ? 0 - wide(v) : wide(v));
  }));
}
int64_t integer_sum_square(const Integers& x, DType) {
  return static_cast<int64_t>(x.fold(uint64_t{0}, [](uint64_t s, int64_t v) { return s + wide(v) * wide(v); }));
}

// A real function of integers, truncated to the type.
template <double (*f)(const Reals&)>
int64_t through_reals(const Integers& x, DType type) {
  std::vector<double> values;
  std::vector<int64_t> steps;
  for (int64_t step : *x.steps) {
    steps.push_back(static_cast<int64_t>(values.size()));
    values.push_back(as_real(x.data[step], type));
  }
  return Tensor::from_f64(type, {}, {f({values.data(), &steps})}).i64_values()[0];
}

// --- loop IR ---

Scalar square(LowerContext& c, Scalar v) { return c.mul(v, v); }

template <Reduce kind>
Scalar emit_plain(LowerContext& c, const FoldedBox& box, const Body& x) {
  return box.fold(c, kind, x);
}
Scalar emit_mean(LowerContext& c, const FoldedBox& box, const Body& x) {
  Scalar sum = box.fold(c, Reduce::sum, x);
  return c.div(sum, box.count(c, sum));
}
Scalar emit_l1(LowerContext& c, const FoldedBox& box, const Body& x) {
  return box.fold(c, Reduce::sum, [&](const Index& r) { return c.apply(ScalarOp::abs, x(r)); });
}
Scalar emit_sum_square(LowerContext& c, const FoldedBox& box, const Body& x) {
  return box.fold(c, Reduce::sum, [&](const Index& r) { return square(c, x(r)); });
}
Scalar emit_l2(LowerContext& c, const FoldedBox& box, const Body& x) {
  return c.apply(ScalarOp::sqrt, emit_sum_square(c, box, x));
}
Scalar emit_log_sum(LowerContext& c, const FoldedBox& box, const Body& x) {
  return c.apply(ScalarOp::log, box.fold(c, Reduce::sum, x));
}
Scalar emit_log_sum_exp(LowerContext& c, const FoldedBox& box, const Body& x) {
  Scalar top = box.fold(c, Reduce::max, x);
  Scalar m = c.select(c.apply(ScalarOp::is_inf, top), c.like(top, 0), top);
  Scalar sum = box.fold(c, Reduce::sum, [&](const Index& r) { return c.exp(c.sub(x(r), m)); });
  return c.add(c.apply(ScalarOp::log, sum), m);
}
// On booleans, max is "any" and min is "all".
template <Reduce kind, Reduce of_booleans>
Scalar emit_extreme(LowerContext& c, const FoldedBox& box, const Body& x) {
  return box.fold(c, c.input_type(0).dtype == DType::boolean ? of_booleans : kind, x);
}

// --- the family ---

void infer_content(InferContext& c, DimBinary dim) {
  auto content = c.content(0);
  if (!dim || !content || content->empty()) return;
  Dim folded = (*content)[0];
  try {
    for (size_t i = 1; i < content->size(); ++i) folded = dim(folded, (*content)[i]);
  } catch (const Error&) {
    return;
  }
  set_checked_content(c, c.dtype(0), {folded});
}

// Axes that are known only at run time: the rank may still be known.
Shape unknown_axes(InferContext& c) {
  const Shape& axes = c.shape(1);
  const int rank = c.shape(0).rank();
  if (keeps_dims(c.attrs())) return c.fresh_shape(rank);
  if (!axes.is_static() || axes.rank() != 1 || axes[0].value() == 0 || axes[0].value() > rank) return {};
  return c.fresh_shape(rank - static_cast<int>(axes[0].value()));
}

void ReduceRow::infer(InferContext& c) const {
  const auto axes = c.has(1) ? c.integers(1) : std::vector<int64_t>{};
  if (!c.shape(0).has_rank()) return c.set(0, c.dtype(0), Shape());
  if (!axes) return c.set(0, c.dtype(0), unknown_axes(c));
  const AxisMask folded = folded_axes(c, *axes, c.shape(0).rank());
  c.set(0, c.dtype(0), reduced_shape(c.shape(0), folded, keeps_dims(c.attrs())));
  if (folded.size() == 1 && folded[0]) infer_content(c, dim);
}

void ReduceRow::reference(EvalContext& c) const {
  const Tensor& x = c.tensor(0);
  const AxisMask folded = folded_axes(c, c.has(1) ? c.tensor(1).i64_values() : std::vector<int64_t>{}, x.rank());
  const Dims dims = reduced_dims(x.dims(), folded, keeps_dims(c.attrs()));
  const Grouping groups = group(x.dims(), folded);
  if (is_float(x.dtype())) {
    const std::vector<double> data = x.f64_values();
    std::vector<double> y;
    for (int64_t start : groups.starts) y.push_back(real({group_data(data, start), &groups.steps}));
    return c.set(0, Tensor::from_f64(x.dtype(), dims, y));
  }
  const std::vector<int64_t> data = x.i64_values();
  std::vector<int64_t> y;
  for (int64_t start : groups.starts) y.push_back(integer({group_data(data, start), &groups.steps}, x.dtype()));
  c.set(0, Tensor::from_i64(x.dtype(), dims, y));
}

// The folded axes when they are known while lowering.
std::optional<AxisMask> known_axes(LowerContext& c) {
  if (!c.shape(0).has_rank()) return std::nullopt;
  std::vector<int64_t> axes;
  if (c.has(1)) {
    const auto given = list_of(c.constant(1));
    if (!given) return std::nullopt;
    axes = *given;
  }
  const int rank = c.shape(0).rank();
  AxisMask mask(static_cast<size_t>(rank), axes.empty() && c.attrs().integer("noop_with_empty_axes") == 0);
  for (int64_t a : axes) mask[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  return mask;
}

Scalar ReduceRow::lower(LowerContext& c) const {
  const DType type = c.input_type(0).dtype;
  if (!has_loop_form(type) || type == DType::u64 || !(type_set(type) & kFloats || lowers_integers)) return {};
  const auto folded = known_axes(c);
  if (!folded) return {};
  const FoldedBox box(c.shape(0), *folded, keeps_dims(c.attrs()));
  const Index result = c.index();
  Scalar y = emit(c, box, [&](const Index& r) { return c.load(0, box.at(result, r)); });
  return is_integer(type) ? c.cast(y, type) : y;
}

Dim dim_sum(const Dim& a, const Dim& b) { return a + b; }
Dim dim_prod(const Dim& a, const Dim& b) { return a * b; }
Dim dim_max(const Dim& a, const Dim& b) { return max(a, b); }
Dim dim_min(const Dim& a, const Dim& b) { return min(a, b); }

constexpr ReduceRow kReductions[] = {
    // name, onnx, doc, types, real, integer, emit, content, integers in loop IR
    {"reduce_sum", "ReduceSum", "sum of x", "fi l", real_sum, integer_sum, emit_plain<Reduce::sum>, dim_sum, true},
    {"reduce_mean", "ReduceMean", "sum of x / n", "fi l", real_mean, integer_mean, emit_mean},
    {"reduce_max", "ReduceMax", "largest x", "fib l", real_max, integer_max_of, emit_extreme<Reduce::max, Reduce::any>,
     dim_max, true},
    {"reduce_min", "ReduceMin", "smallest x", "fib l", real_min, integer_min_of, emit_extreme<Reduce::min, Reduce::all>,
     dim_min, true},
    {"reduce_prod", "ReduceProd", "product of x", "fi l", real_prod, integer_prod, emit_plain<Reduce::prod>, dim_prod,
     true},
    {"reduce_l1", "ReduceL1", "sum of |x|", "fi l", real_l1, integer_l1, emit_l1},
    {"reduce_l2", "ReduceL2", "sqrt of sum of x^2", "fi l", real_l2, through_reals<real_l2>, emit_l2},
    {"reduce_log_sum", "ReduceLogSum", "ln of sum of x", "fi l", real_log_sum, through_reals<real_log_sum>,
     emit_log_sum},
    {"reduce_log_sum_exp", "ReduceLogSumExp", "ln of sum of e^x", "fi l", real_log_sum_exp,
     through_reals<real_log_sum_exp>, emit_log_sum_exp},
    {"reduce_sum_square", "ReduceSumSquare", "sum of x^2", "fi l", real_sum_square, integer_sum_square,
     emit_sum_square},
};

[[maybe_unused]] const bool kRegistered = register_rows<kReductions>();

}  // namespace
}  // namespace trine
