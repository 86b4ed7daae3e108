#include "dnn/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "trine/base/env.h"

namespace trine::dnn {
namespace {

// Why `row` may not compute `problem` here; empty when it may.
std::string refusal_of(const KernelRow& row, const Problem& problem, const Limits& limits) {
  if (row.needs > limits.level) return fmt::format("needs {}; this run has {}", name(row.needs), name(limits.level));
  if (std::find(limits.drop.begin(), limits.drop.end(), row.name) != limits.drop.end()) return "dropped";
  if (row.numerics == Numerics::winograd && !limits.winograd) return "winograd is not allowed";
  if (const char* reason = row.fits(problem)) return reason;
  size_t workspace = workspace_bytes(row, problem, limits.threads);
  if (workspace > limits.workspace_bytes) {
    return fmt::format("workspace of {} bytes; allowed are {}", workspace, limits.workspace_bytes);
  }
  return {};
}

void order_by_time(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
}

// Times the most promising candidates, sharing the budget; the rest keep their places behind them.
void measure_best(Choice& choice, const Limits& limits) {
  constexpr size_t kTried = 4;
  size_t tried = std::min(kTried, choice.candidates.size());
  std::vector<Candidate> rest(choice.candidates.begin() + static_cast<long>(tried), choice.candidates.end());
  choice.candidates.resize(tried);
  for (Candidate& c : choice.candidates) {
    c.seconds = measure(*c.row, choice.problem, limits.threads, limits.measure_seconds / static_cast<double>(tried));
    c.measured = true;
  }
  order_by_time(choice.candidates);
  choice.candidates.insert(choice.candidates.end(), rest.begin(), rest.end());
}

}  // namespace

std::string Choice::text() const {
  std::string out = dnn::text(problem) + "\n";
  for (const Candidate& c : candidates)
    out += fmt::format("  {:9.3f} us {} {}\n", c.seconds * 1e6, c.measured ? "measured" : "by model", c.row->name);
  for (const Refusal& r : refusals) out += fmt::format("  refused   {}: {}\n", r.row->name, r.reason);
  return out;
}

Choice find(const Problem& problem, const Limits& limits) {
  Choice choice{problem, {}, {}};
  for (const KernelRow* row : rows_of(op_kind(problem))) {
    std::string reason = refusal_of(*row, problem, limits);
    if (reason.empty()) {
      choice.candidates.push_back({row, row->cost(problem, limits.threads), false});
    } else {
      choice.refusals.push_back({row, std::move(reason)});
    }
  }
  order_by_time(choice.candidates);
  if (limits.measure_seconds > 0 && choice.candidates.size() > 1) measure_best(choice, limits);
  if (debug_shows(DebugLevel::choices)) std::fputs(choice.text().c_str(), stderr);
  return choice;
}

}  // namespace trine::dnn
