// Fusion groups: nodes that one generated kernel can compute together become one `fused` node.
//
// A group grows from its last node towards the inputs. A node joins when all its readers are members: so no path leaves
// the group and comes back, and nothing is computed twice. A node that others read too may still join when it has the
// group's shape; it is then one more output. What keeps a node out:
//
//   - no loop form, unknown rank, or a type without scalars
//   - it is repeated along an inner axis and dear (exp, erf...): every repetition would compute it again
//   - two folds (reduction, softmax, norm) over different axes: they would need each other's whole result
//   - the size of the group
#include <algorithm>
#include <map>

#include "passes/match.h"
#include "passes/passes.h"

namespace trine {
namespace {

constexpr size_t kMaxNodes = 24, kMaxInputs = 16, kMaxOutputs = 4;
constexpr int64_t kInlined = 16;  // elements of a constant that the body keeps for itself

enum class Kind : uint8_t { none, pointwise, fold };

// A fold's input and the axes that it runs over.
struct Fold {
  Shape over;
  std::vector<int64_t> axes;
  bool trailing = false;  // the axes are the innermost ones longer than 1
  friend bool operator==(const Fold& a, const Fold& b) { return a.over == b.over && a.axes == b.axes; }
};

bool has_scalars(const Type& t) {
  if (!t.is_tensor() || !t.shape.has_rank()) return false;
  switch (t.dtype) {
    case DType::f32:
    case DType::f64:
    case DType::f16:
    case DType::bf16:
    case DType::boolean:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64: return true;
    default: return false;
  }
}

bool is_reduction(const Node& node) { return node.op->name.starts_with("reduce_"); }

bool is_norm(const Node& node) {
  return node.is("softmax") || node.is("log_softmax") || node.is("layer_normalization") || node.is("rms_normalization");
}

// One element in, one out, with parameters along an axis: not `elementwise`, which promises that axes do not matter.
bool is_pointwise_by_axis(const Node& node) {
  return node.is("quantize_linear") || node.is("dequantize_linear") || node.is("cast_like");
}

Kind kind_of(const Rewriter& r, int n) {
  if (n < 0 || !r.node(n).op) return Kind::none;
  const Node& node = r.node(n);
  if (!node.op->lower || node.op->view || !node.bodies.empty() || node.op->impure || node.outputs.empty())
    return Kind::none;
  if (node.outputs[0] == kNoValue ||
      std::count(node.outputs.begin() + 1, node.outputs.end(), kNoValue) + 1 != static_cast<long>(node.outputs.size()))
    return Kind::none;
  for (ValueId v : node.inputs)
    if (v != kNoValue && !has_scalars(r.type(v))) return Kind::none;
  if (!has_scalars(r.type(r.output(n)))) return Kind::none;
  if (node.op->elementwise || is_pointwise_by_axis(node) || node.is("expand") || node.is("expand_to"))
    return Kind::pointwise;
  return is_reduction(node) || is_norm(node) ? Kind::fold : Kind::none;
}

std::optional<Fold> fold_of(const Rewriter& r, int n) {
  const Node& node = r.node(n);
  Fold f{r.shape(r.input(n, 0)), {}, true};
  const int rank = f.over.rank();
  if (is_reduction(node)) {
    if (r.input(n, 1) != kNoValue) {
      const auto axes = r.integers(n, 1);
      if (!axes) return std::nullopt;
      f.axes = *axes;
    }
    if (f.axes.empty()) {
      if (node.attrs.integer("noop_with_empty_axes") != 0) return std::nullopt;
      for (int i = 0; i < rank; ++i) f.axes.push_back(i);
    }
  } else {
    const int64_t axis = node.attrs.integer("axis", -1);
    f.axes = {axis};
    if (!node.is("softmax") && !node.is("log_softmax"))
      for (int64_t i = (axis < 0 ? axis + rank : axis) + 1; i < rank; ++i) f.axes.push_back(i);
  }
  for (int64_t& a : f.axes) a = a < 0 ? a + rank : a;
  std::sort(f.axes.begin(), f.axes.end());
  for (int64_t i = f.axes.empty() ? rank : f.axes[0]; i < rank; ++i)
    if (std::find(f.axes.begin(), f.axes.end(), i) == f.axes.end() && f.over[static_cast<int>(i)] != Dim(1))
      f.trailing = false;
  return f;
}

bool is_dear(const Node& node) {
  for (std::string_view name :
       {"exp", "log", "erf",  "tanh", "sigmoid", "gelu", "swish", "mish", "pow",  "softplus", "sin",
        "cos", "tan", "sinh", "cosh", "elu",     "celu", "selu",  "asin", "acos", "atan",     "mod"})
    if (node.is(name)) return true;
  return false;
}

// `small` repeats to `large` along inner axes only: its elements change with the outer loops alone.
bool repeats_inside(const Shape& small, const Shape& large) {
  bool repeated = false;
  for (int i = 0; i < large.rank(); ++i) {
    const int own = i - (large.rank() - small.rank());
    const bool stands = own < 0 || (small[own] == Dim(1) && large[i] != Dim(1));
    if (!stands && repeated && large[i] != Dim(1)) return false;
    repeated = repeated || stands;
  }
  return true;
}

class Group {
 public:
  Group(const Rewriter& r, int root) : r_(r), shape_(r.shape(r.output(root))) { take(root); }

