#include "import/onnx/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "trine/base/error.h"

namespace trine::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

void collect_reads(const ProtoNode& node, int depth, Names& into);

// Names that a graph reads and does not make: they come from outside.
void collect_free(Bytes bytes, int depth, Names& into) {
  if (depth > kMaxNesting)
    throw Error(ErrorCode::unsupported,
                fmt::format("graphs are nested deeper than {}; flatten the model", kMaxNesting));
  const ProtoGraph graph = read_graph(bytes);
  Names reads, made;
  for (const ProtoNode& node : graph.nodes) {
    collect_reads(node, depth, reads);
    made.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const ProtoValue& output : graph.outputs) reads.insert(output.name);
  for (const ProtoValue& input : graph.inputs) made.insert(input.name);
  // Initialisers are left in: a name that nothing outside makes does no harm.
  for (std::string_view name : reads)
    if (!made.contains(name)) into.insert(name);
}

void collect_reads(const ProtoNode& node, int depth, Names& into) {
  into.insert(node.inputs.begin(), node.inputs.end());
  for (Bytes attribute : node.attributes) {
    const ProtoAttributeHead head = read_attribute_head(attribute);
    if (head.type == kGraphAttribute) collect_free(head.graph, depth + 1, into);
  }
}

[[noreturn]] void fail_cycle(const std::vector<ProtoNode>& nodes, const std::vector<int>& missing) {
  std::string stuck;
  int count = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (missing[n] == 0) continue;
    if (++count <= 8) stuck += fmt::format("{}'{}' ({})", count > 1 ? ", " : "", nodes[n].name, nodes[n].op_type);
  }
  throw Error(ErrorCode::invalid_model, fmt::format("{} nodes form a cycle or depend on one: {}{}; a graph has none",
                                                    count, stuck, count > 8 ? ", ..." : ""));
}

}  // namespace

std::vector<size_t> execution_order(const std::vector<ProtoNode>& nodes) {
  std::unordered_map<std::string_view, size_t> made_by;
  for (size_t n = 0; n < nodes.size(); ++n)
    for (std::string_view name : nodes[n].outputs)
      if (!name.empty()) made_by.emplace(name, n);

  std::vector<std::vector<size_t>> readers(nodes.size());
  std::vector<int> missing(nodes.size(), 0);
  for (size_t n = 0; n < nodes.size(); ++n) {
    Names reads;
    collect_reads(nodes[n], 0, reads);
    for (std::string_view name : reads) {
      const auto maker = made_by.find(name);
      if (maker == made_by.end()) continue;
      readers[maker->second].push_back(n);
      ++missing[n];
    }
  }

  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t n = 0; n < nodes.size(); ++n)
    if (missing[n] == 0) ready.push(n);
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t n = ready.top();
    ready.pop();
    order.push_back(n);
    for (size_t reader : readers[n])
      if (--missing[reader] == 0) ready.push(reader);
  }
  if (order.size() != nodes.size()) fail_cycle(nodes, missing);
  return order;
}

}  // namespace trine::onnx
