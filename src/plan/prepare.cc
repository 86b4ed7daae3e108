#include "plan/prepare.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/infer.h"
#include "plan/lodge.h"
#include "plan/place.h"
#include "plan/strips.h"
#include "trine/base/error.h"

namespace trine {
namespace {

bool is_known(const Type& type) { return type.is_tensor() && type.dtype != DType::none && type.shape.is_static(); }

int64_t bytes_of(const Type& type) {
  return element_count(type.shape.static_dims()) * static_cast<int64_t>(byte_size(type.dtype));
}

class Preparer {
 public:
  Preparer(const Plan& plan, Graph typed, const Segment* before, int threads, PackedCache* packed, Batch batch,
           const Target* target)
      : plan_(plan),
        threads_(threads),
        packed_(packed),
        batch_(batch),
        target_(target),
        segment_(std::make_unique<Segment>()) {
    segment_->typed = std::move(typed);
    if (before) {
      segment_->first = before->last;
      segment_->depth = before->depth + 1;
      segment_->root = before->root;
      segment_->symbols = before->symbols;
      return;
    }
    for (size_t i = 0; i < graph().values.size(); ++i) segment_->root.push_back(static_cast<ValueId>(i));
    for (ValueId id : graph().inputs) bind_symbols(id);
  }

  std::unique_ptr<Segment> run() {
    const int count = static_cast<int>(graph().nodes.size());
    int n = segment_->first;
    for (; n < count && segment_->ends_graph; ++n) prepare_node(n);
    segment_->last = n;
    lodge(*segment_, plan_.limits.threads);
    if (target_) settle();
    else if (batch_ == Batch::in_parts) find_strips(*segment_, threads_);
    place(*segment_, threads_);
    return std::move(segment_);
  }

 private:
  const Graph& graph() const { return *plan_.graph; }
  Graph& typed() { return segment_->typed; }
  ValueId root(ValueId id) const { return segment_->root[static_cast<size_t>(id)]; }

  ValueId home(ValueId id) const { return segment_->home(root(id)); }

  void prepare_node(int n) {
    Node& node = typed().nodes[static_cast<size_t>(n)];
    try {
      infer_node(typed(), node);
      if (make_constant(node)) return;
      add_calls(n, node);
    } catch (const Error& e) {
      const std::string what = e.what();
      throw Error(e.code(), what.starts_with("node '") ? what : fmt::format("node '{}': {}", node.name, what));
    }
    for (ValueId id : node.outputs)
      if (id != kNoValue) bind_symbols(id);
  }

  // Shape arithmetic whose result is known now needs no call.
  bool make_constant(const Node& node) {
    std::vector<std::pair<ValueId, Tensor>> made;
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const Value& v = typed().value(id);
      if (!v.content || !is_known(v.type) || !is_integer(v.type.dtype)) return false;
      std::vector<int64_t> values;
      for (const Dim& d : *v.content) {
        if (!d.is_constant()) return false;
        values.push_back(d.value());
      }
      const Dims dims = v.type.shape.static_dims();
      if (element_count(dims) != static_cast<int64_t>(values.size())) return false;
      made.emplace_back(id, Tensor::from_i64(v.type.dtype, dims, values));
    }
    for (auto& [id, tensor] : made) {
      typed().value(id).constant = tensor;
      segment_->constants[id] = std::move(tensor);
    }
    return !made.empty();
  }

  void settle() {
    for (Call& call : segment_->calls)
      if (call.kind == Call::Kind::kernel) target_->settle(call);
  }

  void add_calls(int n, const Node& node) {
    why_host_.clear();
    const PlanStep& step = plan_.steps[static_cast<size_t>(n)];
    const bool known = all_known(node.inputs) && all_known(node.outputs);
    if (known && makes_nothing(node)) return;
    if (!known || step.kind == StepKind::host) return add_host(n, known);
    if (step.kind == StepKind::view) return view_is_settled(node) ? add_view(node) : add_host(n, known);
    if (has_empty_input(node)) return add_host(n, known);  // sums over nothing: rare, and the reference knows
    if (step.kind == StepKind::kernel && add_kernels(n, node)) return;
    if (add_loops(n, node)) return;
    add_host(n, known);
  }

  void add_view(const Node& node) {
    const ValueId out = node.outputs[0], in = node.inputs[0];
    if (bytes_of(typed().type(out)) != bytes_of(typed().type(in)))
      throw Error(ErrorCode::invalid_model, fmt::format("{}: {} has another size than {}", node.op->name,
                                                        typed().type(out).text(), typed().type(in).text()));
    segment_->root[static_cast<size_t>(out)] = root(in);
  }

