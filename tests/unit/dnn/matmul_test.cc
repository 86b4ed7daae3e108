#include <gtest/gtest.h>

#include <cmath>

#include "check_rows.h"

namespace trine::dnn::test {
namespace {

void check(MatmulProblem p, bool integers = true) {
  p.b_constant = false;
  check_rows(p, matmul_oracle, {.integers = integers});
  if (!p.b_batch.empty()) return;
  p.b_constant = true;
  check_rows(p, matmul_oracle, {.integers = integers});
}

TEST(Matmul, EverySmallSize) {
  for (int64_t m : {1, 2, 3, 5, 13, 14, 15, 29})
    for (int64_t n : {1, 8, 15, 16, 17, 32, 47, 64, 65, 80})
      for (int64_t k : {1, 3, 4, 7, 16, 33}) check({.m = m, .n = n, .k = k});
}

TEST(Matmul, EmptyAndNoTerms) {
  check({.m = 0, .n = 5, .k = 3});
  check({.m = 4, .n = 0, .k = 3});
  check({.m = 4, .n = 5, .k = 0});  // sums of nothing are 0
}

TEST(Matmul, DepthInBlocks) {
  check({.m = 9, .n = 35, .k = 769});
  check({.m = 33, .n = 50, .k = 1537, .epilogue = {.bias = true, .activation = Activation::relu}});
  check({.m = 20, .n = 16, .k = 1024});  // rows 4 KB apart
}

TEST(Matmul, LargeEnoughToFork) {
  check({.m = 197, .n = 130, .k = 257});
  check({.m = 5, .n = 1000, .k = 512});  // more weights than rows
  check({.m = 700, .n = 33, .k = 64});
}

TEST(Matmul, Transposed) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      for (int64_t m : {1, 7, 40}) check({.m = m, .n = 37, .k = 35, .trans_a = a, .trans_b = b});
}

TEST(Matmul, BatchesBroadcast) {
  check({.m = 3, .n = 20, .k = 9, .a_batch = {4}, .b_batch = {4}});
  check({.m = 3, .n = 20, .k = 9, .a_batch = {2, 3}, .b_batch = {}});
  check({.m = 3, .n = 20, .k = 9, .a_batch = {2, 1}, .b_batch = {3}});
  check({.m = 3, .n = 16, .k = 9, .a_batch = {3}, .b_batch = {2, 1}});
  check({.m = 30, .n = 20, .k = 9, .a_batch = {}, .b_batch = {5}, .trans_b = true});
  check({.m = 3, .n = 4, .k = 5, .a_batch = {2, 0}, .b_batch = {1}});
  check({.m = 6, .n = 20, .k = 9, .a_batch = {3}, .b_batch = {1}, .trans_a = true});
}

TEST(Matmul, Epilogues) {
  for (int act = 0; act <= static_cast<int>(Activation::gelu_tanh); ++act) {
    for (Residual residual : {Residual::none, Residual::before_activation, Residual::after_activation}) {
      auto activation = static_cast<Activation>(act);
      bool exact = activation <= Activation::leaky_relu;
      Epilogue e{.bias = true, .residual = residual, .activation = activation, .alpha = -2, .beta = 6};
      if (activation == Activation::leaky_relu) e.alpha = 0.5;
      if (activation == Activation::hardsigmoid) e.alpha = 0.2f, e.beta = 0.5f;
      check({.m = 11, .n = 39, .k = 8, .epilogue = e}, exact);
      check({.m = 11, .n = 48, .k = 8, .out_row_stride = 50, .epilogue = e}, exact);
    }
  }
}

// Halves of odd rows, panels cut in two, everything that may follow; integers stay exact.
TEST(Matmul, Strassen) {
  const auto strassen = [](MatmulProblem p) {
    p.b_constant = true;
    check_rows(p, matmul_oracle, {.integers = p.epilogue.activation != Activation::gelu, .least_rows = 5});
  };
  for (int64_t m : {64, 97, 131}) strassen({.m = m, .n = 288, .k = 256});
  strassen({.m = 33, .n = 256, .k = 258, .a_batch = {3}, .trans_b = true});
  strassen({.m = 80, .n = 256, .k = 1538, .alpha = .5f, .out_row_stride = 300});
  for (Residual residual : {Residual::before_activation, Residual::after_activation})
    for (Activation activation : {Activation::none, Activation::relu, Activation::gelu})
      strassen(
          {.m = 65, .n = 256, .k = 256, .epilogue = {.bias = true, .residual = residual, .activation = activation}});
}

TEST(Matmul, StrassenIsFastsAlone) {
  const MatmulProblem p{.m = 512, .n = 1024, .k = 1024, .b_constant = true};
  const auto offers = [&](const Limits& limits) {
    const Choice choice = find(p, limits);
    return std::any_of(choice.candidates.begin(), choice.candidates.end(),
                       [](const Candidate& c) { return c.numerics == Numerics::strassen; });
  };
  EXPECT_FALSE(offers({}));
#if defined(__x86_64__)
  EXPECT_EQ(offers({.fast = true}), cpu_level() >= CpuLevel::avx2);
#endif
}

TEST(Matmul, AlphaScalesTheSumOnly) {
  check({.m = 11, .n = 39, .k = 8, .alpha = 0.5f, .epilogue = {.bias = true}});
  check({.m = 11, .n = 32, .k = 1600, .alpha = 0.5f, .epilogue = {.bias = true}});
}

TEST(Matmul, NanStays) {
  MatmulProblem p{.m = 3, .n = 20, .k = 4, .epilogue = {.activation = Activation::relu}};
  check_rows(p, matmul_oracle, {.integers = false, .adjust = [](Data& d) { d.in[0][5] = NAN; }});
  p.epilogue = {.activation = Activation::clip, .alpha = 0, .beta = 6};
  p.n = 32;
  check_rows(p, matmul_oracle, {.integers = false, .adjust = [](Data& d) { d.in[0][5] = NAN; }});
}

}  // namespace
}  // namespace trine::dnn::test
