#include "passes/use_halves.h"

#include <algorithm>
#include <map>

#include "passes/halves_roles.h"
#include "passes/number_formats.h"

namespace trine {
namespace {

constexpr int64_t kLargeConstant = 1 << 16;  // elements: a group reads such a one as halves

Attrs cast_to(DType type) {
  Attrs attrs;
  attrs.set("to", std::string(name(type)));
  return attrs;
}

class Halver {
 public:
  Halver(Graph& graph, const HalvesOptions& options, std::vector<KeptNode>* kept)
      : r_(graph), half_(options.half), keep_(options.keep), kept_(kept), count_(r_.size()) {
    for (int n = 0; n < count_; ++n) roles_.push_back(role_of(n));
    look_back();
    for (int n = 0; n < count_; ++n) choose(n);
  }

  bool run() {
    for (int n = 0; n < count_; ++n) convert(n);
    for (int n = 0; n < count_; ++n) fuse_cast(n);
    return r_.finish();
  }

  std::vector<std::string> readers() const {
    std::vector<std::string> names;
    for (int n = 0; n < count_; ++n)
      if (reads_half(n)) names.push_back(r_.node(n).name);
    return names;
  }

 private:
  // What readers make of a value, moves looked through.
  struct Wish {
    bool wanted = false;      // somebody can read it as a half
    bool by_product = false;  // and would rather
    bool wide = false;        // somebody needs f32
  };

  bool is_f32(ValueId v) const { return v != kNoValue && r_.dtype(v) == DType::f32; }
  HalfRole role(int n) const { return roles_[static_cast<size_t>(n)]; }

  HalfRole role_of(int n) {
    const HalfRole role = half_role(r_, n);
    if (role == HalfRole::none) return role;
    const bool contraction = role == HalfRole::product || role == HalfRole::typed;
    if (contraction && !is_f32(r_.input(n, 0))) return HalfRole::none;
    if (keep_.contains(r_.node(n).name)) return HalfRole::none;
    if (!contraction) return role;
    for (size_t i = 0; i < r_.node(n).inputs.size(); ++i) {
      const ValueId v = r_.node(n).inputs[i];
      if (v == kNoValue || !r_.is_constant(v) || !may_read_half(r_, n, static_cast<int>(i))) continue;
      if (std::string reason = why_wide(r_.constant(v), half_); !reason.empty()) return told(n, std::move(reason));
    }
    return role;
  }

  HalfRole told(int n, std::string reason) {
    if (kept_) kept_->push_back({r_.node(n).name, std::move(reason)});
    return HalfRole::none;
  }

  // From the last node to the first: what values are wanted as.
  void look_back() {
    for (int n = count_ - 1; n >= 0; --n) {
      Wish of_outputs;
      for (ValueId y : r_.node(n).outputs)
        if (y != kNoValue) {
          of_outputs.wanted |= wish_[y].wanted;
          of_outputs.by_product |= wish_[y].by_product;
          of_outputs.wide |= wish_[y].wide;
        }
      for (size_t i = 0; i < r_.node(n).inputs.size(); ++i) {
        const ValueId v = r_.node(n).inputs[i];
        if (!is_f32(v)) continue;
        Wish& w = wish_[v];
        if (role(n) == HalfRole::none || !may_read_half(r_, n, static_cast<int>(i))) w.wide = true;
        else if (role(n) == HalfRole::loop) w.wanted = true;
        else if (role(n) != HalfRole::move) w.wanted = w.by_product = true;
        else w = {w.wanted || of_outputs.wanted, w.by_product || of_outputs.by_product, w.wide || of_outputs.wide};
      }
    }
  }

  bool is_half(ValueId v) const { return halves_.contains(v); }

  bool suits(ValueId v) {
    const Wish& w = wish_[v];
    return is_f32(v) && !r_.is_output(v) && w.wanted && !w.wide;
  }

  // A move goes with what it reads; what is f32 anyway is converted before it when a product reads the result.
  bool moves_halves(int n) {
    bool any = false, all_constant = true;
    for (size_t i = 0; i < r_.node(n).inputs.size(); ++i) {
      const ValueId v = r_.node(n).inputs[i];
      if (!is_f32(v) || !may_read_half(r_, n, static_cast<int>(i))) continue;
      any |= is_half(v);
      all_constant &= r_.is_constant(v);
      if (r_.is_constant(v) && !why_wide(r_.constant(v), half_).empty()) return false;
    }
    const auto& outputs = r_.node(n).outputs;
    return std::all_of(outputs.begin(), outputs.end(), [&](ValueId y) {
      return y == kNoValue || (suits(y) && (any || all_constant || wish_[y].by_product));
    });
  }

