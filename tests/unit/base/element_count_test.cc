// element_count: sizes from a file are believed only after this.
#include <gtest/gtest.h>

#include "trine/base/error.h"
#include "trine/base/shape.h"

namespace trine {
namespace {

TEST(ElementCount, products_that_overflow_are_refused) {
  EXPECT_EQ(element_count(Dims{int64_t{1} << 47}), int64_t{1} << 47);
  EXPECT_EQ(element_count(Dims{0, int64_t{1} << 62}), 0);
  EXPECT_EQ(element_count(Dims{}), 1);
  EXPECT_THROW(element_count(Dims{int64_t{1} << 32, int64_t{1} << 32}), Error);  // the product is 2^64: 0 when it wraps
  EXPECT_THROW(element_count(Dims{int64_t{1} << 47, int64_t{1} << 47}), Error);
  EXPECT_THROW(element_count(Dims{int64_t{1} << 46, 3}), Error);
  EXPECT_THROW(element_count(Dims{3, -1}), Error);
}

}  // namespace
}  // namespace trine
