// Bodies of the row functions; included by attention_baseline.cc, attention_avx2.cc and attention_avx512.cc.
#pragma once

#include "backends/cpu/kernels/attention/attention.h"
#include "backends/cpu/kernels/simd/vector_math.h"

namespace trine::cpu {
namespace {

float row_max(const float* s, int64_t n) {
  constexpr float kLeast = -__builtin_inff();
  V m0 = set1(kLeast), m1 = m0;
  int64_t i = 0;
  for (; i + 2 * kWidth <= n; i += 2 * kWidth) {
    m0 = vmax(load(s + i), m0);
    m1 = vmax(load(s + i + kWidth), m1);
  }
  float most = reduce_max(vmax(m0, m1));
  for (; i < n; ++i) most = s[i] > most ? s[i] : most;
  return most;
}

float exp_row(float* s, int64_t n, float max) {
  V m = set1(max), sum0 = zero(), sum1 = zero();
  int64_t i = 0;
  for (; i + 2 * kWidth <= n; i += 2 * kWidth) {
    V a = exp(sub(load(s + i), m)), b = exp(sub(load(s + i + kWidth), m));
    store(s + i, a);
    store(s + i + kWidth, b);
    sum0 = add(sum0, a);
    sum1 = add(sum1, b);
  }
  float sum = reduce_add(add(sum0, sum1));
  for (; i < n; i += kWidth) {
    int left = static_cast<int>(n - i);
    store_part(s + i, exp(sub(load_part(s + i, left), m)), left);
    for (int j = 0; j < kWidth && j < left; ++j) sum += s[i + j];
  }
  return sum;
}

void scale_row(const float* from, int64_t n, float factor, float* to) {
  V f = set1(factor);
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) store(to + i, mul(load(from + i), f));
  if (i < n) store_part(to + i, mul(load_part(from + i, static_cast<int>(n - i)), f), static_cast<int>(n - i));
}

void add_row(float* s, int64_t n, const float* mask) {
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) store(s + i, add(load(s + i), load(mask + i)));
  for (; i < n; ++i) s[i] += mask[i];
}

void cap_row(float* s, int64_t n, float cap) {
  V c = set1(cap);
  for (int64_t i = 0; i < n; i += kWidth) {
    int left = static_cast<int>(n - i);
    store_part(s + i, mul(c, tanh(div(load_part(s + i, left), c))), left);
  }
}

}  // namespace
}  // namespace trine::cpu
