// Depthwise tiles of bf16 and of 8-bit integers: inputs are widened to f32 as they are loaded. Sums of at most 512
// products of u8 by i8 are below 2^24, so f32 holds them exactly.
#pragma once

#include "backends/cpu/kernels/depthwise/activate_any.h"
#include "backends/cpu/kernels/depthwise/depthwise_kernel.h"
#include "backends/cpu/kernels/gemm/tile_narrow.h"

namespace trine::cpu {
namespace {

template <bool kIntegers, DType kOut>
void finish_narrow_outputs(const DepthwiseTile& t, float* sums, int outputs, int channel) {
  const TileEpilogue& e = *t.epilogue;
  Finisher<kIntegers, kOut> f(e);
  f.set_column(channel, kWidth);
  I offset = no_words();
  if constexpr (kIntegers) offset = load_words(e.offsets + channel);
  V low = set1(e.low), high = set1(e.high);
  for (int i = 0; i < outputs; ++i) {
    float* sum = sums + i * kWidth;
    char* out = static_cast<char*>(t.out[i]) + channel * f.kBytes;
    if (kIntegers) store_words(sum, add(whole_words(load(sum)), offset));
    V x = f.begin(sum, out, kWidth);
    f.end(e.is_clamp ? vmin(high, vmax(low, x)) : activate_any(e, x), out, kWidth);
  }
}

void store_raw_outputs(const DepthwiseTile& t, float* sums, int outputs, int channel) {
  I offset = load_words(t.epilogue->offsets + channel);
  for (int i = 0; i < outputs; ++i)
    store_words(static_cast<int32_t*>(t.out[i]) + channel, add(whole_words(load(sums + i * kWidth)), offset));
}

// Called through tables, as FinishSums.
using FinishOutputs = void (*)(const DepthwiseTile&, float*, int, int);

template <int kOutputs>
[[gnu::always_inline]] inline void finish_by(FinishOutputs function, const DepthwiseTile& t, const V* sums,
                                             int channel) {
  float memory[kOutputs * kWidth];
#pragma GCC unroll 14
  for (int i = 0; i < kOutputs; ++i) store(memory + i * kWidth, sums[i]);
  function(t, memory, kOutputs, channel);
}

struct Bf16Pixels {
  static constexpr FinishOutputs kFinish[] = {finish_narrow_outputs<false, DType::f32>,
                                              finish_narrow_outputs<false, DType::bf16>};
  [[gnu::always_inline]] static V read(const void* in, int channel, const DepthwiseTile&) {
    return load_bf16(static_cast<const uint16_t*>(in) + channel, kWidth);
  }
  template <int kOutputs>
  [[gnu::always_inline]] static void finish(const DepthwiseTile& t, const V* sums, int channel) {
    finish_by<kOutputs>(kFinish[t.epilogue->out == DType::bf16], t, sums, channel);
  }
};

struct BytePixels {
  static constexpr FinishOutputs kFinish[] = {finish_narrow_outputs<true, DType::f32>,
                                              finish_narrow_outputs<true, DType::u8>, store_raw_outputs};
  [[gnu::always_inline]] static V read(const void* in, int channel, const DepthwiseTile& t) {
    return load_bytes(static_cast<const uint8_t*>(in) + channel, static_cast<uint8_t>(t.epilogue->flip), kWidth);
  }
  template <int kOutputs>
  [[gnu::always_inline]] static void finish(const DepthwiseTile& t, const V* sums, int channel) {
    DType out = t.epilogue->out;
    finish_by<kOutputs>(kFinish[out == DType::i32 ? 2 : out != DType::f32], t, sums, channel);
  }
};

template <class Pixels>
constexpr DepthwiseIsa make_general_isa(DType format, CpuLevel level) {
  return {format, level, kWidth, {}, general_tile<Pixels>};
}

// Fast tiles of the 3x3 kernels, of 4 columns and 1, only: there are two formats of them.
template <class Pixels, int kStride>
constexpr void set_3x3_tiles(DepthwiseFunction (&to)[2][4]) {
  to[0][1] = fast_tile<Pixels, 3, kStride, 1, 4>, to[0][3] = fast_tile<Pixels, 3, kStride, 1, 1>;
  to[1][1] = fast_tile<Pixels, 3, kStride, 2, 4>, to[1][3] = fast_tile<Pixels, 3, kStride, 2, 1>;
}
template <class Pixels>
constexpr DepthwiseIsa make_3x3_isa(DType format, CpuLevel level) {
  DepthwiseIsa isa = make_general_isa<Pixels>(format, level);
  set_3x3_tiles<Pixels, 1>(isa.fast[0][0]);
  set_3x3_tiles<Pixels, 2>(isa.fast[0][1]);
  return isa;
}

}  // namespace
}  // namespace trine::cpu
