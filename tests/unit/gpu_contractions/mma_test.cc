// The rows of tensor cores.
#include <gtest/gtest.h>

#include "problems.h"

namespace trine::dnn::test {
namespace {

std::vector<ElementTypes> mma_types() { return {kF16, kBf16, {}, integer_types()[0], integer_types()[1]}; }

// Every tile for one type of each kind of sums, one tile for the other types: kernels take a second each to compile.
void check(const Problem& problem) {
  const ElementTypes types = types_of(problem);
  const bool all = types.in == DType::f16 || types.in == DType::i8;
  check_device_rows(problem, {.tf32 = types.are_f32(), .only = all ? "_mma_" : "_mma_64x32"});
}

TEST(MmaMatmul, SmallSizes) {
  for (const ElementTypes& types : mma_types())
    for (int64_t m : {1, 33})
      for (int64_t n : {8, 31})
        for (int64_t k : {1, 65}) check(MatmulProblem{.m = m, .n = n, .k = k, .b_constant = true, .types = types});
}

TEST(MmaMatmul, TilesAndDepth) {
  for (const ElementTypes& types : mma_types()) {
    check(MatmulProblem{.m = 130, .n = 133, .k = 144, .trans_b = true, .b_constant = true, .types = types});
    check(MatmulProblem{
        .m = 9, .n = 40, .k = 1280, .b_constant = true, .alpha = 0.5f, .epilogue = kReluWithBias, .types = types});
    check(MatmulProblem{.m = 0, .n = 5, .k = 3, .b_constant = true, .types = types});
  }
}

TEST(MmaMatmul, BatchesOfTransposedRightSides) {
  for (const ElementTypes& types : {kF16, kBf16, ElementTypes{}}) {
    check(MatmulProblem{.m = 3, .n = 20, .k = 40, .a_batch = {2, 1}, .b_batch = {3}, .trans_b = true, .types = types});
    check(MatmulProblem{.m = 5,
                        .n = 24,
                        .k = 9,
                        .a_batch = {2, 3},
                        .b_batch = {2, 3},
                        .trans_b = true,
                        .out_row_stride = 32,
                        .types = types});
  }
}

TEST(Mma, DepthIsSplitForManyMultiprocessors) {
  const Epilogue everything{.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
  for (const ElementTypes& types : {kF16, integer_types()[1]}) {
    const ConvProblem conv = Conv{3, 256, 20, 3, 1, 1}.with(types, everything);
    const MatmulProblem product{
        .m = 33, .n = 70, .k = 2048, .b_constant = true, .epilogue = everything, .types = types};
    for (const Problem& p : {Problem(conv), Problem(product)}) {
      check_device_rows(p, {.tf32 = types.are_f32(), .large = true, .only = "_mma_64x32"});
      const DeviceRow* row =
          find_device_row(std::holds_alternative<ConvProblem>(p) ? "conv_half_mma_64x32" : "matmul_half_mma_64x32");
      if (types == kF16) {
        EXPECT_EQ(device_call(*row, p, test_traits(true)).launches.size(), 2u);
      }
    }
  }
}

TEST(MmaConv, Shapes) {
  const Epilogue everything{.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
  for (const ElementTypes& types : mma_types()) {
    check(Conv{7, 16, 24}.with(types, everything));
    check(Conv{7, 3, 16, 7, 2, 3}.with(types, kReluWithBias));
    check(Conv{6, 20, 33, 3, 1, 1}.with(types, {.bias = true, .residual = Residual::after_activation}));
    check(Conv{9, 16, 40, 3, 2, 1}.with(types, everything));
    check(Conv{9, 8, 16, 3, 1, 2, 1, 2}.with(types));
    check(Conv{3, 16, 16, 3, 1, 4}.with(types));  // some outputs see padding only
    check(Conv{5, 64, 64, 3, 1, 1, 2}.with(types, everything));
    check(Conv{3, 160, 16, 3, 1, 1}.with(types, everything));  // depth is split
  }
}

TEST(MmaConv, FewChannels) {
  for (const ElementTypes& types : mma_types())
    for (int64_t channels : {1, 3, 4}) {
      ConvProblem p = Conv{9, channels, 24, 7, 2, 3}.with(types, kReluWithBias);
      check(p);
      p.in_pixel_stride = channels + 2, p.n = 2;
      check(p);
      check(Conv{6, channels, 9, 3, 2, 1}.with(types));
      check(Conv{6, channels, 9, 3, 1, 4}.with(types));  // lines beyond the image
      check(Conv{9, channels, 9, 3, 1, 2, 1, 2}.with(types));
    }
}

TEST(MmaConv, SlicesBatchesAndVolumes) {
  for (const ElementTypes& types : {kF16, ElementTypes{}, integer_types()[1]}) {
    for (int64_t step : {24, 19}) {
      ConvProblem p = Conv{5, 16, 16, 3, 1, 1}.with(types, kReluWithBias);
      p.n = 3, p.in_pixel_stride = step, p.out_pixel_stride = step + 8;
      check(p);
    }
    ConvProblem solid;
    solid.n = 2, solid.in_channels = 8, solid.out_channels = 16, solid.types = types;
    solid.in = {4, 5, 6}, solid.kernel = {3, 2, 3}, solid.pad_begin = {1, 0, 1}, solid.out = {4, 4, 6};
    check(solid);
  }
}

TEST(MmaConv, Activations) {
  for (int act = 0; act <= static_cast<int>(Activation::gelu_tanh); ++act) {
    Epilogue e{.bias = true,
               .residual = Residual::after_activation,
               .activation = static_cast<Activation>(act),
               .alpha = 0.2f,
               .beta = 0.5f};
    check_device_rows(Conv{3, 16, 16}.with(kF16, e),
                      {.integers = e.activation <= Activation::clip, .only = "_mma_64x32"});
  }
}

}  // namespace
}  // namespace trine::dnn::test
