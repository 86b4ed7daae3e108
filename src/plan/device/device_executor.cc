#include "plan/device/device_executor.h"

#include <fmt/format.h>

#include <chrono>

#include "base/deadline.h"
#include "graph/eval.h"
#include "plan/host_step.h"
#include "trine/base/error.h"

namespace trine {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

const Node& node_of(const Segment& segment, const Call& call) {
  return segment.typed.nodes[static_cast<size_t>(call.node)];
}

size_t launches_of(const Call& call) {
  const ChosenWork& work = work_of(call);
  size_t launches = work.provided ? 4 : 0;
  for (const compute::DeviceCall& part : work.calls) launches += part.launches.size();
  return launches;
}

[[noreturn]] void rethrow_at(const Node& node, const Error& e) {
  const std::string what = e.what();
  throw Error(e.code(), what.starts_with("node '") ? what : fmt::format("node '{}': {}", node.name, what));
}

}  // namespace

DeviceExecutor::DeviceExecutor(std::shared_ptr<const Plan> plan, std::shared_ptr<DeviceContext> context)
    : plan_(std::move(plan)),
      context_(std::move(context)),
      segments_(plan_, 1, context_->target.get()),
      memory_(context_->store->device()),
      places_(plan_->graph->values.size()),
      on_host_(places_.size()),
      timer_(context_->store->device()) {}

DeviceExecutor::~DeviceExecutor() {
  try {
    stream().synchronize();
  } catch (const Error&) {
    // A run has thrown it already.
  }
}

void DeviceExecutor::observe(Observer observer) {
  observer_ = std::move(observer);
  for (auto& [key, executor] : bodies_) executor->observe(observer_);
}

size_t DeviceExecutor::arena_bytes() const {
  size_t bytes = memory_.bytes();
  for (const auto& [key, executor] : bodies_) bytes += executor->arena_bytes();
  return bytes;
}

std::vector<Datum> DeviceExecutor::run(const std::vector<Datum>& inputs) {
  try {
    return run_all(inputs);
  } catch (...) {
    timer_.clear();
    stream() = context_->store->device().create_stream();  // one that failed stays so
    throw;
  }
}

std::vector<Datum> DeviceExecutor::run_timed(const std::vector<Datum>& inputs, int queued, RunTimes& times) {
  const compute::Device& device = context_->store->device();
  Spans spans{.queued = queued, .runs = {}, .more = {}};
  const compute::Event begin = device.create_event(), end = device.create_event();
  stream().record(begin);
  context_->spans = &spans;
  std::vector<Datum> out;
  try {
    out = run(inputs);
  } catch (...) {
    context_->spans = nullptr;
    throw;
  }
  context_->spans = nullptr;
  stream().record(end);
  times = {.with_copies = end.seconds_since(begin)};
  for (const auto& [first, last] : spans.runs) times.compute += last.seconds_since(first);
  if (spans.more) {
    const double more = spans.more->second.seconds_since(spans.more->first);
    if (spans.runs.size() == 1) times.queued = more / queued;  // else those of a body
    times.with_copies -= more;
  }
  return out;
}

std::vector<Datum> DeviceExecutor::run_all(const std::vector<Datum>& inputs) {
  std::vector<Type> types;
  for (const Datum& d : inputs) types.push_back(type_of(d));
  Segment* segment = &segments_.first(types, Batch::whole);
  forget();
  for (size_t i = 0; i < inputs.size(); ++i) on_host(plan_->graph->inputs[i]) = inputs[i];
  for (;;) {
    DeviceSegment& prepared = ready(*segment);
    execute(*segment, prepared);
    if (segment->ends_graph) break;
    check_faults(*segment, prepared);
    segment = &segments_.next(*segment, on_host_, Batch::whole);
  }
  std::vector<Datum> out = collect_outputs(*segment, ready(*segment));
  forget();
  return out;
}

void DeviceExecutor::forget() {
  places_.assign(places_.size(), {});
  for (Datum& d : on_host_)
    if (!d.is_none()) d = Datum();
}

