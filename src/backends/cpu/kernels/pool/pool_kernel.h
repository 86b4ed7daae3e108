// Bodies of the pooling kernels; included by pool_baseline.cc, pool_avx2.cc and pool_avx512.cc.
#pragma once

#include "backends/cpu/kernels/pool/pool.h"
#include "backends/cpu/kernels/simd/simd.h"

namespace trine::cpu {
namespace {

struct Max {
  static V start() { return set1(-__builtin_inff()); }
  [[gnu::always_inline]] static V combine(V a, V b) { return max_or_nan(a, b); }
  [[gnu::always_inline]] static V finish(V a, float) { return a; }
};

struct Average {
  static V start() { return zero(); }
  [[gnu::always_inline]] static V combine(V a, V b) { return add(a, b); }
  [[gnu::always_inline]] static V finish(V a, float scale) { return mul(a, set1(scale)); }
};

// kVectors full vectors from `channel`, or one partial one.
template <class Op, int kVectors, bool kPartial>
[[gnu::always_inline]] inline void pool_channels(const PoolWindow& w, int channel) {
  int left = w.channels - channel;
  V result[kVectors];
  for (int v = 0; v < kVectors; ++v) result[v] = Op::start();
  for (int64_t z = 0; z < w.count[0]; ++z)
    for (int64_t y = 0; y < w.count[1]; ++y) {
      const float* in = w.in + z * w.step[0] + y * w.step[1] + channel;
      for (int64_t x = 0; x < w.count[2]; ++x, in += w.step[2])
        for (int v = 0; v < kVectors; ++v)
          result[v] = Op::combine(result[v], kPartial ? load_part(in, left) : load(in + v * kWidth));
    }
  for (int v = 0; v < kVectors; ++v) {
    V y = Op::finish(result[v], w.scale);
    kPartial ? store_part(w.out + channel, y, left) : store(w.out + channel + v * kWidth, y);
  }
}

// kCount: the rows, where it is known.
template <int kVectors, bool kPartial, int kCount>
[[gnu::always_inline]] inline void max_of_columns(const PoolRows& r, int64_t at, float* out, int64_t left) {
  V result[kVectors];
  const auto get = [&](int row, int v) {
    const float* from = r.rows[row] + at + v * kWidth;
    return kPartial ? load_part(from, static_cast<int>(left)) : load(from);
  };
  for (int v = 0; v < kVectors; ++v) result[v] = get(0, v);
#pragma GCC unroll 4
  for (int row = 1; row < (kCount ? kCount : r.count); ++row)
    for (int v = 0; v < kVectors; ++v) result[v] = Max::combine(result[v], get(row, v));
  for (int v = 0; v < kVectors; ++v)
    kPartial ? store_part(out, result[v], static_cast<int>(left)) : store(out + v * kWidth, result[v]);
}

template <int kCount>
void max_of(const PoolRows& r) {
  for (int64_t item = 0; item < r.items; ++item) {
    const int64_t from = item * r.row_step;
    float* out = r.out + item * r.out_step;
    int64_t i = 0;
    for (; i + 4 * kWidth <= r.length; i += 4 * kWidth) max_of_columns<4, false, kCount>(r, from + i, out + i, 0);
    for (; i + kWidth <= r.length; i += kWidth) max_of_columns<1, false, kCount>(r, from + i, out + i, 0);
    if (i < r.length) max_of_columns<1, true, kCount>(r, from + i, out + i, r.length - i);
  }
}

void max_of_rows(const PoolRows& r) { r.count == 3 ? max_of<3>(r) : max_of<0>(r); }

template <class Op>
void pool(const PoolWindow& w) {
  int channel = 0;
  for (; channel + 4 * kWidth <= w.channels; channel += 4 * kWidth) pool_channels<Op, 4, false>(w, channel);
  for (; channel + kWidth <= w.channels; channel += kWidth) pool_channels<Op, 1, false>(w, channel);
  if (channel < w.channels) pool_channels<Op, 1, true>(w, channel);
}

// body(offset, tap) for each position of a window, in scan order; taps are counted in floats (below 2^24).
template <class Body>
[[gnu::always_inline]] inline void for_taps(const PoolGradientWindow& w, Body body) {
  float tap = 0;
  for (int64_t z = 0; z < w.count[0]; ++z)
    for (int64_t y = 0; y < w.count[1]; ++y)
      for (int64_t x = 0; x < w.count[2]; ++x, ++tap) body(z * w.step[0] + y * w.step[1] + x * w.step[2], set1(tap));
}

// Finds the tap of the first maximum, or of the first NaN, lane by lane; then adds dy there.
void max_gradient(const PoolGradientWindow& w) {
  for (int c = 0; c < w.channels; c += kWidth) {
    const int n = w.channels - c < kWidth ? w.channels - c : kWidth;
    V best = zero(), at = set1(-1);
    for_taps(w, [&](int64_t offset, V tap) {
      V v = load_part(w.x + offset + c, n);
      V is_first = add(at, set1(1.f));
      V better = select(less(best, v), tap, at);
      better = select(is_nan(v), select(is_nan(best), at, tap), better);
      V next = select(equal(is_first, zero()), tap, better);
      best = select(equal(next, tap), v, best);
      at = next;
    });
    V dy = load_part(w.dy + c, n);
    for_taps(w, [&](int64_t offset, V tap) {
      float* dx = w.dx + offset + c;
      store_part(dx, add(load_part(dx, n), select(equal(at, tap), dy, zero())), n);
    });
  }
}

void average_gradient(const PoolGradientWindow& w) {
  for (int c = 0; c < w.channels; c += kWidth) {
    const int n = w.channels - c < kWidth ? w.channels - c : kWidth;
    V share = mul(load_part(w.dy + c, n), set1(w.scale));
    for_taps(w, [&](int64_t offset, V) {
      float* dx = w.dx + offset + c;
      store_part(dx, add(load_part(dx, n), share), n);
    });
  }
}

constexpr PoolIsa kKernels = {pool<Max>, pool<Average>, max_of_rows, max_gradient, average_gradient};

}  // namespace
}  // namespace trine::cpu
