// Constant: the attribute's value. ConstantOfShape: one value everywhere. EyeLike: ones on diagonal k.
#include "codegen/lower.h"
#include "ops/movement.h"
#include "ops/shape_rules.h"

namespace trine {
namespace {

Tensor constant_value(const Attrs& attrs) {
  for (const char* name : {"value", "sparse_value"})
    if (const Tensor* value = attrs.tensor(name)) return *value;
  if (attrs.has("value_float")) return Tensor::from_f64(DType::f32, {}, {attrs.real("value_float")});
  if (attrs.has("value_int")) return Tensor::scalar_i64(attrs.integer("value_int"));
  if (attrs.has("value_string")) return Tensor::of_strings({}, {attrs.string("value_string")});
  if (attrs.has("value_floats")) {
    const auto values = attrs.reals("value_floats");
    return Tensor::from_f64(DType::f32, {static_cast<int64_t>(values.size())}, values);
  }
  if (attrs.has("value_ints")) return Tensor::vector_i64(attrs.integers("value_ints"));
  const auto values = attrs.strings("value_strings");
  return Tensor::of_strings({static_cast<int64_t>(values.size())}, values);
}

bool has_constant_value(const Attrs& attrs) {
  for (const char* name : {"value", "sparse_value", "value_float", "value_int", "value_string", "value_floats",
                           "value_ints", "value_strings"})
    if (attrs.has(name)) return true;
  return false;
}

void infer_constant(InferContext& c) {
  if (!has_constant_value(c.attrs())) c.fail("no value; one of value, value_float(s), value_int(s), value_string(s)");
  const Tensor value = constant_value(c.attrs());
  c.set(0, value.dtype(), Shape::from(value.dims()));
  if (is_integer(value.dtype()) && value.rank() <= 1 && value.elements() <= kMaxContent) {
    const auto values = value.i64_values();
    c.set_content(0, std::vector<Dim>(values.begin(), values.end()));
  }
}

void constant_reference(EvalContext& c) {
  if (!has_constant_value(c.attrs())) c.fail("no value; one of value, value_float(s), value_int(s), value_string(s)");
  c.set(0, constant_value(c.attrs()));
}

const OpDef kConstant = {.name = "constant",
                         .onnx = "Constant",
                         .doc = "y = the attribute's value",
                         .min_inputs = 0,
                         .max_inputs = 0,
                         .infer = infer_constant,
                         .reference = constant_reference};
const RegisterOp kRegisterConstant(kConstant);

// The fill value: a one-element tensor, f32 zero when absent.
template <class C>
Tensor fill_value(const C& c) {
  const Tensor* value = c.attrs().tensor("value");
  if (!value) return Tensor::scalar_f32(0);
  if (value->elements() != 1) c.fail("value is " + value->type_text() + "; it must hold one element");
  return value->reshaped({});
}

void infer_constant_of_shape(InferContext& c) {
  const Tensor value = fill_value(c);
  c.need_rank(0, 1);
  if (const auto dims = c.content(0)) {
    for (const Dim& d : *dims)
      if (d.constant() && *d.constant() < 0) c.fail("shape holds " + d.text() + "; sizes must be >= 0");
    c.set(0, value.dtype(), Shape(*dims));
    const bool small =
        dims->empty() || (dims->size() == 1 && (*dims)[0].constant() && (*dims)[0].value() <= kMaxContent);
    if (small && is_integer(value.dtype()))
      c.set_content(
          0, std::vector<Dim>(dims->empty() ? 1 : static_cast<size_t>((*dims)[0].value()), Dim(value.i64_values()[0])));
    return;
  }
  const auto rank = known_length(c, 0);
  if (rank && *rank > kMaxRank) c.fail("shape of " + std::to_string(*rank) + " dimensions; at most 16");
  c.set(0, value.dtype(), rank ? c.fresh_shape(static_cast<int>(*rank)) : Shape());
}

void constant_of_shape_reference(EvalContext& c) {
  const Tensor value = fill_value(c);
  const Dims dims = c.tensor(0).i64_values();
  for (int64_t d : dims)
    if (d < 0) c.fail("shape holds " + std::to_string(d) + "; sizes must be >= 0");
  TensorBuilder y(value.dtype(), dims);
  y.fill(value);
  c.set(0, y.take());
}

const OpDef kConstantOfShape = {.name = "constant_of_shape",
                                .onnx = "ConstantOfShape",
                                .doc = "y[i...] = value, of the shape that the input holds",
                                .types = "x",
                                .infer = infer_constant_of_shape,
                                .reference = constant_of_shape_reference};
const RegisterOp kRegisterConstantOfShape(kConstantOfShape);

void infer_eye_like(InferContext& c) {
  c.need_rank(0, 2);
  c.set(0, c.attrs().dtype("dtype", c.dtype(0)), c.shape(0).has_rank() ? c.shape(0) : c.fresh_shape(2));
}

void eye_like_reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  if (x.rank() != 2) c.fail("x is " + x.type_text() + "; it must have rank 2");
  const DType dtype = c.attrs().dtype("dtype", x.dtype());
  TensorBuilder y(dtype, x.dims());
  y.zero();
  const Tensor one = Tensor::from_i64(dtype, {}, {1});
  const int64_t k = c.attrs().integer("k"), rows = x.dim(0), columns = x.dim(1);
  if (k > -rows && k < columns)
    for (int64_t i = std::max<int64_t>(0, -k); i < rows && i + k < columns; ++i) y.copy(i * columns + i + k, one, 0);
  c.set(0, y.take());
}

codegen::Scalar eye_like_lower(codegen::LowerContext& c) {
  using codegen::ScalarOp;
  const Dim& column = c.index()[1];
  const auto on = c.apply(ScalarOp::equal, c.index_value(c.index()[0] + c.attrs().integer("k")), c.index_value(column));
  return c.cast(on, c.output_type().dtype);
}

const OpDef kEyeLike = {.name = "eye_like",
                        .onnx = "EyeLike",
                        .doc = "y[i,j] = j == i + k",
                        .types = "a",
                        .infer = infer_eye_like,
                        .reference = eye_like_reference,
                        .lower = eye_like_lower};
const RegisterOp kRegisterEyeLike(kEyeLike);

}  // namespace
}  // namespace trine