  // Which outputs of n become halves.
  void choose(int n) {
    if (role(n) == HalfRole::none || (role(n) == HalfRole::move && !moves_halves(n))) return;
    const auto& outputs = r_.node(n).outputs;
    for (size_t at = 0; at < outputs.size(); ++at) {
      if (outputs[at] == kNoValue || !suits(outputs[at])) continue;
      if (role(n) == HalfRole::loop)
        if (std::string reason = why_wide(r_, n, at, half_); !reason.empty()) {
          told(n, std::move(reason));
          continue;
        }
      halves_.insert(outputs[at]);
    }
  }

  bool reads_half(int n) const {
    if (role(n) == HalfRole::product || role(n) == HalfRole::typed) return true;
    const auto& inputs = r_.node(n).inputs;
    return role(n) == HalfRole::loop &&
           std::any_of(inputs.begin(), inputs.end(), [&](ValueId v) { return v != kNoValue && is_half(v); });
  }

  // One cast or constant for all readers.
  ValueId as(ValueId v, DType type) {
    if (v == kNoValue || r_.dtype(v) == type) return v;
    const auto [at, fresh] = made_.try_emplace({v, type}, kNoValue);
    if (fresh) at->second = as_type(r_, v, type);
    return at->second;
  }

  void convert(int n) {
    switch (role(n)) {
      case HalfRole::none: return;
      case HalfRole::product: return convert_product(n);
      case HalfRole::typed:
      case HalfRole::move: return convert_typed(n);
      case HalfRole::loop: return convert_loop(n);
    }
  }

  void convert_product(int n) {
    std::vector<ValueId> inputs = r_.node(n).inputs;
    const bool writes_half = is_half(r_.output(n));
    for (size_t i : {size_t{0}, size_t{1}}) inputs[i] = as(inputs[i], half_);
    if (inputs.size() > 2) inputs[2] = as(inputs[2], DType::f32);
    if (inputs.size() > 3) inputs[3] = as(inputs[3], writes_half ? half_ : DType::f32);
    Attrs attrs = r_.node(n).attrs;
    if (!writes_half) attrs.set("out", std::string(name(DType::f32)));
    r_.rewrite(n, r_.node(n).op->name, std::move(inputs), std::move(attrs));
  }

  // All data is of one type, of the output too.
  void convert_typed(int n) {
    const bool writes_half = is_half(r_.output(n)), typed = role(n) == HalfRole::typed;
    const DType type = writes_half || typed ? half_ : DType::f32;
    std::vector<ValueId> inputs = r_.node(n).inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (may_read_half(r_, n, static_cast<int>(i)) && (is_f32(inputs[i]) || is_half(inputs[i])))
        inputs[i] = as(inputs[i], type);
    if (inputs == r_.node(n).inputs && !writes_half) return;
    if (typed && !writes_half) return compute_elsewhere(r_, n, std::move(inputs), r_.node(n).attrs);
    r_.rewrite(n, r_.node(n).op->name, std::move(inputs), r_.node(n).attrs);
  }

  // The body reads what its inputs have become as f32, and rounds what it stores.
  void convert_loop(int n) {
    const std::vector<ValueId> outputs = r_.node(n).outputs;
    std::vector<ValueId> inputs = r_.node(n).inputs;
    bool changes = std::any_of(outputs.begin(), outputs.end(), [&](ValueId v) { return is_half(v); });
    for (ValueId& v : inputs) {
      if (is_f32(v) && r_.is_constant(v) && r_.constant(v).elements() >= kLargeConstant &&
          why_wide(r_.constant(v), half_).empty())
        v = as(v, half_);
      changes |= v != kNoValue && r_.dtype(v) == half_;
    }
    if (!changes) return;
    auto body = r_.is(n, "fused") ? std::make_shared<Graph>(*r_.node(n).bodies[0]) : body_of(n, inputs);
    cast_inputs(*body, inputs);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (is_half(outputs[i])) body->outputs[i] = body->add_node(op("cast"), {body->outputs[i]}, cast_to(half_));
    r_.fuse({n}, "fused", std::move(inputs), outputs, std::move(body));
  }

