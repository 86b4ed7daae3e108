// y = x, of any type: tensor, sequence or optional.
#include "ops/elementwise.h"

namespace trine {

static void infer(InferContext& c) {
  c.set(0, c.input(0));
  pass_content(c);
}

static void reference(EvalContext& c) { c.set(0, c.datum(0)); }

static codegen::Scalar lower(codegen::LowerContext& c) {
  return has_loop_form(c.input_type(0).dtype) ? c.load(0) : codegen::Scalar{};
}

static const OpDef kIdentity = {.name = "identity",
                                .onnx = "Identity",
                                .doc = "x",
                                .types = "?",
                                .infer = infer,
                                .reference = reference,
                                .lower = lower,
                                .elementwise = true,
                                .view = true};
static const RegisterOp kRegistered(kIdentity);

}  // namespace trine
