// Matrix products of 8-bit integers: exact sums of (a - a_zero) * (b - b_zero), in i64.
#include <algorithm>
#include <cmath>

#include "graph/eval.h"
#include "ops/broadcast.h"
#include "ops/matmul.h"
#include "ops/node_error.h"
#include "ops/quantized.h"
#include "ops/types.h"

namespace trine {
namespace {

// A zero point or scale of an operand: one element; a vector along the rows (of a) or columns (of b); or a tensor that
// broadcasts to the operand. Returns strides to read it with the operand's index.
Strides parameter_strides(const Node& node, const Tensor& p, const Dims& operand, bool per_row) {
  const size_t rank = operand.size();
  Strides strides(rank, 0);
  if (p.elements() == 1) return strides;
  if (p.rank() != 1) return broadcast_strides(p.dims(), operand);
  const size_t along = per_row ? (rank >= 2 ? rank - 2 : rank) : rank - 1;
  require(node, along < rank && p.dim(0) == operand[along],
          fmt::format("quantisation parameter {} for an operand [{}]; want 1 element or one per {}", p.type_text(),
                      to_string(operand), per_row ? "row" : "column"));
  strides[along] = 1;
  return strides;
}

std::vector<int64_t> centred(EvalContext& c, const Tensor& x, int zero_point, bool per_row) {
  std::vector<int64_t> values = x.i64_values();
  if (!c.has(zero_point)) return values;
  const Tensor& zero = c.tensor(zero_point);
  const std::vector<int64_t> z = zero.i64_values();
  for (Walk w(x.dims(), {parameter_strides(c.node(), zero, x.dims(), per_row)}); !w.done(); w.next())
    values[static_cast<size_t>(w.position())] -= z[static_cast<size_t>(w.offset(0))];
  return values;
}

std::vector<double> real_values(EvalContext& c, const Tensor& x, int scale, int zero_point, bool per_row) {
  std::vector<double> values = x.f64_values();
  const Tensor& s = c.tensor(scale);
  const std::vector<double> sv = s.f64_values();
  std::vector<double> zv(1, 0.0);
  Strides zero_strides(x.dims().size(), 0);
  if (c.has(zero_point) && !is_float(x.dtype())) {
    zv = c.tensor(zero_point).f64_values();
    zero_strides = parameter_strides(c.node(), c.tensor(zero_point), x.dims(), per_row);
  }
  for (Walk w(x.dims(), {parameter_strides(c.node(), s, x.dims(), per_row), zero_strides}); !w.done(); w.next()) {
    double& v = values[static_cast<size_t>(w.position())];
    v = (v - zv[static_cast<size_t>(w.offset(1))]) * sv[static_cast<size_t>(w.offset(0))];
  }
  return values;
}

MatmulShape shape_of(EvalContext& c, int a, int b) {
  return MatmulShape::of(c.node(), Shape::from(c.tensor(a).dims()), Shape::from(c.tensor(b).dims()));
}

void infer_product(InferContext& c, int a, int b, DType dtype) {
  const bool known = c.shape(a).has_rank() && c.shape(b).has_rank();
  c.set(0, dtype, known ? MatmulShape::of(c.node(), c.shape(a), c.shape(b)).out() : Shape());
}

void matmul_integer_infer(InferContext& c) { infer_product(c, 0, 1, DType::i32); }

void matmul_integer_reference(EvalContext& c) {
  const MatmulShape s = shape_of(c, 0, 1);
  const auto a = centred(c, c.tensor(0), 2, true), b = centred(c, c.tensor(1), 3, false);
  c.set(0, Tensor::from_i64(DType::i32, s.out().static_dims(), matmul(s, a, b)));
}

const OpDef op_matmul_integer = {
    .name = "matmul_integer",
    .onnx = "MatMulInteger",
    .doc = "y = (a - a_zero_point) @ (b - b_zero_point) in i32, exact",
    .types = "Ti Ui T U",
    .min_inputs = 2,
    .max_inputs = 4,
    .infer = matmul_integer_infer,
    .reference = matmul_integer_reference,
};
const RegisterOp register_matmul_integer(op_matmul_integer);

// Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
void qlinear_matmul_infer(InferContext& c) { infer_product(c, 0, 3, c.dtype(7)); }

// A scale has one value for each row of a, column of b, or matrix of a stack: constant along the sum, which is exact.
// Where it is written out along it, or the elements are floats, the sum is one of real numbers.
bool is_constant_along_sum(const Tensor& scale, bool per_row) {
  if (scale.elements() == 1 || scale.rank() == 1) return true;
  return scale.dim(scale.rank() - (per_row ? 1 : 2)) == 1;
}

// Reads a scale of the operand with an index of the product.
Strides product_strides(const Node& node, const Tensor& scale, const Dims& operand, const Dims& out, bool per_row) {
  if (scale.elements() == 1) return Strides(out.size(), 0);
  const bool vector = operand.size() < 2;
  if (scale.rank() == 1) return vector ? Strides(out.size(), 0) : parameter_strides(node, scale, out, per_row);
  return broadcast_strides(scale.dims(), out);
}

std::vector<double> scaled_sums(EvalContext& c, const MatmulShape& s, const Dims& out) {
  const Tensor &a = c.tensor(0), &b = c.tensor(3), &as = c.tensor(1), &bs = c.tensor(4);
  const bool exact = is_integer(a.dtype()) && is_integer(b.dtype()) && a.rank() >= 2 && b.rank() >= 2 &&
                     is_constant_along_sum(as, true) && is_constant_along_sum(bs, false);
  const std::vector<double> av = as.f64_values(), bv = bs.f64_values(), yv = c.tensor(6).f64_values();
  const Strides y_strides = parameter_strides(c.node(), c.tensor(6), out, true);
  if (!exact) {
    std::vector<double> y = matmul(s, real_values(c, a, 1, 2, true), real_values(c, b, 4, 5, false));
    for (Walk w(out, {y_strides}); !w.done(); w.next())
      y[static_cast<size_t>(w.position())] /= yv[static_cast<size_t>(w.offset(0))];
    return y;
  }
  const std::vector<int64_t> sums = matmul(s, centred(c, a, 2, true), centred(c, b, 5, false));
  std::vector<double> y(sums.begin(), sums.end());
  for (Walk w(out, {product_strides(c.node(), as, a.dims(), out, true),
                    product_strides(c.node(), bs, b.dims(), out, false), y_strides});
       !w.done(); w.next()) {
    const double factor = f32(av[static_cast<size_t>(w.offset(0))] * bv[static_cast<size_t>(w.offset(1))]);
    double& v = y[static_cast<size_t>(w.position())];
    v = f32(f32(v) * f32(factor / yv[static_cast<size_t>(w.offset(2))]));
  }
  return y;
}

void qlinear_matmul_reference(EvalContext& c) {
  const MatmulShape s = shape_of(c, 0, 3);
  const Dims out = s.out().static_dims();
  std::vector<double> y = scaled_sums(c, s, out);
  const Tensor& zero = c.tensor(7);
  if (!is_float(zero.dtype())) {
    const std::vector<double> zv = zero.f64_values();
    for (Walk w(out, {parameter_strides(c.node(), zero, out, true)}); !w.done(); w.next()) {
      double& v = y[static_cast<size_t>(w.position())];
      v = std::nearbyint(v) + zv[static_cast<size_t>(w.offset(0))];
    }
  }
  c.set(0, Tensor::from_f64(zero.dtype(), out, y));
}

const OpDef op_qlinear_matmul = {
    .name = "qlinear_matmul",
    .onnx = "QLinearMatMul",
    .doc = "y = saturate(round(dequantize(a) @ dequantize(b) / y_scale) + y_zero_point)",
    .types = "Tie Sf T Uie S U S ie",
    .min_inputs = 8,
    .max_inputs = 8,
    .infer = qlinear_matmul_infer,
    .reference = qlinear_matmul_reference,
};
const RegisterOp register_qlinear_matmul(op_qlinear_matmul);

void add_bias(EvalContext& c, int input, std::vector<double>& y, const Dims& dims) {
  if (!c.has(input)) return;
  const std::vector<double> bias = c.tensor(input).f64_values();
  for (Walk w(dims, {broadcast_strides(c.tensor(input).dims(), dims)}); !w.done(); w.next())
    y[static_cast<size_t>(w.position())] += bias[static_cast<size_t>(w.offset(0))];
}

// com.microsoft:MatMulIntegerToFloat: a, b, a_scale, b_scale, [a_zero_point], [b_zero_point], [bias]
void integer_to_float_infer(InferContext& c) { infer_product(c, 0, 1, c.dtype(2)); }

void integer_to_float_reference(EvalContext& c) {
  const MatmulShape s = shape_of(c, 0, 1);
  std::vector<double> y = matmul(s, real_values(c, c.tensor(0), 2, 4, true), real_values(c, c.tensor(1), 3, 5, false));
  add_bias(c, 6, y, s.out().static_dims());
  c.set(0, Tensor::from_f64(c.tensor(2).dtype(), s.out().static_dims(), y));
}

const OpDef op_matmul_integer_to_float = {
    .name = "matmul_integer_to_float",
    .onnx = "com.microsoft:MatMulIntegerToFloat",
    .doc = "y = dequantize(a) @ dequantize(b) + bias",
    .types = "Ti Ui Vf V T U V",
    .min_inputs = 4,
    .max_inputs = 7,
    .infer = integer_to_float_infer,
    .reference = integer_to_float_reference,
};
const RegisterOp register_matmul_integer_to_float(op_matmul_integer_to_float);

// com.microsoft:DynamicQuantizeMatMul: a (real), b, b_scale, [b_zero_point], [bias]. `a` goes through u8 with the
// range of DynamicQuantizeLinear.
void dynamic_quantize_matmul_infer(InferContext& c) { infer_product(c, 0, 1, c.dtype(0)); }

void dynamic_quantize_matmul_reference(EvalContext& c) {
  const MatmulShape s = shape_of(c, 0, 1);
  const std::vector<double> a = through_u8(c.tensor(0).f64_values());
  std::vector<double> y = matmul(s, a, real_values(c, c.tensor(1), 2, 3, false));
  add_bias(c, 4, y, s.out().static_dims());
  c.set(0, Tensor::from_f64(c.tensor(0).dtype(), s.out().static_dims(), y));
}

const OpDef op_dynamic_quantize_matmul = {
    .name = "dynamic_quantize_matmul",
    .onnx = "com.microsoft:DynamicQuantizeMatMul",
    .doc = "y = dequantize(quantize_u8(a)) @ dequantize(b) + bias",
    .types = "Tf Ui T U T",
    .min_inputs = 3,
    .max_inputs = 5,
    .infer = dynamic_quantize_matmul_infer,
    .reference = dynamic_quantize_matmul_reference,
};
const RegisterOp register_dynamic_quantize_matmul(op_dynamic_quantize_matmul);

}  // namespace
}  // namespace trine
