#include "ops/elementwise.h"

#include <fmt/format.h>

#include "ops/node_error.h"
#include "trine/base/error.h"

namespace trine {

using codegen::LowerContext;
using codegen::Scalar;

static double coefficient(const Attrs& attrs, const Parameter& p) {
  if (p.name.empty()) return 0;
  const AttrValue* value = attrs.find(p.name);
  if (value && std::holds_alternative<int64_t>(*value)) return static_cast<double>(std::get<int64_t>(*value));
  return attrs.real(p.name, p.otherwise);
}

Coefficients coefficients(const Attrs& attrs, const Parameter& a, const Parameter& b) {
  return {coefficient(attrs, a), coefficient(attrs, b)};
}

bool has_loop_form(DType type) { return (type_set(type) & (kFloats | kIntegers | kBooleans)) != 0; }

Scalar wrapped(LowerContext& c, Scalar value) {
  const DType type = c.output_type().dtype;
  return value.id >= 0 && is_integer(type) && byte_size(type) < 4 ? c.cast(value, type) : value;
}

// Strings, complex numbers and missing scalar functions stop here; shape inference has named them better already.
static void need_numbers(const Tensor& x, bool computable) {
  if (!computable || (type_set(x.dtype()) & (kStrings | kComplex)))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("input is {}; this operator does not take that type", x.type_text()));
}

Tensor map_unary(const Tensor& x, DType result, RealUnary real, IntegerUnary integer, Coefficients k) {
  const bool floating = is_float(x.dtype());
  need_numbers(x, floating ? real != nullptr : integer != nullptr);
  if (floating) {
    std::vector<double> values = x.f64_values();
    for (double& v : values) v = real(v, k);
    return Tensor::from_f64(result, x.dims(), values);
  }
  std::vector<int64_t> values = x.i64_values();
  for (int64_t& v : values) v = integer(v, x.dtype(), k);
  return Tensor::from_i64(result, x.dims(), values);
}

Tensor map_binary(const Tensor& a, const Tensor& b, DType result, RealBinary real, IntegerBinary integer) {
  const Dims dims = broadcast_dims(a.dims(), b.dims());
  Walk w(dims, {broadcast_strides(a.dims(), dims), broadcast_strides(b.dims(), dims)});
  const auto count = value_count(dims);
  const bool floating = is_float(a.dtype()) || is_float(b.dtype());
  need_numbers(a, floating ? real != nullptr : integer != nullptr);
  need_numbers(b, true);
  if (floating) {
    const std::vector<double> av = a.f64_values(), bv = b.f64_values();
    std::vector<double> y(count);
    for (; !w.done(); w.next()) y[w.position()] = real(av[w.offset(0)], bv[w.offset(1)]);
    return Tensor::from_f64(result, dims, y);
  }
  const std::vector<int64_t> av = a.i64_values(), bv = b.i64_values();
  std::vector<int64_t> y(count);
  for (; !w.done(); w.next()) y[w.position()] = integer(av[w.offset(0)], bv[w.offset(1)], a.dtype());
  return Tensor::from_i64(result, dims, y);
}

OpDef UnaryRow::describe() const {
  return {.name = name, .onnx = onnx, .doc = doc, .types = types, .elementwise = true};
}

void UnaryRow::infer(InferContext& c) const {
  c.set(0, result == DType::none ? c.dtype(0) : result, c.shape(0));
  if (dim) fold_content(c, dim);
}

void UnaryRow::reference(EvalContext& c) const {
  const Tensor& x = c.tensor(0);
  c.set(0, map_unary(x, result == DType::none ? x.dtype() : result, real, integer, coefficients(c.attrs(), a, b)));
}

Scalar UnaryRow::lower(LowerContext& c) const {
  if (!has_loop_form(c.input_type(0).dtype)) return {};
  return wrapped(c, emit(c, c.load(0), coefficients(c.attrs(), a, b)));
}

OpDef BinaryRow::describe() const {
  return {.name = name,
          .onnx = onnx,
          .doc = doc,
          .types = types,
          .min_inputs = 2,
          .max_inputs = 2,
          .elementwise = true,
          .commutative = commutative};
}

void BinaryRow::infer(InferContext& c) const {
  if (result == DType::boolean) infer_broadcast_bool(c);
  else infer_broadcast(c);
  if (dim) fold_content(c, dim);
}

void BinaryRow::reference(EvalContext& c) const {
  const Tensor &x = c.tensor(0), &y = c.tensor(1);
  c.set(0, map_binary(x, y, result == DType::none ? x.dtype() : result, real, integer));
}

Scalar BinaryRow::lower(LowerContext& c) const {
  if (!has_loop_form(c.input_type(0).dtype)) return {};
  return wrapped(c, emit(c, c.load(0), c.load(1)));
}

}  // namespace trine
