// Where values live in an arena: offsets such that values alive at the same time do not overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace trine {

struct ArenaItem {
  int64_t bytes = 0;
  int first = 0, last = 0;  // calls between which the value is alive, both included
  int64_t offset = 0;       // result
};

// Largest first, each at the lowest gap that fits (greedy by size). Returns the arena's size.
int64_t assign_offsets(std::vector<ArenaItem>& items);

}  // namespace trine
