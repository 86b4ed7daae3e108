// com.microsoft's elementwise operators on quantised tensors: dequantise, compute, quantise.
#include <algorithm>
#include <cmath>

#include "graph/infer.h"
#include "ops/activation.h"
#include "ops/broadcast.h"
#include "ops/node_error.h"
#include "ops/quantized.h"

namespace trine {
namespace {

// QLinearAdd, QLinearMul inputs: a, a_scale, [a_zero], b, b_scale, [b_zero], y_scale, [y_zero]
void binary_infer(InferContext& c) {
  const bool known = c.shape(0).has_rank() && c.shape(3).has_rank();
  c.set(0, c.dtype(0), known ? broadcast(c.shape(0), c.shape(3)) : Shape());
}

// y[...] = saturate(round_half_even(f(a, b))) for the stored values of a and b, broadcast.
template <class F>
void binary(EvalContext& c, F f) {
  const Tensor &a = c.tensor(0), &b = c.tensor(3);
  const std::vector<double> av = a.f64_values(), bv = b.f64_values();
  const Dims out = broadcast_dims(a.dims(), b.dims());
  std::vector<double> y(value_count(out));
  for (Walk w(out, {broadcast_strides(a.dims(), out), broadcast_strides(b.dims(), out)}); !w.done(); w.next())
    y[static_cast<size_t>(w.position())] =
        f(av[static_cast<size_t>(w.offset(0))], bv[static_cast<size_t>(w.offset(1))]);
  c.set(0, quantize(y, out, a.dtype(), 0));
}

double zero(EvalContext& c, int input) { return static_cast<double>(scalar_zero_point(c, input)); }

// The zero point of y is added before rounding here, and the scales become one factor for each operand, as onnxruntime
// has it: (a - az) as/ys + (b - bz) bs/ys + yz with fused multiply-adds, all constants taken together.
void qlinear_add_reference(EvalContext& c) {
  const double ys = scalar_scale(c, 6);
  const auto as = static_cast<float>(f32(scalar_scale(c, 1) / ys)),
             bs = static_cast<float>(f32(scalar_scale(c, 4) / ys));
  const auto az = static_cast<float>(zero(c, 2)), bz = static_cast<float>(zero(c, 5)),
             yz = static_cast<float>(zero(c, 7));
  const float constant = yz - (as * az + bs * bz);
  binary(c, [=](double a, double b) {
    return std::fma(static_cast<float>(a), as, std::fma(static_cast<float>(b), bs, constant));
  });
}

// (a - az) (b - bz) is exact, as bs / ys one factor.
void qlinear_mul_reference(EvalContext& c) {
  const double factor = f32(f32(scalar_scale(c, 1) * scalar_scale(c, 4)) / scalar_scale(c, 6));
  const double az = zero(c, 2), bz = zero(c, 5), yz = zero(c, 7);
  binary(c, [=](double a, double b) { return f32(f32((a - az) * (b - bz) * factor) + yz); });
}

const OpDef op_qlinear_add = {
    .name = "qlinear_add",
    .onnx = "com.microsoft:QLinearAdd",
    .doc = "quantize(dequantize(a) + dequantize(b))",
    .types = "Ti f T T f T f T",
    .min_inputs = 7,
    .max_inputs = 8,
    .infer = binary_infer,
    .reference = qlinear_add_reference,
};
const RegisterOp register_qlinear_add(op_qlinear_add);

const OpDef op_qlinear_mul = {
    .name = "qlinear_mul",
    .onnx = "com.microsoft:QLinearMul",
    .doc = "quantize(dequantize(a) * dequantize(b))",
    .types = "Ti f T T f T f T",
    .min_inputs = 7,
    .max_inputs = 8,
    .infer = binary_infer,
    .reference = qlinear_mul_reference,
};
const RegisterOp register_qlinear_mul(op_qlinear_mul);

// QLinearSigmoid, QLinearLeakyRelu inputs: x, x_scale, [x_zero], y_scale, [y_zero]
void unary(EvalContext& c, const Activation& f) {
  const Tensor& x = c.tensor(0);
  std::vector<double> y = dequantize(x, scalar_scale(c, 1), scalar_zero_point(c, 2));
  const double scale = scalar_scale(c, 3);
  for (double& v : y) v = over(apply(f, v), scale);
  c.set(0, quantize(y, x.dims(), x.dtype(), scalar_zero_point(c, 4)));
}

void qlinear_sigmoid_reference(EvalContext& c) { unary(c, {Activation::Kind::sigmoid, 0, 0}); }

void qlinear_leaky_relu_reference(EvalContext& c) {
  unary(c, {Activation::Kind::leaky_relu, f32(c.attrs().real("alpha", 0.01)), 0});
}

const OpDef op_qlinear_sigmoid = {
    .name = "qlinear_sigmoid",
    .onnx = "com.microsoft:QLinearSigmoid",
    .doc = "quantize(sigmoid(dequantize(x)))",
    .types = "Ti f T f T",
    .min_inputs = 4,
    .max_inputs = 5,
    .infer = infer_same_as_first,
    .reference = qlinear_sigmoid_reference,
};
const RegisterOp register_qlinear_sigmoid(op_qlinear_sigmoid);

const OpDef op_qlinear_leaky_relu = {
    .name = "qlinear_leaky_relu",
    .onnx = "com.microsoft:QLinearLeakyRelu",
    .doc = "quantize(leaky_relu(dequantize(x)))",
    .types = "Ti f T f T",
    .min_inputs = 4,
    .max_inputs = 5,
    .infer = infer_same_as_first,
    .reference = qlinear_leaky_relu_reference,
};
const RegisterOp register_qlinear_leaky_relu(op_qlinear_leaky_relu);

// QLinearConcat inputs: y_scale, y_zero, then x, x_scale, x_zero of every part
int part_count(const Node& node) {
  const size_t rest = node.inputs.size() - 2;
  require(node, node.inputs.size() >= 5 && rest % 3 == 0,
          fmt::format("{} inputs; want 2 and 3 for every part", node.inputs.size()));
  return static_cast<int>(rest / 3);
}

void qlinear_concat_infer(InferContext& c) {
  Shape out = c.shape(2);
  for (int p = 1; p < part_count(c.node()); ++p) {
    const Shape& x = c.shape(2 + 3 * p);
    if (!out.has_rank() || !x.has_rank()) return c.set(0, c.dtype(2), Shape());
    if (x.rank() != out.rank()) c.fail(fmt::format("parts [{}] and [{}] differ in rank", out.text(), x.text()));
    const int axis = c.axis(c.attrs().integer("axis"), out.rank());
    for (int d = 0; d < out.rank(); ++d)
      if (d == axis) out[d] = out[d] + x[d];
      else if (!out[d].is_constant()) out[d] = x[d];
      else if (x[d].is_constant() && out[d] != x[d])
        c.fail(fmt::format("parts [{}] and [{}] do not fit", out.text(), x.text()));
  }
  c.set(0, c.dtype(2), out);
}

void qlinear_concat_reference(EvalContext& c) {
  const Tensor& first = c.tensor(2);
  const int parts = part_count(c.node());
  const size_t axis = static_cast<size_t>(c.axis(c.attrs().integer("axis"), first.rank()));
  const double scale = scalar_scale(c, 0);
  Dims out = first.dims();
  out[axis] = 0;
  int64_t outer = 1;
  for (size_t d = 0; d < axis; ++d) outer *= out[d];
  std::vector<std::vector<double>> values;
  for (int p = 0; p < parts; ++p) {
    const Tensor& x = c.tensor(2 + 3 * p);
    Dims rest = x.dims();
    require(c.node(), rest.size() == out.size(), fmt::format("part {} is {}", p, x.type_text()));
    const int64_t along = rest[axis];
    rest[axis] = out[axis];
    require(c.node(), rest == out, fmt::format("part {} is {}, part 0 {}", p, x.type_text(), first.type_text()));
    out[axis] += along;
    values.push_back(dequantize(x, scalar_scale(c, 3 + 3 * p), scalar_zero_point(c, 4 + 3 * p)));
  }
  std::vector<double> y;
  for (int64_t o = 0; o < outer; ++o)
    for (const std::vector<double>& v : values) {
      const auto row = static_cast<std::ptrdiff_t>(v.size()) / static_cast<std::ptrdiff_t>(outer);
      std::transform(v.begin() + o * row, v.begin() + (o + 1) * row, std::back_inserter(y),
                     [scale](double x) { return over(x, scale); });
    }
  c.set(0, quantize(y, out, first.dtype(), scalar_zero_point(c, 1)));
}

const OpDef op_qlinear_concat = {
    .name = "qlinear_concat",
    .onnx = "com.microsoft:QLinearConcat",
    .doc = "quantize(concat(dequantize(x)...))",
    .types = "f i fi ...",
    .min_inputs = 5,
    .max_inputs = -1,
    .infer = qlinear_concat_infer,
    .reference = qlinear_concat_reference,
};
const RegisterOp register_qlinear_concat(op_qlinear_concat);

}  // namespace
}  // namespace trine
