#include "rounds.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace trine::bench {
namespace {

constexpr int kRounds = 7;
constexpr int kMostRuns = 2000;  // per round
// Idle threads of other runtimes spin for up to 50 ms; with one thread there are none.
constexpr auto kSettle = std::chrono::milliseconds(80);

using Clock = std::chrono::steady_clock;

}  // namespace

double timed(const std::function<void()>& run) {
  const auto begin = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double Samples::median() const {
  std::vector<double> sorted = seconds;
  const auto middle = sorted.begin() + static_cast<long>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double Samples::least() const { return *std::min_element(seconds.begin(), seconds.end()); }

std::vector<Samples> measure_rounds(const std::vector<Party>& parties, double seconds, int threads) {
  std::vector<Samples> all(parties.size());
  std::vector<int> runs;
  for (const Party& party : parties) {
    party.run();  // page faults, cold caches, code that is generated late
    const double once = std::max(timed(party.run), 1e-7);
    runs.push_back(std::clamp(static_cast<int>(seconds / kRounds / once), 1, kMostRuns));
  }
  int last = parties.back().library;
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < parties.size(); ++i) {
      if (threads > 1 && parties[i].library != last) std::this_thread::sleep_for(kSettle);
      last = parties[i].library;
      parties[i].run();  // wakes the threads, warms the caches
      for (int r = 0; r < runs[i]; ++r) all[i].seconds.push_back(timed(parties[i].run));
    }
  }
  return all;
}

}  // namespace trine::bench
