#include "import/onnx/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trine::onnx {

constexpr size_t kMaxLines = 100;

void Report::add(const ProtoNode& node, int64_t opset, const Graph& graph, const std::vector<ValueId>& inputs,
                 const Error& why) {
  ++count_;
  all_unsupported_ = all_unsupported_ && why.code() == ErrorCode::unsupported;
  if (lines_.size() >= kMaxLines) return;
  std::vector<std::string> types;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    types.push_back(i < inputs.size() && inputs[i] != kNoValue
                        ? fmt::format("{}: {}", node.inputs[i], graph.type(inputs[i]).text())
                        : fmt::format("{}", node.inputs[i].empty() ? "none" : node.inputs[i]));
  const std::string_view name = !node.name.empty() ? node.name : node.outputs.empty() ? "" : node.outputs[0];
  lines_.push_back(fmt::format("  node '{}' ({}, domain '{}', opset {}; inputs {}): {}", name, node.op_type,
                               node.domain.empty() ? "ai.onnx" : node.domain, opset, fmt::join(types, ", "),
                               why.what()));
}

void Report::finish(std::string_view model) const {
  if (count_ == 0) return;
  std::string text = fmt::format("{}: {} node{} cannot be imported:\n{}", model, count_, count_ == 1 ? "" : "s",
                                 fmt::join(lines_, "\n"));
  if (count_ > lines_.size()) text += fmt::format("\n  ... and {} more", count_ - lines_.size());
  throw Error(all_unsupported_ ? ErrorCode::unsupported : ErrorCode::invalid_model, text);
}

}  // namespace trine::onnx
