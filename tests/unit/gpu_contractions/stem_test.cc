// Convolutions of few channels.
#include <gtest/gtest.h>

#include <limits>

#include "problems.h"

namespace trine::dnn::test {
namespace {

void check(const ConvProblem& p, bool large = false) { check_device_rows(p, {.large = large, .only = "_stem"}); }

// Windows that begin at even and odd numbers, rows that begin at multiples of 16 bytes and elsewhere.
TEST(Stem, ChannelsStridesAndWindows) {
  for (int64_t channels : {1, 2, 3, 4}) {
    const ElementTypes& types = channels % 2 ? kF16 : kBf16;
    for (int64_t stride : {1, 2}) {
      check(Conv{15, channels, 24, 3, stride, 1}.with(types, kReluWithBias));
      check(Conv{18, channels, 40, 3, stride, 0}.with(types));
    }
  }
  check(Conv{17, 3, 64, 7, 2, 3}.with(kF16, kReluWithBias));
  check(Conv{9, 4, 16, 5, 1, 2}.with(kBf16));
  check(Conv{19, 3, 8, 4, 4, 1}.with(kF16));
  check(Conv{9, 1, 9, 1}.with(kBf16));
  check(Conv{6, 3, 9, 3, 1, 4}.with(kF16));  // some outputs see padding only
}

TEST(Stem, Types) {
  for (const ElementTypes& types :
       {kBf16, ElementTypes{DType::f16, DType::f16, DType::f32}, {DType::bf16, DType::bf16, DType::f16, DType::bf16}})
    check(Conv{11, 3, 33, 3, 2, 1}.with(types, kReluWithBias));
}

TEST(Stem, ManyTilesAndSlices) {
  ConvProblem p = Conv{47, 3, 72, 3, 2, 1}.with(
      kF16, {.bias = true, .residual = Residual::after_activation, .activation = Activation::silu});
  for (int64_t step : {72, 80, 75}) {
    p.n = 3, p.out_pixel_stride = step;
    check_device_rows(p, {.integers = false, .only = "_stem"});
  }
  p.epilogue.activation = Activation::relu;
  p.dilation[1] = 2, p.out[1] -= 1;
  p.in[2] = 64, p.out[2] = 32;
  check(p);
  check(p, true);
  p.n = 0;
  check(p);
}

TEST(Stem, Activations) {
  for (int act = 0; act <= static_cast<int>(Activation::gelu_tanh); ++act) {
    const Epilogue e{.bias = true,
                     .residual = Residual::before_activation,
                     .activation = static_cast<Activation>(act),
                     .alpha = 0.25f,
                     .beta = 0.5f};
    check_device_rows(Conv{7, 3, 16, 3, 2, 1}.with(act % 2 ? kF16 : kBf16, e),
                      {.integers = e.activation <= Activation::clip, .only = "_stem"});
  }
}

// What stands beside a line of a window is not multiplied.
TEST(Stem, NeighboursMayBeInfinite) {
  for (int64_t stride : {1, 2}) {
    ConvProblem p = Conv{4, 3, 8, 3, stride, -1}.with(kF16);
    p.out[2] = 1;  // pixels 1 to 3 of 5
    check_device_rows(p, {.integers = false, .only = "_stem", .adjust = [](Data& data) {
                            for (size_t i = 0; i < data.in[0].size(); ++i)
                              if (i % 15 < 3 || i % 15 >= 12) data.in[0][i] = std::numeric_limits<float>::infinity();
                          }});
  }
}

}  // namespace
}  // namespace trine::dnn::test
