#include "plan/memory.h"

#include <algorithm>
#include <numeric>

namespace trine {
namespace {

constexpr int64_t kAlignment = 64;

int64_t round_up(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The lowest offset at which `bytes` fit between the placed items, which are sorted by offset.
int64_t lowest_gap(const std::vector<const ArenaItem*>& placed, int64_t bytes) {
  int64_t at = 0;
  for (const ArenaItem* other : placed) {
    if (other->offset - at >= bytes) return at;
    at = std::max(at, other->offset + round_up(other->bytes));
  }
  return at;
}

}  // namespace

int64_t assign_offsets(std::vector<ArenaItem>& items) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return items[a].bytes > items[b].bytes; });
  std::vector<const ArenaItem*> done;
  int64_t size = 0;
  for (size_t i : order) {
    ArenaItem& item = items[i];
    std::vector<const ArenaItem*> alive;
    for (const ArenaItem* other : done)
      if (other->first <= item.last && item.first <= other->last) alive.push_back(other);
    std::sort(alive.begin(), alive.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
    item.offset = lowest_gap(alive, round_up(item.bytes));
    size = std::max(size, item.offset + round_up(item.bytes));
    done.push_back(&item);
  }
  return size;
}

}  // namespace trine
