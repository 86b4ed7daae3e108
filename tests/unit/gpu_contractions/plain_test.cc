// The rows that take everything.
#include <gtest/gtest.h>

#include "problems.h"

namespace trine::dnn::test {
namespace {

std::vector<ElementTypes> all_types() {
  std::vector<ElementTypes> all = float_types();
  for (const ElementTypes& t : integer_types()) all.push_back(t);
  return all;
}

void check(const Problem& problem, bool integers = true) {
  check_device_rows(problem, {.integers = integers, .only = "any_any"});
}

TEST(PlainMatmul, SmallSizes) {
  for (const ElementTypes& types : {ElementTypes{}, integer_types()[0]})
    for (int64_t m : {1, 2, 33})
      for (int64_t n : {1, 17, 70})
        for (int64_t k : {1, 16, 31}) check(MatmulProblem{.m = m, .n = n, .k = k, .types = types});
}

TEST(PlainMatmul, EveryTypeAndBothWaysAround) {
  for (const ElementTypes& types : all_types()) {
    for (bool trans_a : {false, true})
      for (bool trans_b : {false, true})
        for (bool constant : {false, true})
          check(MatmulProblem{.m = 7,
                              .n = 37,
                              .k = 35,
                              .trans_a = trans_a,
                              .trans_b = trans_b,
                              .b_constant = constant,
                              .types = types});
    check(MatmulProblem{.m = 0, .n = 5, .k = 3, .types = types});
    check(MatmulProblem{.m = 4, .n = 5, .k = 0, .types = types});
    check(MatmulProblem{.m = 130, .n = 133, .k = 20, .types = types});
  }
}

TEST(PlainMatmul, Batches) {
  for (const ElementTypes& types : {ElementTypes{}, kF16, integer_types()[1]}) {
    check(MatmulProblem{.m = 3, .n = 20, .k = 9, .a_batch = {2, 1}, .b_batch = {3}, .types = types});
    check(MatmulProblem{.m = 3, .n = 20, .k = 9, .a_batch = {2, 3}, .out_row_stride = 23, .types = types});
    check(MatmulProblem{.m = 3, .n = 5, .k = 9, .a_batch = {2, 1, 3, 1}, .b_batch = {1, 2, 1, 2}, .types = types});
    check(MatmulProblem{
        .m = 3, .n = 5, .k = 9, .a_batch = {1, 3}, .b_batch = {2, 1, 3}, .trans_a = true, .types = types});
    check(MatmulProblem{.m = 3, .n = 5, .k = 9, .a_batch = {0}, .types = types});
  }
}

TEST(PlainMatmul, Epilogues) {
  for (const ElementTypes& types : all_types()) {
    if (types.out == DType::i32) continue;
    for (int act = 0; act <= static_cast<int>(Activation::gelu_tanh); ++act)
      for (Residual residual : {Residual::none, Residual::before_activation, Residual::after_activation}) {
        const auto activation = static_cast<Activation>(act);
        Epilogue e{.bias = true, .residual = residual, .activation = activation, .alpha = -2, .beta = 6};
        if (activation == Activation::leaky_relu) e.alpha = 0.5;
        if (activation == Activation::hardsigmoid) e.alpha = 0.2f, e.beta = 0.5f;
        check_device_rows(
            MatmulProblem{.m = 5, .n = 19, .k = 8, .alpha = 0.5f, .out_row_stride = 21, .epilogue = e, .types = types},
            {.integers = activation <= Activation::leaky_relu, .only = "plain_32x32"});
      }
  }
}

TEST(PlainMatmul, LargestSumsDoNotSaturate) {
  const MatmulProblem p{.m = 3, .n = 17, .k = 1024, .types = {DType::u8, DType::i8, DType::i32, DType::i32}};
  for (float weight : {-128.f, 127.f})
    check_device_rows(p, {.adjust = [&](Data& d) {
                        std::fill(d.in[0].begin(), d.in[0].end(), 255.f);
                        std::fill(d.in[1].begin(), d.in[1].end(), weight);
                        d.quantization.in_zero = 0;
                      }});
}

TEST(PlainConv, EveryType) {
  for (const ElementTypes& types : all_types()) {
    check(Conv{5, 3, 24}.with(types, kReluWithBias));
    check(Conv{7, 5, 20, 3, 2, 1}.with(types, kReluWithBias));
    check(Conv{3, 6, 10, 3, 1, 4}.with(types));        // some outputs see padding only
    check(Conv{9, 4, 18, 3, 1, 2, 1, 2}.with(types));  // dilated
    check(Conv{6, 12, 20, 3, 1, 1, 4}.with(types, kReluWithBias));
    check(Conv{7, 19, 19, 3, 1, 1, 19}.with(types, kReluWithBias));
    check(Conv{5, 6, 18, 3, 1, 1, 6}.with(types));  // multiplier 3
  }
}

TEST(PlainConv, LayoutsAndSlices) {
  for (const ElementTypes& types : {ElementTypes{}, kBf16, integer_types()[0]}) {
    for (Layout layout : {Layout::nhwc, Layout::nchw}) {
      ConvProblem p = Conv{9, 3, 17, 5, 2, 2}.with(types, kReluWithBias);
      p.n = 2, p.in_layout = layout;
      check(p);
    }
    ConvProblem p = Conv{6, 8, 33, 3, 1, 1}.with(
        types, {.bias = true, .residual = Residual::after_activation, .activation = Activation::relu});
    p.n = 2, p.in_pixel_stride = 11, p.out_pixel_stride = 35;
    check(p);
    p.n = 0;
    check(p);
  }
}

TEST(PlainConv, OneAndThreeDimensions) {
  for (const ElementTypes& types : {ElementTypes{}, kF16, integer_types()[1]}) {
    ConvProblem line;
    line.in_channels = 10, line.out_channels = 21, line.types = types;
    line.in = {1, 1, 30}, line.kernel = {1, 1, 9}, line.pad_begin = {0, 0, 4}, line.out = {1, 1, 30};
    check(line);
    ConvProblem solid;
    solid.n = 2, solid.in_channels = 5, solid.out_channels = 18, solid.types = types;
    solid.in = {4, 5, 6}, solid.kernel = {3, 2, 3}, solid.pad_begin = {1, 0, 1}, solid.out = {4, 4, 6};
    check(solid);
  }
}

TEST(PlainConv, Transposed) {
  for (const ElementTypes& types : {ElementTypes{}, kF16, integer_types()[1]}) {
    check(Conv{4, 5, 18, 4, 2, 1}.transposed(types));
    check(Conv{4, 6, 20, 3, 2, 0, 2}.transposed(types, 1));
    check(Conv{3, 4, 17, 3, 3, 1, 1, 2}.transposed(types));
    check(Conv{3, 4, 17, 2, 3}.transposed(types, 1));  // positions that no tap reaches
  }
}

}  // namespace
}  // namespace trine::dnn::test
