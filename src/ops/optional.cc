// Optional values. At run time an empty optional is an absent Datum; a filled one is its element.
#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/type_rules.h"

namespace trine {
namespace {

void infer_optional(InferContext& c) {
  if (c.has(0)) return c.set(0, c.input(0).kind == Type::Kind::optional ? c.input(0) : Type::optional(c.input(0)));
  const AttrValue* type = c.attrs().find("type");
  if (!type || !std::holds_alternative<Type>(*type)) c.fail("neither an input nor attribute `type`; one must be given");
  c.set(0, Type::optional(std::get<Type>(*type)));
}

void optional_reference(EvalContext& c) { c.set(0, c.datum(0)); }

const OpDef kOptional = {.name = "optional",
                         .onnx = "Optional",
                         .doc = "an optional that holds x, or nothing",
                         .types = "?",
                         .min_inputs = 0,
                         .max_inputs = 1,
                         .infer = infer_optional,
                         .reference = optional_reference};
const RegisterOp kRegisterOptional(kOptional);

void infer_get(InferContext& c) {
  c.set(0, c.input(0).kind == Type::Kind::optional ? element_type(c.input(0)) : c.input(0));
}

void get_reference(EvalContext& c) {
  if (!c.has(0)) c.fail("the optional is empty; ask optional_has_element first");
  c.set(0, c.datum(0));
}

const OpDef kOptionalGetElement = {.name = "optional_get_element",
                                   .onnx = "OptionalGetElement",
                                   .doc = "y = the element of an optional that is not empty",
                                   .types = "?",
                                   .infer = infer_get,
                                   .reference = get_reference};
const RegisterOp kRegisterOptionalGetElement(kOptionalGetElement);

void infer_has(InferContext& c) { c.set(0, DType::boolean, Shape(std::vector<Dim>{})); }

void has_reference(EvalContext& c) { c.set(0, Tensor::from_i64(DType::boolean, {}, {c.has(0) ? 1 : 0})); }

const OpDef kOptionalHasElement = {.name = "optional_has_element",
                                   .onnx = "OptionalHasElement",
                                   .doc = "y = whether the optional holds an element",
                                   .types = "?",
                                   .min_inputs = 0,
                                   .max_inputs = 1,
                                   .infer = infer_has,
                                   .reference = has_reference};
const RegisterOp kRegisterOptionalHasElement(kOptionalHasElement);

}  // namespace
}  // namespace trine
