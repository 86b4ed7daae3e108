#include "profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>

#include "trine/base/error.h"
#include "trine/compute/profile.h"

namespace trine::cli {
namespace {

using compute::Profile;
using compute::ProfileRow;
using Json = nlohmann::ordered_json;

// Profiler::write puts these lines around events, one a line, and the totals.
constexpr std::string_view kBegin = "\"traceEvents\":[\n", kEnd = "\n],\n\"trine\":";

struct Parts {
  std::string_view events, totals;
};

Parts split(const std::string& trace) {
  const size_t begin = trace.find(kBegin), end = trace.rfind(kEnd);
  if (begin == std::string::npos || end == std::string::npos || !trace.ends_with("}\n"))
    throw Error(ErrorCode::io,
                "profile: a trace is not complete; was the program killed while it wrote, or the disk full?");
  const size_t from = begin + kBegin.size(), totals = end + kEnd.size();
  return {std::string_view(trace).substr(from, end - from),
          std::string_view(trace).substr(totals, trace.size() - totals - 2)};
}

void add_row(std::map<std::tuple<std::string, std::string, std::string>, ProfileRow>& rows, const Json& r) {
  const auto seconds = [&](const char* key) { return r.at(key).get<double>() * 1e-9; };
  ProfileRow& row = rows[{r.at("what"), r.at("device"), r.at("name")}];
  row.what = r.at("what");
  row.device = r.at("device");
  row.name = r.at("name");
  const auto timed = r.at("timed").get<uint64_t>();
  if (timed) row.least_s = row.timed ? std::min(row.least_s, seconds("least_ns")) : seconds("least_ns");
  row.most_s = std::max(row.most_s, seconds("most_ns"));
  row.calls += r.at("calls").get<uint64_t>();
  row.failed += r.at("failed").get<uint64_t>();
  row.timed += timed;
  row.total_s += seconds("total_ns");
  row.bytes += r.at("bytes").get<double>();
  row.flops += r.at("flops").get<double>();
  row.work_s += seconds("work_ns");
}

Profile read_profile(const std::vector<std::string>& traces) {
  Profile out;
  std::map<std::tuple<std::string, std::string, std::string>, ProfileRow> rows;
  std::map<std::string, compute::ProfileMemory> memory;
  for (const std::string& trace : traces) {
    const Json totals = Json::parse(split(trace).totals);
    for (const Json& row : totals.at("rows")) add_row(rows, row);
    for (const Json& m : totals.at("memory")) {
      compute::ProfileMemory& sum = memory[m.at("device")];
      sum.device = m.at("device");
      sum.bytes += m.at("bytes").get<uint64_t>();
      sum.peak_bytes += m.at("peak_bytes").get<uint64_t>();
    }
    out.seconds = std::max(out.seconds, totals.at("ns").get<double>() * 1e-9);
    out.events += totals.at("events").get<uint64_t>();
    out.dropped_events += totals.at("dropped_events").get<uint64_t>();
  }
  for (auto& [key, row] : rows) out.rows.push_back(std::move(row));
  for (auto& [key, m] : memory) out.memory.push_back(std::move(m));
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
    return a.what != b.what ? a.what < b.what : a.total_s > b.total_s;
  });
  return out;
}

std::string json_of(const Profile& profile) {
  Json rows = Json::array(), memory = Json::array();
  for (const ProfileRow& r : profile.rows)
    rows.push_back({{"what", r.what},
                    {"device", r.device},
                    {"name", r.name},
                    {"calls", r.calls},
                    {"failed", r.failed},
                    {"timed", r.timed},
                    {"total_ms", r.total_s * 1e3},
                    {"mean_ms", r.mean_s() * 1e3},
                    {"least_ms", r.least_s * 1e3},
                    {"most_ms", r.most_s * 1e3},
                    {"bytes", r.bytes},
                    {"flops", r.flops},
                    {"bytes_per_second", r.bytes_per_second()},
                    {"flops_per_second", r.flops_per_second()}});
  for (const auto& m : profile.memory)
    memory.push_back({{"device", m.device}, {"bytes", m.bytes}, {"peak_bytes", m.peak_bytes}});
  const Json all = {{"seconds", profile.seconds},
                    {"events", profile.events},
                    {"dropped_events", profile.dropped_events},
                    {"rows", rows},
                    {"memory", memory}};
  return all.dump(2) + "\n";
}

// RFC 4180.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_of(const Profile& profile) {
  std::string out = "what,device,name,calls,failed,total_ms,mean_ms,least_ms,most_ms,bytes,flops,GB/s,GFLOP/s\n";
  for (const ProfileRow& r : profile.rows)
    out += fmt::format("{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.0f},{:.0f},{:.3f},{:.3f}\n", r.what, r.device,
                       quoted(r.name), r.calls, r.failed, r.total_s * 1e3, r.mean_s() * 1e3, r.least_s * 1e3,
                       r.most_s * 1e3, r.bytes, r.flops, r.bytes_per_second() * 1e-9, r.flops_per_second() * 1e-9);
  return out;
}

}  // namespace

std::string merged_traces(const std::vector<std::string>& traces) {
  if (traces.size() == 1) return traces[0];
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", totals;
  for (const std::string& trace : traces) {
    const Parts parts = split(trace);
    const bool first = totals.empty();
    out += (first ? "" : ",\n") + std::string(parts.events);
    totals += (first ? "" : ",\n") + std::string(parts.totals);
  }
  return out + "\n],\n\"processes\":[" + totals + "]}\n";
}

std::string profile_report(const std::vector<std::string>& traces, const std::string& format) {
  const Profile profile = read_profile(traces);
  return format == "json" ? json_of(profile) : format == "csv" ? csv_of(profile) : "\n" + profile.table();
}

}  // namespace trine::cli
