// Body of the row functions; included by resize_baseline.cc, resize_avx2.cc and resize_avx512.cc.
#pragma once

#include "backends/cpu/kernels/resize/resize.h"
#include "backends/cpu/kernels/simd/simd.h"

namespace trine::cpu {
namespace {

void blend(const float* const* from, const float* weight, int count, int64_t n, float* to) {
  for (int64_t c = 0; c < n; c += kWidth) {
    int left = n - c >= kWidth ? kWidth : static_cast<int>(n - c);
    V sum = mul(load_part(from[0] + c, left), set1(weight[0]));
    for (int k = 1; k < count; ++k) sum = fma(load_part(from[k] + c, left), set1(weight[k]), sum);
    store_part(to + c, sum, left);
  }
}

}  // namespace
}  // namespace trine::cpu