  const std::vector<int>& nodes() const { return nodes_; }
  bool has(int n) const { return std::find(nodes_.begin(), nodes_.end(), n) != nodes_.end(); }
  size_t output_count() const { return outputs_; }

  void grow(const std::vector<char>& taken) {
    for (size_t i = 0; i < nodes_.size(); ++i)  // members that join are looked at in turn
      for (ValueId v : std::vector<ValueId>(r_.node(nodes_[i]).inputs))
        if (const int p = r_.maker(v); p >= 0 && !taken[static_cast<size_t>(p)] && !has(p) && may_join(p)) {
          take(p);
          i = static_cast<size_t>(-1);  // others may have become free to join
          break;
        }
  }

 private:
  void take(int n) {
    nodes_.push_back(n);
    if (kind_of(r_, n) == Kind::fold && !fold_) fold_ = fold_of(r_, n);
    if (nodes_.size() == 1 || !all_readers_inside(n)) ++outputs_;
  }

  bool all_readers_inside(int n) const {
    const ValueId v = r_.output(n);
    if (r_.is_output(v)) return false;
    const auto& readers = r_.readers(v);
    return std::all_of(readers.begin(), readers.end(), [&](int m) { return has(m); });
  }

  bool may_join(int p) const {
    const Kind kind = kind_of(r_, p);
    if (kind == Kind::none || nodes_.size() >= kMaxNodes || input_count(p) > kMaxInputs) return false;
    if (kind == Kind::fold) {
      const auto f = fold_of(r_, p);
      if (!f || (fold_ && !(*fold_ == *f && f->trailing))) return false;
    }
    for (int c : r_.readers(r_.output(p)))
      if (has(c) && !suits(p, kind, c)) return false;
    if (all_readers_inside(p)) return true;
    return kind == Kind::pointwise && outputs_ < kMaxOutputs && r_.shape(r_.output(p)) == shape_ && !comes_back(p);
  }

  // May p's elements be computed where member c reads them?
  bool suits(int p, Kind kind, int c) const {
    const Shape &own = r_.shape(r_.output(p)), &wanted = r_.shape(r_.output(c));
    if (kind_of(r_, c) == Kind::fold) {
      const auto f = fold_of(r_, c);
      if (!f || own != f->over || r_.input(c, 0) != r_.output(p)) return false;  // parameters stay inputs
      return is_reduction(r_.node(c)) ? kind == Kind::pointwise || f->trailing : f->trailing;
    }
    if (own == wanted) return true;
    if (kind == Kind::fold) {
      const auto f = fold_of(r_, p);
      return f && f->trailing && own.rank() == wanted.rank() && repeats_inside(own, wanted);
    }
    return !is_dear(r_.node(p)) || repeats_inside(own, wanted);
  }

  size_t input_count(int with) const {
    std::vector<ValueId> seen;
    const auto count = [&](int n) {
      for (ValueId v : r_.node(n).inputs)
        if (v != kNoValue && !has(r_.maker(v)) && r_.maker(v) != with &&
            std::find(seen.begin(), seen.end(), v) == seen.end())
          seen.push_back(v);
    };
    for (int n : nodes_) count(n);
    count(with);
    return seen.size();
  }

