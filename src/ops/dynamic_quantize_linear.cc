// q, scale, zero point of x as u8, from its own range (which always includes 0): scale = (max - min) / 255,
// zero_point = round(-min / scale). All in f32, half to even; an all-zero x has scale 1.
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

constexpr float kLargest = 255;

void infer(InferContext& c) {
  if (c.dtype(0) != DType::none && c.dtype(0) != DType::f32) c.fail("x is " + c.input(0).text() + "; it must be f32");
  c.set(0, DType::u8, c.shape(0));
  c.set(1, DType::f32, scalar_shape());
  c.set(2, DType::u8, scalar_shape());
}

void reference(EvalContext& c) {
  const Tensor& x = c.tensor(0);
  if (x.dtype() != DType::f32) c.fail("x is " + x.type_text() + "; it must be f32");
  float low = 0, high = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    low = std::fmin(low, x.as<float>()[i]);
    high = std::fmax(high, x.as<float>()[i]);
  }
  const float scale = low == high ? 1.0f : (high - low) / kLargest;
  const float zero = std::nearbyint(std::fmin(std::fmax(-low / scale, 0.0f), kLargest));
  std::vector<double> q(static_cast<size_t>(x.elements()));
  for (size_t i = 0; i < q.size(); ++i) {
    const float quotient = x.as<float>()[i] / scale;
    q[i] = std::isnan(quotient) ? zero : std::nearbyint(quotient) + zero;
  }
  c.set(0, Tensor::from_f64(DType::u8, x.dims(), q));
  c.set(1, Tensor::scalar_f32(scale));
  c.set(2, Tensor::from_f64(DType::u8, {}, {zero}));
}

Scalar lower(LowerContext& c) {
  if (!c.shape(0).has_rank()) return {};
  const Index here = c.index();
  const FoldedBox box(c.shape(0), axes_from(c.shape(0).rank(), 0), false);
  const Scalar zero = c.constant(DType::f32, 0), largest = c.constant(DType::f32, kLargest);
  const auto number = [&](const Index& r) {
    const Scalar v = c.load(0, r);
    return c.select(c.apply(ScalarOp::is_nan, v), zero, v);
  };
  const Scalar low = c.min(zero, box.fold(c, Reduce::min, number)),
               high = c.max(zero, box.fold(c, Reduce::max, number));
  const Scalar range = c.div(c.sub(high, low), largest);
  const Scalar scale = c.select(c.apply(ScalarOp::equal, low, high), c.like(range, 1), range);
  if (c.output() == 1) return scale;
  const Scalar zero_point =
      c.apply(ScalarOp::round, c.min(c.max(c.div(c.apply(ScalarOp::neg, low), scale), zero), largest));
  if (c.output() == 2) return c.cast(zero_point, DType::u8);
  const Scalar quotient = c.div(c.load(0, here), scale);
  const Scalar moved = c.add(c.apply(ScalarOp::round, quotient), zero_point);
  const Scalar q = c.select(c.apply(ScalarOp::is_nan, quotient), zero_point, moved);
  return c.cast(c.min(c.max(q, zero), largest), DType::u8);
}

const OpDef kDynamicQuantizeLinear = {.name = "dynamic_quantize_linear",
                                      .onnx = "DynamicQuantizeLinear",
                                      .doc = "x as u8 with the scale and zero point of its range",
                                      .types = "f",
                                      .max_outputs = 3,
                                      .infer = infer,
                                      .reference = reference,
                                      .lower = lower};
const RegisterOp kRegistered(kDynamicQuantizeLinear);

}  // namespace
}  // namespace trine
