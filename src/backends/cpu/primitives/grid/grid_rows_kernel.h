// Bodies of the row functions; included by grid_rows_baseline.cc, grid_rows_avx2.cc and grid_rows_avx512.cc.
#pragma once

#include "backends/cpu/kernels/simd/simd.h"
#include "backends/cpu/primitives/grid/grid_rows.h"

namespace trine::cpu {
namespace {

void add_scaled(const float* from, int64_t n, float factor, float* to) {
  const V f = set1(factor);
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) store(to + i, fma(f, load(from + i), load(to + i)));
  if (const int left = static_cast<int>(n - i); left > 0)
    store_part(to + i, fma(f, load_part(from + i, left), load_part(to + i, left)), left);
}

float dot(const float* a, const float* b, int64_t n) {
  V sum = zero();
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) sum = fma(load(a + i), load(b + i), sum);
  if (const int left = static_cast<int>(n - i); left > 0)
    sum = fma(load_part(a + i, left), load_part(b + i, left), sum);
  return reduce_add(sum);
}

}  // namespace
}  // namespace trine::cpu