  // A target shape or axes that only the run will bring are for the reference to judge, even where the size is known.
  bool view_is_settled(const Node& node) {
    return node.is("reshape_to") || std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId id) {
             return id == kNoValue || typed().value(id).constant.defined() || typed().value(id).content;
           });
  }

  void add_host(int n, bool known) {
    Call call;
    call.kind = Call::Kind::host;
    call.node = n;
    if (target_ && why_host_.empty() && plan_.steps[static_cast<size_t>(n)].kind != StepKind::host)
      why_host_ = known ? "no kernel or loop takes these operands" : "sizes known only at run time";
    call.note = std::move(why_host_);
    segment_->calls.push_back(std::move(call));
    if (!known && !all_known(typed().nodes[static_cast<size_t>(n)].outputs)) segment_->ends_graph = false;
  }

  bool add_kernels(int n, const Node& node) {
    const std::vector<KernelCall> wanted = kernel_calls(node, node_types(node));
    const PlanStep& step = plan_.steps[static_cast<size_t>(n)];
    std::vector<Call> calls;
    for (size_t k = 0; k < wanted.size(); ++k) {
      Call call;
      call.kind = Call::Kind::kernel;
      call.node = n;
      call.what = wanted[k];
      if (target_) {
        why_host_ = target_->choose(plan_, k < step.rows.size() ? step.rows[k] : std::string_view(), call);
        if (!call.device) return false;
        calls.push_back(std::move(call));
        continue;
      }
      call.row = choose(step, k, wanted[k].problem);
      if (!call.row) return false;
      call.workspace_bytes = dnn::workspace_bytes(*call.row, call.what.problem, threads_);
      call.packed_bytes = dnn::packed_bytes(*call.row, call.what.problem);
      if (packed_ && call.packed_bytes > 0) call.packed = packed_weights(n, k, node, call);
      calls.push_back(std::move(call));
    }
    for (Call& call : calls) segment_->calls.push_back(std::move(call));
    return !wanted.empty();
  }

  // The row chosen at build when it still fits, else the best there is.
  const dnn::KernelRow* choose(const PlanStep& step, size_t k, const dnn::Problem& problem) const {
    const dnn::Limits& limits = plan_.limits;
    const auto small_enough = [&](const dnn::KernelRow& row) {
      return dnn::workspace_bytes(row, problem, threads_) <= limits.workspace_bytes;
    };
    if (k < step.rows.size()) {
      const dnn::KernelRow* row = dnn::find_row(step.rows[k]);
      if (row && row->op == dnn::op_kind(problem) && dnn::runs_on(*row, limits.level, limits.features) &&
          !misfit(*row, problem) && std::find(limits.drop.begin(), limits.drop.end(), row->name) == limits.drop.end() &&
          small_enough(*row))
        return row;
    }
    const dnn::KernelRow* best = dnn::find(problem, limits).best();
    if (!best || small_enough(*best)) return best;
    dnn::Limits here = limits;  // scratch memory grows with the threads of the session
    here.threads = threads_;
    return dnn::find(problem, here).best();
  }

  Tensor packed_weights(int n, size_t k, const Node& node, const Call& call) {
    const PlanStep& step = plan_.steps[static_cast<size_t>(n)];
    const auto bytes = static_cast<int64_t>(call.packed_bytes);
    if (k < step.packed.size() && step.packed[k] >= 0) {
      const PackedWeights& have = plan_.packed[static_cast<size_t>(step.packed[k])];
      if (have.packing == call.row->packing && have.bytes.elements() == bytes) return have.bytes;
    }
    Tensor& made = (*packed_)[{n, static_cast<int>(k), call.row->packing}];
    if (made.defined() && made.elements() == bytes) return made;
    std::vector<const void*> weights;
    for (int i : call.what.weights) {
      const bool has =
          i >= 0 && i < static_cast<int>(node.inputs.size()) && node.inputs[static_cast<size_t>(i)] != kNoValue;
      weights.push_back(has ? typed().value(node.inputs[static_cast<size_t>(i)]).constant.data() : nullptr);
    }
    made = Tensor(DType::u8, {bytes});
    call.row->prepack(call.what.problem, weights, made.mutable_data());
    return made;
  }

  bool add_loops(int n, const Node& node) {
    const PlanStep& step = plan_.steps[static_cast<size_t>(n)];
    Call call;
    call.kind = Call::Kind::loop;
    call.node = n;
    const Bindings bindings = [&](std::string_view symbol) -> std::optional<int64_t> {
      const auto it = segment_->symbols.find(std::string(symbol));
      return it == segment_->symbols.end() ? std::nullopt : std::optional(it->second);
    };
    if (!step.loops.empty() && symbols_known(step.loops, bindings)) {
      bind(call, step.loops, bindings);
    } else {
      if (!node.op->lower && !node.is("fused")) return false;
      const codegen::Lowered lowered =
          node.is("fused") ? codegen::lower_group(*node.bodies[0]) : codegen::lower_node(typed(), node);
      if (!lowered) return false;
      bind(call, lowered.kernels, bindings);
    }
    if (target_ && !call.device) return false;
    segment_->calls.push_back(std::move(call));
    return true;
  }

  void bind(Call& call, const std::vector<codegen::LoopKernel>& kernels, const Bindings& bindings) {
    if (target_) {
      const std::string why = target_->render(kernels, bindings, call);
      why_host_ += (why_host_.empty() || why.empty() ? "" : "; ") + why;
      return;
    }
    for (const codegen::LoopKernel& kernel : kernels)
      call.loops.push_back(codegen::bind(kernel, bindings, plan_.code ? plan_.code(kernel.hash) : nullptr));
  }

  static bool symbols_known(const std::vector<codegen::LoopKernel>& kernels, const Bindings& bindings) {
    for (const auto& kernel : kernels)
      for (const Dim& extent : kernel.extents)
        if (!extent.evaluate(bindings)) return false;
    return true;
  }

  NodeTypes node_types(const Node& node) {
    NodeTypes t;
    for (ValueId id : node.inputs) {
      t.inputs.push_back(typed().type(id));
      t.constants.push_back(id == kNoValue ? Tensor() : typed().value(id).constant);
    }
    for (ValueId id : node.outputs) t.outputs.push_back(typed().type(id));
    return t;
  }

  bool all_known(const std::vector<ValueId>& ids) {
    return std::all_of(ids.begin(), ids.end(),
                       [&](ValueId id) { return id == kNoValue || is_known(typed().type(id)); });
  }
  bool makes_nothing(const Node& node) {
    return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return id == kNoValue || (elements(id) == 0 && typed().type(id).dtype != DType::string);
    });
  }
  int64_t elements(ValueId id) { return element_count(typed().type(id).shape.static_dims()); }
  bool has_empty_input(const Node& node) {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId id) { return id != kNoValue && elements(id) == 0; });
  }

  // Where the plan's type of the value has a bare symbol, the concrete type gives it its number.
  void bind_symbols(ValueId id) {
    const Type &symbolic = graph().type(id), &concrete = typed().type(id);
    if (!symbolic.is_tensor() || !is_known(concrete) || symbolic.shape.rank() != concrete.shape.rank()) return;
    for (int i = 0; i < symbolic.shape.rank(); ++i)
      if (symbolic.shape[i].is_symbol()) segment_->symbols.emplace(symbolic.shape[i].text(), concrete.shape[i].value());
  }

  const Plan& plan_;
  int threads_;
  PackedCache* packed_;
  Batch batch_;
  const Target* target_;
  std::string why_host_;  // of the node that is looked at
  std::unique_ptr<Segment> segment_;
};

