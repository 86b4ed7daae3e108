#include "trine/engine/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "engine/engine_state.h"
#include "plan/device_runtime.h"
#include "plan/executor.h"
#include "plan/table.h"
#include "trine/base/error.h"

namespace trine {
namespace {

// The model was right when it was built: with these sizes of its open dimensions its operators do not fit together.
[[noreturn]] void refuse_sizes(const Engine& engine, const std::vector<Datum>& inputs, const Error& why) {
  std::string given;
  for (size_t i = 0; i < engine.inputs().size() && i < inputs.size(); ++i) {
    const IoInfo& io = engine.inputs()[i];
    if (!inputs[i].is_tensor() || io.type.shape.is_static()) continue;
    given += fmt::format("{}input '{}': {} for {}", given.empty() ? "" : ", ", io.name, inputs[i].tensor().type_text(),
                         io.type.text());
  }
  if (given.empty()) throw why;
  throw Error(ErrorCode::invalid_argument, fmt::format("{}; the model takes other sizes: {}", given, why.what()));
}

}  // namespace

struct Session::Impl {
  Engine engine;
  int threads;
  double max_seconds;
  std::string device;
  std::unique_ptr<ThreadPool> pool;
  std::shared_ptr<DeviceRuntime> runtime;         // null: this CPU
  std::vector<std::shared_ptr<const void>> code;  // of the engine, that the runtime takes kernels from
  std::unique_ptr<Runner> runner;
  std::vector<std::string> notes;

  Impl(const Engine& e, int n, const SessionOptions& options)
      : engine(e), threads(n), max_seconds(options.max_seconds), device(options.device) {
    if (is_this_cpu(device)) {
      if (n > 1) pool = std::make_unique<ThreadPool>(n);
      runner = std::make_unique<Executor>(e.state()->plan, pool.get());
    } else {
      runtime = open_device(device);
      for (const DeviceCode& stored : e.state()->device_code)
        code.push_back(runtime->adopt({stored.bytes.as<char>(), stored.bytes.bytes()}));
      runner = runtime->runner(e.state()->plan, options.graphs);
    }
    compare_machines();
  }

  std::vector<Datum> guarded(const std::vector<Datum>& inputs, const std::function<std::vector<Datum>()>& run) {
    check_ranges(engine.state()->ranges, engine.inputs(), inputs);
    const Deadline deadline(max_seconds);
    try {
      return with_memory_errors("run", run);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::invalid_model) throw;
      refuse_sizes(engine, inputs, e);
    }
  }

  // The engine may hold choices for another device.
  void compare_machines() {
    const Plan& plan = *engine.state()->plan;
    const std::string here = runtime ? runtime->target().fingerprint() : "";
    if (plan.device == here) return;
    const auto text = [&](const std::string& fingerprint) {
      return fingerprint.empty() ? std::string(name(plan.limits.level)) : fingerprint;
    };
    notes.push_back(
        fmt::format("kernels are chosen when they first run, for {}: the engine was built for {}; `trine "
                    "build --device {}` chooses and verifies them before",
                    text(here), text(plan.device), runtime ? device : "cpu"));
  }
};

Session::Session(const Engine& engine, SessionOptions options) {
  if (options.threads < 0 || options.threads > 1024)
    throw Error(ErrorCode::invalid_argument, fmt::format("session: {} threads; give 0 (all) to 1024", options.threads));
  impl_ = std::make_unique<Impl>(engine, options.threads > 0 ? options.threads : default_thread_count(), options);
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::vector<Datum> Session::run(const std::vector<Datum>& inputs) {
  return impl_->guarded(inputs, [&] { return impl_->runner->run(inputs); });
}

std::vector<Datum> Session::run_timed(const std::vector<Datum>& inputs, DeviceTimes& times, int queued) {
  RunTimes taken;
  std::vector<Datum> out = impl_->guarded(inputs, [&] { return impl_->runner->run_timed(inputs, queued, taken); });
  times = {taken.compute, taken.with_copies, taken.queued};
  return out;
}

std::map<std::string, Datum> Session::run(const std::map<std::string, Datum>& inputs) {
  const auto &ins = impl_->engine.inputs(), &outs = impl_->engine.outputs();
  std::vector<std::string> names;
  for (const IoInfo& io : ins) names.push_back(io.name);
  std::vector<Datum> ordered;
  for (const IoInfo& io : ins) {
    const auto it = inputs.find(io.name);
    if (it == inputs.end())
      throw Error(ErrorCode::invalid_argument, fmt::format("run: input '{}' ({}) is not given; inputs are {}", io.name,
                                                           io.type.text(), fmt::join(names, ", ")));
    ordered.push_back(it->second);
  }
  for (const auto& [name, datum] : inputs)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("run: no input '{}'; inputs are {}", name, fmt::join(names, ", ")));
  std::vector<Datum> made = run(ordered);
  std::map<std::string, Datum> out;
  for (size_t i = 0; i < outs.size(); ++i) out[outs[i].name] = std::move(made[i]);
  return out;
}

namespace {

// Stops observing however the run ends.
struct ObserverGuard {
  Runner& runner;
  ~ObserverGuard() { runner.observe({}); }
};

}  // namespace

std::vector<Datum> Session::profile(const std::vector<Datum>& inputs, std::vector<StepTime>& steps) {
  const ObserverGuard guard{*impl_->runner};
  const auto note = [&](const CallEvent& event) {
    const CallTime t = call_time(event);
    steps.push_back({t.node, t.op, t.kernel, t.seconds, t.flops, t.bytes, t.provider});
  };
  impl_->runner->observe({note, false});
  return run(inputs);
}

std::vector<Datum> Session::trace(const std::vector<Datum>& inputs, const StepData& see) {
  const ObserverGuard guard{*impl_->runner};
  impl_->runner->observe({[&](const CallEvent& event) {
                            const Graph& g = *event.plan->graph;
                            for (size_t i = 0; i < event.node->outputs.size(); ++i) {
                              const ValueId id = event.node->outputs[i];
                              if (id != kNoValue)
                                see(event.node->name, std::string(event.node->op->name), g.value(id).name,
                                    (*event.outputs)[i]);
                            }
                          },
                          true});
  return run(inputs);
}

const Engine& Session::engine() const { return impl_->engine; }
int Session::threads() const { return impl_->threads; }
const std::vector<std::string>& Session::notes() const { return impl_->notes; }
const std::string& Session::device() const { return impl_->device; }
size_t Session::arena_bytes() const { return impl_->runner->arena_bytes(); }

}  // namespace trine
