#include "backends/cpu/kernels/depthwise/depthwise_words_kernel.h"

namespace trine::cpu {
namespace {

// Four taps a word.
struct ByteWords {
  static constexpr int kTaps = 4;
  using Sum = I;

  struct Row {
    const void* const* in;
    int64_t offset;
    __mmask32 channels;
    I flip, pair;  // bytes of two pixels

    Row(const WordsTile& t, int ky)
        : in(t.in[ky]),
          offset(t.in_offset),
          channels(block_mask(t.channels)),
          flip(broadcast_word(&t.epilogue->flip)),
          pair(pair_at(0)) {}
    // As an intrinsic GCC adds the offset apart.
    [[gnu::always_inline]] I pixel(int x) const {
      I a;
      asm volatile("vpmovzxbw (%1,%2), %0%{%3%}%{z%}" : "=v"(a) : "r"(in[x]), "r"(offset), "Yk"(channels));
      return a;
    }
    [[gnu::always_inline]] I pair_at(int k) const {
      constexpr int kOrThenXor = 0x56;
      return _mm512_ternarylogic_epi32(pixel(2 * k), _mm512_slli_epi16(pixel(2 * k + 1), 8), flip, kOrThenXor);
    }
    [[gnu::always_inline]] void place(int k, I& lower, I& upper) {
      I next = pair_at(k + 1);
      lower = _mm512_unpacklo_epi16(pair, next), upper = _mm512_unpackhi_epi16(pair, next);
      pair = next;
    }
  };

  [[gnu::always_inline]] static Sum load_sum(const int32_t* p) { return load_words(p); }
  [[gnu::always_inline]] static void add_products(Sum& sum, I a, I b) {
    asm volatile("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }

  static void leave_out_what_weights_do_not_cover(const WordsTile&, Sum*, WordsShape) {}  // bytes are finite

  // Packing by lanes puts channels back in order. Bounds of activation and type meet, multiplied already (rounding is
  // monotone); the lower one comes last, where it costs least.
  template <bool kMultiplies>
  [[gnu::noinline]] static void finish_bytes(const WordsTile& t, const float* sums, int outputs) {
    const TileEpilogue& e = *t.epilogue;
    const WordsNumbers& n = *t.numbers;
    const V multiplier = set1(e.out_multiplier);
    const V low = set1(std::max(e.low * e.out_multiplier, e.out_low));
    const V high = set1(std::min(e.high * e.out_multiplier, e.out_high));
    const V scale[] = {load(n.scale), load(n.scale + kWidth)}, bias[] = {load(n.bias), load(n.bias + kWidth)};
    const I zero16 = _mm512_set1_epi16(static_cast<int16_t>(e.out_zero));
    const I order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const bool is_signed = e.out == DType::i8;
    const __mmask32 channels = block_mask(t.channels);
    char* out = static_cast<char*>(t.out);
    with_activation(e, [&](auto activate) {
      for (int i = 0; i < outputs; ++i, sums += 2 * kWidth, out += t.out_step) {
        auto finish = [&](int v) {
          V x = activate(add(mul(to_float(load_words(sums + v * kWidth)), scale[v]), bias[v]));
          if (kMultiplies) x = mul(x, multiplier);
          return to_words(vmin(high, vmax(low, x)));
        };
        I words = _mm512_adds_epi16(_mm512_packs_epi32(finish(0), finish(1)), zero16);
        I bytes = is_signed ? _mm512_packs_epi16(words, words) : _mm512_packus_epi16(words, words);
        bytes = _mm512_permutexvar_epi64(order, bytes);
        _mm256_mask_storeu_epi8(out, channels, _mm512_castsi512_si256(bytes));
      }
    });
  }

  [[gnu::noinline]] static void store_sums(const WordsTile& t, const float* sums, int outputs) {
    for (int i = 0; i < outputs; ++i, sums += 2 * kWidth)
      for (int lane = 0; lane * 4 < t.channels; ++lane)
        _mm_mask_storeu_epi32(static_cast<char*>(t.out) + i * t.out_step + lane * 16,
                              static_cast<__mmask8>(first_lanes(t.channels - lane * 4)),
                              _mm_castps_si128(_mm_load_ps(sums + lane % 2 * kWidth + lane / 2 * 4)));
  }

  static void finish(const WordsTile& t, const float* sums, int outputs) {
    const TileEpilogue& e = *t.epilogue;
    if (e.out == DType::i32) return store_sums(t, sums, outputs);
    if (t.narrows && e.out_multiplier == 1) return finish_bytes<false>(t, sums, outputs);
    if (t.narrows) return finish_bytes<true>(t, sums, outputs);
    e.out == DType::f32 ? finish_words<true, DType::f32>(t, sums, outputs)
                        : finish_words<true, DType::u8>(t, sums, outputs);
  }
};

}  // namespace

constinit const WordsIsa kWordsInt8 = make_words_isa<ByteWords>(DType::u8, {.vnni = true});

}  // namespace trine::cpu
