// build: passes, plan, code, rows, verification.
#include <fmt/format.h>

#include "base/memory.h"
#include "dnn/kernel_row.h"
#include "engine/build/generate.h"
#include "engine/build/kernels.h"
#include "engine/build/model_state.h"
#include "engine/build/precision.h"
#include "engine/build/record.h"
#include "engine/build/shapes.h"
#include "engine/build/verify.h"
#include "engine/engine_state.h"
#include "graph/infer.h"
#include "passes/pipeline.h"
#include "plan/device_runtime.h"
#include "plan/executor.h"
#include "plan/table.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr int kPhases = 5;
constexpr int kVerifyRounds = 5;  // dropping a row may bring in another wrong one

class Builder {
 public:
  Builder(const Model& model, const BuildOptions& options)
      : options_(options), model_(model), graph_(model.state()->graph->deep_copy()), chooser_(options) {
    if (!is_this_cpu(options.device)) runtime_ = open_device(options.device);
    chooser_.on_progress([this](const std::string& phase) { tell(phase, 3); });
    state_->metadata = model.metadata();
  }

  Engine run() {
    tell("optimise", 0);
    const SymbolRanges ranges = apply_shapes(graph_, options_.shapes);
    store_ranges(state_->metadata, ranges);
    state_->ranges = ranges;
    optimise();
    likely_ = with_likely(ranges);
    narrow();
    tell("plan", 1);
    auto graph = std::make_shared<const Graph>(std::move(graph_));
    plan_ = make_plan(graph, chooser_.limits());
    types_ = representative_inputs(*graph, likely_);
    tell("generate code", 2);
    generate();
    tell("choose kernels", 3);
    choose();
    tell("verify", 4);
    verify();
    chooser_.settle(*plan_);
    for (std::string& text : chooser_.notes()) note(std::move(text));
    note(runtime_ ? host_steps() : slow_types());
    keep_device_code();
    store_record(state_->metadata, options_, input_types(*graph), types_);
    tell("done", kPhases);
    state_->graph = std::move(graph);
    state_->plan = plan_;
    set_io(*state_);
    return Engine(std::move(state_));
  }

 private:
  static std::vector<Type> input_types(const Graph& graph) {
    std::vector<Type> types;
    for (ValueId id : graph.inputs) types.push_back(graph.type(id));
    return types;
  }
  void tell(const std::string& phase, int done) {
    if (options_.progress) options_.progress(phase, done, kPhases);
  }
  void note(std::string text) {
    if (!text.empty()) state_->notes.push_back(std::move(text));
  }

  void optimise() {
    if (options_.precision == Precision::bf16 && !runtime_ && !cpu_features().bf16)
      note("bf16: this CPU does not multiply bf16 (AVX512_BF16); fp32 is faster here");
    if (!options_.shapes.empty()) infer_shapes(graph_);
    PassOptions passes;
    passes.skip = options_.skip_passes;
    passes.device = runtime_ != nullptr;
    passes.bf16 = options_.precision == Precision::bf16 && !runtime_;
    run_passes(graph_, passes);
    infer_shapes(graph_);
    graph_.verify();
  }

  // On a device: what flows becomes halves.
  void narrow() {
    const Precision wanted = options_.precision;
    PrecisionReport report;
    if (runtime_ && (wanted == Precision::fp16 || wanted == Precision::bf16))
      report = narrow_graph(graph_, wanted == Precision::fp16 ? DType::f16 : DType::bf16);
    if (runtime_ && wanted == Precision::best)
      report = narrow_within(graph_, representative_inputs(graph_, likely_), chooser_.limits(), tolerance());
    store_precision(state_->metadata, report);
    if (report.half == DType::none) return;
    infer_shapes(graph_);
    graph_.verify();
    if (!report.problem.empty())
      note(fmt::format("precision: errors could not be measured ({}); all is {} that may be", report.problem,
                       name(report.half)));
    if (report.error)
      note(fmt::format("precision: {}, outputs are off by {:.2g} of their largest value at most, allowed are {:.2g}",
                       name(report.half), *report.error, tolerance()));
    if (!report.kept.empty())
      note(fmt::format("precision: {} layers stay in fp32, {} read {}; trine inspect says which and why",
                       report.kept.size(), report.readers - std::min(report.readers, report.kept.size()),
                       name(report.half)));
  }

  double tolerance() const {
    constexpr double kUsual = 0.01;
    return options_.max_error > 0 ? options_.max_error : kUsual;
  }
  // Of verification: `best` means another thing by max_error.
  double factor() const { return options_.precision == Precision::best ? 0 : options_.max_error; }

