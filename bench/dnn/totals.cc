#include "totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace trine::bench {
namespace {

constexpr double kSlow = 0.8;  // problems below this ratio are named

void add(const Measurement& m, Total& t) {
  const auto count = static_cast<double>(m.entry->count);
  const double ours = count * m.ours[0].median;
  ++t.problems;
  t.layers += count;
  t.flops += count * m.flops;
  t.at_peak += count * m.flops / m.peak_flops;
  t.ours += ours;
  if (!m.peer.empty()) {
    ++t.compared;
    t.ours_compared += ours;
    t.peer += count * m.peer[0].median;
    if (m.exact) ++t.exact, t.logs += std::log(ratio(m));
  }
  if (m.baseline > 0) {
    ++t.based;
    t.ours_based += ours;
    t.baseline += count * m.baseline;
    t.gain_logs += std::log(gain(m));
  }
}

Total& total_of(std::vector<Total>& totals, const std::string& list, const std::string& type) {
  const auto found =
      std::find_if(totals.begin(), totals.end(), [&](const Total& t) { return t.list == list && t.type == type; });
  if (found != totals.end()) return *found;
  totals.push_back({.list = list, .type = type});
  return totals.back();
}

double geometric_mean(double logs, size_t count) {
  return count == 0 ? 0 : std::exp(logs / static_cast<double>(count));
}

std::string comparison(const std::string& with, size_t compared, double theirs, double ours, size_t exact,
                       double mean) {
  return fmt::format(
      "  {} on {} of them: {:.3f} ms against {:.3f} ms, ratio {:.2f}; geometric mean of {} problems' ratios {:.3f}\n",
      with, compared, theirs * 1e3, ours * 1e3, theirs / ours, exact, mean);
}

using Cells = std::vector<std::string>;

std::string row(const Cells& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }
std::string head(const Cells& cells) { return row(cells) + row(Cells(cells.size(), "---")); }

Cells peer_cells(const Total& t) {
  if (t.compared == 0) return Cells(3);
  return {fmt::format("{:.2f}", t.peer * 1e3), fmt::format("{:.2f}", t.peer / t.ours_compared),
          fmt::format("{:.2f} of {}", t.mean_ratio(), t.exact)};
}

Cells baseline_cells(const Total& t) {
  if (t.based == 0) return Cells(2);
  return {fmt::format("{:.2f}", t.baseline / t.ours_based), fmt::format("{:.2f} of {}", t.mean_gain(), t.based)};
}

std::string table_of_lists(const std::vector<Total>& totals, const Columns& columns) {
  Cells heads{"list", "type", "problems", "ms", "GFLOP/s", "% of peak"};
  const auto append = [](Cells& to, const Cells& more) { to.insert(to.end(), more.begin(), more.end()); };
  if (columns.peer) append(heads, {"onednn ms", "ratio", "geometric mean"});
  if (!columns.baseline.empty()) append(heads, {columns.baseline + " ratio", "geometric mean"});
  std::string text = head(heads);
  for (const Total& t : totals) {
    Cells cells{t.list,
                t.type,
                fmt::format("{}", t.problems),
                fmt::format("{:.2f}", t.ours * 1e3),
                fmt::format("{:.1f}", t.flops / t.ours * 1e-9),
                fmt::format("{:.0f}", t.at_peak / t.ours * 100)};
    if (columns.peer) append(cells, peer_cells(t));
    if (!columns.baseline.empty()) append(cells, baseline_cells(t));
    text += row(cells);
  }
  return text;
}

std::string table_of_slow_ones(const std::vector<const Measurement*>& slow) {
  if (slow.empty()) return fmt::format("No problem is below {}.\n", kSlow);
  std::string text = fmt::format("Below {}:\n\n", kSlow) +
                     head({"problem", "type", "x", "kernel", "us", "onednn us", "ratio", "onednn's kernel"});
  for (const Measurement* m : slow) {
    text += row({label_of(*m->entry), type_of(*m->entry), fmt::format("{}", m->entry->count), m->ours[0].implementation,
                 fmt::format("{:.1f}", m->ours[0].median * 1e6), fmt::format("{:.1f}", m->peer[0].median * 1e6),
                 fmt::format("{:.2f}", ratio(*m)), m->peer[0].implementation});
  }
  return text;
}

}  // namespace

double Total::mean_ratio() const { return geometric_mean(logs, exact); }
double Total::mean_gain() const { return geometric_mean(gain_logs, based); }

std::vector<Total> totals(const std::vector<Measurement>& all) {
  std::vector<Total> totals;
  std::set<std::string> lists;
  for (const Measurement& m : all) {
    add(m, total_of(totals, m.entry->list, type_of(*m.entry)));
    lists.insert(m.entry->list);
  }
  if (lists.size() < 2) return totals;
  for (const Measurement& m : all) add(m, total_of(totals, "all", type_of(*m.entry)));
  return totals;
}

std::vector<const Measurement*> slow_ones(const std::vector<Measurement>& all) {
  std::vector<const Measurement*> slow;
  for (const Measurement& m : all) {
    if (!m.peer.empty() && m.exact && ratio(m) < kSlow) slow.push_back(&m);
  }
  std::stable_sort(slow.begin(), slow.end(), [](auto* a, auto* b) { return ratio(*a) < ratio(*b); });
  return slow;
}

std::string summary(const std::vector<Measurement>& all, const Columns& columns) {
  std::string text;
  for (const Total& t : totals(all)) {
    text += fmt::format(
        "{} {}: {} problems, {} layers, {:.2f} GFLOP: {:.3f} ms, {:.1f} GFLOP/s, {:.0f} % of the peak\n", t.list,
        t.type, t.problems, t.layers, t.flops * 1e-9, t.ours * 1e3, t.flops / t.ours * 1e-9, t.at_peak / t.ours * 100);
    if (t.compared > 0) text += comparison("onednn", t.compared, t.peer, t.ours_compared, t.exact, t.mean_ratio());
    if (t.based > 0) text += comparison(columns.baseline, t.based, t.baseline, t.ours_based, t.based, t.mean_gain());
  }
  for (const Measurement* m : slow_ones(all)) {
    text += fmt::format("  below {}: {:.2f}  {}  {}  {}\n", kSlow, ratio(*m), type_of(*m->entry), label_of(*m->entry),
                        m->ours[0].implementation);
  }
  return text;
}

std::string markdown(const std::vector<Measurement>& all, const Columns& columns) {
  const std::string lists = table_of_lists(totals(all), columns);
  return columns.peer ? lists + "\n" + table_of_slow_ones(slow_ones(all)) : lists;
}

}  // namespace trine::bench
