#include "backends/cpu/kernels/gemm/tile_narrow.h"

namespace trine::cpu {
namespace {

// Rows of kPanels vectors to bf16, when the activation is a clamp and nothing follows it.
template <int kPanels, bool kResidual>
[[gnu::noinline]] void finish_bf16(const Tile& t, const float* sums, int rows) {
  const TileEpilogue& e = *t.epilogue;
  const V scale = set1(e.scale), low = set1(e.low), high = set1(e.high);
  V bias[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) bias[p] = e.bias ? load(e.bias + t.column + p * kPanel) : zero();
  for (int i = 0; i < rows; ++i, sums += kPanels * kPanel) {
    char* c = static_cast<char*>(t.c[i]) + t.column * 2;
    auto finish = [&](int p) {
      V x = fma(load(sums + p * kPanel), scale, bias[p]);
      if (kResidual) x = add(x, load_bf16(c + (e.residual_offset + p * kPanel) * 2, kWidth));
      return vmin(high, vmax(low, x));
    };
#pragma GCC unroll 2
    for (int p = 0; p + 2 <= kPanels; p += 2)
      _mm512_storeu_si512(c + p * kPanel * 2, reinterpret_cast<I>(_mm512_cvtne2ps_pbh(finish(p + 1), finish(p))));
    if (kPanels % 2)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(c + (kPanels - 1) * kPanel * 2),
                          reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(finish(kPanels - 1))));
  }
}

using FinishBf16 = void (*)(const Tile&, const float*, int);
constexpr FinishBf16 kFinishBf16[2][kMaxPanels + 1] = {
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
  static void finish(const Tile& t, float* sums, int rows, int panels) {
    const TileEpilogue& e = *t.epilogue;
    bool after = e.residual == dnn::Residual::after_activation;
    if (e.out != DType::bf16 || !e.is_clamp || after || t.columns != panels * kPanel)
      return Bf16Sums::finish(t, sums, rows, panels);
    kFinishBf16[e.residual != dnn::Residual::none][panels](t, sums, rows);
  }
};

}  // namespace

constinit const GemmIsa kGemmAvx512Bf16 = make_isa<Bf16, 9, 9, 9, 6>(DType::bf16, CpuLevel::avx512, {.bf16 = true}, 64);

}  // namespace trine::cpu
