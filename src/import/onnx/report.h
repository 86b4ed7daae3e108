// Report: everything that is wrong with a model's nodes, told in one Error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "import/onnx/proto.h"
#include "trine/base/error.h"

namespace trine::onnx {

class Report {
 public:
  // `opset`: of the node's domain; `inputs`: resolved ones, with `graph` giving their types.
  void add(const ProtoNode& node, int64_t opset, const Graph& graph, const std::vector<ValueId>& inputs,
           const Error& why);
  size_t count() const { return count_; }
  // Throws the Error when there is one; `model` begins its message.
  void finish(std::string_view model) const;

 private:
  size_t count_ = 0;
  bool all_unsupported_ = true;
  std::vector<std::string> lines_;
};

}  // namespace trine::onnx
