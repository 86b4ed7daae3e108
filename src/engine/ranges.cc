#include "trine/engine/ranges.h"

#include <fmt/format.h>

#include <charconv>

#include "trine/base/error.h"

namespace trine {
namespace {

constexpr std::string_view kKey = "trine.range.";

[[noreturn]] void damaged(const std::string& key, const std::string& text) {
  throw Error(ErrorCode::invalid_engine,
              fmt::format("engine: {} is '{}'; build the engine again from its model", key, text));
}

SymbolRange parse(const std::string& key, const std::string& text) {
  int64_t values[3] = {};
  const char *at = text.data(), *end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    if (i > 0) at = end - at > 2 && at[0] == '.' && at[1] == '.' ? at + 2 : end;
    const auto [next, error] = std::from_chars(at, end, values[i]);
    if (error != std::errc() || values[i] < (i ? values[i - 1] : 0)) damaged(key, text);
    at = next;
  }
  if (at != end) damaged(key, text);
  return {values[0], values[1], values[2]};
}

}  // namespace

void store_ranges(std::map<std::string, std::string>& metadata, const SymbolRanges& ranges) {
  std::erase_if(metadata, [](const auto& entry) { return entry.first.starts_with(kKey); });
  for (const auto& [symbol, r] : ranges)
    metadata[std::string(kKey) + symbol] = fmt::format("{}..{}..{}", r.min, r.likely, r.max);
}

SymbolRanges stored_ranges(const std::map<std::string, std::string>& metadata) {
  SymbolRanges ranges;
  for (const auto& [key, text] : metadata)
    if (key.starts_with(kKey)) ranges[key.substr(kKey.size())] = parse(key, text);
  return ranges;
}

std::map<std::string, int64_t> with_likely(const SymbolRanges& ranges, std::map<std::string, int64_t> sizes) {
  for (const auto& [symbol, range] : ranges) sizes.emplace(symbol, range.likely);
  return sizes;
}

void check_ranges(const SymbolRanges& ranges, const std::vector<IoInfo>& declared, const std::vector<Datum>& inputs) {
  if (ranges.empty()) return;
  for (size_t i = 0; i < declared.size() && i < inputs.size(); ++i) {
    const Type& type = declared[i].type;
    if (!inputs[i].is_tensor() || !type.is_tensor() || !type.shape.has_rank()) continue;
    const Dims& dims = inputs[i].tensor().dims();
    if (type.shape.rank() != static_cast<int>(dims.size())) continue;  // the executor says what is wrong
    for (int d = 0; d < type.shape.rank(); ++d) {
      const auto range = type.shape[d].is_symbol() ? ranges.find(type.shape[d].text()) : ranges.end();
      if (range == ranges.end()) continue;
      const int64_t size = dims[static_cast<size_t>(d)];
      const auto& [min, likely, max] = range->second;
      if (size >= min && size <= max) continue;
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("input '{}': got {}, {} is {}; the engine was built for {} from {} to {}: build it again with "
                      "another range",
                      declared[i].name, inputs[i].tensor().type_text(), range->first, size, range->first, min, max));
    }
  }
}

}  // namespace trine