void DeviceExecutor::execute(const Segment& segment, DeviceSegment& prepared) {
  set_places(segment);
  for (Stretch& stretch : prepared.stretches) {
    check_deadline();
    if (stretch.on_host) {
      tell_times(segment);
      run_host(segment, segment.calls[stretch.first]);
    } else {
      run_stretch(segment, prepared, stretch);
    }
  }
  tell_times(segment);
}

DeviceSegment& DeviceExecutor::ready(Segment& segment) {
  if (!segment.attached) segment.attached = std::make_shared<DeviceSegment>(*plan_, segment, *context_->store);
  return *static_cast<DeviceSegment*>(segment.attached.get());
}

void DeviceExecutor::set_places(const Segment& segment) {
  using Kind = MemoryUse::Kind;
  if (segment.workspace_bytes) workspace_ = memory_.room({Kind::workspace}, segment.workspace_bytes, stream());
  char* base = nullptr;
  if (segment.arena_bytes)
    base = static_cast<char*>(
        memory_.room({Kind::arena, segment.depth}, static_cast<size_t>(segment.arena_bytes), stream()));
  for (const auto& [id, offset] : segment.offsets) place(id) = {base + offset, true};
  for (const auto& [id, lodging] : segment.lodgings) place(id) = {nullptr, false, lodging.host, lodging.offset_bytes};
  for (ValueId id : segment.direct_outputs) {
    const Type& type = segment.typed.type(id);
    const size_t bytes = static_cast<size_t>(element_count(type.shape.static_dims())) * byte_size(type.dtype);
    place(id) = {memory_.room({Kind::output, id}, bytes, stream()), true};
  }
}

void DeviceExecutor::run_stretch(const Segment& segment, DeviceSegment& prepared, Stretch& stretch) {
  for (ValueId root : stretch.reads)
    if (!place(home(root)).on_device) upload(segment, home(root));
  if (observer_.see) return run_observed(segment, prepared, stretch);
  if (!context_->spans) return launch_stretch(segment, prepared, stretch);
  Spans& spans = *context_->spans;
  spans.runs.push_back(launch_timed(segment, prepared, stretch, 1));
  // Alone it reads nothing but inputs, which it leaves as they are.
  const bool alone = segment.ends_graph && prepared.stretches.size() == 1 && spans.runs.size() == 1;
  if (alone && spans.queued > 0) spans.more = launch_timed(segment, prepared, stretch, spans.queued);
}

Spans::Span DeviceExecutor::launch_timed(const Segment& segment, DeviceSegment& prepared, Stretch& stretch, int times) {
  const compute::Device& device = context_->store->device();
  Spans::Span span{device.create_event(), device.create_event()};
  stream().record(span.first);
  for (int i = 0; i < times; ++i) launch_stretch(segment, prepared, stretch);
  stream().record(span.second);
  return span;
}

void DeviceExecutor::launch_stretch(const Segment& segment, DeviceSegment& prepared, Stretch& stretch) {
  if (stretch.graph && stretch.generation == memory_.generation()) return stretch.graph->launch(stream());
  stretch.graph.reset();
  if (stretch.runs++ > 0 && capture(segment, prepared, stretch)) return stretch.graph->launch(stream());
  submit(segment, prepared, stretch);
}

void DeviceExecutor::submit(const Segment& segment, const DeviceSegment& prepared, const Stretch& stretch) {
  for (size_t c = stretch.first; c < stretch.last; ++c) submit_call(segment, prepared, c);
}

void DeviceExecutor::submit_call(const Segment& segment, const DeviceSegment& prepared, size_t index) {
  const Call& call = segment.calls[index];
  const ChosenWork& work = work_of(call);
  try {
    if (work.provided)
      work.provided->run([&](const compute::OperandRole& role) { return operand(segment, prepared, index, 0, role); },
                         stream());
    for (size_t part = 0; part < work.calls.size(); ++part)
      context_->store->programs().submit(
          work.calls[part],
          [&](const compute::OperandRole& role) { return operand(segment, prepared, index, part, role); }, stream());
  } catch (const Error& e) {
    rethrow_at(node_of(segment, call), e);
  }
}