  // A node as a group of its own. Of `inputs` those stay that the group is given, each once.
  std::shared_ptr<Graph> body_of(int n, std::vector<ValueId>& inputs) const {
    constexpr int64_t kInlined = 16;  // elements of a constant that the body keeps for itself, as in fuse_groups
    auto body = std::make_shared<Graph>();
    Node copy = r_.node(n);
    std::map<ValueId, ValueId> map;
    std::vector<ValueId> given;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId v = copy.inputs[i];
      if (v == kNoValue) continue;
      const auto [at, fresh] = map.try_emplace(v, kNoValue);
      const Value& value = r_.graph().value(v);
      if (fresh && r_.is_constant(v) && value.constant.elements() <= kInlined) {
        at->second = body->add_constant(value.constant, value.name);
      } else if (fresh) {
        Type type = value.type;
        if (is_half(v)) type.dtype = DType::f32;  // as it was
        at->second = body->add_input(value.name, std::move(type));
        given.push_back(inputs[i]);
      }
      copy.inputs[i] = at->second;
    }
    inputs = std::move(given);
    const ValueId y = copy.outputs[0];
    copy.outputs = {body->add_value(r_.graph().value(y).name, r_.type(y))};
    body->outputs = copy.outputs;
    body->nodes.push_back(std::move(copy));
    return body;
  }

  // What is cast, perhaps reshaped, and then transposed goes through memory once.
  void fuse_cast(int n) {
    const ValueId half = r_.is(n, "transpose") ? r_.input(n, 0) : kNoValue;
    if (half == kNoValue || !r_.used_once(half) || r_.dtype(half) != half_) return;
    const int view = r_.made_by(half, "reshape");
    const ValueId narrowed = view < 0 ? half : r_.input(view, 0);
    const int cast = r_.made_by(narrowed, "cast");
    if (cast < 0 || !r_.used_once(narrowed)) return;
    ValueId x = r_.input(cast, 0);
    if (view >= 0) x = r_.add("reshape", {x, r_.input(view, 1)}, r_.node(view).attrs);
    const ValueId y = r_.output(n);
    auto body = std::make_shared<Graph>();
    const ValueId in = body->add_input(r_.graph().value(x).name, r_.type(x));
    const ValueId narrow = body->add_node(op("cast"), {in}, cast_to(half_));
    body->value(narrow).type = r_.type(half);
    const ValueId out = body->add_node(op("transpose"), {narrow}, r_.node(n).attrs);
    body->value(out).type = r_.type(y);
    body->outputs = {out};
    if (view < 0) return r_.fuse({cast, n}, "fused", {x}, {y}, std::move(body));
    r_.fuse({cast, view, n}, "fused", {x}, {y}, std::move(body));
  }

  // Inputs that are halves now are read through casts, which stand first.
  void cast_inputs(Graph& body, const std::vector<ValueId>& given) {
    std::vector<Node> nodes = std::move(body.nodes);
    body.nodes.clear();
    for (size_t i = 0; i < given.size(); ++i) {
      const ValueId in = body.inputs[i];
      const Type before = body.type(in), now = r_.type(given[i]);
      if (before.dtype != DType::f32 || now.dtype != half_) continue;
      body.value(in).type = now;
      const ValueId wide = body.add_node(op("cast"), {in}, cast_to(DType::f32));
      body.value(wide).type = before;
      for (Node& node : nodes) std::replace(node.inputs.begin(), node.inputs.end(), in, wide);
      std::replace(body.outputs.begin(), body.outputs.end(), in, wide);
    }
    body.nodes.insert(body.nodes.end(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
  }

  Rewriter r_;
  DType half_;
  const std::set<std::string>& keep_;
  std::vector<KeptNode>* kept_;
  int count_;
  std::vector<HalfRole> roles_;
  std::map<ValueId, Wish> wish_;
  std::set<ValueId> halves_;  // values that become halves
  std::map<std::pair<ValueId, DType>, ValueId> made_;
};

}  // namespace

bool use_halves(Graph& graph, const HalvesOptions& options, std::vector<KeptNode>* kept) {
  return Halver(graph, options, kept).run();
}

std::vector<std::string> readers_of_halves(const Graph& graph) {
  Graph copy = graph;
  return Halver(copy, {}, nullptr).readers();
}

}  // namespace trine
