#include "entry.h"

#include <fmt/format.h>

#include <algorithm>

#include "trine/base/error.h"

namespace trine::bench {
namespace {

constexpr std::string_view kNames[] = {"conv",    "deconv",     "ip",      "pool",      "bnorm",   "gnorm",
                                       "lrn",     "resampling", "rnn",     "matmul",    "brgemm",  "binary",
                                       "sum",     "concat",     "prelu",   "reduction", "softmax", "lnorm",
                                       "eltwise", "shuffle",    "reorder", "zeropad",   "sdpa",    "graph"};
static_assert(std::size(kNames) == static_cast<size_t>(Driver::none));

}  // namespace

std::string_view name(Driver driver) { return driver == Driver::none ? "none" : kNames[static_cast<size_t>(driver)]; }

Driver driver_named(std::string_view name) {
  return static_cast<Driver>(std::find(std::begin(kNames), std::end(kNames), name) - std::begin(kNames));
}

std::string driver_names() { return fmt::format("{}", fmt::join(kNames, ", ")); }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

namespace {

std::string text_of(const std::vector<std::vector<int64_t>>& tensors) {
  std::vector<std::string> parts;
  for (const auto& dims : tensors) parts.push_back(fmt::format("{}", fmt::join(dims, "x")));
  return fmt::format("{}", fmt::join(parts, ":"));
}

// The tensors whose first size counts samples.
size_t tensors_with_samples(const Entry& e) {
  if (e.driver == Driver::sdpa) return 3;
  if (e.driver != Driver::matmul) return 0;
  if (e.tensors[1].size() == 2) return 1;  // weights do not grow
  return e.tensors[0][0] == e.tensors[1][0] ? 2 : 0;
}

}  // namespace

void set_batch(Entry& e, int64_t mb) {
  if (e.driver < kFirstOfTensors) {
    e.sizes.mb = mb;
    size_t digits = e.text.find("mb");
    if (digits == e.text.npos) {
      e.text = fmt::format("mb{}{}", mb, e.text);
      return;
    }
    digits += 2;
    e.text.replace(digits, e.text.find_first_not_of("0123456789", digits) - digits, std::to_string(mb));
    return;
  }
  const size_t grow = tensors_with_samples(e);
  for (size_t i = 0; i < grow; ++i) {
    int64_t& samples = e.tensors[i][0];
    if (__builtin_mul_overflow(samples, mb, &samples)) refuse(e, e.text, "a size past 2^63; accepted: a smaller --mb");
  }
  e.text = text_of(e.tensors);
}

void refuse(const Entry& where, std::string_view token, std::string_view what) {
  constexpr size_t kShown = 120;
  const std::string shown(token.substr(0, kShown));
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}:{}: {}{}: {}", where.file, where.line, shown, token.size() > kShown ? "..." : "", what));
}

}  // namespace trine::bench
