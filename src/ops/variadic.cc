// Sum, mean, minimum and maximum of any number of tensors that broadcast. NaN wins over every number.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/node_error.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;

namespace {

struct VariadicRow {
  std::string_view name, onnx, doc;
  const char* types;
  RealBinary real;
  IntegerBinary integer;
  ScalarOp op;
  DimBinary dim;
  bool divides = false;  // by the number of inputs, at the end

  OpDef describe() const {
    return {.name = name,
            .onnx = onnx,
            .doc = doc,
            .types = types,
            .min_inputs = 1,
            .max_inputs = -1,
            .elementwise = true,
            .commutative = true};
  }
  void infer(InferContext& c) const;
  void reference(EvalContext& c) const;
  Scalar lower(LowerContext& c) const;
};

double real_min(double a, double b) { return a < b || std::isnan(a) ? a : b; }
double real_max(double a, double b) { return a > b || std::isnan(a) ? a : b; }

bool integer_less(int64_t a, int64_t b, DType type) {
  return type == DType::u64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}
int64_t integer_min(int64_t a, int64_t b, DType type) { return integer_less(b, a, type) ? b : a; }
int64_t integer_max(int64_t a, int64_t b, DType type) { return integer_less(a, b, type) ? b : a; }
int64_t integer_sum(int64_t a, int64_t b, DType) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

Dim dim_min(const Dim& a, const Dim& b) { return min(a, b); }
Dim dim_max(const Dim& a, const Dim& b) { return max(a, b); }
Dim dim_sum(const Dim& a, const Dim& b) { return a + b; }

double real_sum(double a, double b) { return a + b; }

void VariadicRow::infer(InferContext& c) const {
  infer_broadcast(c);
  if (!divides) fold_content(c, dim);
}

// Folds the next input into `values`, which has shape `dims` already.
template <class T, class F>
void accumulate(std::vector<T>& values, const std::vector<T>& next, const Strides& strides, const Dims& dims, F f) {
  for (Walk w(dims, {strides}); !w.done(); w.next()) {
    T& v = values[static_cast<size_t>(w.position())];
    v = f(v, next[static_cast<size_t>(w.offset(0))]);
  }
}

void VariadicRow::reference(EvalContext& c) const {
  const DType type = c.tensor(0).dtype();
  Dims dims;
  for (int i = 0; i < c.input_count(); ++i) dims = broadcast_dims(dims, c.tensor(i).dims());
  const auto count = value_count(dims);
  std::vector<double> reals(is_float(type) ? count : 0);
  std::vector<int64_t> integers(is_float(type) ? 0 : count);
  for (int i = 0; i < c.input_count(); ++i) {
    const Tensor& x = c.tensor(i);
    const Strides strides = broadcast_strides(x.dims(), dims);
    if (is_float(type))
      accumulate(reals, x.f64_values(), strides, dims, [&](double a, double b) { return i == 0 ? b : real(a, b); });
    else
      accumulate(integers, x.i64_values(), strides, dims,
                 [&](int64_t a, int64_t b) { return i == 0 ? b : integer(a, b, type); });
  }
  if (!is_float(type)) return c.set(0, Tensor::from_i64(type, dims, integers));
  if (divides)
    for (double& v : reals) v /= c.input_count();
  c.set(0, Tensor::from_f64(type, dims, reals));
}

Scalar VariadicRow::lower(LowerContext& c) const {
  if (!has_loop_form(c.input_type(0).dtype)) return {};
  Scalar value = c.load(0);
  const int count = static_cast<int>(c.node().inputs.size());
  for (int i = 1; i < count; ++i) value = c.apply(op, value, c.load(i));
  return wrapped(c, divides ? c.div(value, c.like(value, count)) : value);
}

constexpr VariadicRow kVariadic[] = {
    {"sum", "Sum", "x0 + x1 + ...", "Tfi ...", real_sum, integer_sum, ScalarOp::add, dim_sum},
    {"mean", "Mean", "(x0 + x1 + ...) / n", "Tf ...", real_sum, nullptr, ScalarOp::add, nullptr, true},
    {"min", "Min", "smallest of x0, x1, ...", "Tfi ...", real_min, integer_min, ScalarOp::min, dim_min},
    {"max", "Max", "largest of x0, x1, ...", "Tfi ...", real_max, integer_max, ScalarOp::max, dim_max},
};

}  // namespace

[[maybe_unused]] static const bool kRegistered = register_rows<kVariadic>();

}  // namespace trine
