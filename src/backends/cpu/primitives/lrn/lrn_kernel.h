// Bodies of the LRN kernels; included by lrn_baseline.cc, lrn_avx2.cc and lrn_avx512.cc.
#pragma once

#include "backends/cpu/kernels/simd/vector_math.h"
#include "backends/cpu/primitives/lrn/lrn.h"

namespace trine::cpu {
namespace {

template <bool kSquares>
[[gnu::always_inline]] inline V window_sum(const LrnRun& r, int64_t i, int n) {
  V sum = zero();
  for (int t = 0; t < r.taps_count; ++t) {
    V v = load_part(r.window + i + r.taps[t], n);
    sum = kSquares ? fma(v, v, sum) : add(sum, v);
  }
  return sum;
}

[[gnu::always_inline]] inline V power(V d, float exponent) { return exp(mul(log(d), set1(exponent))); }

template <class Body>
[[gnu::always_inline]] inline void for_vectors(const LrnRun& r, Body body) {
  for (int64_t i = 0; i < r.count; i += kWidth) {
    const int n = static_cast<int>(r.count - i < kWidth ? r.count - i : kWidth);
    store_part(r.out + i, body(i, n), n);
  }
}

void denominators(const LrnRun& r) {
  for_vectors(r, [&](int64_t i, int n) { return fma(window_sum<true>(r, i, n), set1(r.scale), set1(r.k)); });
}

void forward(const LrnRun& r) {
  for_vectors(r, [&](int64_t i, int n) {
    V d = fma(window_sum<true>(r, i, n), set1(r.scale), set1(r.k));
    return mul(load_part(r.x + i, n), power(d, -r.beta));
  });
}

void terms(const LrnRun& r) {
  for_vectors(r, [&](int64_t i, int n) {
    return mul(mul(load_part(r.dy + i, n), load_part(r.x + i, n)), power(load_part(r.d + i, n), -r.beta - 1));
  });
}

void gradient(const LrnRun& r) {
  const V factor = set1(2 * r.beta * r.scale);
  for_vectors(r, [&](int64_t i, int n) {
    V around = mul(mul(factor, load_part(r.x + i, n)), window_sum<false>(r, i, n));
    return sub(mul(load_part(r.dy + i, n), power(load_part(r.d + i, n), -r.beta)), around);
  });
}

constexpr LrnIsa kKernels = {forward, terms, gradient, denominators};

}  // namespace
}  // namespace trine::cpu
