#include "passes/match.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trine/base/error.h"

namespace trine {

Rewriter::Rewriter(Graph& graph) : graph_(graph) {
  for (Node& node : graph.nodes)
    if (node.op) nodes_.push_back(std::move(node));
  graph.nodes.clear();
  grow();
  for (ValueId v : graph.outputs) ++output_uses_[static_cast<size_t>(v)];
  for (int n = 0; n < size(); ++n) link(n);
}

void Rewriter::grow() {
  makers_.resize(graph_.values.size(), -1);
  readers_.resize(graph_.values.size());
  output_uses_.resize(graph_.values.size(), 0);
}

std::string Rewriter::unique_name(std::string_view after) {
  if (names_.empty())
    for (const Value& v : graph_.values) names_.insert(v.name);
  const std::string_view base = after.substr(0, after.find('@'));
  for (size_t i = 1; !base.empty(); ++i)
    if (std::string name = std::string(base) + "@" + std::to_string(i); names_.insert(name).second) return name;
  for (size_t i = graph_.values.size();; ++i)
    if (std::string name = "_" + std::to_string(i); names_.insert(name).second) return name;
}

void Rewriter::link(int n) {
  for (ValueId v : node(n).inputs)
    if (v != kNoValue) readers_[static_cast<size_t>(v)].push_back(n);
  for (ValueId v : node(n).outputs)
    if (v != kNoValue) makers_[static_cast<size_t>(v)] = n;
}

void Rewriter::unlink(int n) {
  for (ValueId v : node(n).inputs)
    if (v != kNoValue) std::erase(readers_[static_cast<size_t>(v)], n);
  for (ValueId v : node(n).outputs)
    if (v != kNoValue) makers_[static_cast<size_t>(v)] = -1;
}

// Erases the nodes that make these values, and what only they read, where nobody reads them any more.
void Rewriter::drop_unread(std::vector<ValueId> values) {
  const auto is_unread = [&](ValueId v) { return v == kNoValue || (readers(v).empty() && !is_output(v)); };
  while (!values.empty()) {
    const int n = maker(values.back());
    values.pop_back();
    if (n < 0 || !std::all_of(node(n).outputs.begin(), node(n).outputs.end(), is_unread)) continue;
    values.insert(values.end(), node(n).inputs.begin(), node(n).inputs.end());
    erase(n);
  }
}

ValueId Rewriter::input(int n, int i) const {
  const auto& inputs = node(n).inputs;
  return i < static_cast<int>(inputs.size()) ? inputs[static_cast<size_t>(i)] : kNoValue;
}

int Rewriter::rank(ValueId v) const {
  const Type& t = type(v);
  return t.is_tensor() && t.shape.has_rank() ? t.shape.rank() : -1;
}

int Rewriter::maker(ValueId v) const { return v == kNoValue ? -1 : makers_[static_cast<size_t>(v)]; }

int Rewriter::made_by(ValueId v, std::string_view op) const {
  const int n = maker(v);
  return is(n, op) && output(n) == v ? n : -1;
}

const std::vector<int>& Rewriter::readers(ValueId v) const { return readers_[static_cast<size_t>(v)]; }

namespace {

bool is_numeric(const Tensor& t) {
  return t.defined() && t.elements() > 0 && t.dtype() != DType::string && !is_complex(t.dtype());
}

// Of a tensor of any size, without converting the rest.
double first_element(const Tensor& t) { return Tensor(t.dtype(), {1}, t.data(), nullptr).f64_values()[0]; }

bool same_bits(double a, double b) { return a == b && std::signbit(a) == std::signbit(b); }

}  // namespace

bool expands_for_sure(const Rewriter& r, int n) {
  const Value& given = r.graph().value(r.input(n, 1));
  if (given.constant.defined()) return true;
  const int rank = r.rank(r.input(n, 0));
  if (!given.content || rank < 0) return false;
  const std::vector<Dim>& to = *given.content;
  for (size_t i = 0; i < to.size(); ++i) {
    const int axis = rank - static_cast<int>(to.size() - i);
    const Dim from = axis < 0 ? Dim(1) : r.shape(r.input(n, 0))[axis];
    if (!to[i].is_constant() && from != Dim(1) && from != to[i]) return false;
  }
  return true;
}

bool all_equal(const Tensor& t, double value) {
  if (!is_numeric(t) || !same_bits(first_element(t), value)) return false;
  const auto values = t.f64_values();
  return std::all_of(values.begin(), values.end(), [&](double x) { return same_bits(x, value); });
}

std::optional<double> Rewriter::number(ValueId v) const {
  if (v == kNoValue || !is_numeric(constant(v))) return std::nullopt;
  const double first = first_element(constant(v));
  return constant(v).elements() == 1 || all_equal(constant(v), first) ? std::optional(first) : std::nullopt;
}

std::optional<Rewriter::WithNumber> Rewriter::with_number(int n) const {
  if (n < 0 || node(n).inputs.size() != 2) return std::nullopt;
  for (int at : {1, 0})
    if (const auto value = number(input(n, at))) return WithNumber{input(n, 1 - at), *value, at};
  return std::nullopt;
}

ValueId Rewriter::other_input(int n, ValueId v) const { return input(n, 0) == v ? input(n, 1) : input(n, 0); }

std::optional<std::vector<int64_t>> Rewriter::integers(int n, int i) const {
  const ValueId v = input(n, i);
  return v == kNoValue || !is_constant(v) ? std::nullopt : list_of(constant(v));
}

ValueId Rewriter::add_constant(Tensor tensor, std::string name) {
  const ValueId v = graph_.add_constant(std::move(tensor), name.empty() ? unique_name() : std::move(name));
  grow();
  return v;
}

void Rewriter::take_sources(Node& into, const std::vector<int>& from) {
  const auto take = [&](const std::string& name) {
    if (std::find(into.sources.begin(), into.sources.end(), name) == into.sources.end()) into.sources.push_back(name);
  };
  for (int n : from) {
    if (n < 0) continue;
    const Node& other = node(n);
    if (other.sources.empty()) take(other.name);
    for (const std::string& name : other.sources) take(name);
  }
}

ValueId Rewriter::add(std::string_view op_name, std::vector<ValueId> inputs, Attrs attrs, std::vector<int> stands_for,
                      int output_count) {
  Node made;
  made.op = &op(op_name);
  made.inputs = std::move(inputs);
  made.attrs = std::move(attrs);
  // The same operator over other axes or layouts keeps the names, so that compare and profiles find it again.
  const Node* same =
      !stands_for.empty() && stands_for[0] >= 0 && node(stands_for[0]).op == made.op ? &node(stands_for[0]) : nullptr;
  for (size_t i = 0; i < static_cast<size_t>(output_count); ++i) {
    const ValueId old = same && i < same->outputs.size() ? same->outputs[i] : kNoValue;
    made.outputs.push_back(graph_.add_value(unique_name(old == kNoValue ? "" : graph_.value(old).name)));
  }
  take_sources(made, stands_for);
  made.name = same ? same->name : graph_.value(made.outputs[0]).name;
  nodes_.push_back(std::move(made));
  grow();
  link(size() - 1);
  infer(size() - 1);
  changed_ = true;
  return output(size() - 1);
}

void Rewriter::rewrite(int n, std::string_view op_name, std::vector<ValueId> inputs, Attrs attrs,
                       std::vector<int> stands_for) {
  Node& edited = nodes_[static_cast<size_t>(n)];
  stands_for.push_back(n);
  take_sources(edited, stands_for);
  unlink(n);
  std::vector<ValueId> before = std::move(edited.inputs);
  edited.op = &op(op_name);
  edited.inputs = std::move(inputs);
  edited.attrs = std::move(attrs);
  edited.bodies.clear();
  edited.captures = 0;
  if (edited.op->max_outputs >= 0)
    edited.outputs.resize(std::min(edited.outputs.size(), static_cast<size_t>(edited.op->max_outputs)), kNoValue);
  link(n);
  infer(n);
  changed_ = true;
  drop_unread(std::move(before));
}

void Rewriter::set_inputs(int n, std::vector<ValueId> inputs) {
  unlink(n);
  std::vector<ValueId> before = std::exchange(nodes_[static_cast<size_t>(n)].inputs, std::move(inputs));
  link(n);
  changed_ = true;
  drop_unread(std::move(before));
}

void Rewriter::set_attr(int n, std::string name, AttrValue value) {
  nodes_[static_cast<size_t>(n)].attrs.set(std::move(name), std::move(value));
  changed_ = true;
}

void Rewriter::erase_attr(int n, std::string_view name) {
  nodes_[static_cast<size_t>(n)].attrs.erase(name);
  changed_ = true;
}

void Rewriter::set_captured(int n, std::vector<ValueId> inputs, size_t formal) {
  nodes_[static_cast<size_t>(n)].captures = static_cast<int>(inputs.size() - formal);
  set_inputs(n, std::move(inputs));
}

bool Rewriter::replace(ValueId from, ValueId to) {
  if (from == to) return false;
  const auto f = static_cast<size_t>(from), t = static_cast<size_t>(to);
  if (output_uses_[f] > 0) {
    const bool is_input = std::find(graph_.inputs.begin(), graph_.inputs.end(), to) != graph_.inputs.end();
    if (output_uses_[t] > 0 || is_input || is_constant(to)) return false;
    std::swap(graph_.value(from).name, graph_.value(to).name);
    std::replace(graph_.outputs.begin(), graph_.outputs.end(), from, to);
    output_uses_[t] = output_uses_[f];
    output_uses_[f] = 0;
  }
  for (int n : readers_[f]) {
    auto& inputs = nodes_[static_cast<size_t>(n)].inputs;
    std::replace(inputs.begin(), inputs.end(), from, to);
    readers_[t].push_back(n);
  }
  readers_[f].clear();
  changed_ = true;
  drop_unread({from});
  return true;
}

void Rewriter::define(ValueId v, ValueId as) {
  if (!replace(v, as)) make(v, "identity", {as});
}

// v's maker makes it no longer; without any other output that is read it goes.
void Rewriter::release(ValueId v) {
  const int n = maker(v);
  if (n < 0) return;
  auto& outputs = nodes_[static_cast<size_t>(n)].outputs;
  std::replace(outputs.begin(), outputs.end(), v, kNoValue);
  makers_[static_cast<size_t>(v)] = -1;
  for (ValueId other : outputs)
    if (other != kNoValue) return drop_unread({other});
  const std::vector<ValueId> inputs = node(n).inputs;
  erase(n);
  drop_unread(inputs);
}

void Rewriter::make(ValueId v, std::string_view op_name, std::vector<ValueId> inputs, Attrs attrs) {
  release(v);
  Node made;
  made.op = &op(op_name);
  made.name = graph_.value(v).name;
  made.inputs = std::move(inputs);
  made.attrs = std::move(attrs);
  made.outputs = {v};
  nodes_.push_back(std::move(made));
  link(size() - 1);
  infer(size() - 1);
  changed_ = true;
}

void Rewriter::make_constant(ValueId v, Tensor tensor) {
  release(v);
  Value& value = graph_.value(v);
  value.type = Type::tensor(tensor.dtype(), Shape::from(tensor.dims()));
  value.constant = std::move(tensor);
  value.content.reset();
  changed_ = true;
}

void Rewriter::erase(int n) {
  if (!node(n).op) return;
  unlink(n);
  nodes_[static_cast<size_t>(n)].op = nullptr;
  changed_ = true;
}

void Rewriter::fuse(const std::vector<int>& nodes, std::string_view op_name, std::vector<ValueId> inputs,
                    std::vector<ValueId> outputs, std::shared_ptr<Graph> body) {
  Node made;
  made.op = &op(op_name);
  take_sources(made, nodes);
  for (int n : nodes) erase(n);
  made.name = graph_.value(outputs[0]).name;
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  made.bodies = {std::move(body)};
  nodes_.push_back(std::move(made));
  link(size() - 1);
  infer(size() - 1);
}

std::vector<ValueId> Rewriter::inline_graph(const Graph& body, const std::vector<ValueId>& inputs) {
  std::vector<ValueId> map(body.values.size(), kNoValue);
  for (size_t i = 0; i < inputs.size(); ++i) map[static_cast<size_t>(body.inputs[i])] = inputs[i];
  const auto mapped = [&](ValueId v) {
    if (v == kNoValue) return v;
    ValueId& to = map[static_cast<size_t>(v)];
    if (to == kNoValue) {
      const Value& value = body.value(v);
      to = value.constant.defined() ? graph_.add_constant(value.constant, unique_name())
                                    : graph_.add_value(unique_name(), value.type);
      grow();
    }
    return to;
  };
  for (const Node& from : body.nodes) {
    if (!from.op) continue;
    Node copy = from;
    for (ValueId& v : copy.inputs) v = mapped(v);
    for (ValueId& v : copy.outputs) v = mapped(v);
    nodes_.push_back(std::move(copy));
    link(size() - 1);
    infer(size() - 1);
  }
  changed_ = true;
  std::vector<ValueId> outputs;
  for (ValueId v : body.outputs) outputs.push_back(mapped(v));
  return outputs;
}

void Rewriter::infer(int n) { infer_node(graph_, nodes_[static_cast<size_t>(n)]); }

// Nodes that an output needs: in the given order, but each after those that it reads from.
std::vector<int> Rewriter::live_order() const {
  enum : char { unseen, live, open, placed };
  std::vector<char> state(nodes_.size(), unseen);
  std::vector<int> stack, order;
  const auto mark = [&](ValueId v) {
    const int n = maker(v);
    if (n < 0 || state[static_cast<size_t>(n)] != unseen) return;
    state[static_cast<size_t>(n)] = live;
    stack.push_back(n);
  };
  for (ValueId v : graph_.outputs) mark(v);
  while (!stack.empty()) {
    const int n = stack.back();
    stack.pop_back();
    for (ValueId v : node(n).inputs) mark(v);
  }
  for (int first = 0; first < size(); ++first) {
    if (state[static_cast<size_t>(first)] != live) continue;
    stack.push_back(first);
    while (!stack.empty()) {
      const int n = stack.back();
      char& s = state[static_cast<size_t>(n)];
      if (s == live) {
        s = open;
        const auto& inputs = node(n).inputs;
        for (auto v = inputs.rbegin(); v != inputs.rend(); ++v) {
          const int m = maker(*v);
          if (m < 0) continue;
          TRINE_CHECK(state[static_cast<size_t>(m)] != open, "a pass made a cycle through " + node(m).name);
          if (state[static_cast<size_t>(m)] == live) stack.push_back(m);
        }
        continue;
      }
      stack.pop_back();
      if (s == open) order.push_back(n);
      s = placed;
    }
  }
  return order;
}

// Forgets values that nothing names any more: their constants would stay in memory.
void Rewriter::drop_values() {
  std::vector<ValueId> to(graph_.values.size(), kNoValue);
  const auto use = [&](std::vector<ValueId>& ids) {
    for (ValueId v : ids)
      if (v != kNoValue) to[static_cast<size_t>(v)] = 0;
  };
  const auto renumber = [&](std::vector<ValueId>& ids) {
    for (ValueId& v : ids)
      if (v != kNoValue) v = to[static_cast<size_t>(v)];
  };
  const auto every_list = [&](const auto& f) {
    f(graph_.inputs);
    f(graph_.outputs);
    for (Node& n : graph_.nodes) {
      f(n.inputs);
      f(n.outputs);
    }
  };
  every_list(use);
  std::vector<Value> kept;
  for (size_t v = 0; v < to.size(); ++v) {
    if (to[v] == kNoValue) continue;
    to[v] = static_cast<ValueId>(kept.size());
    kept.push_back(std::move(graph_.values[v]));
  }
  every_list(renumber);
  graph_.values = std::move(kept);
}

bool Rewriter::finish() {
  const std::vector<int> order = live_order();
  changed_ = changed_ || order.size() != nodes_.size();
  std::vector<char> read(graph_.values.size(), 0);
  for (int n : order)
    for (ValueId v : node(n).inputs)
      if (v != kNoValue) read[static_cast<size_t>(v)] = 1;
  for (int n : order) {
    Node& kept = nodes_[static_cast<size_t>(n)];
    for (size_t i = 1; i < kept.outputs.size(); ++i) {  // what nobody reads any more need not be made
      const ValueId v = kept.outputs[i];
      if (v != kNoValue && !read[static_cast<size_t>(v)] && !is_output(v)) kept.outputs[i] = kNoValue;
    }
    graph_.nodes.push_back(std::move(kept));
  }
  drop_values();
  return changed_;
}

}  // namespace trine
