// Bodies of the transforms; included by winograd_avx2.cc and winograd_avx512.cc.
#pragma once

#include "backends/cpu/kernels/simd/vector_math.h"
#include "backends/cpu/kernels/winograd/winograd.h"

namespace trine::cpu {
namespace {

template <int kOut>
struct Transform;

// B^T rows (1,0,-1,0) (0,1,1,0) (0,-1,1,0) (0,1,0,-1); A^T rows (1,1,1,0) (0,1,-1,-1).
template <>
struct Transform<2> {
  [[gnu::always_inline]] static void input(const V* d, V* o) {
    o[0] = sub(d[0], d[2]);
    o[1] = add(d[1], d[2]);
    o[2] = sub(d[2], d[1]);
    o[3] = sub(d[1], d[3]);
  }
  [[gnu::always_inline]] static void output(const V* x, V* y) {
    y[0] = add(add(x[0], x[1]), x[2]);
    y[1] = sub(sub(x[1], x[2]), x[3]);
  }
  // G rows (1,0,0) (1,1,1)/2 (1,-1,1)/2 (0,0,1).
  static constexpr float kFilter[4][3] = {{1, 0, 0}, {.5f, .5f, .5f}, {.5f, -.5f, .5f}, {0, 0, 1}};
  [[gnu::always_inline]] static void filter(const V* r, V* u) {
    V half = set1(.5f), even = mul(half, add(r[0], r[2]));
    u[0] = r[0];
    u[1] = fma(half, r[1], even);
    u[2] = fnma(half, r[1], even);
    u[3] = r[2];
  }
};

// Points 0, +-al, +-be, infinity with al^2 = 1/2, be^2 = 2.
template <>
struct Transform<4> {
  static constexpr float kAl = 0.70710678118654752f, kBe = 1.4142135623730951f;

