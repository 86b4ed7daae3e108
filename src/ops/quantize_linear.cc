// q = saturate(round(x / scale) + zero_point), half to even. The quotient is rounded to the type of the scale (or to
// `precision`) first, as ONNX asks; NaN gives the zero point. To a float format: x / scale + zero_point, converted.
#include <cmath>

#include "ops/cast.h"
#include "ops/elementwise.h"
#include "ops/quantization.h"

namespace trine {
namespace {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;

constexpr unsigned kQuantized = kIntegers | kTinyIntegers | kTinyFloats;

DType result_type(const Attrs& attrs, DType zero_point) {
  return zero_point != DType::none ? zero_point : attrs.dtype("output_dtype", DType::u8);
}

DType division_type(const Attrs& attrs, DType scale) {
  const DType fallback = type_set(scale) == kFloats ? scale : DType::f32;
  return attrs.dtype("precision", fallback);
}

void infer(InferContext& c) {
  const DType declared = c.attrs().dtype("output_dtype", DType::none), zero_point = c.dtype(2);
  if (declared != DType::none && zero_point != DType::none && declared != zero_point)
    c.fail("output_dtype is " + std::string(name(declared)) + ", the zero point " + std::string(name(zero_point)) +
           "; they must be the same");
  const DType type = result_type(c.attrs(), zero_point);
  if (!(type_set(type) & kQuantized))
    c.fail("output_dtype is " + std::string(name(type)) + "; a quantised type is needed");
  check_scales(c);
  c.set(0, type, c.shape(0));
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
  const DType type = result_type(c.attrs(), c.has(2) ? c.tensor(2).dtype() : DType::none);
  const DType precision = division_type(c.attrs(), scale.dtype());
  const bool to_float = is_float(type);
  for (size_t i = 0; i < y.size(); ++i) {
    const auto k = static_cast<size_t>(map(static_cast<int64_t>(i)));
    const double quotient = round_to(precision, y[i] / scales[k]);
    if (to_float) y[i] = zero[k] == 0 ? quotient : quotient + zero[k];
    else y[i] = std::isnan(quotient) ? zero[k] : std::nearbyint(quotient) + zero[k];
  }
  if (!to_float) return c.set(0, Tensor::from_f64(type, x.dims(), y));
  const Overflow overflow = c.attrs().integer("saturate", 1) ? Overflow::saturate : Overflow::ieee;
  c.set(0, cast(Tensor::from_f64(DType::f64, x.dims(), y), type, {.overflow = overflow}));
}

// Clamped before the zero point is added, so that i32 holds every step.
Scalar lower(LowerContext& c) {
  const DType type = c.output_type().dtype;
  const DType precision = division_type(c.attrs(), c.input_type(1).dtype);
  const auto at = scale_index(c);
  if (!at || type_set(type) != kIntegers || byte_size(type) > 2 || precision == DType::f64) return {};
  if (type_set(c.input_type(1).dtype) != kFloats) return {};
  Scalar quotient = c.div(c.cast(c.load(0), DType::f32), c.cast(c.load(1, *at), DType::f32));
  if (precision != DType::f32) quotient = c.cast(quotient, precision);
  const Scalar zero = c.has(2) ? c.load(2, zero_index(c, *at)) : c.constant(DType::i32, 0);
  const auto bound = [&](double limit) { return c.cast(c.sub(c.like(zero, limit), zero), DType::f32); };
  const double low = static_cast<double>(integer_min(type)), high = static_cast<double>(integer_max(type));
  const Scalar rounded = c.min(c.max(c.apply(ScalarOp::round, quotient), bound(low)), bound(high));
  return c.cast(c.add(c.cast(rounded, c.type(zero)), zero), type);
}

const OpDef kQuantizeLinear = {.name = "quantize_linear",
                               .onnx = "QuantizeLinear",
                               .doc = "saturate(round(x / scale) + zero_point)",
                               .types = "fi hie ieq",
                               .min_inputs = 2,
                               .max_inputs = 3,
                               .infer = infer,
                               .reference = reference,
                               .lower = lower};
const RegisterOp kRegistered(kQuantizeLinear);

}  // namespace
}  // namespace trine
