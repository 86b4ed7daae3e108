#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trine::bench {
namespace {

constexpr double kSlow = 0.8;  // entries below this ratio are named at the end

std::string rates(const Measurement& m, const Side& side, const Machine& machine) {
  if (m.flops <= 0) return fmt::format("{:10.1f} {:>8} {:>6}", side.median * 1e6, "", "");
  const double rate = m.flops / side.median;
  return fmt::format("{:10.1f} {:8.1f} {:5.0f}%", side.median * 1e6, rate * 1e-9, rate / machine.peak_flops * 100);
}

double ratio(const Measurement& m) { return m.peer.empty() ? 0 : m.peer[0].median / m.ours[0].median; }

std::string perf_line(const Measurement& m, std::string_view engine, const Side& s) {
  const Entry& e = *m.entry;
  std::string problem = fmt::format("--{}", name(e.driver));
  for (const auto& [option, value] : e.options) problem += fmt::format(" --{}={}", option, value);
  problem += " " + e.text;
  const auto gflops = [&](double seconds) { return m.ops / seconds * 1e-9; };
  return fmt::format("perf,{},{},{},{},{:g},{:g},{:g},{:g},{:g},{:g}\n", engine, s.implementation, e.name, problem,
                     m.ops * 1e-9, s.create_ms, s.least * 1e3, gflops(s.least), s.median * 1e3, gflops(s.median));
}

}  // namespace

std::string header(const Machine& machine) {
  return fmt::format("{:<58} {:>3} {:>10} {:>8} {:>6}  {:<38}{}\n", "problem", "x", "us", "GFLOP/s", "peak", "kernel",
                     machine.has_peer ? fmt::format("{:>10} {:>6}  {}", "onednn us", "ratio", "onednn's kernel") : "");
}

std::string lines(const Measurement& m, const Machine& machine) {
  std::string text;
  for (size_t i = 0; i < m.ours.size(); ++i) {
    const Side& side = m.ours[i];
    text += fmt::format("{:<58} {:>3} {}  {:<38}", i == 0 ? m.label : "",
                        i == 0 ? fmt::format("{}", m.entry->count) : "", rates(m, side, machine), side.implementation);
    if (i == 0 && !m.peer.empty()) {
      text += fmt::format("{:10.1f} {}{:5.2f}  {}", m.peer[0].median * 1e6, m.exact ? ' ' : '~', ratio(m),
                          m.peer[0].implementation);
    }
    if (i == 0 && !m.remark.empty()) text += "  " + m.remark;
    text += "\n";
  }
  return text;
}

std::string perf_lines(const Measurement& m) {
  std::string text = perf_line(m, "cpu", m.ours[0]);
  if (!m.peer.empty()) text += perf_line(m, "onednn", m.peer[0]);
  return text;
}

std::string summary(const std::vector<Measurement>& all, const Machine& machine) {
  double ours = 0, ours_compared = 0, peer = 0, flops = 0, logs = 0, layers = 0;
  size_t compared = 0, exact = 0;
  for (const Measurement& m : all) {
    const auto count = static_cast<double>(m.entry->count);
    layers += count;
    ours += count * m.ours[0].median;
    flops += count * m.flops;
    if (m.peer.empty()) continue;
    ours_compared += count * m.ours[0].median;
    peer += count * m.peer[0].median;
    ++compared;
    if (!m.exact) continue;
    logs += std::log(ratio(m));
    ++exact;
  }
  std::string text =
      fmt::format("{} problems, {} layers, {:.2f} GFLOP: {:.3f} ms, {:.1f} GFLOP/s, {:.0f} % of the peak\n", all.size(),
                  layers, flops * 1e-9, ours * 1e3, flops / ours * 1e-9, flops / ours / machine.peak_flops * 100);
  if (compared == 0) return text;
  text += fmt::format(
      "onednn on {} of them: {:.3f} ms against {:.3f} ms, ratio {:.2f}; geometric mean of {} problems' ratios "
      "{:.3f}\n",
      compared, peer * 1e3, ours_compared * 1e3, peer / ours_compared, exact,
      std::exp(logs / static_cast<double>(std::max<size_t>(exact, 1))));
  for (const Measurement& m : all) {
    if (!m.peer.empty() && m.exact && ratio(m) < kSlow) {
      text += fmt::format("  below {}: {:.2f}  {}  {}\n", kSlow, ratio(m), m.label, m.ours[0].implementation);
    }
  }
  return text;
}

}  // namespace trine::bench
