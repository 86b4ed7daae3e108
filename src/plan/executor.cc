#include "plan/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/deadline.h"
#include "graph/eval.h"
#include "plan/host_step.h"
#include "trine/base/error.h"

namespace trine {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Executor::Executor(std::shared_ptr<const Plan> plan, ThreadPool* pool)
    : plan_(std::move(plan)), pool_(pool), segments_(plan_, threads()) {
  const Graph& graph = *plan_->graph;
  slots_.resize(graph.values.size());
  boxed_.resize(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i)
    if (graph.values[i].constant.defined()) slots_[i] = const_cast<void*>(graph.values[i].constant.data());
}

Executor::~Executor() = default;

void Executor::observe(Observer observer) {
  if (observer.with_data != observer_.with_data) segments_.clear();  // values stay whole for those who look at them
  observer_ = std::move(observer);
  for (auto& [key, executor] : bodies_) executor->observe(observer_);
}

size_t Executor::arena_bytes() const {
  size_t bytes = workspace_.bytes();
  for (const Tensor& t : arenas_) bytes += t.bytes();
  for (const auto& [key, executor] : bodies_) bytes += executor->arena_bytes();
  return bytes;
}

int Executor::threads() const { return pool_ ? pool_->threads() : 1; }

const Segment& Executor::prepare_for(const std::vector<Type>& types) { return segments_.first(types, batch()); }

std::vector<Datum> Executor::run(const std::vector<Datum>& inputs) {
  const Graph& graph = *plan_->graph;
  std::vector<Type> types;
  for (const Datum& d : inputs) types.push_back(type_of(d));
  Segment* segment = &segments_.first(types, batch());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto id = static_cast<size_t>(graph.inputs[i]);
    boxed_[id] = inputs[i];
    slots_[id] = inputs[i].is_tensor() ? const_cast<void*>(inputs[i].tensor().data()) : nullptr;
  }
  for (;;) {
    execute(*segment);
    if (segment->ends_graph) break;
    segment = &segments_.next(*segment, boxed_, batch());
  }
  std::vector<Datum> out = collect_outputs(*segment);
  for (Datum& d : boxed_) d = Datum();
  return out;
}

void Executor::execute(const Segment& segment) {
  set_slots(segment);
  auto strip = segment.strips.begin();
  for (size_t c = 0; c < segment.calls.size();) {
    if (strip != segment.strips.end() && strip->first == c) {
      run_strip(segment, *strip);
      c = (strip++)->last;
      continue;
    }
    const Call& call = segment.calls[c++];
    if (observer_.see) run_observed(segment, call);
    else run_call(segment, call);
  }
}

void Executor::set_slots(const Segment& segment) {
  const auto depth = static_cast<size_t>(segment.depth);
  if (arenas_.size() <= depth) arenas_.resize(depth + 1);
  if (segment.arena_bytes > static_cast<int64_t>(arenas_[depth].bytes()))
    arenas_[depth] = Tensor(DType::u8, {segment.arena_bytes});
  if (segment.workspace_bytes > workspace_.bytes())
    workspace_ = Tensor(DType::u8, {static_cast<int64_t>(segment.workspace_bytes)});
  char* base = arenas_[depth].defined() ? arenas_[depth].mutable_as<char>() : nullptr;
  for (const auto& [id, offset] : segment.offsets) slots_[static_cast<size_t>(id)] = base + offset;
  for (const auto& [id, tensor] : segment.constants) slots_[static_cast<size_t>(id)] = const_cast<void*>(tensor.data());
  for (ValueId id : segment.direct_outputs)
    slots_[static_cast<size_t>(id)] = output_tensor(id, segment.typed.type(id)).mutable_data();
  for (const auto& [id, lodging] : segment.lodgings)
    slots_[static_cast<size_t>(id)] =
        static_cast<char*>(slots_[static_cast<size_t>(lodging.host)]) + lodging.offset_bytes;
}

// The tensor of the last run when the caller has let it go, else a new one.
Tensor Executor::output_tensor(ValueId root, const Type& type) {
  Tensor& held = outputs_[root];
  const Dims dims = type.shape.static_dims();
  if (!held.defined() || !held.unique() || held.dims() != dims) held = Tensor(type.dtype, dims);
  return held;
}

void Executor::run_call(const Segment& segment, const Call& call) {
  check_deadline();
  try {
    switch (call.kind) {
      case Call::Kind::kernel: return run_kernel(segment, call, call.what.problem, whole());
      case Call::Kind::loop: return run_loops(segment, call, whole());
      case Call::Kind::host: return run_host(segment, call);
    }
  } catch (const Error& e) {
    const std::string what = e.what();
    const Node& node = plan_->graph->nodes[static_cast<size_t>(call.node)];
    throw Error(e.code(), what.starts_with("node '") ? what : fmt::format("node '{}': {}", node.name, what));
  }
}

