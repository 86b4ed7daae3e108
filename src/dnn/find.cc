#include "trine/dnn/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "dnn/kernel_row.h"
#include "trine/base/env.h"

namespace trine::dnn {
namespace {

// Why `row` may not compute `problem` here; empty when it may.
std::string refusal_of(const KernelRow& row, const Problem& problem, const Limits& limits) {
  if (!runs_on(row, limits.level, limits.features)) {
    return fmt::format("needs {}; this run has {}", CpuTarget{row.needs, row.also_needs}.text(),
                       CpuTarget{limits.level, limits.features}.text());
  }
  if (std::find(limits.drop.begin(), limits.drop.end(), row.name) != limits.drop.end()) return "dropped";
  const bool is_winograd = row.numerics == Numerics::winograd || row.numerics == Numerics::winograd_bf16;
  if (is_winograd && !limits.winograd) return "winograd is not allowed";
  if (row.numerics == Numerics::strassen && !limits.fast) return "strassen's sums are allowed by `fast` alone";
  if (const char* reason = misfit(row, problem)) return reason;
  size_t workspace = workspace_bytes(row, problem, limits.threads);
  if (workspace > limits.workspace_bytes) {
    return fmt::format("workspace of {} bytes; allowed are {}", workspace, limits.workspace_bytes);
  }
  return {};
}

void order(std::vector<Candidate>& candidates, const Limits& limits) {
  const auto price = [&](const Candidate& c) {
    return c.seconds + limits.seconds_per_byte * static_cast<double>(c.packed_bytes);
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return price(a) < price(b); });
}

// What was measured earlier, or now if there is time for it.
std::optional<double> time_of(const KernelRow& row, const Problem& problem, const Limits& limits, double seconds) {
  Timings* timings = limits.timings.get();
  if (timings)
    if (const auto known = timings->find(problem, row.name, limits.threads)) return known;
  if (seconds <= 0 || (timings && timings->seconds_left <= 0)) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  const double best = measure(row, problem, limits.threads, seconds);
  if (timings) {
    timings->add(problem, row.name, limits.threads, best);
    timings->seconds_left -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ++timings->measured;
  }
  return best;
}

// Times the most promising candidates, sharing the budget; the rest keep their places behind them. A row runs twice at
// least: one that by the model takes longer than is left is not begun. Estimates and times are not compared with each
// other: when one of the times cannot be had, the model decides.
void measure_best(Choice& choice, const Limits& limits) {
  constexpr size_t kTried = 4;
  size_t tried = std::min(kTried, choice.candidates.size());
  std::vector<Candidate> timed(choice.candidates.begin(), choice.candidates.begin() + static_cast<long>(tried));
  const auto begin = std::chrono::steady_clock::now();
  for (Candidate& c : timed) {
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const bool has_time = spent + 2 * c.seconds < limits.measure_seconds;
    const auto seconds =
        time_of(*c.row, choice.problem, limits, has_time ? limits.measure_seconds / static_cast<double>(tried) : 0);
    if (!seconds) return;
    c.seconds = *seconds;
    c.measured = true;
  }
  order(timed, limits);
  std::copy(timed.begin(), timed.end(), choice.candidates.begin());
}

std::string bytes_text(std::string_view what, size_t bytes) {
  return bytes ? fmt::format("{}{}", what, bytes) : std::string();
}

constexpr std::string_view kNumericsNames[] = {"exact", "winograd", "strassen", "winograd_bf16"};

}  // namespace

std::string_view name(Numerics numerics) { return kNumericsNames[static_cast<size_t>(numerics)]; }

std::string Choice::text() const {
  std::string out = dnn::text(problem) + "\n";
  for (const Candidate& c : candidates)
    out += fmt::format("  {:9.3f} us {} {} ({}{}{})\n", c.seconds * 1e6, c.measured ? "measured" : "by model", c.name,
                       dnn::name(c.numerics), bytes_text(", weights ", c.packed_bytes),
                       bytes_text(", workspace ", c.workspace_bytes));
  std::vector<std::pair<std::string_view, std::string>> names_of;  // by reason, in the order of the first row
  for (const Refusal& r : refusals) {
    auto same =
        std::find_if(names_of.begin(), names_of.end(), [&](const auto& entry) { return entry.first == r.reason; });
    if (same == names_of.end()) names_of.emplace_back(r.reason, r.name);
    else same->second += fmt::format(", {}", r.name);
  }
  for (const auto& [reason, names] : names_of) out += fmt::format("  refused   {}: {}\n", reason, names);
  return out;
}

Choice find(const Problem& problem, const Limits& limits) {
  Choice choice{problem, {}, {}};
  const int threads = limits.deterministic ? 1 : limits.threads;
  for (const KernelRow* row : rows_of(op_kind(problem))) {
    std::string reason = refusal_of(*row, problem, limits);
    if (reason.empty()) {
      choice.candidates.push_back({row, row->name, row->numerics, row->cost(problem, threads), false,
                                   packed_bytes(*row, problem), workspace_bytes(*row, problem, limits.threads)});
    } else {
      choice.refusals.push_back({row, row->name, std::move(reason)});
    }
  }
  order(choice.candidates, limits);
  const bool may_measure = !limits.deterministic && (limits.measure_seconds > 0 || limits.timings);
  if (may_measure && choice.candidates.size() > 1) measure_best(choice, limits);
  if (debug_shows(DebugLevel::choices)) std::fputs(choice.text().c_str(), stderr);
  return choice;
}

}  // namespace trine::dnn