// "x: dimension 1 is 5; it must be 3".
void merge_input(Type& have, const Type& got, const std::string& name, std::map<std::string, int64_t>& symbols) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, fmt::format("input '{}': {}; expected {}", name, what, have.text()));
  };
  if (have.kind == Type::Kind::optional || (have.kind == Type::Kind::sequence && got.kind == Type::Kind::none)) {
    if (have.kind == Type::Kind::optional && got.kind != Type::Kind::none) {
      if (have.element && have.element->kind != got.kind) fail(fmt::format("got {}", got.text()));
      have = Type::optional(got);
    }
    return;  // an empty sequence does not say what it would hold
  }
  if (have.kind != got.kind) fail(fmt::format("got {}", got.text()));
  if (!have.is_tensor()) return;
  if (have.dtype != DType::none && have.dtype != got.dtype) fail(fmt::format("got {}", got.text()));
  if (have.shape.has_rank()) {
    if (have.shape.rank() != got.shape.rank()) fail(fmt::format("got {}", got.text()));
    for (int i = 0; i < have.shape.rank(); ++i) {
      const int64_t size = got.shape[i].value();
      const Dim& want = have.shape[i];
      if (want.is_constant() && want.value() != size)
        fail(fmt::format("got {}, dimension {} is {}", got.text(), i, size));
      if (!want.is_symbol()) continue;
      const auto [it, fresh] = symbols.emplace(want.text(), size);
      if (!fresh && it->second != size)
        fail(fmt::format("got {}, dimension {} is {} but {} is already {}", got.text(), i, size, want.text(),
                         it->second));
    }
  }
  have = got;
}

}  // namespace

std::unique_ptr<Segment> prepare(const Plan& plan, Graph typed, const Segment* before, int threads, PackedCache* packed,
                                 Batch batch, const Target* target) {
  return Preparer(plan, std::move(typed), before, threads, packed, batch, target).run();
}

Graph with_input_types(const Plan& plan, const std::vector<Type>& types) {
  Graph typed = plan.graph->deep_copy();
  if (types.size() != typed.inputs.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("run: the graph takes {} inputs; got {}", typed.inputs.size(), types.size()));
  std::map<std::string, int64_t> symbols;
  for (size_t i = 0; i < types.size(); ++i) {
    Value& v = typed.value(typed.inputs[i]);
    merge_input(v.type, types[i], v.name, symbols);
  }
  return typed;
}

}  // namespace trine