// Nothing within throws: strips have calls of kernels and loops that do not.
void Executor::run_strip(const Segment& segment, const Strip& strip) {
  check_deadline();
  const size_t calls = strip.last - strip.first;
  std::vector<double> seconds(observer_.see ? calls * static_cast<size_t>(threads()) : 0);
  char* workspace = workspace_.mutable_as<char>();
  const auto run = [&](int part, int thread, ThreadPool* pool) {
    char* own = workspace + static_cast<size_t>(thread) * strip.workspace_bytes;
    double* times = observer_.see ? seconds.data() + static_cast<size_t>(thread) * calls : nullptr;
    run_part(segment, strip, {part, strip.parts, thread * strip.local_bytes, own, pool}, times);
  };
  const int parts = static_cast<int>(strip.parts);
  if (strip.dealt) pool_->run(parts, [&](int part, int thread) { run(part, thread, &ThreadPool::serial()); });
  else
    for (int part = 0; part < parts; ++part) run(part, 0, pool_);
  const double at_once = strip.dealt ? threads() : 1;
  for (size_t i = 0; observer_.see && i < calls; ++i) {
    const Call& call = segment.calls[strip.first + i];
    double sum = 0;
    for (size_t t = i; t < seconds.size(); t += calls) sum += seconds[t];
    observer_.see({plan_.get(), &segment, &call, &plan_->graph->nodes[static_cast<size_t>(call.node)], sum / at_once,
                   nullptr, nullptr});
  }
}

// `seconds`, if not null, collects the time of every call.
void Executor::run_part(const Segment& segment, const Strip& strip, const Share& share, double* seconds) {
  for (size_t c = strip.first; c < strip.last; ++c) {
    const Call& call = segment.calls[c];
    const double begin = seconds ? now() : 0;
    if (call.kind == Call::Kind::kernel) run_kernel(segment, call, strip.problems[c - strip.first], share);
    else run_loops(segment, call, share);
    if (seconds) seconds[c - strip.first] += now() - begin;
  }
}

// Where the share's bytes of a value begin.
void* Executor::address(const Segment& segment, ValueId id, const Share& share) const {
  const ValueId root = segment.root[static_cast<size_t>(id)];
  char* slot = static_cast<char*>(slots_[static_cast<size_t>(root)]);
  if (share.parts == 1) return slot;
  const PartPlace place = segment.place(root);
  return slot + (place.local_to >= 0 ? share.local_offset : share.part * (place.extent / share.parts));
}

void Executor::run_kernel(const Segment& segment, const Call& call, const dnn::Problem& problem, const Share& share) {
  const Node& node = plan_->graph->nodes[static_cast<size_t>(call.node)];
  const auto operand = [&](const std::vector<ValueId>& ids, int i) -> void* {
    if (i < 0 || i >= static_cast<int>(ids.size()) || ids[static_cast<size_t>(i)] == kNoValue) return nullptr;
    return address(segment, ids[static_cast<size_t>(i)], share);
  };
  dnn::Args args;
  for (size_t i = 0; i < call.what.in.size(); ++i) args.in[i] = operand(node.inputs, call.what.in[i]);
  for (size_t i = 0; i < call.what.out.size(); ++i) args.out[i] = operand(node.outputs, call.what.out[i]);
  if (call.what.in_offset_bytes) args.in[0] = static_cast<const char*>(args.in[0]) + call.what.in_offset_bytes;
  if (call.what.out_offset_bytes) args.out[0] = static_cast<char*>(args.out[0]) + call.what.out_offset_bytes;
  args.bias = operand(node.inputs, call.what.bias);
  args.residual = operand(node.inputs, call.what.residual);
  args.packed = call.packed.data();
  args.workspace = share.workspace;
  args.pool = share.pool;
  call.row->run(problem, args);
}

void Executor::run_loops(const Segment& segment, const Call& call, const Share& share) {
  const Node& node = plan_->graph->nodes[static_cast<size_t>(call.node)];
  constexpr size_t kMost = 64;
  const void* in[kMost];
  void* out[kMost];
  TRINE_CHECK(node.inputs.size() <= kMost && node.outputs.size() <= kMost, node.name);
  // Units are counted over all parts, so what stands for all of them begins where part 0 would.
  const auto begin_of = [&](ValueId id) -> void* {
    if (id == kNoValue) return nullptr;
    void* at = address(segment, id, share);
    if (share.parts == 1) return at;
    const int64_t before = share.part * (segment.place(segment.root[static_cast<size_t>(id)]).extent / share.parts);
    return reinterpret_cast<void*>(reinterpret_cast<intptr_t>(at) - before);
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) in[i] = begin_of(node.inputs[i]);
  for (size_t i = 0; i < node.outputs.size(); ++i) out[i] = begin_of(node.outputs[i]);
  const std::span<const void* const> inputs(in, node.inputs.size());
  const std::span<void* const> outputs(out, node.outputs.size());
  for (const codegen::BoundKernel& loop : call.loops) {
    const int64_t units = loop.units() / share.parts, first = share.part * units;
    if (!share.pool) {
      loop.run(inputs, outputs, first, first + units);
      continue;
    }
    share.pool->parallel_for(units, loop.grain(), [&](int64_t begin, int64_t end) {
      loop.run(inputs, outputs, first + begin, first + end);
    });
  }
}

