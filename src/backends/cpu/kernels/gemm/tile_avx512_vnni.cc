#include <algorithm>

#include "backends/cpu/kernels/gemm/tile_narrow.h"

namespace trine::cpu {
namespace {

// Whether sums become bytes by a clamp, which the output's multiplier is part of, and nothing follows it. A residual
// asks for whole panels.
bool clamps_to_bytes(const Tile& t, int panels) {
  const TileEpilogue& e = *t.epilogue;
  if (e.residual != dnn::Residual::none && t.columns < panels * kPanel) return false;
  bool bytes = e.out == DType::u8 || e.out == DType::i8;
  return bytes && e.is_clamp && e.out_multiplier == 1 && e.residual != dnn::Residual::after_activation;
}

// What is left of Finisher then. Packing saturates what fits 32 bits; beyond, a float would become the least integer,
// as a NaN does. Signed bytes are unsigned ones with the upper bit flipped.
template <int kPanels>
struct ByteSink {
  const Tile& t;
  const TileEpilogue& e = *t.epilogue;
  const int flip = e.out == DType::i8 ? 0x80 : 0;
  const V low = set1(std::max(e.low, e.out_low)), high = set1(std::min(e.high, e.out_high));
  const I zero16 = _mm512_set1_epi16(static_cast<int16_t>(e.out_zero + flip));
  const I flips = _mm512_set1_epi8(static_cast<char>(flip));
  const I order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);  // undoes packing by lanes

  [[gnu::always_inline]] V scale(int p) const { return load(e.scales + t.column + p * kPanel); }
  [[gnu::always_inline]] V bias(int p) const { return load(e.bias + t.column + p * kPanel); }
  [[gnu::always_inline]] V scaled(I sums, V scale, V bias) const { return add(mul(to_float(sums), scale), bias); }
  [[gnu::always_inline]] I words(V x) const { return to_words(vmin(high, vmax(low, x))); }
  [[gnu::always_inline]] V residual(int row, int p) const {
    const char* at = static_cast<const char*>(t.c[row]) + t.column + p * kPanel + e.residual_offset;
    V r = load_bytes(at, e.residual_flip, kWidth);
    return mul(sub(r, set1(static_cast<float>(e.residual_zero))), set1(e.residual_scale));
  }

  template <bool kWhole>
  [[gnu::always_inline]] void store_row(int row, const I* words) const {
    const auto pair = [&](int p) __attribute__((always_inline)) {
      I upper = p + 1 < kPanels ? words[p + 1] : words[p];
      return _mm512_adds_epi16(_mm512_packs_epi32(words[p], upper), zero16);
    };
    I first = pair(0), second = kPanels > 2 ? pair(2) : first;
    I bytes = _mm512_permutexvar_epi32(order, _mm512_xor_si512(_mm512_packus_epi16(first, second), flips));
    char* c = static_cast<char*>(t.c[row]) + t.column;
    if (!kWhole && t.columns < kPanels * kPanel)
      return _mm512_mask_storeu_epi8(c, (uint64_t{1} << t.columns) - 1, bytes);
    if (kPanels == 4) return _mm512_storeu_si512(c, bytes);
    if (kPanels == 1) return _mm_storeu_si128(reinterpret_cast<__m128i*>(c), _mm512_castsi512_si128(bytes));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(c), _mm512_castsi512_si256(bytes));
    if (kPanels == 3) _mm_storeu_si128(reinterpret_cast<__m128i*>(c + 32), _mm512_extracti32x4_epi32(bytes, 2));
  }
};

// From memory, row by row: numbers by column are in registers. With a residual all columns exist.
template <int kPanels, bool kResidual>
void finish_bytes(const Tile& t, float* sums, int rows, int) {
  const ByteSink<kPanels> sink{t};
  V scale[kPanels], bias[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) scale[p] = sink.scale(p), bias[p] = sink.bias(p);
  for (int i = 0; i < rows; ++i, sums += kPanels * kPanel) {
    I words[kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      V x = sink.scaled(load_words(sums + p * kPanel), scale[p], bias[p]);
      words[p] = sink.words(kResidual ? add(x, sink.residual(i, p)) : x);
    }
    sink.template store_row<kResidual>(i, words);
  }
}
constexpr FinishSums kFinishBytes[2][kMaxPanels + 1] = {
    {nullptr, finish_bytes<1, false>, finish_bytes<2, false>, finish_bytes<3, false>, finish_bytes<4, false>},
    {nullptr, finish_bytes<1, true>, finish_bytes<2, true>, finish_bytes<3, true>, finish_bytes<4, true>}};

// vpdpbusd: four products of u8 by i8 added to 32 bits, exactly.
struct Vnni : Int8Sums {
  using A = I;
  using B = I;
  [[gnu::always_inline]] static B column(const float* b) { return load_words(b); }
  [[gnu::always_inline]] static A row(const char* a, const Tile& t) {
    return flip_bits(broadcast_word(a), t.epilogue->flip);
  }
  // In place, as fma_into.
  [[gnu::always_inline]] static void multiply(Sum& sum, A a, B b) {
    asm volatile("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
  [[gnu::always_inline]] static void multiply_row(Sum& sum, const char* a, B b, const Tile& t) {
    multiply(sum, row(a, t), b);
  }
  template <int kRows, int kPanels, bool kHalfPanel>
  [[gnu::always_inline]] static bool store_at_once(const Sums<Vnni, kRows, kPanels>& s, const Tile& t) {
    const TileEpilogue& e = *t.epilogue;
    bool whole = t.columns == kPanels * kPanel && e.residual == dnn::Residual::none;
    if (!is_tall(kRows, kPanels) || !whole || !clamps_to_bytes(t, kPanels)) return false;
    // Panel by panel, then row by row: few other registers than those of the sums.
    const ByteSink<kPanels> sink{t};
    I words[kRows][kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      const V scale = sink.scale(p), bias = sink.bias(p);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) words[i][p] = sink.words(sink.scaled(s.v[i][p], scale, bias));
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) sink.template store_row<true>(i, words[i]);
    return true;
  }
  static void finish(const Tile& t, float* sums, int rows, int panels) {
    const bool adds = t.epilogue->residual != dnn::Residual::none;
    return (clamps_to_bytes(t, panels) ? kFinishBytes[adds][panels] : Int8Sums::finish)(t, sums, rows, panels);
  }
};

}  // namespace

constinit const GemmIsa kGemmAvx512Vnni = make_isa<Vnni, 9, 9, 9, 6>(DType::i8, CpuLevel::avx512, {.vnni = true}, 128);

}  // namespace trine::cpu
