// Bodies of the depthwise kernels; included by depthwise_baseline.cc, depthwise_avx2.cc and depthwise_avx512.cc.
#pragma once

#include <algorithm>

#include "backends/cpu/kernels/depthwise/depthwise.h"
#include "backends/cpu/kernels/simd/vector_math.h"

namespace trine::cpu {
namespace {

// How inputs become f32 and what becomes of sums.
struct F32Pixels {
  [[gnu::always_inline]] static V read(const void* in, int channel, const DepthwiseTile&) {
    return load(static_cast<const float*>(in) + channel);
  }
  template <int kOutputs>
  static void finish(const DepthwiseTile& t, const V* sums, int channel);
};

// Any epilogue; not inlined, so that tiles stay small.
[[gnu::noinline]] void finish_outputs(const DepthwiseTile& t, const float* sums, int outputs, int channel) {
  const TileEpilogue& e = *t.epilogue;
  for (int i = 0; i < outputs; ++i) {
    float* out = static_cast<float*>(t.out[i]) + channel;
    V x = load(sums + i * kWidth);
    V residual = e.residual == dnn::Residual::none ? zero() : load(out + e.residual_offset);
    if (e.residual == dnn::Residual::before_activation) x = add(x, residual);
    x = activate(e.activation, x, e.alpha, e.beta);
    if (e.residual == dnn::Residual::after_activation) x = add(x, residual);
    store(out, x);
  }
}

template <int kOutputs>
[[gnu::always_inline]] inline void F32Pixels::finish(const DepthwiseTile& t, const V* sums, int channel) {
  const TileEpilogue& e = *t.epilogue;
  if (e.residual != dnn::Residual::none || !e.is_clamp) {
    float memory[kOutputs * kWidth];  // a copy: the address of `sums` must not escape, or they leave the registers
#pragma GCC unroll 14
    for (int i = 0; i < kOutputs; ++i) store(memory + i * kWidth, sums[i]);
    return finish_outputs(t, memory, kOutputs, channel);
  }
  V low = set1(e.low), high = set1(e.high);
#pragma GCC unroll 14
  for (int i = 0; i < kOutputs; ++i) store(static_cast<float*>(t.out[i]) + channel, vmin(high, vmax(low, sums[i])));
}

// The last vector of a block ends at its last channel; it may overlap the one before.
[[gnu::always_inline]] inline int clamp_channel(const DepthwiseTile& t, int channel) {
  return channel + kWidth <= t.channels ? channel : t.channels - kWidth;
}

template <class Pixels, int kKernel, int kStride, int kRows, int kColumns>
void fast_tile(const DepthwiseTile& t) {
  constexpr int kInWidth = (kColumns - 1) * kStride + kKernel;
  for (int block = 0; block < t.channels; block += kWidth) {
    int channel = clamp_channel(t, block);
    V sums[kRows * kColumns];
    V bias = t.bias ? load(t.bias + channel) : zero();
#pragma GCC unroll 14
    for (int i = 0; i < kRows * kColumns; ++i) sums[i] = bias;
    const float* w = t.weights + channel;
    const void* const* in = t.in;
#pragma GCC unroll 1
    for (int ky = 0; ky < t.positions; ++ky, in += kInWidth, w += kKernel * t.weight_stride) {
      V weights[kKernel];
#pragma GCC unroll 7
      for (int kx = 0; kx < kKernel; ++kx) weights[kx] = load(w + kx * t.weight_stride);
#pragma GCC unroll 2
      for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 32
        for (int x = 0; x < kInWidth; ++x) {
          V v = Pixels::read(in[i * kStride * kInWidth + x], channel, t);
#pragma GCC unroll 7
          for (int j = 0; j < kColumns; ++j) {
            int kx = x - j * kStride;
            if (kx >= 0 && kx < kKernel) fma_into(sums[i * kColumns + j], v, weights[kx]);
          }
        }
      }
    }
    Pixels::template finish<kRows * kColumns>(t, sums, channel);
  }
}

template <class Pixels, int kColumns>
[[gnu::always_inline]] inline void general_columns(const DepthwiseTile& t, int channel) {
  V sums[kColumns];
  V bias = t.bias ? load(t.bias + channel) : zero();
#pragma GCC unroll 8
  for (int i = 0; i < kColumns; ++i) sums[i] = bias;
  const float* w = t.weights + channel;
  const void* const* in = t.in;
#pragma GCC unroll 1
  for (int k = 0; k < t.positions; ++k, w += t.weight_stride, in += kColumns) {
    V weight = load(w);
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) fma_into(sums[i], Pixels::read(in[i], channel, t), weight);
  }
  Pixels::template finish<kColumns>(t, sums, channel);
}

template <class Pixels>
void general_tile(const DepthwiseTile& t) {
  for (int block = 0; block < t.channels; block += kWidth) {
    int channel = clamp_channel(t, block);
    t.columns == kGeneralOutputs ? general_columns<Pixels, kGeneralOutputs>(t, channel)
                                 : general_columns<Pixels, 1>(t, channel);
  }
}

// Pixel by pixel: memory is read and written in order, and decides the speed.
void scale_pixels(const DepthwisePixels& p) {
  const V low = set1(p.low), high = set1(p.high);
  for (int64_t i = 0; i < p.count; ++i) {
    const float* in = p.in + i * p.in_step;
    float* out = p.out + i * p.out_step;
    for (int block = 0; block < p.channels; block += kWidth) {
      const int channel = std::min(block, p.channels - kWidth);
      V bias = p.bias ? load(p.bias + channel) : zero();
      store(out + channel, vmin(high, vmax(low, fma(load(in + channel), load(p.weights + channel), bias))));
    }
  }
}

template <class Pixels, int kKernel, int kStride>
struct Tiles {
  template <int kRows, int kColumns>
  static constexpr DepthwiseFunction one = fast_tile<Pixels, kKernel, kStride, kRows, kColumns>;
  static constexpr DepthwiseFunction all[2][4] = {{one<1, 7>, one<1, 4>, one<1, 2>, one<1, 1>},
                                                  {one<2, 7>, one<2, 4>, one<2, 2>, one<2, 1>}};
};

constexpr void set_tiles(DepthwiseFunction (&to)[2][4], const DepthwiseFunction (&from)[2][4]) {
  for (int rows = 0; rows < 2; ++rows)
    for (int c = 0; c < 4; ++c) to[rows][c] = from[rows][c];
}

constexpr DepthwiseIsa make_fast_isa(CpuLevel level) {
  DepthwiseIsa isa{DType::f32, level, kWidth, {}, general_tile<F32Pixels>, scale_pixels};
  set_tiles(isa.fast[0][0], Tiles<F32Pixels, 3, 1>::all);
  set_tiles(isa.fast[0][1], Tiles<F32Pixels, 3, 2>::all);
  set_tiles(isa.fast[1][0], Tiles<F32Pixels, 5, 1>::all);
  set_tiles(isa.fast[1][1], Tiles<F32Pixels, 5, 2>::all);
  set_tiles(isa.fast[2][0], Tiles<F32Pixels, 7, 1>::all);
  set_tiles(isa.fast[2][1], Tiles<F32Pixels, 7, 2>::all);
  return isa;
}

}  // namespace
}  // namespace trine::cpu
