// lower_group and lower_node: which outputs share a kernel, and the attempts to make one.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/group_lowering.h"
#include "codegen/loop_kernel.h"
#include "codegen/scalar_types.h"
#include "codegen/schedule.h"
#include "trine/base/error.h"

namespace trine::codegen {
namespace {

struct Output {
  int position;  // in the group
  ValueId value;
};

// Can an output of shape `b` be written inside a nest over shape `a`: equal but for dimensions of 1?
bool fits_inside(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (b[i] != a[i] && b[i] != Dim(1)) return false;
  }
  return true;
}

void check(const Graph& body, ValueId value) {
  const Type& t = body.type(value);
  if (!t.is_tensor() || !t.shape.has_rank()) throw Refusal{"an output of unknown rank or no tensor"};
  if (compute_type(t.dtype) == DType::none) throw Refusal{fmt::format("no scalars of type {}", name(t.dtype))};
  std::vector<std::string> symbols;
  for (const Dim& d : t.shape.dims()) d.collect_symbols(symbols);
  for (const auto& s : symbols) {
    if (s[0] == '\1' || s[0] == '\2') throw Refusal{"a dimension named with a control character"};
  }
}

// One kernel that fills all of `outputs`, the first having the largest shape.
LoopKernel lower_outputs(const Graph& body, const std::vector<Output>& outputs, bool unify) {
  GroupLowering group(body, unify);
  Expressions& e = group.expressions();
  const Shape& shape = body.type(outputs[0].value).shape;
  Index index;
  std::vector<int> nest;
  for (const Dim& extent : shape.dims()) {
    if (extent == Dim(1)) {
      index.emplace_back(0);
      continue;
    }
    nest.push_back(e.add_loop(extent));
    index.push_back(e.symbol(nest.back()));
  }
  group.set_output_loops(nest);

  Draft draft;
  for (const Output& o : outputs) {
    const Type& type = body.type(o.value);
    Index at = index;
    Dim address;
    LoopSet loops = 0;
    for (int i = 0; i < shape.rank(); ++i) {
      if (type.shape[i] == Dim(1)) at[static_cast<size_t>(i)] = Dim(0);
      address = address * type.shape[i] + at[static_cast<size_t>(i)];
      for (int l : nest) {
        if (at[static_cast<size_t>(i)] == e.symbol(l)) loops |= loop_bit(l);
      }
    }
    const Scalar value = group.element(o.value, at, Scalar{-1});
    const int operand = e.add_operand(
        {.kind = Operand::Kind::output, .index = o.position, .dtype = type.dtype, .constant = {}, .elements = {}});
    draft.stores.push_back({value.id, e.affine_access(operand, address), loops});
  }
  draft.kernel = e.take();
  draft.kernel.nest = std::move(nest);
  order_loops(draft);
  collapse_loops(draft);
  choose_vectors(draft);
  collapse_loops(draft);
  build_nest(draft);
  number(draft.kernel);
  return std::move(draft.kernel);
}

// Outputs that may share a nest, largest first in each class.
std::vector<std::vector<Output>> classes_of(const Graph& body, const std::vector<Output>& outputs) {
  std::vector<std::vector<Output>> classes;
  for (const Output& o : outputs) {
    const Shape& shape = body.type(o.value).shape;
    auto fits = [&](std::vector<Output>& c) {
      const Shape& first = body.type(c[0].value).shape;
      if (fits_inside(first, shape)) return c.push_back(o), true;
      if (fits_inside(shape, first)) return c.insert(c.begin(), o), true;
      return false;
    };
    if (std::none_of(classes.begin(), classes.end(), fits)) classes.push_back({o});
  }
  return classes;
}

// The class as one kernel, or as one kernel per output.
void lower_class(const Graph& body, const std::vector<Output>& outputs, std::vector<LoopKernel>& kernels) {
  std::string why;
  for (bool unify : {true, false}) {
    try {
      kernels.push_back(lower_outputs(body, outputs, unify));
      return;
    } catch (const Refusal& refusal) {
      why = refusal.why;
    }
  }
  if (outputs.size() == 1) throw Refusal{why};
  for (const Output& o : outputs) lower_class(body, {o}, kernels);
}

}  // namespace

Lowered lower_group(const Graph& body) {
  Lowered lowered;
  try {
    std::vector<Output> outputs;
    for (size_t i = 0; i < body.outputs.size(); ++i) {
      if (body.outputs[i] == kNoValue) continue;
      check(body, body.outputs[i]);
      outputs.push_back({static_cast<int>(i), body.outputs[i]});
    }
    for (const auto& c : classes_of(body, outputs)) lower_class(body, c, lowered.kernels);
  } catch (const Refusal& refusal) {
    lowered.refusal = refusal.why;
  } catch (const Error& error) {
    lowered.refusal = error.what();
  }
  if (!lowered.refusal.empty()) lowered.kernels.clear();
  return lowered;
}

Lowered lower_node(const Graph& graph, const Node& node) {
  Graph body;
  Node copy = node;
  std::vector<int> positions;  // per body input: position among the node's inputs
  std::map<ValueId, ValueId> made;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (id == kNoValue) continue;
    auto [at, fresh] = made.try_emplace(id, static_cast<ValueId>(body.values.size()));
    copy.inputs[i] = at->second;
    if (!fresh) continue;
    body.values.push_back(graph.value(id));
    body.inputs.push_back(at->second);
    positions.push_back(static_cast<int>(i));
  }
  for (ValueId& id : copy.outputs) {
    if (id != kNoValue) {
      body.values.push_back(graph.value(id));
      id = static_cast<ValueId>(body.values.size()) - 1;
    }
    body.outputs.push_back(id);
  }
  body.nodes.push_back(std::move(copy));
  Lowered lowered = lower_group(body);
  for (LoopKernel& k : lowered.kernels) {
    for (Operand& o : k.operands) {
      if (o.kind == Operand::Kind::input) o.index = positions[static_cast<size_t>(o.index)];
    }
  }
  return lowered;
}

}  // namespace trine::codegen
