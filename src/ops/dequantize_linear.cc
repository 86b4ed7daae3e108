// y = (x - zero_point) * scale, of the scale's type or output_dtype.
#include "ops/elementwise.h"
#include "ops/quantization.h"

namespace trine {
namespace {

using codegen::LowerContext;
using codegen::Scalar;

DType result_type(const Attrs& attrs, DType scale) {
  return attrs.dtype("output_dtype", type_set(scale) == kTinyFloats ? DType::f32 : scale);
}

void infer(InferContext& c) {
  check_scales(c);
  c.set(0, result_type(c.attrs(), c.dtype(1)), c.shape(0));
}

void reference(EvalContext& c) {
  const Tensor &x = c.tensor(0), &scale = c.tensor(1);
  const ScaleMap map = scale_map(c, x.dims(), scale.dims());
  std::vector<double> y = x.f64_values(), zero(static_cast<size_t>(scale.elements()), 0);
  if (c.has(2)) zero = c.tensor(2).f64_values();
  if (static_cast<int64_t>(zero.size()) != scale.elements())
    c.fail("zero point is " + c.tensor(2).type_text() + ", scale " + scale.type_text() +
           "; they must have the same shape");
  const std::vector<double> scales = scale.f64_values();
  for (size_t i = 0; i < y.size(); ++i) {
    const auto k = static_cast<size_t>(map(static_cast<int64_t>(i)));
    y[i] = (y[i] - zero[k]) * scales[k];
  }
  c.set(0, Tensor::from_f64(result_type(c.attrs(), scale.dtype()), x.dims(), y));
}

Scalar lower(LowerContext& c) {
  const auto at = scale_index(c);
  if (!at || !has_loop_form(c.input_type(0).dtype) || type_set(c.input_type(1).dtype) != kFloats) return {};
  Scalar x = c.load(0);
  if (c.has(2)) x = c.sub(x, c.load(2, zero_index(c, *at)));
  const Scalar scale = c.load(1, *at);
  return c.cast(c.mul(c.cast(x, c.type(scale)), scale), c.output_type().dtype);
}

const OpDef kDequantizeLinear = {.name = "dequantize_linear",
                                 .onnx = "DequantizeLinear",
                                 .doc = "(x - zero_point) * scale",
                                 .types = "Tieq fe T",
                                 .min_inputs = 2,
                                 .max_inputs = 3,
                                 .infer = infer,
                                 .reference = reference,
                                 .lower = lower};
const RegisterOp kRegistered(kDequantizeLinear);

}  // namespace
}  // namespace trine
