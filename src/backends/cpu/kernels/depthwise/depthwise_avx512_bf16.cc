#include <bit>
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/depthwise/depthwise_words_kernel.h"

namespace trine::cpu {
namespace {

float as_float(uint16_t bf16) { return std::bit_cast<float>(uint32_t{bf16} << 16); }

// Two taps a word.
struct Bf16Words {
  static constexpr int kTaps = 2;
  using Sum = V;

  struct Row {
    const void* const* in;
    int64_t offset;
    __mmask32 channels;

    Row(const WordsTile& t, int ky) : in(t.in[ky]), offset(t.in_offset), channels(block_mask(t.channels)) {}
    // As an intrinsic GCC adds the offset apart.
    [[gnu::always_inline]] I pixel(int x) const {
      I a;
      asm volatile("vmovdqu16 (%1,%2), %0%{%3%}%{z%}" : "=v"(a) : "r"(in[x]), "r"(offset), "Yk"(channels));
      return a;
    }
    [[gnu::always_inline]] void place(int k, I& lower, I& upper) const {
      I a = pixel(2 * k), b = pixel(2 * k + 1);
      lower = _mm512_unpacklo_epi16(a, b), upper = _mm512_unpackhi_epi16(a, b);
    }
  };

  [[gnu::always_inline]] static Sum load_sum(const int32_t* p) { return _mm512_castsi512_ps(load_words(p)); }
  // In place, as fma_into.
  [[gnu::always_inline]] static void add_products(Sum& sum, I a, I b) {
    asm volatile("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }

  // Words also hold pixels beside the kernel, whose weights are 0: where one is infinite or a NaN, sums that are not
  // finite are made again without them.
  [[gnu::always_inline]] static void leave_out_what_weights_do_not_cover(const WordsTile& t, Sum* sums, WordsShape s) {
    V all[4] = {sums[0], sums[1], sums[2], sums[3]};  // adding has ports of its own
#pragma GCC unroll 16
    for (int i = 4; i < s.columns * 2; ++i) all[i % 4] = add(all[i % 4], sums[i]);
    const V total = add(add(all[0], all[1]), add(all[2], all[3]));
    constexpr int kInfiniteOrNan = 0x99;
    if (_mm512_fpclass_ps_mask(total, kInfiniteOrNan)) sum_again(t, reinterpret_cast<float*>(sums), s);
  }
  [[gnu::noinline, gnu::cold]] static void sum_again(const WordsTile& t, float* sums, WordsShape s) {
    for (int i = 0; i < s.columns * kWordsBlock; ++i)
      if (!std::isfinite(sums[i])) sums[i] = exact_sum(t, s, i / kWordsBlock, i / kWidth % 2, i % kWidth);
  }
  static float exact_sum(const WordsTile& t, WordsShape s, int column, int vector, int lane) {
    const int words = (s.kernel + kTaps) / kTaps, shifts = WordsIsa::shifts(s.stride);
    const int64_t channel = WordsIsa::channel(vector, lane);
    auto* weights = static_cast<const uint16_t*>(t.weights);
    float sum;
    std::memcpy(&sum, t.numbers->start + vector * kWidth + lane, sizeof sum);
    if (channel >= t.channels) return sum;
    for (int ky = 0; ky < t.kernel_rows; ++ky)
      for (int kx = 0; kx < s.kernel; ++kx) {
        auto* pixel = static_cast<const char*>(t.in[ky][column * s.stride + kx]) + t.in_offset;
        const int word = ((ky * words + kx / kTaps) * shifts * 2 + vector) * kWidth + lane;  // not shifted
        sum +=
            as_float(reinterpret_cast<const uint16_t*>(pixel)[channel]) * as_float(weights[word * kTaps + kx % kTaps]);
      }
    return sum;
  }

  // Rounding packs the two vectors one after the other; their quarters alternate.
  [[gnu::noinline]] static void finish_bf16(const WordsTile& t, const float* sums, int outputs) {
    const TileEpilogue& e = *t.epilogue;
    const V low = set1(e.low), high = set1(e.high);
    const I order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    const __mmask32 channels = block_mask(t.channels);
    char* out = static_cast<char*>(t.out);
    with_activation(e, [&](auto activate) {
      for (int i = 0; i < outputs; ++i, sums += 2 * kWidth, out += t.out_step) {
        auto finish = [&](const float* x) { return vmin(high, vmax(low, activate(load(x)))); };
        auto halves = reinterpret_cast<I>(_mm512_cvtne2ps_pbh(finish(sums + kWidth), finish(sums)));
        halves = _mm512_permutexvar_epi64(order, halves);
        _mm512_mask_storeu_epi16(out, channels, halves);
      }
    });
  }

  static void finish(const WordsTile& t, const float* sums, int outputs) {
    if (t.narrows) return finish_bf16(t, sums, outputs);
    t.epilogue->out == DType::bf16 ? finish_words<false, DType::bf16>(t, sums, outputs)
                                   : finish_words<false, DType::f32>(t, sums, outputs);
  }
};

}  // namespace

constinit const WordsIsa kWordsBf16 = make_words_isa<Bf16Words>(DType::bf16, {.bf16 = true});

}  // namespace trine::cpu
