// Constant folding: a node whose inputs are all constants is computed once, here, by its reference; so is a small
// integer tensor whose elements shape inference knows. Constants that a body takes from outside move into it.
//
// Folding is bounded: a model of a few bytes must not make the builder allocate or compute without limit.
#include <algorithm>

#include "graph/eval.h"
#include "passes/match.h"
#include "passes/passes.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr double kSmallBytes = 1 << 20;   // results up to this size are welcome
constexpr double kGrowth = 4;             // larger ones while they stay near their inputs (a dequantised weight is 4x)
constexpr double kTotalBytes = 16 << 20;  // all results together, beyond kGrowth times the graph's constants
constexpr double kWork = 1e8;             // input elements times output elements of an operator dearer than its sizes

// Operators whose reference does more than touch each element a few times.
bool is_dear(const OpDef& op) {
  for (std::string_view part :
       {"conv", "matmul", "gemm", "attention", "sdpa", "lstm",   "gru",         "rnn",    "einsum",
        "det",  "dft",    "stft", "resize",    "roi",  "grid",   "suppression", "tree",   "svm",
        "pool", "top_k",  "lrn",  "col2im",    "mel",  "string", "regex",       "tf_idf", "unique"})
    if (op.name.find(part) != std::string_view::npos) return true;
  return false;
}

struct Size {
  double elements = 0, bytes = 0;
};

// Nothing when an output's size is not known before it is computed.
std::optional<Size> output_size(const Rewriter& r, int n) {
  Size size;
  for (ValueId v : r.node(n).outputs) {
    if (v == kNoValue) continue;
    const Type& t = r.type(v);
    if (!t.is_tensor() || !t.shape.is_static()) return std::nullopt;
    const auto count = static_cast<double>(element_count(t.shape.static_dims()));
    size.elements += count;
    size.bytes += count * static_cast<double>(std::max<size_t>(byte_size(t.dtype), 1));
  }
  return size;
}

Size input_size(const Rewriter& r, int n) {
  Size size;
  for (ValueId v : r.node(n).inputs) {
    if (v == kNoValue) continue;
    size.elements += static_cast<double>(r.constant(v).elements());
    size.bytes += static_cast<double>(r.constant(v).bytes());
  }
  return size;
}

double constant_bytes(const Graph& graph) {
  double bytes = 0;
  for (const Value& v : graph.values) bytes += static_cast<double>(v.constant.bytes());
  return bytes;
}

// Takes the results' bytes from `budget`.
bool may_fold(const Rewriter& r, int n, double& budget) {
  const Node& node = r.node(n);
  if (!node.op || !node.op->reference || node.op->impure || !node.bodies.empty()) return false;
  for (ValueId v : node.inputs)
    if (v != kNoValue && !r.is_constant(v)) return false;
  const auto out = output_size(r, n);
  if (!out) return false;
  const Size in = input_size(r, n);
  if (is_dear(*node.op) && in.elements * out->elements > kWork) return false;
  if (out->bytes > std::max(kSmallBytes, kGrowth * in.bytes) || out->bytes > budget) return false;
  budget -= out->bytes;
  return true;
}

void fold(Rewriter& r, int n) {
  std::vector<Datum> inputs, outputs;
  for (ValueId v : r.node(n).inputs) inputs.push_back(v == kNoValue ? Datum() : Datum(r.constant(v)));
  try {
    outputs = evaluate_node(r.node(n), std::move(inputs));
  } catch (const Error&) {
    return;  // it fails when the model runs, if it ever runs there
  }
  const std::vector<ValueId> values = r.node(n).outputs;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != kNoValue && outputs[i].is_tensor()) r.make_constant(values[i], outputs[i].tensor());
}

// Elements that shape inference worked out.
void fold_content(Rewriter& r, int n) {
  const std::vector<ValueId> values = r.node(n).outputs;
  for (ValueId v : values) {
    if (v == kNoValue) continue;
    const Value& value = r.graph().value(v);
    if (!value.content || !value.type.is_tensor() || !value.type.shape.is_static()) continue;
    std::vector<int64_t> elements;
    for (const Dim& d : *value.content)
      if (d.is_constant()) elements.push_back(d.value());
    const Dims dims = value.type.shape.static_dims();
    if (elements.size() != value.content->size() || element_count(dims) != static_cast<int64_t>(elements.size()))
      continue;
    r.make_constant(v, Tensor::from_i64(value.type.dtype, dims, elements));
  }
}

// A captured constant becomes one of the body's own.
void move_captures(Rewriter& r, int n) {
  const Node& node = r.node(n);
  std::vector<ValueId> inputs = node.inputs;
  const size_t formal = inputs.size() - static_cast<size_t>(node.captures);
  auto bodies = node.bodies;
  for (size_t i = inputs.size(); i-- > formal;) {
    if (inputs[i] == kNoValue || !r.is_constant(inputs[i])) continue;
    const size_t from_end = inputs.size() - i;
    for (auto& body : bodies) {
      const auto at = body->inputs.end() - static_cast<std::ptrdiff_t>(from_end);
      body->value(*at).constant = r.constant(inputs[i]);
      body->value(*at).type = r.type(inputs[i]);
      body->inputs.erase(at);
    }
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (inputs.size() != node.inputs.size()) r.set_captured(n, std::move(inputs), formal);
}

}  // namespace

bool fold_constants(Graph& graph) {
  double budget = kTotalBytes + kGrowth * constant_bytes(graph);
  Rewriter r(graph);
  for (int n = 0; n < r.size(); ++n) {
    if (!r.node(n).op) continue;
    if (r.node(n).captures > 0) move_captures(r, n);
    if (may_fold(r, n, budget)) fold(r, n);
    else if (!r.node(n).op->impure) fold_content(r, n);
  }
  return r.finish();
}

}  // namespace trine
