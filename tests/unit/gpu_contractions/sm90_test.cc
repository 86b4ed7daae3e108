// The rows for compute capability 9.0: they need such a GPU.
#include <gtest/gtest.h>

#include "problems.h"

namespace trine::dnn::test {
namespace {

constexpr Epilogue kSum{.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
constexpr ElementTypes kToF32{DType::f16, DType::f16, DType::f32};

class Sm90 : public testing::Test {
 protected:
  void SetUp() override {
    const DeviceTraits traits = test_traits(false);
    if (!traits.specific || traits.architecture != 90) GTEST_SKIP() << "the device is no GPU of compute capability 9.0";
  }
  static void check(const Problem& problem, bool integers = true) {
    check_device_rows(problem, {.integers = integers, .only = "_sm90_"});
  }
};

TEST_F(Sm90, Convolutions) {
  for (const ElementTypes& types : {kF16, kBf16, kToF32}) {
    check(Conv{14, 64, 64, 3, 1, 1}.with(types, kSum));
    check(Conv{9, 72, 40, 3, 2, 1}.with(types));
    check(Conv{5, 8, 16, 5, 1, 2}.with(types, kReluWithBias));
    check(Conv{13, 128, 136, 3, 1, 2, 1, 2}.with(types));
    check(Conv{10, 256, 64, 1, 2}.with(types));
    check(Conv{7, 512, 64, 3, 1, 1}.with(types, kSum));
    check(Conv{30, 64, 24, 7, 2, 3}.with(types));
  }
}

TEST_F(Sm90, BatchesAndSlices) {
  for (const int64_t kernel : {1, 3}) {
    ConvProblem p = Conv{11, 64, 256, kernel, 1, kernel / 2}.with(
        kF16, {.bias = true, .residual = Residual::after_activation, .activation = Activation::silu});
    p.n = 3, p.in_pixel_stride = 80, p.out_pixel_stride = 264;
    check(p, false);
  }
}

TEST_F(Sm90, Products) {
  for (const ElementTypes& types : {kF16, kBf16, kToF32}) {
    check(MatmulProblem{.m = 128, .n = 256, .k = 512, .b_constant = true, .epilogue = kReluWithBias, .types = types});
    check(MatmulProblem{.m = 33, .n = 72, .k = 1000, .a_batch = {3}, .trans_b = true, .alpha = 0.5f, .types = types});
    check(MatmulProblem{.m = 1, .n = 1000, .k = 2048, .trans_b = true, .b_constant = true, .types = types});
    check(MatmulProblem{.m = 300, .n = 1096, .k = 64, .b_constant = true, .out_row_stride = 1104, .types = types});
  }
}

// More tiles of 128 x 128 than multiprocessors.
TEST_F(Sm90, ManyTiles) {
  for (const ElementTypes& types : {kF16, kBf16, kToF32}) {
    check(MatmulProblem{.m = 2000, .n = 1160, .k = 200, .b_constant = true, .epilogue = kReluWithBias, .types = types});
    check(MatmulProblem{.m = 4000, .n = 1096, .k = 64, .b_constant = true, .epilogue = kSum, .types = types});
  }
  ConvProblem p = Conv{58, 16, 264, 3, 1, 1}.with(kF16, kSum);
  p.n = 6;
  check(p);
}

TEST_F(Sm90, Activations) {
  for (int act = 0; act <= static_cast<int>(Activation::gelu_tanh); ++act)
    check(Conv{6, 64, 64}.with(kF16,
                               {.bias = true, .activation = static_cast<Activation>(act), .alpha = 0.2f, .beta = 0.5f}),
          act <= static_cast<int>(Activation::clip));
}

}  // namespace
}  // namespace trine::dnn::test
