// Bounds that `--shapes x=1..8..32x64` sets on the sizes of symbols. They travel in an engine's metadata, so that
// inspect shows them: "trine.range.N" = "1..8..32".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trine/engine/engine.h"

namespace trine {

struct SymbolRange {
  int64_t min = 0, likely = 0, max = 0;
};
using SymbolRanges = std::map<std::string, SymbolRange, std::less<>>;

// Replaces what the metadata hold of ranges.
void store_ranges(std::map<std::string, std::string>& metadata, const SymbolRanges& ranges);
// Throws Error{invalid_engine} for a range that cannot be read.
SymbolRanges stored_ranges(const std::map<std::string, std::string>& metadata);

// `sizes`, and the likely size of each symbol that it does not name.
std::map<std::string, int64_t> with_likely(const SymbolRanges& ranges, std::map<std::string, int64_t> sizes = {});

// Throws Error{invalid_argument} that names input, size and bound.
void check_ranges(const SymbolRanges& ranges, const std::vector<IoInfo>& declared, const std::vector<Datum>& inputs);

}  // namespace trine