  void generate() {
    if (!options_.code || runtime_) return;
    std::string problem;
    state_->objects = generate_code(*plan_, problem);
    note(std::move(problem));
    attach_code(*plan_, state_->objects);
  }

  void choose() {
    const std::string problem = chooser_.choose(*plan_, types_, target());
    all_chosen_ = problem.empty();
    if (!problem.empty())
      note(fmt::format(
          "the first run will take longer: some kernels are chosen then, as sizes were not known ({}); --shapes "
          "names them",
          problem));
  }

  void verify() {
    if (options_.verify == Verify::off) return;
    for (int round = 0; round < kVerifyRounds; ++round) {
      const VerifyReport report = verify_plan(*plan_, types_, options_.verify, factor(), make_);
      for (const std::string& dropped : report.dropped) note(dropped);
      if (!report.problem.empty() && round == 0 && guess_sizes_again()) continue;
      if (!report.problem.empty()) note(unchecked_note(report.problem));
      if (report.dropped.empty()) {
        note(checked_note(report));
        if (report.problem.empty()) verify_end_to_end();
        return;
      }
      choose();
    }
    throw Error(ErrorCode::mismatch,
                "build: one kernel after the other gives wrong results; TRINE_DEBUG=3 shows them, --verify off builds "
                "without checking");
  }

  static std::string unchecked_note(const std::string& problem) {
    return fmt::format(
        "the results were not all checked: the model does not run on random inputs ({}); trine run MODEL "
        "--input NAME=VALUE --check reference checks it on yours",
        problem);
  }

  // What was compared with the plain definitions of the operators, what not, why, and what compares more.
  static std::string checked_note(const VerifyReport& r) {
    const auto steps = [](int n) { return fmt::format("{} step{}", n, n == 1 ? "" : "s"); };
    const int all = r.checked + r.skipped + r.undefined;
    if (all == 0) return "";
    std::string text = fmt::format(
        "checked: {} of {} give what the definitions of the operators give, on random inputs", r.checked, steps(all));
    if (r.sampled) text += fmt::format("; of {} only some of the values were compared, to save time", steps(r.sampled));
    if (r.skipped) text += fmt::format("; {} not checked, as the definitions would take long", steps(r.skipped));
    if (r.sampled || r.skipped) text += " (--verify full checks everything)";
    if (r.undefined) text += fmt::format("; {} not checked, as there is no plain definition", steps(r.undefined));
    return text;
  }

  const Target* target() const { return runtime_ ? &runtime_->target() : nullptr; }

