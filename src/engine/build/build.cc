// build: passes, plan, code, rows, verification.
#include <fmt/format.h>

#include "base/memory.h"
#include "engine/build/generate.h"
#include "engine/build/kernels.h"
#include "engine/build/model_state.h"
#include "engine/build/shapes.h"
#include "engine/build/verify.h"
#include "engine/engine_state.h"
#include "graph/infer.h"
#include "passes/pipeline.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr int kPhases = 5;
constexpr int kVerifyRounds = 5;  // dropping a row may bring in another wrong one

class Builder {
 public:
  Builder(const Model& model, const BuildOptions& options)
      : options_(options), model_(model), graph_(model.state()->graph->deep_copy()), chooser_(options) {
    state_->metadata = model.metadata();
  }

  Engine run() {
    tell("optimise", 0);
    const std::map<std::string, int64_t> likely = apply_shapes(graph_, options_.shapes);
    optimise();
    tell("plan", 1);
    auto graph = std::make_shared<const Graph>(std::move(graph_));
    plan_ = make_plan(graph, chooser_.limits());
    likely_ = likely;
    types_ = representative_inputs(*graph, likely_);
    tell("generate code", 2);
    generate();
    tell("choose kernels", 3);
    choose();
    tell("verify", 4);
    verify();
    chooser_.settle(*plan_);
    for (std::string& text : chooser_.notes()) note(std::move(text));
    tell("done", kPhases);
    state_->graph = std::move(graph);
    state_->plan = plan_;
    set_io(*state_);
    return Engine(std::move(state_));
  }

 private:
  void tell(const std::string& phase, int done) {
    if (options_.progress) options_.progress(phase, done, kPhases);
  }
  void note(std::string text) {
    if (!text.empty()) state_->notes.push_back(std::move(text));
  }

  void optimise() {
    if (!options_.shapes.empty()) infer_shapes(graph_);
    PassOptions passes;
    passes.skip = options_.skip_passes;
    run_passes(graph_, passes);
    infer_shapes(graph_);
    graph_.verify();
  }

  void generate() {
    if (!options_.code) return;
    std::string problem;
    state_->objects = generate_code(*plan_, problem);
    note(std::move(problem));
    attach_code(*plan_, state_->objects);
  }

  void choose() {
    const std::string problem = chooser_.choose(*plan_, types_);
    if (!problem.empty()) note("some kernels are chosen at the first run: " + problem);
  }

  void verify() {
    if (options_.verify == Verify::off) return;
    for (int round = 0; round < kVerifyRounds; ++round) {
      const VerifyReport report = verify_plan(*plan_, types_, options_.verify, options_.max_error);
      for (const std::string& dropped : report.dropped) note("dropped " + dropped);
      if (!report.problem.empty() && round == 0 && guess_sizes_again()) continue;
      if (!report.problem.empty()) note("verification stopped: " + report.problem);
      if (report.dropped.empty()) {
        note(fmt::format("verified {} steps against their references ({} on samples, {} too large)", report.checked,
                         report.sampled, report.skipped));
        if (report.problem.empty()) verify_end_to_end();
        return;
      }
      choose();
    }
    throw Error(ErrorCode::mismatch, "build: kernels kept failing verification; see the notes with TRINE_DEBUG=3");
  }

  // Shapes that fit together do not always run: what a branch makes of its input shows only then.
  bool guess_sizes_again() {
    int tries = 30;
    const std::vector<Type> types = likely_inputs(*plan_->graph, likely_, [&](const std::vector<Type>& t) -> size_t {
      return tries-- > 0 ? calls_that_run(*plan_, t) : 0;
    });
    if (types == types_) return false;
    types_ = types;
    choose();
    return true;
  }

  void verify_end_to_end() {
    const std::string problem = verify_whole(*plan_, *model_.state()->graph, types_, options_.verify, options_.max_error);
    if (problem.empty()) return;
    const std::string text = fmt::format("{}; `trine bisect` names the pass or kernel to blame", problem);
    if (options_.verify == Verify::full) throw Error(ErrorCode::mismatch, "build: " + text);
    note("warning: " + text);
  }

  const BuildOptions& options_;
  const Model& model_;
  Graph graph_;
  KernelChooser chooser_;
  std::shared_ptr<Plan> plan_;
  std::map<std::string, int64_t> likely_;  // sizes that the caller gave to symbols
  std::vector<Type> types_;
  std::shared_ptr<Engine::State> state_ = std::make_shared<Engine::State>();
};

}  // namespace

Engine build(const Model& model, const BuildOptions& options) {
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
