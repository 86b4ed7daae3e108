#include "plan/memory.h"

#include <gtest/gtest.h>

#include <random>

namespace trine {
namespace {

bool overlap(const ArenaItem& a, const ArenaItem& b) {
  const bool in_time = a.first <= b.last && b.first <= a.last;
  return in_time && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

TEST(Memory, DisjointLivesShareBytes) {
  std::vector<ArenaItem> items{{100, 0, 1, -1}, {100, 2, 3, -1}};
  EXPECT_EQ(assign_offsets(items), 128);
  EXPECT_EQ(items[0].offset, items[1].offset);
}

TEST(Memory, NothingAliveTogetherOverlaps) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    std::vector<ArenaItem> items;
    for (int i = 0; i < 60; ++i) {
      const int first = static_cast<int>(random() % 40);
      items.push_back({static_cast<int64_t>(random() % 5000), first, first + static_cast<int>(random() % 6), -1});
    }
    const int64_t size = assign_offsets(items);
    for (size_t i = 0; i < items.size(); ++i) {
      EXPECT_GE(items[i].offset, 0);
      EXPECT_EQ(items[i].offset % 64, 0);
      EXPECT_LE(items[i].offset + items[i].bytes, size);
      for (size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(items[i], items[j])) << i << " " << j;
    }
  }
}

TEST(Memory, ZeroBytesAndNoItems) {
  std::vector<ArenaItem> none;
  EXPECT_EQ(assign_offsets(none), 0);
  std::vector<ArenaItem> zero{{0, 0, 5, -1}, {64, 0, 5, -1}};
  EXPECT_EQ(assign_offsets(zero), 64);
}

}  // namespace
}  // namespace trine
