// Bodies of the pointwise kernels; included by pointwise_baseline.cc, pointwise_avx2.cc and pointwise_avx512.cc.
#pragma once

#include "backends/cpu/primitives/pointwise/pointwise.h"
#include "backends/cpu/primitives/pointwise/unary_math.h"

namespace trine::cpu {
namespace {

// body(i, n) for vectors of n = kWidth elements from i on, the last one partial.
template <class Body>
[[gnu::always_inline]] inline void for_vectors(int64_t count, Body body) {
  for (int64_t i = 0; i < count; i += kWidth) body(i, static_cast<int>(count - i < kWidth ? count - i : kWidth));
}

void run_unary(const UnaryRun& r) {
  for_vectors(r.count, [&](int64_t i, int n) {
    store_part(r.out + i, unary(r.function, load_part(r.x + i, n), r.alpha, r.beta), n);
  });
}

void run_unary_gradient(const UnaryRun& r) {
  for_vectors(r.count, [&](int64_t i, int n) {
    V x = load_part(r.x + i, n), y = load_part(r.y + i, n), dy = load_part(r.dy + i, n);
    store_part(r.out + i, unary_gradient(r.function, x, y, dy, r.alpha, r.beta), n);
  });
}

template <class F>
[[gnu::noinline]] V by_lanes(V a, V b, F f) {
  float x[kWidth], y[kWidth];
  store(x, a);
  store(y, b);
  for (int i = 0; i < kWidth; ++i) x[i] = f(x[i], y[i]);
  return load(x);
}

// 1 where a comparison holds. A NaN in either is neither less nor equal.
[[gnu::always_inline]] inline V is_less(V a, V b) { return select(less(a, b), set1(1.f), zero()); }
[[gnu::always_inline]] inline V is_equal(V a, V b) { return select(equal(a, b), set1(1.f), zero()); }
[[gnu::always_inline]] inline V is_true(V a) { return select(equal(a, zero()), zero(), set1(1.f)); }

[[gnu::always_inline]] inline V binary(dnn::Binary op, V a, V b, V c) {
  switch (op) {
    case dnn::Binary::add: return add(a, b);
    case dnn::Binary::sub: return sub(a, b);
    case dnn::Binary::mul: return mul(a, b);
    case dnn::Binary::div: return div(a, b);
    case dnn::Binary::min: return select(is_nan(a), a, vmin(a, b));
    case dnn::Binary::max: return select(is_nan(a), a, vmax(a, b));
    case dnn::Binary::power: return by_lanes(a, b, [](float x, float y) { return std::pow(x, y); });
    case dnn::Binary::remainder: return by_lanes(a, b, [](float x, float y) { return std::fmod(x, y); });
    case dnn::Binary::arctangent: return by_lanes(a, b, [](float x, float y) { return std::atan2(x, y); });
    case dnn::Binary::add_square: return fma(b, b, a);
    case dnn::Binary::equal: return is_equal(a, b);
    case dnn::Binary::not_equal: return sub(set1(1.f), is_equal(a, b));
    case dnn::Binary::greater: return is_less(b, a);
    case dnn::Binary::greater_equal: return add(is_less(b, a), is_equal(a, b));
    case dnn::Binary::less: return is_less(a, b);
    case dnn::Binary::less_equal: return add(is_less(a, b), is_equal(a, b));
    case dnn::Binary::logical_and: return mul(is_true(a), is_true(b));
    case dnn::Binary::logical_or: return vmax(is_true(a), is_true(b));
    case dnn::Binary::select: return select(equal(c, zero()), b, a);
  }
  return a;
}

void run_binary(const BinaryRun& r) {
  const V alpha1 = set1(r.alpha1), alpha2 = set1(r.alpha2), beta = set1(r.beta);
  for_vectors(r.count, [&](int64_t i, int n) {
    V b = r.b_repeats ? set1(*r.b) : load_part(r.b + i, n);
    const V c = r.c ? load_part(r.c + i, n) : zero();
    V y = binary(r.op, mul(load_part(r.a + i, n), alpha1), mul(b, alpha2), c);
    if (r.c && r.op != dnn::Binary::select) y = fma(beta, c, y);
    store_part(r.y + i, y, n);
  });
}

constexpr int kCounters = 16;  // at a time

// Philox4x32-10 (src/base/philox.h) of kCounters counters from `counter` on; words of one counter stand together.
void philox(uint64_t key, uint64_t counter, uint32_t (&words)[4 * kCounters]) {
  uint32_t x0[kCounters], x1[kCounters], x2[kCounters], x3[kCounters];
  for (int i = 0; i < kCounters; ++i) {
    const uint64_t c = counter + static_cast<uint64_t>(i);
    x0[i] = static_cast<uint32_t>(c), x1[i] = static_cast<uint32_t>(c >> 32), x2[i] = x3[i] = 0;
  }
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    for (int i = 0; i < kCounters; ++i) {
      const uint64_t a = uint64_t{0xD2511F53} * x0[i], b = uint64_t{0xCD9E8D57} * x2[i];
      x0[i] = static_cast<uint32_t>(b >> 32) ^ x1[i] ^ k0;
      x2[i] = static_cast<uint32_t>(a >> 32) ^ x3[i] ^ k1;
      x1[i] = static_cast<uint32_t>(b), x3[i] = static_cast<uint32_t>(a);
    }
  }
  for (int i = 0; i < kCounters; ++i)
    words[4 * i] = x0[i], words[4 * i + 1] = x1[i], words[4 * i + 2] = x2[i], words[4 * i + 3] = x3[i];
}

void run_dropout(const DropoutRun& r) {
  uint32_t words[4 * kCounters];
  for (int64_t i = 0; i < r.count; i += 4 * kCounters) {
    philox(r.seed, r.offset + static_cast<uint64_t>((r.first + i) / 4), words);
    const int64_t n = r.count - i < 4 * kCounters ? r.count - i : 4 * kCounters;
    for (int64_t j = 0; j < n; ++j) r.y[i + j] = words[j] >= r.threshold ? r.x[i + j] * r.scale : 0.f;
  }
}

constexpr PointwiseIsa kKernels = {run_unary, run_unary_gradient, run_binary, run_dropout};

}  // namespace
}  // namespace trine::cpu
