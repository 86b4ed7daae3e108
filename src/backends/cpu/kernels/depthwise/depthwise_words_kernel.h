// Bodies of the kernels of depthwise_words.h; included by depthwise_avx512_bf16.cc and depthwise_avx512_vnni.cc.
#pragma once

#include <algorithm>

#include "backends/cpu/kernels/depthwise/activate_any.h"
#include "backends/cpu/kernels/depthwise/depthwise_words.h"
#include "backends/cpu/kernels/gemm/tile_narrow.h"

namespace trine::cpu {
namespace {

[[gnu::always_inline]] inline __mmask32 block_mask(int channels) {
  return channels >= kWordsBlock ? ~0u : (1u << channels) - 1;
}

struct WordsShape {
  int kernel, stride, columns;
};

// What a format is: kTaps; Sum; Row, which reads the places of a row one after the other; add_products;
// leave_out_what_weights_do_not_cover, for 0 times infinity is no 0; finish.
template <class Format, int kKernel, int kStride, int kColumns>
void words_tile(const WordsTile& t) {
  using Sum = typename Format::Sum;
  constexpr int kWords = (kKernel + Format::kTaps) / Format::kTaps, kShifts = kStride == 1 ? 2 : 1;
  constexpr int kWordStep = Format::kTaps / 2, kColumnStep = kStride == 1 ? 2 : 1;  // places; columns of a place
  constexpr int kPlaces = (kColumns - 1) / kColumnStep + (kWords - 1) * kWordStep + 1;
  Sum sums[kColumns][2];
  const Sum first = Format::load_sum(t.numbers->start), second = Format::load_sum(t.numbers->start + kPanel);
#pragma GCC unroll 8
  for (int j = 0; j < kColumns; ++j) sums[j][0] = first, sums[j][1] = second;
  const char* weights = static_cast<const char*>(t.weights);
#pragma GCC unroll 1
  for (int ky = 0; ky < t.kernel_rows; ++ky, weights += kWords * kShifts * 2 * 64) {
    typename Format::Row row(t, ky);
    I words[kPlaces][2];
    // Where weights leave registers for few words, they are used place by place; else words wait for weights.
    constexpr bool kByPlace = kWords * kShifts <= 6;
#pragma GCC unroll 16
    for (int step = 0; step < (kByPlace ? kPlaces : 1); ++step) {
#pragma GCC unroll 16
      for (int k = kByPlace ? step : 0; k < (kByPlace ? step + 1 : kPlaces); ++k)
        row.place(k, words[k][0], words[k][1]);
#pragma GCC unroll 4
      for (int n = 0; n < kWords; ++n) {
#pragma GCC unroll 2
        for (int shift = 0; shift < kShifts; ++shift) {
          const char* w = weights + (n * kShifts + shift) * 2 * 64;
#pragma GCC unroll 8
          for (int j = shift; j < kColumns; j += kColumnStep) {
            int k = j / kColumnStep + n * kWordStep;
            if (kByPlace && k != step) continue;
            Format::add_products(sums[j][0], words[k][0], load_words(w));
            Format::add_products(sums[j][1], words[k][1], load_words(w + 64));
          }
        }
      }
    }
  }
  alignas(64) Sum done[kColumns][2];
#pragma GCC unroll 8
  for (int j = 0; j < kColumns; ++j) done[j][0] = sums[j][0], done[j][1] = sums[j][1];
  Format::leave_out_what_weights_do_not_cover(t, &done[0][0], {kKernel, kStride, kColumns});
  Format::finish(t, reinterpret_cast<const float*>(done), kColumns);
}

// `f` with the activation as a function of a vector: those that follow depthwise convolutions are compiled in.
template <class F>
[[gnu::always_inline]] inline void with_activation(const TileEpilogue& e, const F& f) {
  if (e.is_clamp) return f([](V x) { return x; });  // by the bounds
  if (e.activation == Activation::silu) return f([](V x) { return mul(x, sigmoid(x)); });
  if (e.activation == Activation::hardswish) return f([](V x) { return activate(Activation::hardswish, x, 0, 0); });
  f([&](V x) { return activate_any(e, x); });
}

// Any epilogue, from sums without a bias of f32: back in the order of channels, a vector after the other.
template <bool kIntegers, DType kOut>
[[gnu::noinline]] void finish_words(const WordsTile& t, const float* sums, int outputs) {
  const TileEpilogue& e = *t.epilogue;
  Finisher<kIntegers, kOut> f(e);
  V low = set1(e.low), high = set1(e.high);
  for (int v = 0; v < 2 && v * kWidth < t.channels; ++v) {
    int left = std::min(kWidth, t.channels - v * kWidth);
    f.set_column(t.channel + v * kWidth, left);
    for (int i = 0; i < outputs; ++i) {
      alignas(64) float x[kWidth];
      for (int q = 0; q < 4; ++q)
        _mm_store_ps(x + q * 4, _mm_load_ps(sums + (i * 2 + q % 2) * kWidth + (v * 2 + q / 2) * 4));
      char* out = static_cast<char*>(t.out) + i * t.out_step + v * kWidth * f.kBytes;
      V y = f.begin(x, out, left);
      f.end(e.is_clamp ? vmin(high, vmax(low, y)) : activate_any(e, y), out, left);
    }
  }
}

template <class Format, int kKernel, int kStride>
constexpr void set_tiles(void (*(&to)[2])(const WordsTile&)) {
  to[0] = words_tile<Format, kKernel, kStride, 7>;
  to[1] = words_tile<Format, kKernel, kStride, 4>;
}

template <class Format>
constexpr WordsIsa make_words_isa(DType format, CpuFeatures features) {
  WordsIsa isa{format, features, Format::kTaps, {}};
  set_tiles<Format, 3, 1>(isa.tile[0][0]), set_tiles<Format, 3, 2>(isa.tile[0][1]);
  set_tiles<Format, 5, 1>(isa.tile[1][0]), set_tiles<Format, 5, 2>(isa.tile[1][1]);
  set_tiles<Format, 7, 1>(isa.tile[2][0]), set_tiles<Format, 7, 2>(isa.tile[2][1]);
  return isa;
}

}  // namespace
}  // namespace trine::cpu
