// Opening and saving engines; planning anew where a file has no plan for this machine.
#include "trine/engine/engine.h"

#include <fmt/format.h>

#include <cstring>

#include "base/memory.h"
#include "engine/container.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "plan/device_runtime.h"
#include "plan/footprint.h"
#include "plan/table.h"
#include "trine/base/error.h"
#include "trine/base/replace_file.h"

namespace trine {

void set_io(Engine::State& state) {
  const Graph& g = *state.graph;
  for (ValueId id : g.inputs) state.inputs.push_back({g.value(id).name, g.type(id)});
  for (ValueId id : g.outputs) state.outputs.push_back({g.value(id).name, g.type(id)});
}

std::string plan_fingerprint(const Plan& plan) {
  if (!plan.device.empty()) return fmt::format("v{} {}", kEngineVersion, plan.device);
  return fmt::format("v{} {} threads={}", kEngineVersion, name(plan.limits.level), plan.limits.threads);
}

std::shared_ptr<const Target> target_of(const std::string& device) {
  if (is_this_cpu(device)) return nullptr;
  const std::shared_ptr<DeviceRuntime> runtime = open_device(device);
  return {runtime, &runtime->target()};
}

void attach_code(Plan& plan, const std::vector<codegen::ObjectCode>& objects) {
  for (const codegen::ObjectCode& object : objects) {
    if (object.cpu_level != name(plan.limits.level)) continue;
    auto code = std::make_shared<codegen::LoadedCode>(object);
    plan.code = [code](uint64_t hash) { return code->find(hash); };
  }
  for (PlanStep& step : plan.steps)
    for (const auto& body : step.bodies) {
      body->code = plan.code;
      attach_code(*body, objects);
    }
}

namespace {

void adopt(Plan& plan, const StoredPlan& stored) {
  plan.packed = stored.packed;
  plan.device = stored.device;
  for (const StoredStep& s : stored.steps) {
    if (s.node < 0 || s.node >= static_cast<int>(plan.steps.size()))
      throw Error(ErrorCode::invalid_engine, fmt::format("engine: a plan names node {}, which does not exist", s.node));
    PlanStep& step = plan.steps[static_cast<size_t>(s.node)];
    step.rows = s.rows;
    step.packed = s.packed;
    for (size_t k = 0; k < step.bodies.size() && k < s.bodies.size(); ++k) adopt(*step.bodies[k], s.bodies[k]);
  }
}

dnn::Limits limits_of(const StoredEngine& stored) {
  if (!stored.plans.empty()) return stored.plans[0].limits;
  dnn::Limits limits;
  limits.threads = default_thread_count();
  return limits;
}

// "v1 avx2 threads=2" -> "avx2"
std::string cpu_of(const std::string& fingerprint) {
  const size_t begin = std::min(fingerprint.find(' '), fingerprint.size() - 1) + 1;
  return fingerprint.empty() ? "" : fingerprint.substr(begin, fingerprint.find(' ', begin) - begin);
}

std::string machine_text(const StoredPlan& plan) {
  const bool device = !plan.device.empty();
  return (device ? plan.device : fmt::format("{} and {} threads", cpu_of(plan.fingerprint), plan.limits.threads)) +
         (plan.fingerprint.starts_with(fmt::format("v{} ", kEngineVersion)) ? "" : " by another version of Trine");
}

Engine open_stored(StoredEngine stored) {
  infer_shapes(*stored.graph);
  auto state = std::make_shared<Engine::State>();
  state->graph = stored.graph;
  state->objects = std::move(stored.objects);
  state->device_code = std::move(stored.device_code);
  state->metadata = std::move(stored.metadata);
  state->ranges = stored_ranges(state->metadata);
  const dnn::Limits limits = limits_of(stored);
  std::shared_ptr<Plan> plan = make_plan(stored.graph, limits);
  const bool for_device = !stored.plans.empty() && !stored.plans[0].device.empty();
  if (for_device) plan->device = stored.plans[0].device;
  const std::string wanted = plan_fingerprint(*plan);
  const auto match =
      std::find_if(stored.plans.begin(), stored.plans.end(), [&](auto& p) { return p.fingerprint == wanted; });
  if (match != stored.plans.end()) {
    adopt(*plan, *match);
  } else if (for_device) {
    plan->device = machine_text(stored.plans[0]);
  } else {
    state->replanned = true;
    state->notes.push_back(fmt::format(
        "kernels were chosen anew, for {} and {} threads: the file was built for {}; `trine build` on "
        "this machine makes opening faster",
        name(limits.level), limits.threads, stored.plans.empty() ? "no machine" : machine_text(stored.plans[0])));
    const std::string problem = choose_rows(*plan, representative_inputs(*plan->graph, with_likely(state->ranges)));
    if (!problem.empty())
      state->notes.push_back("the first run will take longer, some kernels are chosen then: " + problem);
  }
  for (auto p = stored.plans.begin(); p != stored.plans.end(); ++p)
    state->machines.push_back({p->device.empty() ? cpu_of(p->fingerprint) : p->device, p->limits.threads, p == match});
  attach_code(*plan, state->objects);
  state->plan = std::move(plan);
  set_io(*state);
  return Engine(std::move(state));
}

// A constant that several bodies share counts once.
void add_constants(const Graph& graph, std::map<const void*, size_t>& bytes) {
  for (const Value& v : graph.values)
    if (v.constant.defined()) bytes.emplace(v.constant.data(), v.constant.bytes());
  for (const Node& node : graph.nodes)
    for (const auto& body : node.bodies) add_constants(*body, bytes);
}

// A wrong graph is an engine file's fault here, not a model's.
Engine open_file(const FileBytes& file) {
  try {
    return with_memory_errors("engine", [&] { return open_stored(read_engine(file)); });
  } catch (const Error& e) {
    throw Error(e.code() == ErrorCode::invalid_model ? ErrorCode::invalid_engine : e.code(), e.what());
  }
}

}  // namespace

Engine Engine::open(const std::string& path) {
  try {
    return open_file(map_file(path));
  } catch (const Error& e) {
    const std::string what = e.what();
    throw Error(e.code(), what.starts_with(path) ? what : fmt::format("{}: {}", path, what));
  }
}

Engine Engine::from_bytes(const void* data, size_t size) {
  if (size == 0) throw Error(ErrorCode::invalid_engine, "engine: no bytes; give a complete engine file");
  Tensor copy(DType::u8, {static_cast<int64_t>(size)});
  std::memcpy(copy.mutable_data(), data, size);
  auto owner = std::make_shared<Tensor>(copy);
  return open_file({owner, {copy.as<uint8_t>(), size}, false});
}

std::vector<uint8_t> Engine::to_bytes() const { return write_engine(*state_); }

void Engine::save(const std::string& path) const { replace_file(path, to_bytes()); }

const std::vector<IoInfo>& Engine::inputs() const { return state_->inputs; }
const std::vector<IoInfo>& Engine::outputs() const { return state_->outputs; }
const std::map<std::string, std::string>& Engine::metadata() const { return state_->metadata; }
const std::vector<std::string>& Engine::notes() const { return state_->notes; }
bool Engine::replanned() const { return state_->replanned; }
std::string Engine::graph_text() const { return state_->graph->text(); }

std::vector<Datum> Engine::evaluate(const std::vector<Datum>& inputs,
                                    const std::function<void(const std::string&, const Datum&)>& see) const {
  const Graph& g = *state_->graph;
  return trine::evaluate(g, inputs, [&](ValueId id, const Datum& d) {
    if (see) see(g.value(id).name, d);
  });
}

std::string Engine::plan_text(const std::map<std::string, int64_t>& sizes, const std::string& device) const {
  return plan_table(*state_->plan, representative_inputs(*state_->graph, with_likely(state_->ranges, sizes)),
                    target_of(device).get());
}

std::string Engine::memory_text(const std::map<std::string, int64_t>& sizes, const std::string& device) const {
  return memory_table(*state_->plan, representative_inputs(*state_->graph, with_likely(state_->ranges, sizes)),
                      target_of(device).get());
}

EngineMemory Engine::memory(const std::map<std::string, int64_t>& sizes, const std::string& device) const {
  const Footprint held =
      footprint(*state_->plan, representative_inputs(*state_->graph, with_likely(state_->ranges, sizes)),
                target_of(device).get());
  return {held.weights, held.activations};
}

size_t Engine::weight_bytes() const {
  std::map<const void*, size_t> bytes;
  add_constants(*state_->graph, bytes);
  size_t sum = 0;
  for (const auto& [data, size] : bytes) sum += size;
  return sum;
}

}  // namespace trine
