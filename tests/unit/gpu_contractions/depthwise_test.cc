// Depthwise convolutions.
#include <gtest/gtest.h>

#include "problems.h"

namespace trine::dnn::test {
namespace {

void check(const ConvProblem& p, bool integers = true) {
  check_device_rows(p, {.integers = integers, .only = "_depthwise"});
}

TEST(Depthwise, KernelsAndStrides) {
  for (const ElementTypes& types : float_types())
    for (int64_t channels : {8, 40}) {
      check(Conv{9, channels, channels, 3, 1, 1, channels}.with(types, kReluWithBias));
      check(Conv{9, channels, channels, 5, 2, 2, channels}.with(types));
      check(Conv{9, channels, channels, 3, 1, 2, channels, 2}.with(types));
      check(Conv{3, channels, channels, 3, 1, 4, channels}.with(types));
    }
}

// More blocks than one in each direction, sizes that are no multiples of a strip.
TEST(Depthwise, StripsOfImages) {
  for (const ElementTypes& types : float_types())
    for (int64_t stride : {1, 2}) {
      ConvProblem p = Conv{23, 72, 72, 3, stride, 1, 72}.with(types, kReluWithBias);
      p.n = 2;
      check_device_rows(p, {.least_rows = 2, .only = "_strips"});
    }
  for (int64_t stride : {1, 2}) {
    check_device_rows(Conv{13, 16, 16, 5, stride, 2, 16}.with(kF16, {.bias = true, .activation = Activation::silu}),
                      {.integers = false, .only = "_strips"});
    check_device_rows(Conv{11, 8, 8, 7, stride, 3, 8}.with(kBf16), {.only = "_strips"});
  }
  ConvProblem tall = Conv{70, 8, 8, 3, 2, 0, 8}.with(kF16, kReluWithBias);
  tall.in[2] = 5, tall.out[2] = 2, tall.stride[1] = 1, tall.out[1] = 68;
  check_device_rows(tall, {.only = "_strips"});
  check_device_rows(tall, {.large = true, .only = "_strips"});  // small blocks
}

TEST(Depthwise, SlicesBatchesAndVolumes) {
  for (const ElementTypes& types : {kF16, kBf16, ElementTypes{}}) {
    for (int64_t step : {32, 27}) {
      ConvProblem p = Conv{5, 24, 24, 3, 2, 1, 24}.with(
          types, {.bias = true, .residual = Residual::before_activation, .activation = Activation::relu});
      p.n = 2, p.in_pixel_stride = step, p.out_pixel_stride = step + 8;
      check(p);
      p.n = 0;
      check(p);
    }
    ConvProblem solid;
    solid.n = 2, solid.in_channels = solid.out_channels = solid.groups = 8, solid.types = types;
    solid.in = {4, 5, 6}, solid.kernel = {3, 2, 3}, solid.pad_begin = {1, 0, 1}, solid.out = {4, 4, 6};
    check(solid);
  }
}

TEST(Depthwise, Overlapping) {
  check_device_rows(Conv{5, 24, 24, 3, 2, 1, 24}.with(kF16), {.large = true, .only = "_depthwise"});
}

TEST(Depthwise, Activations) {
  for (int act = 0; act <= static_cast<int>(Activation::gelu_tanh); ++act)
    for (Residual residual : {Residual::none, Residual::after_activation}) {
      const Epilogue e{
          .bias = true, .residual = residual, .activation = static_cast<Activation>(act), .alpha = 0.25f, .beta = 0.5f};
      for (const ElementTypes& types : {kF16, ElementTypes{}})
        check(Conv{4, 16, 16, 3, 1, 1, 16}.with(types, e), e.activation <= Activation::clip);
    }
}

}  // namespace
}  // namespace trine::dnn::test
