// GELU, x (1 + erf(x / sqrt 2)) / 2 or its tanh approximation, and its fused forms. Source: Hendrycks & Gimpel 2016.
#include "ops/activation.h"
#include "ops/elementwise.h"

namespace trine {
namespace {

using codegen::LowerContext;
using codegen::Scalar;
using codegen::ScalarOp;
using Kind = Activation::Kind;

Activation form(const Attrs& attrs) {
  return {attrs.string("approximate", "none") == "tanh" ? Kind::gelu_tanh : Kind::gelu, 0, 0};
}

void infer_gelu(InferContext& c) {
  const std::string mode = c.attrs().string("approximate", "none");
  if (mode != "none" && mode != "tanh") c.fail("approximate is \"" + mode + "\"; accepted: none, tanh");
  c.set(0, c.dtype(0), c.shape(0));
}

// f(x + bias), the bias being optional and broadcast to x.
void infer_biased(InferContext& c) { c.set(0, c.dtype(0), c.has(1) ? broadcast(c.shape(0), c.shape(1)) : c.shape(0)); }

void activate(EvalContext& c, const Activation& f) {
  const Tensor& x = c.tensor(0);
  std::vector<double> y = x.f64_values();
  if (c.has(1)) {
    const std::vector<double> bias = c.tensor(1).f64_values();
    for (Walk w(x.dims(), {broadcast_strides(c.tensor(1).dims(), x.dims())}); !w.done(); w.next())
      y[static_cast<size_t>(w.position())] += bias[static_cast<size_t>(w.offset(0))];
  }
  for (double& v : y) v = apply(f, v);
  c.set(0, Tensor::from_f64(x.dtype(), x.dims(), y));
}

Scalar lower_biased(LowerContext& c, const Activation& f) {
  return lower(c, f, c.has(1) ? c.add(c.load(0), c.load(1)) : c.load(0));
}

void reference_gelu(EvalContext& c) { activate(c, form(c.attrs())); }
Scalar lower_gelu(LowerContext& c) { return lower(c, form(c.attrs()), c.load(0)); }

void reference_exact(EvalContext& c) { activate(c, {Kind::gelu, 0, 0}); }
Scalar lower_exact(LowerContext& c) { return lower_biased(c, {Kind::gelu, 0, 0}); }

void reference_fast(EvalContext& c) { activate(c, {Kind::gelu_tanh, 0, 0}); }
Scalar lower_fast(LowerContext& c) { return lower_biased(c, {Kind::gelu_tanh, 0, 0}); }

// Gated: swish of one half times the other.
constexpr Parameter kAlpha{"alpha", 1};

void infer_swiglu(InferContext& c) { infer_broadcast(c); }

void reference_swiglu(EvalContext& c) {
  const Activation swish{Kind::silu, coefficients(c.attrs(), kAlpha).a, 0};
  const Tensor &a = c.tensor(0), &b = c.tensor(1);
  if (a.dims() != b.dims())
    c.fail("inputs are " + a.type_text() + " and " + b.type_text() + "; their shapes must agree");
  std::vector<double> y = a.f64_values();
  const std::vector<double> value = b.f64_values();
  for (size_t i = 0; i < y.size(); ++i) y[i] = apply(swish, y[i]) * value[i];
  c.set(0, Tensor::from_f64(a.dtype(), a.dims(), y));
}

Scalar lower_swiglu(LowerContext& c) {
  return c.mul(lower(c, {Kind::silu, coefficients(c.attrs(), kAlpha).a, 0}, c.load(0)), c.load(1));
}

const OpDef kOps[] = {
    {.name = "gelu",
     .onnx = "Gelu",
     .doc = "x (1 + erf(x / sqrt 2)) / 2, or approximate = tanh",
     .types = "f",
     .infer = infer_gelu,
     .reference = reference_gelu,
     .lower = lower_gelu,
     .elementwise = true},
    {.name = "exact_gelu",
     .onnx = "com.microsoft:Gelu",
     .doc = "x (1 + erf(x / sqrt 2)) / 2",
     .types = "f",
     .infer = infer_biased,
     .reference = reference_exact,
     .lower = lower_exact,
     .elementwise = true},
    {.name = "bias_gelu",
     .onnx = "com.microsoft:BiasGelu",
     .doc = "gelu(x + bias)",
     .types = "Tf T",
     .min_inputs = 2,
     .max_inputs = 2,
     .infer = infer_biased,
     .reference = reference_exact,
     .lower = lower_exact,
     .elementwise = true},
    {.name = "fast_gelu",
     .onnx = "com.microsoft:FastGelu",
     .doc = "gelu(x + bias), the tanh form",
     .types = "Tf T",
     .max_inputs = 2,
     .infer = infer_biased,
     .reference = reference_fast,
     .lower = lower_fast,
     .elementwise = true},
    {.name = "swiglu",
     .onnx = "SwiGLU",
     .doc = "a sigmoid(alpha a) b",
     .types = "Tf T",
     .min_inputs = 2,
     .max_inputs = 2,
     .infer = infer_swiglu,
     .reference = reference_swiglu,
     .lower = lower_swiglu,
     .elementwise = true},
};
const RegisterOp kRegistered[] = {RegisterOp(kOps[0]), RegisterOp(kOps[1]), RegisterOp(kOps[2]), RegisterOp(kOps[3]),
                                  RegisterOp(kOps[4])};

}  // namespace
}  // namespace trine
