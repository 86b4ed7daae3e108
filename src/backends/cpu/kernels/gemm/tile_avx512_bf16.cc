#include "backends/cpu/kernels/gemm/tile_narrow.h"

namespace trine::cpu {
namespace {

// Whether sums become bf16 by a clamp and nothing follows it. A residual asks for whole panels.
bool clamps_to_bf16(const Tile& t, int panels) {
  const TileEpilogue& e = *t.epilogue;
  if (e.residual != dnn::Residual::none && t.columns < panels * kPanel) return false;
  return e.out == DType::bf16 && e.is_clamp && e.residual != dnn::Residual::after_activation;
}

// Two panels at a time; kWhole: all columns exist. each_row calls its argument with the number of a row and a function
// that gives its sums.
template <int kPanels, bool kResidual, bool kWhole, class EachRow>
[[gnu::always_inline]] inline void store_bf16_rows(const Tile& t, EachRow each_row) {
  const TileEpilogue& e = *t.epilogue;
  const V scale = set1(e.scale), low = set1(e.low), high = set1(e.high);
#pragma GCC unroll 2
  for (int p = 0; p < kPanels; p += 2) {
    const bool two = p + 1 < kPanels;
    const int left = kWhole ? 2 * kPanel : t.columns - p * kPanel;
    const int64_t column = t.column + p * kPanel;
    const V first = e.bias ? load_part(e.bias + column, left) : zero();
    const V second = e.bias && two ? load_part(e.bias + column + kPanel, left - kPanel) : zero();
    each_row([&](int i, auto sums_of) __attribute__((always_inline)) {
      char* c = static_cast<char*>(t.c[i]) + column * 2;
      const auto finish = [&](int q, V bias) __attribute__((always_inline)) {
        V x = fma(sums_of(p + q), scale, bias);
        if (kResidual) x = add(x, load_bf16(c + (e.residual_offset + q * kPanel) * 2, kWidth));
        return vmin(high, vmax(low, x));
      };
      if (two) {
        auto y = reinterpret_cast<I>(_mm512_cvtne2ps_pbh(finish(1, second), finish(0, first)));
        left >= 2 * kPanel ? _mm512_storeu_si512(c, y) : _mm512_mask_storeu_epi16(c, (uint32_t{1} << left) - 1, y);
      } else {
        auto y = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(finish(0, first)));
        auto* to = reinterpret_cast<__m256i*>(c);
        left >= kPanel ? _mm256_storeu_si256(to, y) : _mm256_mask_storeu_epi16(to, first_lanes(left), y);
      }
    });
  }
}

template <int kPanels, bool kResidual>
void finish_bf16(const Tile& t, float* sums, int rows, int) {
  store_bf16_rows<kPanels, kResidual, kResidual>(t, [&](auto body) __attribute__((always_inline)) {
    for (int i = 0; i < rows; ++i)
      body(i, [&](int p) __attribute__((always_inline)) { return load(sums + (i * kPanels + p) * kPanel); });
  });
}
constexpr FinishSums kFinishBf16[2][kMaxPanels + 1] = {
    {nullptr, finish_bf16<1, false>, finish_bf16<2, false>, finish_bf16<3, false>, finish_bf16<4, false>},
    {nullptr, finish_bf16<1, true>, finish_bf16<2, true>, finish_bf16<3, true>, finish_bf16<4, true>}};

// vdpbf16ps: both products of a word in one instruction, with two roundings to f32; denormals count as zeros.
struct Bf16 : Bf16Sums {
  using A = I;
  using B = I;
  struct [[gnu::packed]] Word {
    uint32_t bits;
  };
  [[gnu::always_inline]] static B column(const float* b) { return load_words(b); }
  [[gnu::always_inline]] static A row(const char* a, const Tile&) { return broadcast_word(a); }
  // In place, as fma_into.
  [[gnu::always_inline]] static void multiply(Sum& sum, A a, B b) {
    asm volatile("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
  [[gnu::always_inline]] static void multiply_row(Sum& sum, const char* a, B b, const Tile&) {
    asm volatile("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(b), "m"(*reinterpret_cast<const Word*>(a)));
  }
  template <int kRows, int kPanels, bool kHalfPanel>
  [[gnu::always_inline]] static bool store_at_once(const Sums<Bf16, kRows, kPanels>& s, const Tile& t) {
    const TileEpilogue& e = *t.epilogue;
    bool whole = t.columns == kPanels * kPanel && e.residual == dnn::Residual::none;
    if (!is_tall(kRows, kPanels) || !whole || !clamps_to_bf16(t, kPanels)) return false;
    store_bf16_rows<kPanels, false, true>(t, [&](auto body) __attribute__((always_inline)) {
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) body(i, [&](int p) __attribute__((always_inline)) { return s.v[i][p]; });
    });
    return true;
  }
  static void finish(const Tile& t, float* sums, int rows, int panels) {
    const bool adds = t.epilogue->residual != dnn::Residual::none;
    return (clamps_to_bf16(t, panels) ? kFinishBf16[adds][panels] : Bf16Sums::finish)(t, sums, rows, panels);
  }
};

}  // namespace

constinit const GemmIsa kGemmAvx512Bf16 = make_isa<Bf16, 9, 9, 9, 6>(DType::bf16, CpuLevel::avx512, {.bf16 = true}, 64);

}  // namespace trine::cpu