  [[gnu::always_inline]] static void input(const V* d, V* o) {
    V al = set1(kAl), be = set1(kBe), two = set1(2), half = set1(.5f), both = set1(2.5f);
    o[0] = fnma(both, d[2], add(d[0], d[4]));
    o[5] = fnma(both, d[3], add(d[1], d[5]));
    V p = fnma(two, d[2], d[4]), q = fnma(two, d[1], d[3]);
    o[1] = fma(al, q, p);
    o[2] = fnma(al, q, p);
    V r = fnma(half, d[2], d[4]), s = fnma(half, d[1], d[3]);
    o[3] = fma(be, s, r);
    o[4] = fnma(be, s, r);
  }
  [[gnu::always_inline]] static void output(const V* x, V* y) {
    V p = add(x[1], x[2]), q = sub(x[1], x[2]), r = add(x[3], x[4]), s = sub(x[3], x[4]);
    y[0] = add(add(x[0], p), r);
    y[1] = fma(set1(kAl), q, mul(set1(kBe), s));
    y[2] = fma(set1(.5f), p, add(r, r));
    y[3] = fma(set1(kAl / 2), q, fma(set1(2 * kBe), s, x[5]));
  }
  static constexpr float kThird = -2.f / 3, kSixth = 1.f / 6;
  static constexpr float kFilter[6][3] = {{1, 0, 0},
                                          {kThird, kThird * kAl, kThird / 2},
                                          {kThird, -kThird * kAl, kThird / 2},
                                          {kSixth, kSixth * kBe, kSixth * 2},
                                          {kSixth, -kSixth * kBe, kSixth * 2},
                                          {0, 0, 1}};
  [[gnu::always_inline]] static void filter(const V* r, V* u) {
    V near = mul(set1(kThird), fma(set1(.5f), r[2], r[0])), far = mul(set1(kSixth), fma(set1(2), r[2], r[0]));
    u[0] = r[0];
    u[1] = fma(set1(kThird * kAl), r[1], near);
    u[2] = fnma(set1(kThird * kAl), r[1], near);
    u[3] = fma(set1(kSixth * kBe), r[1], far);
    u[4] = fnma(set1(kSixth * kBe), r[1], far);
    u[5] = r[2];
  }
};

template <int kOut, bool kPartial>
[[gnu::always_inline]] inline void input_vector(const WinogradInput& t, int64_t channel, int left) {
  constexpr int kTile = kOut + 2;
  V columns[kTile * kTile];
#pragma GCC unroll 6
  for (int j = 0; j < kTile; ++j) {
    V d[kTile], o[kTile];
#pragma GCC unroll 6
    for (int i = 0; i < kTile; ++i) {
      const float* p = t.in[i * kTile + j] + channel;
      d[i] = kPartial ? load_part(p, left) : load(p);
    }
    Transform<kOut>::input(d, o);
#pragma GCC unroll 6
    for (int i = 0; i < kTile; ++i) columns[i * kTile + j] = o[i];
  }
#pragma GCC unroll 6
  for (int i = 0; i < kTile; ++i) {
    V o[kTile];
    Transform<kOut>::input(columns + i * kTile, o);
#pragma GCC unroll 6
    for (int j = 0; j < kTile; ++j) {
      float* p = t.out + (i * kTile + j) * t.plane + channel;
      kPartial ? store_part(p, o[j], left) : store(p, o[j]);
    }
  }
}

template <int kOut>
void input(const WinogradInput& t) {
  int64_t c = 0;
  for (; c + kWidth <= t.channels; c += kWidth) input_vector<kOut, false>(t, c, kWidth);
  if (c < t.channels) input_vector<kOut, true>(t, c, static_cast<int>(t.channels - c));
}

template <int kOut>
[[gnu::always_inline]] inline void output_vector(const WinogradOutput& t, int64_t channel, int left, V* y) {
  constexpr int kTile = kOut + 2;
  V rows[kOut * kTile];
#pragma GCC unroll 6
  for (int j = 0; j < kTile; ++j) {
    V d[kTile], o[kOut];
#pragma GCC unroll 6
    for (int i = 0; i < kTile; ++i) d[i] = load_part(t.in + (i * kTile + j) * t.plane + channel, left);
    Transform<kOut>::output(d, o);
#pragma GCC unroll 4
    for (int i = 0; i < kOut; ++i) rows[i * kTile + j] = o[i];
  }
#pragma GCC unroll 4
  for (int i = 0; i < kOut; ++i) Transform<kOut>::output(rows + i * kTile, y + i * kOut);
}

template <int kOut>
void output(const WinogradOutput& t) {
  const TileEpilogue& e = *t.epilogue;
  for (int64_t c = 0; c < t.channels; c += kWidth) {
    int left = t.channels - c >= kWidth ? kWidth : static_cast<int>(t.channels - c);
    V y[kOut * kOut];
    output_vector<kOut>(t, c, left, y);
    V bias = e.bias ? load_part(e.bias + c, left) : zero();
    for (int i = 0; i < kOut * kOut; ++i) {
      if (!t.out[i]) continue;
      float* out = t.out[i] + c;
      V x = add(y[i], bias);
      V residual = e.residual == dnn::Residual::none ? zero() : load_part(out + e.residual_offset, left);
      if (e.residual == dnn::Residual::before_activation) x = add(x, residual);
      x = e.is_clamp ? vmin(set1(e.high), vmax(set1(e.low), x)) : activate(e.activation, x, e.alpha, e.beta);
      if (e.residual == dnn::Residual::after_activation) x = add(x, residual);
      store_part(out, x, left);
    }
  }
}

template <int kOut>
void filter(const WinogradFilter& t) {
  constexpr int kTile = kOut + 2;
  const float* g = Transform<kOut>::kFilter[t.row];
  const int64_t tap = t.channels * kPanel;
  const bool edge = t.row == 0 || t.row == kTile - 1;
  const float* w = t.row == 0 ? t.w : t.w + (edge ? 6 * tap : 0);  // a row of one kernel row only
  for (int64_t at = 0; at < tap; at += kWidth) {
    V r[3], u[kTile];
#pragma GCC unroll 3
    for (int x = 0; x < 3; ++x) {
      const float* p = w + x * tap + at;
      r[x] = edge ? load(p)
                  : fma(set1(g[2]), load(p + 6 * tap), fma(set1(g[1]), load(p + 3 * tap), mul(set1(g[0]), load(p))));
    }
    Transform<kOut>::filter(r, u);
#pragma GCC unroll 6
    for (int j = 0; j < kTile; ++j) store(t.out + j * t.plane + at, u[j]);
  }
}

}  // namespace
}  // namespace trine::cpu
