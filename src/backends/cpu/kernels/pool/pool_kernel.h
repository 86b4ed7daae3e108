// Bodies of the pooling kernels; included by pool_baseline.cc, pool_avx2.cc and pool_avx512.cc.
#pragma once

#include "backends/cpu/kernels/pool/pool.h"
#include "backends/cpu/kernels/simd/simd.h"

namespace trine::cpu {
namespace {

struct Max {
  static V start() { return set1(-__builtin_inff()); }
  [[gnu::always_inline]] static V combine(V a, V b) { return select(is_nan(a), a, vmax(a, b)); }
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

template <class Op>
void pool(const PoolWindow& w) {
  int channel = 0;
  for (; channel + 4 * kWidth <= w.channels; channel += 4 * kWidth) pool_channels<Op, 4, false>(w, channel);
  for (; channel + kWidth <= w.channels; channel += kWidth) pool_channels<Op, 1, false>(w, channel);
  if (channel < w.channels) pool_channels<Op, 1, true>(w, channel);
}

}  // namespace
}  // namespace trine::cpu
