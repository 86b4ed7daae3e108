// Contractions of bf16 and of 8-bit integers. Sums of integers are exact and so is what follows while the activation is
// piecewise linear: their tolerance is 0 whatever the data, which covers the whole range of the types.
#include <gtest/gtest.h>

#include <cmath>

#include "check_rows.h"

namespace trine::dnn::test {
namespace {

constexpr ElementTypes kBf16{DType::bf16, DType::bf16, DType::bf16};
constexpr ElementTypes kBf16ToF32{DType::bf16, DType::bf16, DType::f32};
constexpr ElementTypes kF16{DType::f16, DType::f16, DType::f16};
constexpr ElementTypes kMixed{DType::f32, DType::bf16, DType::f16};

std::vector<ElementTypes> integer_types() {
  std::vector<ElementTypes> all;
  for (DType in : {DType::u8, DType::i8}) {
    for (DType out : {DType::u8, DType::i8, DType::f32})
      for (DType bias : {DType::f32, DType::i32}) all.push_back({in, DType::i8, out, bias, bias == DType::i32});
    all.push_back({in, DType::i8, DType::i32, DType::i32});
  }
  return all;
}

std::vector<ElementTypes> all_types() {
  std::vector<ElementTypes> all = integer_types();
  all.push_back(kBf16);
  all.push_back(kBf16ToF32);
  all.push_back(kF16);
  return all;
}

// What an output of these types may have beside its sums.
Epilogue allowed(const ElementTypes& types, Epilogue epilogue) {
  return types.out == DType::i32 ? Epilogue{.bias = epilogue.bias} : epilogue;
}

void check(MatmulProblem p, bool integers = true, int many_threads = 3) {
  p.b_constant = false;
  check_rows(p, matmul_oracle, {.integers = integers, .threads = {2, many_threads}});
  if (!p.b_batch.empty()) return;
  p.b_constant = true;
  check_rows(p, matmul_oracle, {.integers = integers, .threads = {2, many_threads}});
}

void check(const ConvProblem& p, bool integers = true, int least_rows = 1) {
  check_rows(p, conv_oracle, {.integers = integers, .least_rows = least_rows});
}

struct Conv {
  int64_t size, in, out, kernel, stride = 1, pad = 0, groups = 1, dilation = 1;

