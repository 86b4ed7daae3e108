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

void refuse(const Entry& where, std::string_view token, std::string_view what) {
  constexpr size_t kShown = 120;
  const std::string shown(token.substr(0, kShown));
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}:{}: {}{}: {}", where.file, where.line, shown, token.size() > kShown ? "..." : "", what));
}

}  // namespace trine::bench
