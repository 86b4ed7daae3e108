#include <algorithm>

#include "backends/cpu/kernels/gemm/tile_narrow.h"

namespace trine::cpu {
namespace {

// One row of kPanels vectors on its way to bytes: what of Finisher is left when the activation is a clamp and nothing
// follows it. Bounds of activation and type meet, multiplied already (rounding is monotone); packing saturates, so that
// only the upper one is always needed: too large a float would become the least integer, as a NaN does.
template <int kPanels, bool kResidual>
struct ByteRow {
  const TileEpilogue& e;
  const V multiplier = set1(e.out_multiplier);
  const V low = set1(std::max(e.low * e.out_multiplier, e.out_low));
  const V high = set1(std::min(e.high * e.out_multiplier, e.out_high));
  const V residual_zero = set1(static_cast<float>(e.residual_zero)), residual_scale = set1(e.residual_scale);
  const I zero16 = _mm512_set1_epi16(static_cast<int16_t>(e.out_zero));
  I offset[kPanels];
  V scale[kPanels], bias[kPanels];

  ByteRow(const Tile& t) : e(*t.epilogue) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      offset[p] = load_words(e.offsets + t.column + p * kPanel);
      scale[p] = load(e.scales + t.column + p * kPanel);
      bias[p] = e.bias ? load(e.bias + t.column + p * kPanel) : zero();
    }
  }

  [[gnu::always_inline]] I finish(const float* sums, int p, const char* c) const {
    V x = add(mul(to_float(add(load_words(sums + p * kPanel), offset[p])), scale[p]), bias[p]);
    if (kResidual) {
      V r = load_bytes(c + e.residual_offset + p * kPanel, e.residual_flip, kWidth);
      x = add(x, mul(sub(r, residual_zero), residual_scale));
    }
    return to_words(vmin(high, vmax(low, mul(x, multiplier))));
  }

  [[gnu::always_inline]] void store(const float* sums, char* c, bool is_signed) const {
    I words[4] = {};
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) words[p] = finish(sums, p, c);
    I first = _mm512_adds_epi16(_mm512_packs_epi32(words[0], words[1]), zero16);
    I second = kPanels > 2 ? _mm512_adds_epi16(_mm512_packs_epi32(words[2], words[3]), zero16) : first;
    I bytes = is_signed ? _mm512_packs_epi16(first, second) : _mm512_packus_epi16(first, second);
    const I order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);  // undoes packing by lanes
    bytes = _mm512_permutexvar_epi32(order, bytes);
    if (kPanels == 4) return _mm512_storeu_si512(c, bytes);
    if (kPanels == 1) return _mm_storeu_si128(reinterpret_cast<__m128i*>(c), _mm512_castsi512_si128(bytes));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(c), _mm512_castsi512_si256(bytes));
    if (kPanels == 3) _mm_storeu_si128(reinterpret_cast<__m128i*>(c + 32), _mm512_extracti32x4_epi32(bytes, 2));
  }
};

template <int kPanels, bool kResidual>
[[gnu::noinline]] void finish_bytes(const Tile& t, const float* sums, int rows) {
  const ByteRow<kPanels, kResidual> row(t);
  bool is_signed = t.epilogue->out == DType::i8;
  for (int i = 0; i < rows; ++i)
    row.store(sums + i * kPanels * kPanel, static_cast<char*>(t.c[i]) + t.column, is_signed);
}

using FinishBytes = void (*)(const Tile&, const float*, int);
constexpr FinishBytes kFinishBytes[2][kMaxPanels + 1] = {
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
  static void finish(const Tile& t, float* sums, int rows, int panels) {
    const TileEpilogue& e = *t.epilogue;
    bool bytes = e.out == DType::u8 || e.out == DType::i8, after = e.residual == dnn::Residual::after_activation;
    if (!bytes || !e.is_clamp || after || t.columns != panels * kPanel || !(e.out_multiplier > 0))
      return Int8Sums::finish(t, sums, rows, panels);
    kFinishBytes[e.residual != dnn::Residual::none][panels](t, sums, rows);
  }
};

}  // namespace

constinit const GemmIsa kGemmAvx512Vnni = make_isa<Vnni, 9, 9, 9, 6>(DType::i8, CpuLevel::avx512, {.vnni = true}, 128);

}  // namespace trine::cpu