  ConvProblem with(const ElementTypes& types, Epilogue epilogue = {}) const {
    ConvProblem p;
    p.in_channels = in, p.out_channels = out, p.groups = groups;
    p.in = {1, size, size + 1}, p.kernel = {1, kernel, kernel}, p.stride = {1, stride, stride};
    p.dilation = {1, dilation, dilation}, p.pad_begin = {0, pad, pad};
    for (size_t i = 1; i < 3; ++i) p.out[i] = (p.in[i] + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
    p.types = types;
    p.epilogue = allowed(types, epilogue);
    return p;
  }
};

constexpr Epilogue kReluWithBias{.bias = true, .activation = Activation::relu};

TEST(Narrow, MatmulOfEverySmallSize) {
  for (const ElementTypes& types : {kBf16, ElementTypes{DType::u8, DType::i8, DType::u8},
                                    ElementTypes{DType::i8, DType::i8, DType::i32, DType::i32}})
    for (int64_t m : {1, 2, 5, 9, 15})
      for (int64_t n : {1, 16, 17, 48, 70})
        for (int64_t k : {1, 2, 3, 4, 5, 7, 8, 33}) check({.m = m, .n = n, .k = k, .types = types});
}

// Odd and even sizes, tiles cut off at every side, a rest of channels, all that an epilogue does.
TEST(Narrow, Winograd) {
  const Epilogue everything{.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
  const Epilogue smooth{.residual = Residual::after_activation, .activation = Activation::silu};
  for (const Epilogue& e : {Epilogue{}, everything, smooth}) {
    const bool integers = e.activation <= Activation::leaky_relu;
    for (const Conv& c :
         {Conv{5, 16, 16, 3}, Conv{8, 18, 33, 3, 1, 1}, Conv{11, 50, 40, 3, 1, 1}, Conv{2, 24, 17, 3, 1, 1}})
      check(c.with(kBf16, e), integers);
    check(Conv{9, 17, 16, 3, 1, 1}.with(kBf16, e), integers);  // a word of two with one in use
    ConvProblem wide = Conv{7, 20, 24, 3, 1, 1}.with(kBf16, e);
    wide.n = 3, wide.in_pixel_stride = 23, wide.out_pixel_stride = 31;
    check(wide, integers);
  }
  check(Conv{30, 64, 80, 3, 1, 1}.with(kBf16, everything), false);  // several blocks of tiles
}

TEST(Narrow, MatmulOfEveryType) {
  for (const ElementTypes& types : all_types()) {
    check({.m = 13, .n = 50, .k = 39, .epilogue = {.bias = true}, .types = types});
    check({.m = 0, .n = 5, .k = 3, .types = types});
    check({.m = 4, .n = 5, .k = 0, .types = types});
    check({.m = 7, .n = 37, .k = 35, .trans_a = true, .trans_b = true, .types = types});
    check({.m = 3, .n = 20, .k = 9, .a_batch = {2, 1}, .b_batch = {3}, .types = types});
    check({.m = 3, .n = 20, .k = 9, .a_batch = {2, 3}, .types = types});
  }
}

TEST(Narrow, DeepMatmul) {
  for (const ElementTypes& types : all_types()) {
    check({.m = 9, .n = 35, .k = 3077, .epilogue = allowed(types, kReluWithBias), .types = types});
    check({.m = 20, .n = 16, .k = 4096, .types = types});
  }
}

TEST(Narrow, MatmulLargeEnoughToFork) {
  for (const ElementTypes& types : {kBf16, kBf16ToF32, ElementTypes{DType::i8, DType::i8, DType::i8}}) {
    check({.m = 197, .n = 130, .k = 517, .types = types}, false, 7);
    check({.m = 5, .n = 1000, .k = 1024, .types = types}, false, 7);
    check({.m = 1400, .n = 33, .k = 128, .types = types}, false, 7);
  }
}

TEST(Narrow, AlphaScalesTheSumOnly) {
  for (const ElementTypes& types : all_types())
    if (types.out != DType::i32)
      check({.m = 11, .n = 39, .k = 8, .alpha = 0.5f, .epilogue = {.bias = true}, .types = types});
}

TEST(Narrow, Epilogues) {
  for (const ElementTypes& types : all_types()) {
    if (types.out == DType::i32) continue;
    for (int act = 0; act <= static_cast<int>(Activation::gelu_tanh); ++act)
      for (Residual residual : {Residual::none, Residual::before_activation, Residual::after_activation}) {
        auto activation = static_cast<Activation>(act);
        Epilogue e{.bias = true, .residual = residual, .activation = activation, .alpha = -2, .beta = 6};
        if (activation == Activation::leaky_relu) e.alpha = 0.5;
        if (activation == Activation::hardsigmoid) e.alpha = 0.2f, e.beta = 0.5f;
        check({.m = 11, .n = 39, .k = 8, .out_row_stride = 41, .epilogue = e, .types = types},
              activation <= Activation::leaky_relu);
      }
  }
}

TEST(Narrow, PointwiseConvolution) {
  for (const ElementTypes& types : all_types())
    for (int64_t in : {1, 3, 16, 31}) {
      check(Conv{7, in, 24, 1}.with(types, kReluWithBias), true, 2);
      check(Conv{7, in, 50, 1, 2}.with(types), true, 2);
    }
}

TEST(Narrow, PaddingIsTheZeroPoint) {
  for (const ElementTypes& types : all_types()) {
    for (int64_t channels : {1, 3, 5, 16, 30}) check(Conv{9, channels, 33, 3, 1, 1}.with(types, kReluWithBias));
    check(Conv{9, 8, 20, 3, 2, 1}.with(types));
    check(Conv{3, 6, 10, 3, 1, 4}.with(types));         // some outputs see padding only
    check(Conv{11, 6, 18, 3, 1, 2, 1, 2}.with(types));  // dilated
  }
}

TEST(Narrow, FirstLayers) {
  for (const ElementTypes& types : all_types())
    for (Layout layout : {Layout::nhwc, Layout::nchw}) {
      if (types == kF16 && layout == Layout::nchw) continue;  // has no row
      ConvProblem p = Conv{23, 3, 32, 7, 2, 3}.with(types, kReluWithBias);
      p.in_layout = layout;
      check(p);
    }
}

TEST(Narrow, FirstLayersOfEveryWidth) {
  for (const ElementTypes& types : all_types()) {
    for (int64_t width : {13, 14, 15, 41}) {
      ConvProblem p = Conv{width - 1, 3, 24, 3, 1, 1}.with(types, kReluWithBias);
      p.in_pixel_stride = 5, p.out_pixel_stride = 27;
      check(p);
      check(Conv{width - 1, 3, 70, 3, 1, 1}.with(
          types, {.bias = true, .residual = Residual::before_activation, .activation = Activation::relu}));
    }
    check(Conv{59, 3, 48, 4, 4}.with(types));
    check(Conv{9, 3, 1500, 7, 1, 3}.with(types));  // weights too large to be read for every few lines
  }
}

// A row of a kernel may end within a word; the number that shares it does not count.
TEST(Narrow, NothingLeaksFromBesideTheWindow) {
  for (int64_t channels : {1, 3})
    for (int64_t size : {9, 20}) {
      const auto spoil = [](Data& data) { data.in[0][data.in[0].size() / 2] = NAN; };
      check_rows(Conv{size, channels, 20, 3, 1, 1}.with(kBf16), conv_oracle, {.adjust = spoil});
      check_rows(Conv{size, channels, 20, 3, 1, 1}.with(kBf16ToF32), conv_oracle, {.adjust = spoil});
    }
}

TEST(Narrow, NothingLeaksFromBesideTheKernel) {
  for (float spoiled : {NAN, INFINITY})
    for (int64_t kernel : {3, 5, 7})
      for (int64_t stride : {1, 2})
        for (const ElementTypes& types : {kBf16, kBf16ToF32}) {
          const auto spoil = [&](Data& data) {
            for (size_t i = 5; i < data.in[0].size(); i += 911) data.in[0][i] = spoiled;
          };
          check_rows(Conv{17, 37, 37, kernel, stride, kernel / 2, 37}.with(types, kReluWithBias), conv_oracle,
                     {.adjust = spoil});
        }
}

TEST(Narrow, GroupedAndDepthwise) {
  for (const ElementTypes& types : all_types()) {
    check(Conv{7, 12, 20, 3, 1, 1, 4}.with(types, kReluWithBias));  // groups begin within words
    check(Conv{6, 64, 64, 3, 2, 1, 32}.with(types));
    for (int64_t channels : {1, 16, 19, 40})
      check(Conv{9, channels, channels, 3, 1, 1, channels}.with(types, kReluWithBias));
    check(Conv{9, 40, 40, 5, 2, 2, 40}.with(types));
    check(Conv{15, 24, 24, 3, 1, 2, 24, 2}.with(types));
    check(Conv{9, 6, 18, 3, 1, 1, 6}.with(types));  // multiplier 3
  }
}

// Whole and partial blocks of channels, tiles of 7 and of 4 columns that fit or overlap, strips of a wide row.
TEST(Narrow, DepthwiseOfEveryTile) {
  for (const ElementTypes& types : all_types())
    for (int64_t kernel : {3, 5, 7})
      for (int64_t stride : {1, 2}) {
        for (int64_t size : {6, 8, 13})
          check(Conv{size, 37, 37, kernel, stride, kernel / 2, 37}.with(types, kReluWithBias));
        check(Conv{15, 64, 64, kernel, stride, 0, 64}.with(types));
      }
  for (const ElementTypes& types : {kBf16, ElementTypes{DType::i8, DType::i8, DType::i8}}) {
    check(Conv{61, 33, 33, 3, 1, 1, 33}.with(types, kReluWithBias));
    check(Conv{13, 161, 161, 3, 1, 1, 161}.with(types));  // two groups of blocks
  }
}

TEST(Narrow, EpiloguesOfDepthwise) {
  for (const ElementTypes& types : all_types()) {
    if (types.out == DType::i32) continue;
    for (int act = 0; act <= static_cast<int>(Activation::gelu_tanh); ++act)
      for (Residual residual : {Residual::none, Residual::before_activation, Residual::after_activation}) {
        auto activation = static_cast<Activation>(act);
        Epilogue e{.bias = true, .residual = residual, .activation = activation, .alpha = -2, .beta = 6};
        if (activation == Activation::leaky_relu) e.alpha = 0.5;
        if (activation == Activation::hardsigmoid) e.alpha = 0.2f, e.beta = 0.5f;
        check(Conv{7, 40, 40, 3, 1, 1, 40}.with(types, e), activation <= Activation::leaky_relu);
      }
  }
}

TEST(Narrow, BatchesAndSlices) {
  for (const ElementTypes& types : all_types()) {
    Epilogue e{.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
    for (int64_t kernel : {1, 3}) {
      ConvProblem p = Conv{7, 16, 32, kernel, 1, kernel / 2}.with(types, e);
      p.n = 3;
      p.in_pixel_stride = 23, p.out_pixel_stride = 37;  // rows begin at any byte
      check(p);
    }
    ConvProblem p = Conv{7, 32, 32, 3, 1, 1, 32}.with(types, e);
    p.in_pixel_stride = 35, p.out_pixel_stride = 37;
    check(p);
    p.n = 0;
    check(p);
  }
}

TEST(Narrow, ConvolutionInOneAndThreeDimensions) {
  for (const ElementTypes& types : all_types()) {
    ConvProblem line;
    line.in_channels = 10, line.out_channels = 21, line.types = types;
    line.in = {1, 1, 50}, line.kernel = {1, 1, 9}, line.pad_begin = {0, 0, 4}, line.out = {1, 1, 50};
    check(line);
    ConvProblem solid;
    solid.n = 2, solid.in_channels = 5, solid.out_channels = 18, solid.types = types;
    solid.in = {4, 5, 6}, solid.kernel = {3, 2, 3}, solid.pad_begin = {1, 0, 1}, solid.out = {4, 4, 6};
    check(solid);
  }
}

TEST(Narrow, MixedAndTransposedByF32) {
  check({.m = 11, .n = 39, .k = 8, .out_row_stride = 41, .epilogue = kReluWithBias, .types = kMixed});
  for (const ElementTypes& types : {kF16, kBf16, kMixed}) {
    ConvProblem p;
    p.transposed = true;
    p.in_channels = 10, p.out_channels = 21, p.types = types;
    p.in = {1, 1, 20}, p.kernel = {1, 1, 8}, p.stride = {1, 1, 4}, p.pad_begin = {0, 0, 2}, p.out = {1, 1, 80};
    check(p);
  }
}

TEST(Narrow, LargestSumsDoNotSaturate) {
  MatmulProblem p{.m = 3, .n = 17, .k = 1024, .types = {DType::u8, DType::i8, DType::i32, DType::i32}};
  for (float weight : {-128.f, 127.f})
    check_rows(p, matmul_oracle, {.adjust = [&](Data& d) {
                 std::fill(d.in[0].begin(), d.in[0].end(), 255.f);
                 std::fill(d.in[1].begin(), d.in[1].end(), weight);
                 d.quantization.in_zero = 0;
               }});
}

TEST(Narrow, TiesGoToEvenAndTheRestSaturates) {
  MatmulProblem p{.m = 64, .n = 16, .k = 1, .types = {DType::u8, DType::i8, DType::i8}};
  check_rows(p, matmul_oracle, {.adjust = [](Data& d) {
               for (size_t i = 0; i < 64; ++i) d.in[0][i] = static_cast<float>(i * 4);
               for (size_t j = 0; j < 16; ++j) d.in[1][j] = static_cast<float>(j * 17) - 128;
               d.scales = {0.5f};
               d.quantization = {.in_zero = 7, .out_multiplier = 0.125f, .out_zero = -3};
             }});
}

}  // namespace
}  // namespace trine::dnn::test
