// Older versions of operators, rewritten into the meaning of the newest one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "import/onnx/writer.h"

namespace trine::onnx {

// A node on its way into the graph. A rewrite may put nodes before it and turn it into another operator, whose outputs
// then are the node's.
struct ImportNode {
  std::string op;  // as find_onnx_op wants it: "Softmax", "com.microsoft:Gelu"
  Attrs attrs;
  std::vector<ValueId> inputs;
  std::vector<bool> wanted;  // by output
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<ValueId> captures;

  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : kNoValue; }
  void set_input(size_t i, ValueId id);
  bool wants(size_t output) const { return output < wanted.size() && wanted[output]; }
};

// `version`: of the node's domain, as the model states it. Throws Error where the old meaning cannot be expressed.
void modernise(ImportNode& node, int64_t version, GraphWriter& writer);

}  // namespace trine::onnx