// False when the device cannot, which it is not asked again.
bool DeviceExecutor::capture(const Segment& segment, const DeviceSegment& prepared, Stretch& stretch) {
  if (stretch.refused || !context_->graphs) return false;
  stream().begin_capture();
  try {
    submit(segment, prepared, stretch);
    stretch.graph = stream().end_capture();
    stretch.generation = memory_.generation();
    return true;
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unsupported) throw;
    stretch.refused = true;
    stream() = context_->store->device().create_stream();
    return false;
  }
}

void DeviceExecutor::run_observed(const Segment& segment, const DeviceSegment& prepared, Stretch& stretch) {
  const bool again = stretch.runs++ > 0;
  for (size_t c = stretch.first; c < stretch.last; ++c) {
    if (observer_.with_data) {
      run_shown(segment, prepared, c);
      continue;
    }
    const Call& call = segment.calls[c];
    timer_.begin(call, launches_of(call), again, stream());
    submit_call(segment, prepared, c);
    timer_.end(stream());
  }
}

// Before it the call's inputs are copied, which may live where it writes.
void DeviceExecutor::run_shown(const Segment& segment, const DeviceSegment& prepared, size_t index) {
  const Call& call = segment.calls[index];
  const Node& node = node_of(segment, call);
  const std::vector<Datum> inputs = data_of(segment, node.inputs, false);
  timer_.begin(call, launches_of(call), false, stream());
  submit_call(segment, prepared, index);
  timer_.end(stream());
  const std::vector<Datum> outputs = data_of(segment, node.outputs, false);
  timer_.tell([&](const Call&, double seconds) { tell(segment, call, seconds, &inputs, &outputs); });
}

void DeviceExecutor::tell(const Segment& segment, const Call& call, double seconds, const std::vector<Datum>* inputs,
                          const std::vector<Datum>* outputs) {
  const Node& node = plan_->graph->nodes[static_cast<size_t>(call.node)];
  observer_.see({plan_.get(), &segment, &call, &node, seconds, inputs, outputs});
}

void DeviceExecutor::tell_times(const Segment& segment) {
  timer_.tell([&](const Call& call, double seconds) { tell(segment, call, seconds, nullptr, nullptr); });
}

void DeviceExecutor::run_host(const Segment& segment, const Call& call) {
  const Node& node = plan_->graph->nodes[static_cast<size_t>(call.node)];
  std::vector<Datum> inputs = data_of(segment, node.inputs, true);
  const std::vector<Datum> before = observer_.with_data ? inputs : std::vector<Datum>();
  const double begin = now();
  std::vector<Datum> made;
  try {
    made = run_host_step(*plan_, segment, call, std::move(inputs),
                         [&](int k, std::vector<Datum> given) { return body(call.node, k).run(given); });
  } catch (const Error& e) {
    rethrow_at(node, e);
  }
  const double seconds = now() - begin;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    place(node.outputs[i]) = {};
    on_host(node.outputs[i]) = std::move(made[i]);
  }
  if (!observer_.see) return;
  const std::vector<Datum> outputs = observer_.with_data ? data_of(segment, node.outputs, false) : std::vector<Datum>();
  tell(segment, call, seconds, observer_.with_data ? &before : nullptr, observer_.with_data ? &outputs : nullptr);
}

DeviceExecutor& DeviceExecutor::body(int node, int k) {
  std::unique_ptr<DeviceExecutor>& executor = bodies_[{node, k}];
  if (!executor) {
    executor = std::make_unique<DeviceExecutor>(plan_->steps[static_cast<size_t>(node)].bodies[static_cast<size_t>(k)],
                                                context_);
    executor->observe(observer_);
  }
  return *executor;
}

}  // namespace trine
