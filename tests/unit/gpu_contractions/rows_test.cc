// Products of few rows.
#include <gtest/gtest.h>

#include "problems.h"

namespace trine::dnn::test {
namespace {

void check(const MatmulProblem& p, int rows = 1) { check_device_rows(p, {.least_rows = rows, .only = "_rows_"}); }

TEST(FewRows, SizesAndTypes) {
  for (const ElementTypes& types : float_types())
    for (bool constant : {false, true}) {
      for (int64_t k : {1, 7, 8, 263, 520})
        for (int64_t m : {1, 3, 4})
          check({.m = m, .n = 9, .k = k, .trans_b = true, .b_constant = constant, .types = types});
      check({.m = 1,
             .n = 40,
             .k = 64,
             .trans_b = !constant,
             .b_constant = constant,
             .alpha = 0.5f,
             .epilogue = {.bias = true, .residual = Residual::before_activation, .activation = Activation::relu},
             .types = types});
    }
}

TEST(FewRows, OfHalvesOnTensorCores) {
  const Epilogue everything{.bias = true, .residual = Residual::after_activation, .activation = Activation::relu};
  for (const ElementTypes& types : {kF16, kBf16, ElementTypes{DType::f16, DType::f16, DType::f32}})
    for (bool constant : {false, true}) {
      for (int64_t m : {5, 8, 16})
        check({.m = m, .n = 19, .k = 2088, .trans_b = true, .b_constant = constant, .types = types});
      check({.m = 9, .n = 8, .k = 40, .trans_b = true, .b_constant = constant, .epilogue = everything, .types = types});
      // Two groups of columns to a block.
      check({.m = 1,
             .n = 8 * 8 * test_traits(false).multiprocessors + 3,
             .k = 1040,
             .trans_b = true,
             .b_constant = constant,
             .types = types});
    }
}

TEST(FewRows, BatchesOnTensorCores) {
  for (const ElementTypes& types : {kF16, kBf16})
    check({.m = 10, .n = 21, .k = 24, .a_batch = {2}, .b_batch = {2}, .trans_b = true, .types = types});
}

TEST(FewRows, Overlapping) {
  check_device_rows(MatmulProblem{.m = 3, .n = 70, .k = 72, .b_constant = true, .types = kF16},
                    {.large = true, .only = "_rows_16"});
  check_device_rows(MatmulProblem{.m = 1, .n = 9, .k = 70, .b_constant = true, .types = kF16},
                    {.large = true, .only = "_rows_1"});
}

TEST(FewRows, Batches) {
  for (const ElementTypes& types : {kF16, ElementTypes{}}) {
    check({.m = 1, .n = 20, .k = 40, .a_batch = {3}, .b_batch = {3}, .trans_b = true, .types = types});
    check({.m = 2,
           .n = 5,
           .k = 9,
           .a_batch = {2, 3},
           .b_batch = {3},
           .trans_b = true,
           .out_row_stride = 7,
           .types = types});
    check({.m = 1, .n = 5, .k = 9, .a_batch = {4}, .b_constant = true, .types = types});  // four rows of one matrix
    check({.m = 0, .n = 5, .k = 9, .b_constant = true, .types = types});
    check({.m = 1, .n = 5, .k = 0, .b_constant = true, .types = types});
    check({.m = 1, .n = 9, .k = 33, .trans_a = true, .b_constant = true, .types = types});
  }
}

}  // namespace
}  // namespace trine::dnn::test
