// Bodies of the transforms; included by winograd_avx2.cc and winograd_avx512.cc.
#pragma once

#include <algorithm>

#include "backends/cpu/kernels/simd/narrow.h"
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

// How numbers lie in memory; `left` of a vector's lanes are in use.
struct F32 {
  using Number = float;
  [[gnu::always_inline]] static V load(const float* p, int left) { return load_part(p, left); }
  [[gnu::always_inline]] static void store(float* p, V x, int left) { store_part(p, x, left); }
};
struct Bf16 {
  using Number = uint16_t;
  [[gnu::always_inline]] static V load(const uint16_t* p, int left) { return load_bf16(p, left); }
  [[gnu::always_inline]] static void store(uint16_t* p, V x, int left) { store_bf16(p, x, left); }
};

template <int kOut, class In, class Out>
[[gnu::always_inline]] inline void input_vector(const WinogradInput& t, int64_t channel) {
  constexpr int kTile = kOut + 2;
  V columns[kTile * kTile];
#pragma GCC unroll 6
  for (int j = 0; j < kTile; ++j) {
    V d[kTile], o[kTile];
#pragma GCC unroll 6
    for (int i = 0; i < kTile; ++i)
      d[i] = In::load(static_cast<const typename In::Number*>(t.in[i * kTile + j]) + channel, kWidth);
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
      char* plane = static_cast<char*>(t.out) + (i * kTile + j) * t.plane_bytes;
      Out::store(reinterpret_cast<typename Out::Number*>(plane) + channel, o[j], kWidth);
    }
  }
}

// At least kWidth channels: a rest of fewer is done with those before it, once more.
template <int kOut, class In, class Out>
void input(const WinogradInput& t) {
  for (int64_t c = 0; c < t.channels; c += kWidth) input_vector<kOut, In, Out>(t, std::min(c, t.channels - kWidth));
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

// Apart, so that the transforms stay small.
[[gnu::noinline]] V activate_any(const TileEpilogue& e, V x) { return activate(e.activation, x, e.alpha, e.beta); }

template <int kOut, class Out>
void output(const WinogradOutput& t) {
  using Number = typename Out::Number;
  const TileEpilogue& e = *t.epilogue;
  for (int64_t c = 0; c < t.channels; c += kWidth) {
    int left = t.channels - c >= kWidth ? kWidth : static_cast<int>(t.channels - c);
    V y[kOut * kOut];
    output_vector<kOut>(t, c, left, y);
    V bias = e.bias ? load_part(e.bias + c, left) : zero();
    for (int i = 0; i < kOut * kOut; ++i) {
      if (!t.out[i]) continue;
      Number* out = static_cast<Number*>(t.out[i]) + c;
      V x = add(y[i], bias);
      V residual = e.residual == dnn::Residual::none ? zero() : Out::load(out + e.residual_offset, left);
      if (e.residual == dnn::Residual::before_activation) x = add(x, residual);
      x = e.is_clamp ? vmin(set1(e.high), vmax(set1(e.low), x)) : activate_any(e, x);
      if (e.residual == dnn::Residual::after_activation) x = add(x, residual);
      Out::store(out, x, left);
    }
  }
}

// Row t.row of planes of 16 filters, or of as many pairs' halves: load(tap, at) -> store(j, at, value) with words at
// `at`.
template <int kOut, class Load, class Store>
[[gnu::always_inline]] inline void filter_vector(int row, Load load, Store store) {
  constexpr int kTile = kOut + 2;
  const float* g = Transform<kOut>::kFilter[row];
  const bool edge = row == 0 || row == kTile - 1;
  V r[3], u[kTile];
#pragma GCC unroll 3
  for (int x = 0; x < 3; ++x)
    r[x] = edge ? load(x + (row ? 6 : 0))  // a row of one kernel row only
                : fma(set1(g[2]), load(x + 6), fma(set1(g[1]), load(x + 3), mul(set1(g[0]), load(x))));
  Transform<kOut>::filter(r, u);
#pragma GCC unroll 6
  for (int j = 0; j < kTile; ++j) store(j, u[j]);
}

template <int kOut>
void filter(const WinogradFilter& t) {
  const int64_t tap = t.words * kPanel;
  for (int64_t at = 0; at < tap; at += kWidth)
    filter_vector<kOut>(
        t.row, [&](int i) __attribute__((always_inline)) { return load(t.w + i * tap + at); },
        [&](int j, V u) __attribute__((always_inline)) { store(t.out + j * t.plane + at, u); });
}

}  // namespace
}  // namespace trine::cpu
