// Resize, GridSample, NonMaxSuppression, RoiAlign: coordinate rules.
#include "base/deadline.h"
#include "run_op.h"

namespace trine {
namespace {

using namespace test;
using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;

Tensor resized(const Tensor& x, const std::vector<float>& scales, const Attrs& attrs) {
  return run_op("resize", {x, Tensor(), floats(scales)}, attrs)[0];
}

Attrs mode(const char* mode, const char* coordinates, const char* nearest = "round_prefer_floor") {
  return attributes({{"mode", std::string(mode)},
                     {"coordinate_transformation_mode", std::string(coordinates)},
                     {"nearest_mode", std::string(nearest)}});
}

TEST(Resize, AxesOfScaleOneAreUntouched) {  // ORT#5151
  std::vector<float> values(4 * 4 * 10 * 10);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor y =
      resized(floats({4, 4, 10, 10}, values), {1, 1, 3, 3}, mode("nearest", "tf_half_pixel_for_nn", "ceil"));
  ASSERT_EQ(y.dims(), (Dims{4, 4, 30, 30}));
  const auto v = y.f64_values();
  for (size_t plane = 0; plane < 16; ++plane) {
    EXPECT_GE(v[plane * 900], static_cast<double>(plane * 100));
    EXPECT_LT(v[plane * 900 + 899], static_cast<double>(plane * 100 + 100));
  }
}

TEST(Resize, CoordinateModes) {
  const Tensor x = floats({1, 1, 1, 4}, {1, 2, 3, 4});
  const double e = 1e-6;
  expect_near(resized(x, {1, 1, 1, 2}, mode("linear", "half_pixel")).f64_values(),
              {1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4}, e);
  expect_near(resized(x, {1, 1, 1, 2}, mode("linear", "align_corners")).f64_values(),
              {1, 10.0 / 7, 13.0 / 7, 16.0 / 7, 19.0 / 7, 22.0 / 7, 25.0 / 7, 4}, e);
  expect_near(resized(x, {1, 1, 1, 2}, mode("linear", "asymmetric")).f64_values(), {1, 1.5, 2, 2.5, 3, 3.5, 4, 4}, e);
  expect_near(resized(x, {1, 1, 1, 0.25f}, mode("linear", "pytorch_half_pixel")).f64_values(), {1}, e);
  expect_near(resized(x, {1, 1, 1, 2}, mode("nearest", "half_pixel")).f64_values(), {1, 1, 2, 2, 3, 3, 4, 4});
  expect_near(resized(x, {1, 1, 1, 0.5f}, mode("nearest", "asymmetric", "floor")).f64_values(), {1, 3});
}

TEST(Resize, TheGivenScaleMapsNotTheSizes) {
  // 5 * 0.7 = 3.5: three elements, at 0, 1/0.7, 2/0.7.
  const Tensor y = resized(floats({5}, {0, 1, 2, 3, 4}), {0.7f}, mode("linear", "asymmetric"));
  expect_near(y.f64_values(), {0, 1 / 0.7, 2 / 0.7}, 1e-6);
}

TEST(Resize, AspectRatioAndAxes) {
  Attrs attrs = attributes({{"keep_aspect_ratio_policy", std::string("not_larger")}, {"axes", Integers{1, 0}}});
  EXPECT_EQ(
      run_op("resize", {floats({4, 8}, std::vector<float>(32, 1)), Tensor(), Tensor(), i64s({4, 3})}, attrs)[0].dims(),
      (Dims{2, 4}));
}

TEST(Resize, WrongInputsAreErrors) {
  const Tensor x = floats({2}, {1, 2});
  EXPECT_THROW(run_op("resize", {x}), Error);
  EXPECT_THROW(resized(x, {0}, {}), Error);
  EXPECT_THROW(resized(x, {1, 1}, {}), Error);
  EXPECT_THROW(resized(x, {1e30f}, {}), Error);
  EXPECT_THROW(resized(x, {2}, mode("quadratic", "half_pixel")), Error);
}

TEST(Resize, SizesBeyondMemoryAreErrorsAtOnce) {
  const Tensor x = floats({1, 2}, {1, 2});
  for (const char* how : {"nearest", "linear", "cubic"})
    EXPECT_THROW(run_op("resize", {x, Tensor(), Tensor(), i64s({1, int64_t{1} << 44})}, mode(how, "half_pixel")), Error)
        << how;
}

TEST(Resize, AnAntialiasingFilterFarWiderThanItsAxisIsAnError) {
  Attrs crop = mode("linear", "tf_crop_and_resize");
  crop.set("antialias", int64_t{1});
  const Tensor x = floats({2}, {1, 2});
  const auto cropped = [&](float end, float scale) {
    return run_op("resize", {x, floats({0, end}), floats({scale})}, crop)[0];
  };
  EXPECT_EQ(cropped(1, 0.5f).dims(), (Dims{1}));
  EXPECT_EQ(cropped(4, 0.25f).dims(), (Dims{2}));
  EXPECT_THROW(cropped(1e6f, 1e-6f), Error);
}

TEST(GridSample, LastAxisFirstAndRoundsHalfToEven) {
  const Tensor x = floats({1, 1, 2, 3}, {0, 1, 2, 3, 4, 5});
  const auto sample = [&](const char* how, float across, float down, bool align) {
    return reals("grid_sample", {x, floats({1, 1, 1, 2}, {across, down})},
                 attributes({{"mode", std::string(how)}, {"align_corners", int64_t{align}}}))[0];
  };
  EXPECT_DOUBLE_EQ(sample("linear", 1, -1, true), 2);
  EXPECT_DOUBLE_EQ(sample("linear", -1, 1, true), 3);
  EXPECT_DOUBLE_EQ(sample("nearest", 0.5f, -1, true), 2);   // 1.5 -> 2
  EXPECT_DOUBLE_EQ(sample("nearest", -0.5f, -1, true), 0);  // 0.5 -> 0
  EXPECT_DOUBLE_EQ(sample("linear", -1, -1, false), 0);     // (-0.5, -0.5): a quarter of x[0,0], which is 0
  EXPECT_DOUBLE_EQ(sample("linear", 1, 1, false), 1.25);    // a quarter of x[1,2]
  EXPECT_DOUBLE_EQ(sample("linear", kNan, 0, true), 0);
}

TEST(NonMaxSuppression, StrictlyAboveTheThreshold) {
  const Tensor boxes =
      floats({1, 3, 4}, {0, 0, 1, 2, 1, 2, 0, 1, 5, 5, 6, 6});  // second: half of the first, corners swapped
  const Tensor scores = floats({1, 1, 3}, {0.5f, 0.9f, 0.7f});
  const auto run = [&](float iou) {
    return run_op("non_max_suppression", {boxes, scores, i64s({10}), floats({iou}), floats({0.5f})})[0].i64_values();
  };
  EXPECT_EQ(run(0.5f), (Integers{0, 0, 1, 0, 0, 2}));  // 0.5 is not above the score threshold 0.5
  EXPECT_EQ(run_op("non_max_suppression", {boxes, scores})[0].dims(), (Dims{0, 3}));
  EXPECT_EQ(run_op("non_max_suppression", {boxes, scores, i64s({10}), floats({0.5f})})[0].i64_values(),
            (Integers{0, 0, 1, 0, 0, 2, 0, 0, 0}));  // IoU is exactly 0.5: kept
}

TEST(RoiAlign, SamplesOutsideAreZero) {
  // A region of 400 x 400 on 2 x 2 ones, one sample a pixel: 3 x 3 of them are not outside (-1, 2].
  const Tensor x = floats({1, 1, 2, 2}, {1, 1, 1, 1}), roi = floats({1, 4}, {0, 0, 400, 400});
  expect_near(reals("roi_align", {x, roi, i64s({0})}), {9.0 / 160000}, 1e-9);
  expect_near(reals("roi_align", {x, roi, i64s({0})}, attributes({{"mode", std::string("max")}})), {1}, 1e-9);
}

TEST(RoiAlign, ManySamplesNeedNoMemory) {  // 4096 x 4096 of them: 1 GB when each is kept
  const Tensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4}), roi = floats({1, 4}, {0, 0, 1e6f, 1e6f});
  const Deadline deadline(5);
  EXPECT_NEAR(reals("roi_align", {x, roi, i64s({0})}, attributes({{"sampling_ratio", int64_t{4096}}}))[0], 0, 1e-6);
}

TEST(RoiAlign, BatchIndexIsChecked) {
  const Tensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4}), roi = floats({1, 4}, {0, 0, 2, 2});
  expect_near(reals("roi_align", {x, roi, i64s({0})}), {2.5}, 1e-6);
  EXPECT_THROW(run_op("roi_align", {x, roi, i64s({1})}), Error);
  EXPECT_THROW(run_op("roi_align", {x, floats({1, 4}, {0, 0, 1e30f, 1}), i64s({0})}), Error);
}

}  // namespace
}  // namespace trine