void Executor::run_host(const Segment& segment, const Call& call) {
  const Node& node = plan_->graph->nodes[static_cast<size_t>(call.node)];
  std::vector<Datum> made =
      run_host_step(*plan_, segment, call, data_of(segment, node.inputs),
                    [&](int k, std::vector<Datum> inputs) { return body(call.node, k).run(inputs); });
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId id = node.outputs[i];
    if (id == kNoValue) continue;
    slots_[static_cast<size_t>(id)] = made[i].is_tensor() ? const_cast<void*>(made[i].tensor().data()) : nullptr;
    boxed_[static_cast<size_t>(id)] = std::move(made[i]);
  }
}

Executor& Executor::body(int node, int k) {
  std::unique_ptr<Executor>& executor = bodies_[{node, k}];
  if (!executor) {
    executor =
        std::make_unique<Executor>(plan_->steps[static_cast<size_t>(node)].bodies[static_cast<size_t>(k)], pool_);
    executor->observe(observer_);
  }
  return *executor;
}

Datum Executor::datum_of(const Segment& segment, ValueId id) const {
  if (id == kNoValue) return {};
  const ValueId root = segment.root[static_cast<size_t>(id)];
  const Datum& boxed = boxed_[static_cast<size_t>(root)];
  const Type& type = segment.typed.type(id);
  const bool sized = type.is_tensor() && type.shape.is_static();
  if (segment.planar.contains(id)) return interleaved(type, slots_[static_cast<size_t>(root)]);
  if (boxed.is_tensor()) return sized ? Datum(boxed.tensor().reshaped(type.shape.static_dims())) : boxed;
  if (boxed.is_sequence()) return boxed;
  const Value& value = segment.typed.value(root);
  if (value.constant.defined()) return sized ? value.constant.reshaped(type.shape.static_dims()) : value.constant;
  if (!sized) return {};  // an empty optional
  if (const auto it = segment.lodgings.find(root); it != segment.lodgings.end() && !it->second.is_dense())
    return gathered(it->second, type, slots_[static_cast<size_t>(root)]);
  return Tensor(type.dtype, type.shape.static_dims(), slots_[static_cast<size_t>(root)], nullptr);
}

std::vector<Datum> Executor::data_of(const Segment& segment, const std::vector<ValueId>& ids) const {
  std::vector<Datum> data;
  for (ValueId id : ids) data.push_back(datum_of(segment, id));
  return data;
}

void Executor::run_observed(const Segment& segment, const Call& call) {
  const Node& node = plan_->graph->nodes[static_cast<size_t>(call.node)];
  std::vector<Datum> inputs, outputs;
  if (observer_.with_data)
    for (Datum& d : data_of(segment, node.inputs)) inputs.push_back(d.is_tensor() ? Datum(d.tensor().clone()) : d);
  const double begin = now();
  run_call(segment, call);
  const double seconds = now() - begin;
  if (observer_.with_data)
    for (Datum& d : data_of(segment, node.outputs)) outputs.push_back(d.is_tensor() ? Datum(d.tensor().clone()) : d);
  const bool data = observer_.with_data;
  observer_.see({plan_.get(), &segment, &call, &node, seconds, data ? &inputs : nullptr, data ? &outputs : nullptr});
}

std::vector<Datum> Executor::collect_outputs(const Segment& segment) {
  const Graph& graph = *plan_->graph;
  std::vector<Datum> out;
  for (ValueId id : graph.outputs) {
    const ValueId root = segment.root[static_cast<size_t>(id)];
    const auto direct = outputs_.find(root);
    const Type& type = segment.typed.type(id);
    // What has no element is made by no call: slot and tensor would be those of an earlier run.
    if (type.is_tensor() && type.dtype != DType::string && type.shape.is_static() &&
        element_count(type.shape.static_dims()) == 0)
      out.push_back(Tensor(type.dtype, type.shape.static_dims()));
    else if (direct != outputs_.end() && direct->second.defined() &&
             direct->second.data() == slots_[static_cast<size_t>(root)])
      out.push_back(direct->second.reshaped(type.shape.static_dims()));
    else out.push_back(detached(datum_of(segment, id)));
  }
  return out;
}

}  // namespace trine
