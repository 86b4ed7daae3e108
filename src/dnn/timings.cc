#include "trine/dnn/timings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "trine/base/cpu.h"
#include "trine/base/error.h"

namespace trine::dnn {
namespace {

constexpr std::string_view kTitle = "trine timings 1";
constexpr int kColumns = 6;

std::string key_of(std::string_view machine, const Problem& problem, std::string_view row, int threads) {
  return fmt::format("{}\t{}\t{}\t{}\t{}", TRINE_VERSION, machine, threads, row, text(problem));
}
std::string key_of(const Problem& problem, std::string_view row, int threads) {
  return key_of(cpu_info().fingerprint(), problem, row, threads);
}
constexpr int kNoThreads = 0;  // of devices

std::optional<double> seconds_at(const std::map<std::string, double>& microseconds, const std::string& key) {
  const auto it = microseconds.find(key);
  return it == microseconds.end() ? std::nullopt : std::optional(it->second * 1e-6);
}

double rounded_microseconds(double seconds) { return std::max(std::round(seconds * 1e9), 1.0) / 1e3; }

// The key and the microseconds of a line; nothing when it is damaged.
std::optional<std::pair<std::string, double>> entry_of(std::string_view line) {
  const size_t tab = line.rfind('\t');
  if (std::count(line.begin(), line.end(), '\t') != kColumns - 1) return std::nullopt;
  const std::string_view number = line.substr(tab + 1);
  double microseconds = 0;
  const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), microseconds);
  if (status != std::errc() || end != number.data() + number.size()) return std::nullopt;
  if (!std::isfinite(microseconds) || microseconds <= 0) return std::nullopt;
  return std::pair(std::string(line.substr(0, tab)), microseconds);
}

}  // namespace

Timings::Timings(const Timings& other) : seconds_left(other.seconds_left), measured(other.measured) {
  std::lock_guard lock(other.mutex_);
  microseconds_ = other.microseconds_;
}

std::optional<double> Timings::find(const Problem& problem, std::string_view row, int threads) const {
  std::lock_guard lock(mutex_);
  return seconds_at(microseconds_, key_of(problem, row, threads));
}

void Timings::add(const Problem& problem, std::string_view row, int threads, double seconds) {
  std::lock_guard lock(mutex_);
  microseconds_[key_of(problem, row, threads)] = rounded_microseconds(seconds);
}

std::optional<double> Timings::find_on(std::string_view device, const Problem& problem, std::string_view row) const {
  std::lock_guard lock(mutex_);
  return seconds_at(microseconds_, key_of(device, problem, row, kNoThreads));
}

void Timings::add_on(std::string_view device, const Problem& problem, std::string_view row, double seconds) {
  std::lock_guard lock(mutex_);
  microseconds_[key_of(device, problem, row, kNoThreads)] = rounded_microseconds(seconds);
}

void Timings::add_failure(std::string_view row, std::string why) {
  std::lock_guard lock(mutex_);
  failures_.emplace(row, std::move(why));
}

std::map<std::string, std::string> Timings::failures() const {
  std::lock_guard lock(mutex_);
  return failures_;
}

int Timings::merge(std::string_view text) {
  std::lock_guard lock(mutex_);
  int ignored = 0;
  bool title = true;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (title && line != kTitle)
      throw Error(ErrorCode::invalid_argument, fmt::format("timing cache: does not begin with '{}'; give a file that "
                                                           "`trine build --timing-cache` wrote, or a new name",
                                                           kTitle));
    if (!title) {
      if (auto entry = entry_of(line)) microseconds_.insert(std::move(*entry));
      else ++ignored;
    }
    title = false;
  }
  return ignored;
}

std::string Timings::text() const {
  std::lock_guard lock(mutex_);
  std::string out = std::string(kTitle) + "\n";
  for (const auto& [key, microseconds] : microseconds_) out += fmt::format("{}\t{}\n", key, microseconds);
  return out;
}

}  // namespace trine::dnn
