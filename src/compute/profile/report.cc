// The table of a profile.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trine/compute/profile.h"

namespace trine::compute {
namespace {

using Cells = std::vector<std::string>;

std::string time_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) bytes /= 1024, ++unit;
  return fmt::format("{:.{}f} {}", bytes, unit ? 1 : 0, kUnits[unit]);
}

std::string rate_text(double per_second) {
  return per_second > 0 ? fmt::format("{:.{}f}", per_second * 1e-9, per_second < 1e10 ? 2 : 1) : "";
}

// A column as wide as its widest cell; the first two flush left.
std::string aligned(const std::vector<Cells>& rows, size_t left) {
  std::vector<size_t> width(rows[0].size());
  for (const Cells& row : rows)
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string out;
  for (const Cells& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += i < left ? fmt::format("{:<{}}  ", row[i], width[i]) : fmt::format("{:>{}}  ", row[i], width[i]);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out + "\n";
}

// The parts of a long name that tell it from others are its ends.
std::string shortened(const std::string& name) {
  constexpr size_t kMost = 60;
  return name.size() <= kMost ? name : name.substr(0, kMost - 20) + "..." + name.substr(name.size() - 17);
}

void add_kernels(std::string& out, const Profile& profile) {
  double all = 0;
  for (const ProfileRow& r : profile.rows)
    if (r.what == "kernel") all += r.total_s;
  std::vector<Cells> table{{"kernel", "device", "calls", "total", "mean", "least", "most", "share", "GB/s", "GFLOP/s"}};
  for (const ProfileRow& r : profile.rows)
    if (r.what == "kernel")
      table.push_back({shortened(r.name), r.device, std::to_string(r.calls), time_text(r.total_s),
                       time_text(r.mean_s()), time_text(r.least_s), time_text(r.most_s),
                       all > 0 ? fmt::format("{:.1f} %", 100 * r.total_s / all) : "", rate_text(r.bytes_per_second()),
                       rate_text(r.flops_per_second())});
  if (table.size() > 1) out += aligned(table, 2);
}

void add_others(std::string& out, const Profile& profile) {
  std::vector<Cells> moved{{"copies and memory", "device", "calls", "bytes", "total", "GB/s"}};
  std::vector<Cells> spans{{"", "device", "calls", "total", "mean", "least", "most"}};
  for (const ProfileRow& r : profile.rows) {
    if (r.what == "kernel") continue;
    const std::string calls = std::to_string(r.calls);
    const bool moves = r.what == "copy" || r.what == "fill";
    if (moves || r.what == "allocate" || r.what == "free")
      moved.push_back({r.name, r.device, calls, bytes_text(r.bytes), time_text(r.total_s),
                       moves ? rate_text(r.bytes_per_second()) : ""});
    else
      spans.push_back({r.what + " " + shortened(r.name), r.device, calls, time_text(r.total_s), time_text(r.mean_s()),
                       time_text(r.least_s), time_text(r.most_s)});
  }
  if (moved.size() > 1) out += aligned(moved, 2);
  if (spans.size() > 1) out += aligned(spans, 2);
}

}  // namespace

std::string Profile::table() const {
  std::string out;
  add_kernels(out, *this);
  add_others(out, *this);
  for (const ProfileMemory& m : memory)
    if (m.peak_bytes)
      out += fmt::format("memory of {}: at most {} in use, {} at the end\n", m.device,
                         bytes_text(static_cast<double>(m.peak_bytes)), bytes_text(static_cast<double>(m.bytes)));
  uint64_t failed = 0, kernels = 0;
  for (const ProfileRow& r : rows) failed += r.failed, kernels += r.what == "kernel" ? r.calls : 0;
  if (failed) out += fmt::format("failed: {} calls\n", failed);
  out += fmt::format("{} launches in {}; {} events in the trace", kernels, time_text(seconds), events);
  if (dropped_events)
    out += fmt::format(", {} more had no room (TRINE_PROFILE_EVENTS); the rows above count them", dropped_events);
  return out + "\n";
}

}  // namespace trine::compute