  // Is there a path from p over nodes outside the group back into it?
  bool comes_back(int p) const {
    std::vector<int> stack, seen;
    const auto push_readers = [&](int n) {
      for (ValueId v : r_.node(n).outputs)
        if (v != kNoValue)
          for (int m : r_.readers(v)) stack.push_back(m);
    };
    for (int m : r_.readers(r_.output(p)))
      if (!has(m)) stack.push_back(m);
    while (!stack.empty()) {
      const int n = stack.back();
      stack.pop_back();
      if (has(n)) return true;
      if (std::find(seen.begin(), seen.end(), n) != seen.end()) continue;
      if (seen.size() > 256) return true;  // too far to tell
      seen.push_back(n);
      push_readers(n);
    }
    return false;
  }

  const Rewriter& r_;
  Shape shape_;
  std::vector<int> nodes_;
  std::optional<Fold> fold_;
  size_t outputs_ = 0;
};

// The group as a graph of its own. `inputs` and `outputs` receive the values that stand for the body's.
std::shared_ptr<Graph> body_of(const Rewriter& r, std::vector<int> nodes, std::vector<ValueId>& inputs,
                               std::vector<ValueId>& outputs) {
  auto body = std::make_shared<Graph>();
  std::map<ValueId, ValueId> map;
  std::vector<int> order;  // producers first
  const auto is_member = [&](int n) { return std::find(nodes.begin(), nodes.end(), n) != nodes.end(); };
  while (order.size() < nodes.size())
    for (int n : nodes) {
      const auto placed = [&](int m) { return std::find(order.begin(), order.end(), m) != order.end(); };
      const auto& in = r.node(n).inputs;
      if (!placed(n) &&
          std::all_of(in.begin(), in.end(), [&](ValueId v) { return !is_member(r.maker(v)) || placed(r.maker(v)); }))
        order.push_back(n);
    }
  const auto mapped = [&](ValueId v) {
    if (v == kNoValue) return v;
    const auto at = map.find(v);
    if (at != map.end()) return at->second;
    const Value& value = r.graph().value(v);
    const bool inlined = r.is_constant(v) && (value.constant.elements() <= kInlined || !is_float(value.type.dtype));
    const ValueId own =
        inlined ? body->add_constant(value.constant, value.name) : body->add_input(value.name, value.type);
    if (!inlined) inputs.push_back(v);
    return map[v] = own;
  };
  for (int n : order) {
    Node copy = r.node(n);
    for (ValueId& v : copy.inputs) v = mapped(v);
    const ValueId y = copy.outputs[0];
    copy.outputs = {body->add_value(r.graph().value(y).name, r.type(y))};
    map[y] = copy.outputs[0];
    body->nodes.push_back(std::move(copy));
    const auto& readers = r.readers(y);
    if (r.is_output(y) || std::any_of(readers.begin(), readers.end(), [&](int m) { return !is_member(m); })) {
      body->outputs.push_back(map[y]);
      outputs.push_back(y);
    }
  }
  return body;
}

}  // namespace

bool fuse_groups(Graph& graph) {
  Rewriter r(graph);
  std::vector<char> taken(static_cast<size_t>(r.size()), 0);
  for (int n = r.size() - 1; n >= 0; --n) {
    if (taken[static_cast<size_t>(n)] || kind_of(r, n) == Kind::none) continue;
    if (kind_of(r, n) == Kind::fold && !fold_of(r, n)) continue;
    Group group(r, n);
    group.grow(taken);
    for (int m : group.nodes()) taken[static_cast<size_t>(m)] = 1;
    if (group.nodes().size() < 2) continue;
    std::vector<ValueId> inputs, outputs;
    auto body = body_of(r, group.nodes(), inputs, outputs);
    r.fuse(group.nodes(), "fused", std::move(inputs), std::move(outputs), std::move(body));
    taken.resize(static_cast<size_t>(r.size()), 1);  // the fused node, which groups above it may read, joins none
  }
  return r.finish();
}

}  // namespace trine
