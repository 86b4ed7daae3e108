// Common subexpressions: nodes of the same operator, attributes and inputs become one; so do constants of equal bytes.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

size_t mix(size_t seed, size_t value) { return seed ^ (value + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2)); }

constexpr size_t kHashedBytes = 4096;  // of a constant's start; equality compares all

size_t hash_constant(const Tensor& t) {
  size_t h = mix(static_cast<size_t>(t.dtype()), static_cast<size_t>(t.elements()));
  if (t.dtype() == DType::string) return h;
  const std::string_view bytes(static_cast<const char*>(t.data()), std::min(t.bytes(), kHashedBytes));
  return mix(h, std::hash<std::string_view>()(bytes));
}

bool same_constant(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == DType::string) return a.strings() == b.strings();
  return a.data() == b.data() || a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

void share_constants(Rewriter& r) {
  std::unordered_multimap<size_t, ValueId> seen;
  const auto count = static_cast<ValueId>(r.graph().values.size());
  for (ValueId v = 0; v < count; ++v) {
    if (!r.is_constant(v) || r.is_output(v)) continue;
    const size_t h = hash_constant(r.constant(v));
    const auto [from, to] = seen.equal_range(h);
    const auto equal =
        std::find_if(from, to, [&](const auto& e) { return same_constant(r.constant(e.second), r.constant(v)); });
    if (equal == to) seen.emplace(h, v);
    else if (!r.readers(v).empty()) r.replace(v, equal->second);
  }
}

// Inputs in a canonical order where the operator does not care.
std::vector<ValueId> key_inputs(const Node& node) {
  std::vector<ValueId> inputs = node.inputs;
  if (node.op->commutative && inputs.size() >= 2 && inputs[0] > inputs[1]) std::swap(inputs[0], inputs[1]);
  return inputs;
}

bool is_shareable(const Node& node) { return node.op && !node.op->impure && node.bodies.empty(); }

size_t hash_node(const Node& node) {
  size_t h = std::hash<const void*>()(node.op);
  for (ValueId v : key_inputs(node)) h = mix(h, static_cast<size_t>(v));
  for (const auto& [name, value] : node.attrs) h = mix(mix(h, std::hash<std::string>()(name)), value.index());
  return mix(h, node.outputs.size());
}

bool same_node(const Node& a, const Node& b) {
  if (a.op != b.op || key_inputs(a) != key_inputs(b) || !(a.attrs == b.attrs)) return false;
  if (a.outputs.size() != b.outputs.size()) return false;
  for (size_t i = 0; i < a.outputs.size(); ++i)  // the one that stays must make all that the other made
    if (a.outputs[i] == kNoValue && b.outputs[i] != kNoValue) return false;
  return true;
}

}  // namespace

bool share_equal(Graph& graph) {
  Rewriter r(graph);
  share_constants(r);
  std::unordered_multimap<size_t, int> seen;
  for (int n = 0; n < r.size(); ++n) {
    if (!is_shareable(r.node(n))) continue;
    const size_t h = hash_node(r.node(n));
    const auto [from, to] = seen.equal_range(h);
    const auto equal = std::find_if(from, to, [&](const auto& e) { return same_node(r.node(e.second), r.node(n)); });
    if (equal == to) {
      seen.emplace(h, n);
      continue;
    }
    const auto& kept = r.node(equal->second).outputs;
    for (size_t i = 0; i < kept.size(); ++i)
      if (r.node(n).outputs[i] != kNoValue) r.replace(r.node(n).outputs[i], kept[i]);
  }
  return r.finish();
}

}  // namespace trine
