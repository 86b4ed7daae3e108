// Shape arithmetic of a hostile model: expressions that share their parts double with every step when written out.
#include <gtest/gtest.h>

#include "base/checked.h"
#include "trine/base/dim.h"

namespace trine {
namespace {

TEST(DimGrowth, NestedFunctionsAreRefusedBeforeTheyExplode) {
  Dim d = Dim::symbol("N");
  const auto grow = [&] {
    for (int i = 0; i < 100; ++i) d = floor_div(d * d + Dim(1), Dim(2));
  };
  EXPECT_THROW(grow(), Error);
  EXPECT_LT(d.text().size(), 100'000u);
}

TEST(DimGrowth, ALongChainOfPoolingsIsFine) {
  Dim d = Dim::symbol("H");
  for (int i = 0; i < 60; ++i) d = floor_div(d + Dim(3), Dim(2)) + Dim(1);
  EXPECT_EQ(d.evaluate([](std::string_view) { return 4096; }), 5);
}

TEST(DimGrowth, RemainderAtTheEndsOfInt64) {
  constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;
  EXPECT_EQ(floor_remainder(kMin, 3), 1);  // -2^63 = 3 * floor(-2^63 / 3) + 1
  EXPECT_EQ(floor_remainder(kMin, -1), 0);
  EXPECT_EQ(floor_remainder(kMax, kMin), -1);
  EXPECT_EQ(floor_remainder(-7, 3), 2);
  EXPECT_EQ(floor_remainder(7, -3), -2);
}

}  // namespace
}  // namespace trine
