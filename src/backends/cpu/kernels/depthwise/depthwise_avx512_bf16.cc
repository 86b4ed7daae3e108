#include "backends/cpu/kernels/depthwise/depthwise_words_kernel.h"

namespace trine::cpu {
namespace {

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
