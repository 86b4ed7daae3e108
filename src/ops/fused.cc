// fused: a group of nodes that run as one generated kernel. Its body is a graph of elementwise operators, reductions
// and normalisations; made by the pass fuse_groups.
#include "graph/eval.h"
#include "graph/infer.h"

namespace trine {
namespace {

void fused_infer(InferContext& c) {
  std::vector<Type> inputs;
  for (int i = 0; i < c.input_count(); ++i) inputs.push_back(c.input(i));
  const std::vector<Type> outputs = c.infer_body(0, std::move(inputs));
  for (size_t i = 0; i < outputs.size(); ++i) c.set(static_cast<int>(i), outputs[i]);
}

void fused_reference(EvalContext& c) {
  std::vector<Datum> inputs;
  for (int i = 0; i < c.input_count(); ++i) inputs.push_back(c.datum(i));
  std::vector<Datum> outputs = c.run_body(0, std::move(inputs));
  for (size_t i = 0; i < outputs.size(); ++i) c.set(static_cast<int>(i), std::move(outputs[i]));
}

const OpDef op_fused = {
    .name = "fused",
    .doc = "the body's outputs, computed by one generated kernel",
    .types = "? ...",
    .min_inputs = 0,
    .max_inputs = -1,
    .max_outputs = -1,
    .infer = fused_infer,
    .reference = fused_reference,
};
const RegisterOp register_fused(op_fused);

}  // namespace
}  // namespace trine
