#include "step_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "latency.h"
#include "terminal.h"

namespace trine::cli {
namespace {

constexpr int kRuns = 7;
constexpr int kUncounted = 2;  // graphs of devices are made in the second run

// Steps of one run, each node's and kernel's once.
std::vector<StepTime> by_node(const std::vector<StepTime>& events) {
  std::vector<StepTime> steps;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> places;
  for (const StepTime& e : events) {
    const auto [place, fresh] = places.emplace(std::tuple(e.name, e.op, e.kernel), steps.size());
    if (fresh) {
      steps.push_back(e);
      continue;
    }
    StepTime& s = steps[place->second];
    s.seconds += e.seconds;
    s.flops += e.flops;
    s.bytes += e.bytes;
  }
  return steps;
}

bool has_host_steps(const StepTimes& times) {
  return std::any_of(times.steps.begin(), times.steps.end(), [](const StepTime& s) { return s.provider == "host"; });
}

void time_runs(Session& session, const std::vector<Datum>& inputs, StepTimes& times) {
  const int again = static_cast<int>(std::min(0.05 / std::max(times.steps_seconds, 1e-6), 10.0));
  const bool on_cpu = session.device() == "cpu", with_copies = has_host_steps(times);
  std::vector<double> whole, queued;
  for (int i = 0; i < kRuns; ++i) {
    DeviceTimes of_device;
    const auto begin = std::chrono::steady_clock::now();
    session.run_timed(inputs, of_device, again);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    whole.push_back(on_cpu ? seconds : with_copies ? of_device.with_copies : of_device.compute);
    queued.push_back(of_device.queued);
  }
  times.run_seconds = summarise(whole).median;
  times.queued_seconds = summarise(queued).median;
}

std::string rate(double amount, double seconds, double unit) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds / unit) : "";
}

}  // namespace

StepTimes step_times(Session& session, const std::vector<Datum>& inputs) {
  StepTimes times{.device = session.device()};
  for (int i = 0; i < kUncounted; ++i) session.run(inputs);
  std::vector<std::vector<double>> seconds;
  for (int i = 0; i < kRuns; ++i) {
    std::vector<StepTime> events;
    session.profile(inputs, events);
    times.steps = by_node(events);
    seconds.resize(times.steps.size());
    for (size_t s = 0; s < times.steps.size(); ++s) seconds[s].push_back(times.steps[s].seconds);
  }
  for (size_t s = 0; s < times.steps.size(); ++s) {
    times.steps[s].seconds = summarise(seconds[s]).median;
    times.steps_seconds += times.steps[s].seconds;
  }
  time_runs(session, inputs, times);
  return times;
}

void sort_slowest_first(StepTimes& times) {
  std::stable_sort(times.steps.begin(), times.steps.end(),
                   [](const StepTime& a, const StepTime& b) { return a.seconds > b.seconds; });
}

std::string step_table(const StepTimes& times) {
  const bool on_device = times.device != "cpu";
  std::vector<std::string> heading{"ms", "%", on_device ? "TFLOP/s" : "GFLOP/s", "GB/s", "operator", "kernel"};
  if (on_device) heading.emplace_back("provider");
  heading.emplace_back("node");
  Table table(heading);
  for (const StepTime& s : times.steps) {
    std::vector<std::string> row{fmt::format("{:.{}f}", s.seconds * 1e3, on_device ? 5 : 4),
                                 fmt::format("{:.1f}", s.seconds / times.steps_seconds * 100),
                                 rate(s.flops, s.seconds, on_device ? 1e12 : 1e9),
                                 rate(s.bytes, s.seconds, 1e9),
                                 s.op,
                                 s.kernel};
    if (on_device) row.push_back(s.provider);
    row.push_back(s.name);
    table.add(row);
  }
  std::string run = fmt::format("a whole run takes {:.3f} ms", times.run_seconds * 1e3);
  if (on_device) run += has_host_steps(times) ? ", copies included" : ", launched as graphs";
  if (times.queued_seconds > 0) run += fmt::format(", {:.3f} right behind another", times.queued_seconds * 1e3);
  return table.text() +
         fmt::format("{} steps, {:.3f} ms together; {}\n", times.steps.size(), times.steps_seconds * 1e3, run);
}

nlohmann::ordered_json steps_json(const StepTimes& times) {
  auto list = nlohmann::ordered_json::array();
  for (const StepTime& s : times.steps)
    list.push_back({{"node", s.name},
                    {"op", s.op},
                    {"kernel", s.kernel},
                    {"provider", s.provider},
                    {"ms", s.seconds * 1e3},
                    {"flops", s.flops},
                    {"bytes", s.bytes}});
  return list;
}

nlohmann::ordered_json totals_json(const StepTimes& times) {
  nlohmann::ordered_json totals = {{"steps_ms", times.steps_seconds * 1e3}, {"run_ms", times.run_seconds * 1e3}};
  if (times.queued_seconds > 0) totals["queued_ms"] = times.queued_seconds * 1e3;
  return totals;
}

}  // namespace trine::cli
