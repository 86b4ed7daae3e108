#include "engine/build/kernels.h"

#include <fmt/format.h>

#include "base/memory.h"
#include "dnn/timings_file.h"
#include "engine/build/problem_collector.h"
#include "plan/footprint.h"
#include "trine/base/cpu.h"
#include "trine/base/error.h"

namespace trine {
namespace {

template <class F>
void for_each_plan(Plan& plan, const F& f) {
  f(plan);
  for (PlanStep& step : plan.steps)
    for (const auto& body : step.bodies) for_each_plan(*body, f);
}

double mebibytes(double bytes) { return bytes / (1 << 20); }

}  // namespace

KernelChooser::KernelChooser(const BuildOptions& options) : options_(options) {
  const bool measures = options.budget_seconds > 0 || !options.timing_cache.empty();
  if (options.deterministic && measures)
    throw Error(ErrorCode::invalid_argument,
                "build: deterministic with a budget or a timing cache; what is measured may "
                "choose other kernels elsewhere, so give one or the other");
  limits_.threads = options.threads > 0 ? options.threads : default_thread_count();
  if (options.fast && options.strict_fp32)
    throw Error(ErrorCode::invalid_argument, "build: fast and strict_fp32 contradict each other; give one or none");
  limits_.winograd = !options.strict_fp32;
  limits_.fast = options.fast;
  limits_.drop = options.drop;
  limits_.deterministic = options.deterministic;
  limits_.tf32 = options.precision == Precision::tf32;
  limits_.providers = options.providers;
  if (options.workspace_bytes > 0) limits_.workspace_bytes = options.workspace_bytes;
  if (!measures) return;
  limits_.timings = std::make_shared<dnn::Timings>();
  limits_.timings->seconds_left = options.budget_seconds;
  if (options.timing_cache.empty()) return;
  if (const auto text = dnn::read_timings(options.timing_cache)) ignored_ = limits_.timings->merge(*text);
}

std::string KernelChooser::choose(Plan& plan, const std::vector<Type>& types, const Target* target) {
  if (target) {
    if (limits_.timings && limits_.timings->seconds_left > 0) measure(plan, types, *target);
    return choose_rows(plan, types, target);
  }
  int steps = 0;
  for_each_plan(plan, [&](const Plan& p) {
    for (const PlanStep& step : p.steps) steps += step.kind == StepKind::kernel;
  });
  for_each_plan(plan, [&](Plan& p) {
    p.packed.clear();
    p.limits.measure_seconds = options_.budget_seconds / std::max(steps, 1);
  });
  if (options_.max_memory_bytes > 0) shrink(plan, types);
  return choose_rows(plan, types);
}

// Each problem once, those first that take most of a run.
void KernelChooser::measure(Plan& plan, const std::vector<Type>& types, const Target& target) {
  ProblemCollector collector(target);
  choose_rows(plan, types, &collector);
  const std::vector<dnn::Problem> problems = collector.heaviest_first();
  for (size_t i = 0; i < problems.size() && limits_.timings->seconds_left > 0; ++i) {
    if (tell_) tell_(fmt::format("choose kernels: {} of {} problems timed", i, problems.size()));
    target.measure(plan, problems[i]);
  }
}

// Raises the price of memory until the plan fits.
void KernelChooser::shrink(Plan& plan, const std::vector<Type>& types) {
  constexpr double kDear = 1e-3;  // seconds per byte
  const auto held = static_cast<size_t>(memory_in_use());
  const size_t allowed = options_.max_memory_bytes > held ? options_.max_memory_bytes - held : 0;
  size_t least = 0;
  for (double price = dnn::kStreamed; price < kDear; price *= 2) {
    for_each_plan(plan, [&](Plan& p) {
      p.limits.seconds_per_byte = price;
      for (PlanStep& step : p.steps) step.rows.clear();
    });
    try {
      least = footprint(plan, types).total();
    } catch (const Error&) {
      return;  // sizes that do not fit together have no footprint; choose_rows says why
    }
    if (least <= allowed) return;
    wanted_ = std::max(wanted_, least);
  }
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("build: weights and activations take at least {:.1f} MiB beside {:.1f} MiB that the model holds; "
                  "allowed are {:.1f}",
                  mebibytes(static_cast<double>(least)), mebibytes(static_cast<double>(held)),
                  mebibytes(static_cast<double>(options_.max_memory_bytes))));
}

void KernelChooser::settle(Plan& plan) {
  for_each_plan(plan, [](Plan& p) {
    p.limits.measure_seconds = 0;
    p.limits.timings = nullptr;
  });
  if (options_.timing_cache.empty() || limits_.timings->measured == 0) return;
  dnn::save_timings(*limits_.timings, options_.timing_cache);
}

std::vector<std::string> KernelChooser::notes() const {
  std::vector<std::string> notes;
  if (ignored_ > 0)
    notes.push_back(fmt::format("timing cache: {}: {} damaged lines are ignored", options_.timing_cache, ignored_));
  if (limits_.timings && limits_.timings->measured > 0)
    notes.push_back(fmt::format("timed {} kernels{}", limits_.timings->measured,
                                limits_.timings->seconds_left <= 0
                                    ? " until the budget was spent; a longer --budget, or another build with the same "
                                      "--timing-cache, times the rest"
                                    : ""));
  for (const auto& [row, why] : limits_.timings ? limits_.timings->failures() : std::map<std::string, std::string>())
    notes.push_back(fmt::format("kernel {} is left out, as it does not run here: {}", row, why));
  if (wanted_ > 0)
    notes.push_back(fmt::format("smaller kernels are used, to keep within --max-mem: the fastest would hold {:.1f} MiB",
                                mebibytes(static_cast<double>(wanted_))));
  return notes;
}

}  // namespace trine
