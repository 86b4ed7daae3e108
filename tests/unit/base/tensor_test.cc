// What a caller may get wrong with tensors is an Error, whatever the build.
#include "trine/base/tensor.h"

#include <gtest/gtest.h>

#include "trine/base/error.h"

namespace trine {
namespace {

template <class F>
void expect_error(F f, const std::string& text) {
  try {
    f();
    ADD_FAILURE() << "no error; wanted " << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

TEST(Tensor, TakesOneValueForEachElement) {
  for (size_t count : {0, 1, 63, 65, 70}) {
    const std::string given = "is given " + std::to_string(count) + " values; give 64";
    expect_error([&] { Tensor::of<float>(DType::f32, {1, 64}, std::vector<float>(count)); }, given);
    expect_error([&] { Tensor::from_f64(DType::f16, {64}, std::vector<double>(count)); }, given);
    expect_error([&] { Tensor::from_i64(DType::i4, {8, 8}, std::vector<int64_t>(count)); }, given);
    expect_error([&] { Tensor::of_strings({64}, std::vector<std::string>(count)); }, given);
  }
  EXPECT_EQ(Tensor::of<float>(DType::f32, {2}, {3, 4}).f64_values(), (std::vector<double>{3, 4}));
  EXPECT_EQ(Tensor::of_strings({1}, {"a"}).strings()[0], "a");
}

TEST(Tensor, TakesValuesAsWideAsItsElements) {
  expect_error([] { Tensor::of<double>(DType::f32, {2}, {1, 2}); }, "values of 8 bytes; give values of 4");
  expect_error([] { Tensor::of<uint8_t>(DType::i64, {2}, {1, 2}); }, "values of 1 bytes; give values of 8");
}

TEST(Tensor, KeepsItsElementsUnderOtherDimensions) {
  const Tensor x = Tensor::of<int32_t>(DType::i32, {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_error([&] { x.reshaped({3, 64}); }, "i32[2,3] under dimensions [3,64]");
  EXPECT_EQ(x.reshaped({3, 2}).dim(0), 3);
  expect_error([&] { x.dim(2); }, "dimension 2 of i32[2,3]");
  expect_error([&] { x.dim(-1); }, "dimension -1");
  expect_error([&] { x.strings(); }, "strings of i32[2,3]");
}

TEST(Datum, IsAskedForWhatItHolds) {
  expect_error([] { Datum().tensor(); }, "absent; a tensor is wanted");
  expect_error([] { Datum(Tensor::scalar_f32(1)).items(); }, "a tensor; a sequence is wanted");
  expect_error([] { Datum::sequence({}).tensor(); }, "a sequence; a tensor is wanted");
  EXPECT_TRUE(Datum::sequence({}).items().empty());
}

}  // namespace
}  // namespace trine