  // What the device leaves to the CPU.
  std::string host_steps() const {
    std::map<std::string, int> steps;
    int all = 0;
    try {
      const std::unique_ptr<Segment> segment = prepare_sizes(*plan_, types_, target());
      for (const Call& call : segment->calls)
        if (call.kind == Call::Kind::host)
          ++steps[std::string(plan_->graph->nodes[static_cast<size_t>(call.node)].op->name)], ++all;
    } catch (const Error&) {
      return "";  // sizes that do not fit together; another note says so
    }
    std::string text;
    for (const auto& [op, count] : steps) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, op);
    if (all == 0) return "";
    return fmt::format("{} step{} on the CPU, with copies in between ({}); trine inspect --plan says why", all,
                       all == 1 ? " runs" : "s run", text);
  }

  // The first segment of a plan and of its bodies, for likely sizes.
  void add_segments(const Plan& plan, const std::vector<Type>& types, std::vector<std::unique_ptr<Segment>>& to) const {
    try {
      to.push_back(prepare_sizes(plan, types, target()));
    } catch (const Error& e) {
      if (e.code() == ErrorCode::out_of_memory) throw;  // else sizes that do not fit together
    }
    for (const PlanStep& step : plan.steps)
      for (const auto& body : step.bodies) add_segments(*body, representative_inputs(*body->graph, likely_), to);
  }

  // Kernels that devices of this architecture then need no compiler for.
  void keep_device_code() {
    if (!options_.code || !runtime_) return;
    try {
      std::vector<std::unique_ptr<Segment>> segments;
      add_segments(*plan_, types_, segments);
      const std::string code = runtime_->code(segments);
      if (code.empty()) return;
      Tensor bytes(DType::u8, {static_cast<int64_t>(code.size())});
      std::copy(code.begin(), code.end(), static_cast<char*>(bytes.mutable_data()));
      state_->device_code.push_back({plan_->device, std::move(bytes)});
    } catch (const Error& e) {
      if (e.code() == ErrorCode::out_of_memory) throw;
      note(fmt::format("the file holds no compiled kernels: {}", e.what()));
    }
  }

  // Kernels compute in f32: a model of another float type works, slowly, and is told so.
  std::string slow_types() const {
    std::map<std::string, int> steps;
    for (size_t n = 0; n < plan_->steps.size(); ++n) {
      const PlanStep& step = plan_->steps[n];
      const bool rowless = step.kind == StepKind::kernel && step.rows.empty() && all_chosen_;
      if (!rowless && (step.kind != StepKind::host || !step.bodies.empty())) continue;
      for (ValueId id : plan_->graph->nodes[n].inputs) {
        if (id == kNoValue || !plan_->graph->type(id).is_tensor()) continue;
        const DType dtype = plan_->graph->type(id).dtype;
        if (!is_float(dtype) || dtype == DType::f32) continue;
        ++steps[std::string(name(dtype))];
        break;
      }
    }
    std::string text;
    for (const auto& [dtype, count] : steps) text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", count, dtype);
    return text.empty() ? ""
                        : "slow steps: " + text +
                              "; there are no fast kernels for these number formats, export the model as float32";
  }

  // Shapes that fit together do not always run: what a branch makes of its input shows only then.
  bool guess_sizes_again() {
    int tries = 30;
    const std::vector<Type> types = likely_inputs(*plan_->graph, likely_, [&](const std::vector<Type>& t) -> size_t {
      return tries-- > 0 ? calls_that_run(*plan_, t, make_) : 0;
    });
    if (types == types_) return false;
    types_ = types;
    choose();
    return true;
  }

  // What the whole may be off, in units of 2^-16 of the largest value. A measured error is one on a few inputs.
  double whole_factor() const {
    constexpr double kUnit = 0x1p16;
    if (options_.precision == Precision::best) return std::max(2 * tolerance() * kUnit, 64.0);
    if (options_.max_error > 0) return options_.max_error;
    switch (options_.precision) {
      case Precision::bf16: return kUnit / 32;
      case Precision::fp16:
      case Precision::tf32: return kUnit / 128;
      default: return 0;
    }
  }

  void verify_end_to_end() {
    const std::string problem =
        verify_whole(*plan_, *model_.state()->graph, types_, options_.verify, whole_factor(), make_);
    if (problem.empty()) return;
    const std::string text = fmt::format("{}; `trine bisect` names the pass or kernel to blame", problem);
    if (options_.verify == Verify::full) throw Error(ErrorCode::mismatch, "build: " + text);
    note("warning: " + text);
  }

  const BuildOptions& options_;
  const Model& model_;
  Graph graph_;
  KernelChooser chooser_;
  std::shared_ptr<DeviceRuntime> runtime_;  // null: this CPU
  const MakeRunner make_ = [this](std::shared_ptr<const Plan> plan) -> std::unique_ptr<Runner> {
    if (runtime_) return runtime_->runner(std::move(plan));
    return std::make_unique<Executor>(std::move(plan), nullptr);
  };
  std::shared_ptr<Plan> plan_;
  std::map<std::string, int64_t> likely_;  // sizes that the caller gave to symbols
  std::vector<Type> types_;
  bool all_chosen_ = false;  // no step waits for its first run
  std::shared_ptr<Engine::State> state_ = std::make_shared<Engine::State>();
};

// ", such as <the row that begins most alike>".
std::string nearest_row(std::string_view name) {
  std::string_view best;
  size_t alike = 3;
  for (const dnn::KernelRow* row : dnn::all_rows()) {
    const auto [a, b] = std::mismatch(name.begin(), name.end(), row->name.begin(), row->name.end());
    if (const auto length = static_cast<size_t>(a - name.begin()); length > alike) alike = length, best = row->name;
  }
  return best.empty() ? "" : fmt::format(", such as {}", best);
}

void check_options(const BuildOptions& options) {
  const std::shared_ptr<const Target> target = target_of(options.device);
  if (options.threads < 0 || options.threads > 1024)
    throw Error(ErrorCode::invalid_argument, fmt::format("build: {} threads; give 0 (all) to 1024", options.threads));
  if (!target && options.precision != Precision::fp32 && options.precision != Precision::bf16)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("build: precision {} on this CPU; it takes fp32 and bf16, devices (simt, cuda:0) take all",
                            name(options.precision)));
  for (const std::string& name : options.drop) {
    if (dnn::find_row(name) || (target && target->has_row(name))) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("drop: no kernel row is called '{}'; trine inspect --plan shows those that a model uses{}",
                            name, nearest_row(name)));
  }
}

}  // namespace

Engine build(const Model& model, const BuildOptions& options) {
  check_options(options);
  const MemoryCap cap(options.max_memory_bytes);
  return with_memory_errors("build", [&] { return Builder(model, options).run(); });
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : passes())
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) names.emplace_back(pass.name);
  return names;
}

}  // namespace trine
