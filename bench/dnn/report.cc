#include "report.h"

#include <fmt/format.h>

#include <algorithm>

namespace trine::bench {
namespace {

constexpr const char* kTemplate =
    "perf,%engine%,%impl%,%name%,%prb%,%Gops%,%+ctime%,%-time%,%-Gflops%,%0time%,%0Gflops%";
constexpr size_t kLongestLabel = 58;

std::string rates(const Measurement& m, const Side& side) {
  if (m.flops <= 0) return fmt::format("{:10.1f} {:>8} {:>6}", side.median * 1e6, "", "");
  const double rate = m.flops / side.median;
  return fmt::format("{:10.1f} {:8.1f} {:5.0f}%", side.median * 1e6, rate * 1e-9, rate / m.peak_flops * 100);
}

size_t baseline_width(const Columns& columns) { return std::max<size_t>(columns.baseline.size() + 6, 10); }

std::string shortened(const std::string& label) {
  return label.size() <= kLongestLabel ? label : label.substr(0, kLongestLabel - 3) + "...";
}

std::string perf_line(const Measurement& m, std::string_view engine, const Side& s) {
  const Entry& e = *m.entry;
  const std::string count = e.count == 1 ? "" : fmt::format("*{}", e.count);
  const std::string quoted = e.name.empty() ? "" : fmt::format("\"{}{}\"", e.name, count);
  std::string problem = fmt::format("--{}", name(e.driver));
  for (const auto& [option, value] : e.options) problem += fmt::format(" --{}={}", option, value);
  problem += " " + e.text;
  if (!quoted.empty()) problem += (e.driver < kFirstOfTensors ? "n" : "_n") + quoted;
  const auto gflops = [&](double seconds) { return m.ops / seconds * 1e-9; };
  return fmt::format("perf,{},{},{},{},{:g},{:g},{:g},{:g},{:g},{:g}\n", engine, s.implementation, quoted, problem,
                     m.ops * 1e-9, s.create_ms, s.least * 1e3, gflops(s.least), s.median * 1e3, gflops(s.median));
}

}  // namespace

double ratio(const Measurement& m) { return m.peer.empty() ? 0 : m.peer[0].median / m.ours[0].median; }
double gain(const Measurement& m) { return m.baseline / m.ours[0].median; }

std::string type_of(const Entry& entry) { return entry.option("dt", entry.option("cfg", "f32")); }
std::string label_of(const Entry& entry) { return entry.name.empty() ? entry.text : entry.name + " " + entry.text; }

std::string header(const Columns& columns) {
  std::string text = fmt::format("{:<58} {:>3} {:<8} {:>10} {:>8} {:>6}  {:<38}", "problem", "x", "type", "us",
                                 "GFLOP/s", "peak", "kernel");
  if (!columns.baseline.empty()) text += fmt::format(" {:>{}}", columns.baseline + " ratio", baseline_width(columns));
  if (columns.peer) text += fmt::format(" {:>10} {:>6}  {}", "onednn us", "ratio", "onednn's kernel");
  return text + "\n";
}

std::string lines(const Measurement& m, const Columns& columns) {
  std::string text;
  for (size_t i = 0; i < m.ours.size(); ++i) {
    const bool first = i == 0;
    const Side& side = m.ours[i];
    text += fmt::format("{:<58} {:>3} {:<8} {}  {:<38}", first ? shortened(label_of(*m.entry)) : "",
                        first ? fmt::format("{}", m.entry->count) : "", first ? type_of(*m.entry) : "", rates(m, side),
                        side.implementation);
    if (first && !columns.baseline.empty()) {
      text += fmt::format(" {:>{}}", gain(m) > 0 ? fmt::format("{:.2f}", gain(m)) : "", baseline_width(columns));
    }
    if (first && !m.peer.empty()) {
      text += fmt::format(" {:10.1f} {}{:5.2f}  {}", m.peer[0].median * 1e6, m.exact ? ' ' : '~', ratio(m),
                          m.peer[0].implementation);
    }
    if (first && !m.remark.empty()) text += "  " + m.remark;
    text += "\n";
  }
  return text;
}

std::string perf_header() { return fmt::format("Output template: {}\n", kTemplate); }

std::string perf_lines(const Measurement& m) {
  std::string text = perf_line(m, "cpu", m.ours[0]);
  if (!m.peer.empty()) text += perf_line(m, "onednn", m.peer[0]);
  return text;
}

}  // namespace trine::bench
