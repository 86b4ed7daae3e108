#include "plan/device/row_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "plan/device/device_target.h"
#include "trine/base/cpu.h"
#include "trine/base/env.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr size_t kTried = 8;          // beside the best of each family
constexpr double kRowSeconds = 0.05;  // most that launches of one row take

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Rows with the same functions differ by their tile alone.
bool are_family(const dnn::DeviceRow& a, const dnn::DeviceRow& b) {
  return a.call == b.call && a.provide == b.provide && a.fits == b.fits;
}

// The best of each family first, each part in the model's order.
std::vector<dnn::DeviceCandidate> promising(const dnn::DeviceChoice& choice) {
  std::vector<dnn::DeviceCandidate> first, others;
  for (const dnn::DeviceCandidate& c : choice.candidates) {
    const bool new_family = std::none_of(first.begin(), first.end(),
                                         [&](const dnn::DeviceCandidate& f) { return are_family(*f.row, *c.row); });
    if (new_family) first.push_back(c);
    else if (first.size() + others.size() < kTried) others.push_back(c);
  }
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

}  // namespace

struct RowTimes::Tried {
  const dnn::DeviceRow* row = nullptr;
  std::shared_ptr<dnn::ProvidedCall> provided;
  bool absent = false;  // a provider that does not offer it
  std::string failure;
};

std::string RowTimes::machine(const dnn::DeviceRow& row) const {
  return row.library ? fmt::format("{}, {}", target_.machine(), row.library()) : target_.machine();
}

std::optional<double> RowTimes::known(const dnn::Problem& problem, const dnn::DeviceRow& row) const {
  return timings_.find_on(machine(row), problem, row.name);
}

void RowTimes::order(const dnn::Problem& problem, dnn::DeviceChoice& choice) const {
  const std::map<std::string, std::string> failures = timings_.failures();
  std::erase_if(choice.candidates,
                [&](const dnn::DeviceCandidate& c) { return failures.contains(std::string(c.row->name)); });
  if (choice.candidates.empty() || !known(problem, *choice.candidates[0].row)) return;
  std::vector<std::pair<double, dnn::DeviceCandidate>> timed;
  std::vector<dnn::DeviceCandidate> others;
  for (const dnn::DeviceCandidate& c : choice.candidates) {
    if (const auto seconds = known(problem, *c.row)) timed.emplace_back(*seconds, c);
    else others.push_back(c);
  }
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  choice.candidates.clear();
  for (const auto& [seconds, c] : timed) choice.candidates.push_back({c.row, seconds});
  choice.candidates.insert(choice.candidates.end(), others.begin(), others.end());
}

void RowTimes::measure(const dnn::Problem& problem, const dnn::DeviceChoice& choice) const {
  if (choice.candidates.size() < 2) return;  // nothing to choose
  std::vector<dnn::DeviceCandidate> wanted = promising(choice);
  const std::map<std::string, std::string> failures = timings_.failures();
  std::erase_if(wanted, [&](const dnn::DeviceCandidate& c) {
    return known(problem, *c.row) || failures.contains(std::string(c.row->name));
  });
  if (wanted.empty() || timings_.seconds_left <= 0) return;
  const double begin = now(), budget = timings_.seconds_left;
  try {
    const std::vector<Tried> all = compiled(problem, wanted);
    const dnn::DeviceOperands operands(target_.device(), problem);
    for (const Tried& tried : all) {
      timings_.seconds_left = budget - (now() - begin);
      if (timings_.seconds_left <= 0) break;
      if (!tried.failure.empty()) timings_.add_failure(tried.row->name, tried.failure);
      else if (!tried.absent) time(tried, operands);
    }
  } catch (const Error& e) {
    if (e.code() != ErrorCode::out_of_memory) throw;  // too large to be timed beside what is there: the model chooses
  }
  timings_.seconds_left = budget - (now() - begin);
}

std::vector<RowTimes::Tried> RowTimes::compiled(const dnn::Problem& problem,
                                                const std::vector<dnn::DeviceCandidate>& candidates) const {
  std::vector<Tried> all;
  for (const dnn::DeviceCandidate& c : candidates) all.push_back({.row = c.row, .provided = {}, .failure = {}});
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < all.size(); i = next++) compile(problem, all[i]);
  };
  std::vector<std::thread> threads;
  const size_t workers = std::min(all.size(), static_cast<size_t>(default_thread_count()));
  for (size_t t = 1; t < workers; ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  for (Tried& tried : all)
    if (tried.row->provide) provide(problem, tried);
  return all;
}

void RowTimes::compile(const dnn::Problem& problem, Tried& tried) const {
  if (tried.row->provide) return;
  try {
    const compute::DeviceCall call = dnn::device_call(*tried.row, problem, target_.traits());
    target_.programs().prepare({&call});
  } catch (const std::exception& e) {
    tried.failure = e.what();
  }
}

void RowTimes::provide(const dnn::Problem& problem, Tried& tried) const {
  try {
    tried.provided = tried.row->provide(*tried.row, problem, target_.device());
    tried.absent = !tried.provided;
  } catch (const Error& e) {
    tried.failure = e.what();
  }
}

void RowTimes::time(const Tried& tried, const dnn::DeviceOperands& operands) const {
  const std::string_view name = tried.row->name;
  try {
    const double seconds = dnn::measure(*tried.row, operands, target_.traits(), tried.provided.get(),
                                        target_.programs(), std::min(kRowSeconds, timings_.seconds_left));
    timings_.add_on(machine(*tried.row), operands.problem(), name, seconds);
    ++timings_.measured;
    if (debug_shows(DebugLevel::choices))
      std::fputs(fmt::format("{}: {:.3f} us measured {}\n", dnn::text(operands.problem()), seconds * 1e6, name).c_str(),
                 stderr);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::out_of_memory) throw;
    timings_.add_failure(name, e.what());
  }
}

}  // namespace trine
