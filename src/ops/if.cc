// If: the outputs of the first body when the condition holds, else of the second. Both bodies take the node's captures.
#include "graph/eval.h"
#include "ops/type_rules.h"
#include "trine/base/error.h"

namespace trine {
namespace {

std::vector<Type> capture_types(const InferContext& c) {
  std::vector<Type> types;
  for (int i = 1; i < c.input_count(); ++i) types.push_back(c.input(i));
  return types;
}

// Nothing when the branch cannot be right for these inputs: exporters guard with a condition what some sizes would
// break (squeeze only if the dimension is 1). Taken all the same, it fails then, with its own message.
std::optional<std::vector<Type>> branch_types(InferContext& c, int branch, std::string& wrong) {
  try {
    return c.infer_body(branch, capture_types(c));
  } catch (const Error& error) {
    wrong = error.what();
    return std::nullopt;
  }
}

void infer_if(InferContext& c) {
  if (c.node().bodies.size() != 2) c.fail("needs a then_branch and an else_branch");
  const Tensor condition = c.constant(0);
  if (condition.defined() && condition.elements() == 1) {
    const int taken = condition.i64_values()[0] ? 0 : 1;
    const auto types = c.infer_body(taken, capture_types(c));
    try {
      c.infer_body(1 - taken, capture_types(c));
    } catch (const Error&) {  // never runs: exporters guard there what is wrong for this very input
    }
    for (size_t i = 0; i < types.size(); ++i) c.set(static_cast<int>(i), types[i]);
    return;
  }
  std::string wrong;
  const auto yes = branch_types(c, 0, wrong), no = branch_types(c, 1, wrong);
  if (!yes && !no) c.fail(wrong);
  if (!yes || !no) {
    const auto& right = yes ? *yes : *no;
    for (size_t i = 0; i < right.size(); ++i) c.set(static_cast<int>(i), right[i]);
    return;
  }
  if (yes->size() != no->size())
    c.fail("then_branch has " + std::to_string(yes->size()) + " outputs, else_branch " + std::to_string(no->size()));
  for (size_t i = 0; i < yes->size(); ++i)
    c.set(static_cast<int>(i), join_types(c, (*yes)[i], (*no)[i], "output " + std::to_string(i)));
}

void if_reference(EvalContext& c) {
  const Tensor& condition = c.tensor(0);
  if (condition.elements() != 1) c.fail("the condition is " + condition.type_text() + "; it must hold one element");
  std::vector<Datum> captures;
  for (int i = 1; i < c.input_count(); ++i) captures.push_back(c.datum(i));
  const auto outputs = c.run_body(condition.i64_values()[0] ? 0 : 1, std::move(captures));
  for (size_t i = 0; i < outputs.size(); ++i) c.set(static_cast<int>(i), outputs[i]);
}

const OpDef kIf = {.name = "if",
                   .onnx = "If",
                   .doc = "y = condition ? then_branch() : else_branch()",
                   .types = "b",
                   .min_inputs = 1,
                   .max_inputs = 1,
                   .max_outputs = -1,
                   .infer = infer_if,
                   .reference = if_reference};
const RegisterOp kRegisterIf(kIf);

}  // namespace
}  // namespace trine
