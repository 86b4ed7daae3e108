// Bodies of the softmax kernels; included by softmax_baseline.cc, softmax_avx2.cc and softmax_avx512.cc.
//
// Two passes over x: the maximum, then exp(x - max), written and summed; a third over the result divides it. Of log the
// second pass only sums. A sum of 0 (all of x is -infinity) divides to 0.
#pragma once

#include "backends/cpu/kernels/simd/vector_math.h"
#include "backends/cpu/primitives/softmax/softmax.h"

namespace trine::cpu {
namespace {

using dnn::SoftmaxKind;

[[gnu::always_inline]] inline int part(int64_t left) { return static_cast<int>(left < kWidth ? left : kWidth); }

// A maximum of -infinity becomes 0, so that x - max is no NaN.
[[gnu::always_inline]] inline V finite_shift(V most) {
  return select(equal(most, set1(-__builtin_inff())), zero(), most);
}
[[gnu::always_inline]] inline V quotient_of(V sum) { return select(equal(sum, zero()), zero(), div(set1(1.f), sum)); }
// ln(sum), 0 of 0: then x - max is -infinity everywhere, and so is y. Sums are at least 1 otherwise.
[[gnu::always_inline]] inline V log_of(V sum) { return select(equal(sum, zero()), zero(), log(sum)); }

// n values, the other lanes -infinity.
[[gnu::always_inline]] inline V load_or_least(const float* p, int n) {
  if (n == kWidth) return load(p);
  static constexpr float kLane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return select(less(load(kLane), set1(static_cast<float>(n))), load_part(p, n), set1(-__builtin_inff()));
}

float row_max(const float* x, int64_t n) {
  V most = set1(-__builtin_inff());
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) most = vmax(most, load(x + i));
  float result = reduce_max(most);
  for (; i < n; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

void softmax_row(const SoftmaxJob& j) {
  const bool is_log = j.kind == SoftmaxKind::log;
  const V shift = j.kind == SoftmaxKind::fast ? zero() : finite_shift(set1(row_max(j.x, j.axis)));
  V sums = zero();
  for (int64_t i = 0; i < j.axis; i += kWidth) {
    const int n = part(j.axis - i);
    V e = exp(sub(load_or_least(j.x + i, n), shift));
    sums = add(sums, e);
    if (!is_log) store_part(j.out + i, e, n);
  }
  const V sum = set1(reduce_add(sums)), factor = quotient_of(sum), log_sum = is_log ? log_of(sum) : zero();
  for (int64_t i = 0; i < j.axis; i += kWidth) {
    const int n = part(j.axis - i);
    V y = is_log ? sub(sub(load_part(j.x + i, n), shift), log_sum) : mul(load_part(j.out + i, n), factor);
    store_part(j.out + i, y, n);
  }
}

// kWidth columns, or `n` of them.
[[gnu::always_inline]] inline void softmax_column(const SoftmaxJob& j, const float* x, float* out, int n) {
  const bool is_log = j.kind == SoftmaxKind::log;
  V most = set1(-__builtin_inff()), sum = zero();
  for (int64_t a = 0; a < j.axis; ++a) most = vmax(most, load_part(x + a * j.stride, n));
  // A NaN takes the place of the maximum and stays; after it comes another value. Its exp is in the sum either way.
  const V shift = j.kind == SoftmaxKind::fast ? zero() : finite_shift(most);
  for (int64_t a = 0; a < j.axis; ++a) {
    V e = exp(sub(load_part(x + a * j.stride, n), shift));
    sum = add(sum, e);
    if (!is_log) store_part(out + a * j.stride, e, n);
  }
  const V factor = quotient_of(sum), log_sum = is_log ? log_of(sum) : zero();
  for (int64_t a = 0; a < j.axis; ++a) {
    float* to = out + a * j.stride;
    store_part(to, is_log ? sub(sub(load_part(x + a * j.stride, n), shift), log_sum) : mul(load_part(to, n), factor),
               n);
  }
}

void softmax_columns(const SoftmaxJob& j) {
  for (int c = 0; c < j.columns; c += kWidth) softmax_column(j, j.x + c, j.out + c, part(j.columns - c));
}

[[gnu::always_inline]] inline V term(bool is_log, V y, V dy) { return is_log ? dy : mul(y, dy); }
[[gnu::always_inline]] inline V gradient(bool is_log, V y, V dy, V sum) {
  return is_log ? fnma(exp(y), sum, dy) : mul(y, sub(dy, sum));
}

void softmax_row_gradient(const SoftmaxJob& j) {
  const bool is_log = j.kind == SoftmaxKind::log;
  V sums = zero();
  for (int64_t i = 0; i < j.axis; i += kWidth) {
    const int n = part(j.axis - i);
    sums = add(sums, term(is_log, load_part(j.x + i, n), load_part(j.dy + i, n)));
  }
  const V sum = set1(reduce_add(sums));
  for (int64_t i = 0; i < j.axis; i += kWidth) {
    const int n = part(j.axis - i);
    store_part(j.out + i, gradient(is_log, load_part(j.x + i, n), load_part(j.dy + i, n), sum), n);
  }
}

void softmax_columns_gradient(const SoftmaxJob& j) {
  const bool is_log = j.kind == SoftmaxKind::log;
  for (int c = 0; c < j.columns; c += kWidth) {
    const int n = part(j.columns - c);
    V sum = zero();
    for (int64_t a = 0; a < j.axis; ++a)
      sum = add(sum, term(is_log, load_part(j.x + a * j.stride + c, n), load_part(j.dy + a * j.stride + c, n)));
    for (int64_t a = 0; a < j.axis; ++a) {
      const int64_t at = a * j.stride + c;
      store_part(j.out + at, gradient(is_log, load_part(j.x + at, n), load_part(j.dy + at, n), sum), n);
    }
  }
}

constexpr SoftmaxIsa kKernels = {softmax_row, softmax_columns, softmax_row_gradient, softmax_columns_gradient};

}  // namespace
}  // namespace trine::cpu
