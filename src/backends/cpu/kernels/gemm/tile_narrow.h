// The microkernels of bf16 and of 8-bit integers: what becomes of their sums, and products made of instructions that
// every level has. Included by the tile_narrow_*.cc, tile_avx512_bf16.cc and tile_avx512_vnni.cc.
#pragma once

#include "backends/cpu/kernels/gemm/tile_kernel.h"
#include "backends/cpu/kernels/simd/narrow.h"

namespace trine::cpu {
namespace {

// One vector of sums on its way to C: `begin` until the activation, `end` after it.
// Sums of 8-bit integers begin with the offsets of their columns.
template <bool kIntegers, DType kOut>
struct Finisher {
  static constexpr int kBytes = kOut == DType::f32 ? 4 : kOut == DType::bf16 ? 2 : 1;
  const TileEpilogue& e;
  bool add_to_c;
  V scale, bias;

  explicit Finisher(const TileEpilogue& epilogue, bool adds = false)
      : e(epilogue), add_to_c(adds), scale(set1(e.scale)), bias(zero()) {}

  void set_column(int64_t column, int left) {
    if constexpr (kIntegers) scale = load(e.scales + column);
    if (e.bias) bias = load_part(e.bias + column, left);
  }

  [[gnu::always_inline]] V residual(const char* c, int left) const {
    const char* at = c + e.residual_offset * kBytes;
    if constexpr (kOut == DType::f32) return load_part(reinterpret_cast<const float*>(at), left);
    if constexpr (kOut == DType::bf16) return load_bf16(at, left);
    V r = sub(load_bytes(at, e.residual_flip, left), set1(static_cast<float>(e.residual_zero)));
    return mul(r, set1(e.residual_scale));
  }

  [[gnu::always_inline]] V begin(const float* sums, const char* c, int left) const {
    V x = kIntegers ? to_float(load_words(sums)) : load(sums);
    if (!kIntegers && add_to_c) x = add(x, load_part(reinterpret_cast<const float*>(c), left));
    x = kIntegers ? add(mul(x, scale), bias) : fma(x, scale, bias);
    return e.residual == dnn::Residual::before_activation ? add(x, residual(c, left)) : x;
  }

  [[gnu::always_inline]] void end(V x, char* c, int left) const {
    if (e.residual == dnn::Residual::after_activation) x = add(x, residual(c, left));
    if constexpr (kOut == DType::f32) return store_part(reinterpret_cast<float*>(c), x, left);
    if constexpr (kOut == DType::bf16) return store_bf16(c, x, left);
    // A NaN becomes the lowest value.
    V y = vmin(vmax(mul(x, set1(e.out_multiplier)), set1(e.out_low)), set1(e.out_high));
    store_bytes(c, add(to_words(y), broadcast_word(&e.out_zero)), left);
  }
};

template <Activation kActivation>
void activate_sums(float* x, int vectors, float alpha, float beta) {
  for (float* end = x + vectors * kWidth; x < end; x += kWidth) store(x, activate(kActivation, load(x), alpha, beta));
}
using ActivateSums = void (*)(float*, int, float, float);
constexpr ActivateSums kActivateSums[] = {
    activate_sums<Activation::none>,       activate_sums<Activation::relu>,        activate_sums<Activation::clip>,
    activate_sums<Activation::leaky_relu>, activate_sums<Activation::sigmoid>,     activate_sums<Activation::tanh>,
    activate_sums<Activation::silu>,       activate_sums<Activation::hardsigmoid>, activate_sums<Activation::hardswish>,
    activate_sums<Activation::gelu>,       activate_sums<Activation::gelu_tanh>};

// By columns, whose numbers are loaded once. Activations but clamps have a pass of their own, in place.
template <bool kIntegers, DType kOut, bool kClamp>
void finish_narrow(const Tile& t, float* sums, int rows, int panels) {
  const TileEpilogue& e = *t.epilogue;
  Finisher<kIntegers, kOut> f(e, t.add_to_c);
  const int vectors = panels * kVectors;
  const auto each = [&](auto body) {
    for (int v = 0; v < vectors && v * kWidth < t.columns; ++v) {
      int64_t column = t.column + v * kWidth;
      int left = t.columns - v * kWidth;
      f.set_column(column, left);
      for (int i = 0; i < rows; ++i)
        body(sums + (i * vectors + v) * kWidth, static_cast<char*>(t.c[i]) + column * f.kBytes, left);
    }
  };
  if constexpr (kClamp) {
    V low = set1(e.low), high = set1(e.high);
    each([&](const float* x, char* c, int left) { f.end(vmin(high, vmax(low, f.begin(x, c, left))), c, left); });
  } else {
    each([&](float* x, const char* c, int left) { store(x, f.begin(x, c, left)); });
    kActivateSums[static_cast<int>(e.activation)](sums, rows * vectors, e.alpha, e.beta);
    each([&](const float* x, char* c, int left) { f.end(load(x), c, left); });
  }
}

void store_raw(const Tile& t, float* sums, int rows, int panels) {
  for_vectors(t, sums, rows, panels, 4,
              [&](const float* x, void* c, int64_t column, int left) { store_words_part(c, load_words(x), left); });
}

// Called through tables: a compiler would copy them for every number of panels.
using FinishSums = void (*)(const Tile&, float*, int, int);

struct Bf16Sums {
  static constexpr FinishSums kFinish[] = {
      finish_narrow<false, DType::f32, false>, finish_narrow<false, DType::f32, true>,
      finish_narrow<false, DType::bf16, false>, finish_narrow<false, DType::bf16, true>, keep_sums};
  static constexpr bool kPartWords = true;
  static constexpr bool kHalves = false;
  using Sum = V;
  [[gnu::always_inline]] static Sum start(const Tile&, int) { return zero(); }
  [[gnu::always_inline]] static void keep(float* to, Sum sum) { store(to, sum); }
  static void finish(const Tile& t, float* sums, int rows, int panels) {
    const TileEpilogue& e = *t.epilogue;
    kFinish[t.finish ? (e.out == DType::bf16) * 2 + e.is_clamp : 4](t, sums, rows, panels);
  }
  template <int kRows, int kPanels, bool kHalfPanel, class S>
  [[gnu::always_inline]] static bool store_at_once(const S&, const Tile&) {
    return false;
  }
};

struct Int8Sums {
  static constexpr FinishSums kFinish[] = {finish_narrow<true, DType::f32, false>,
                                           finish_narrow<true, DType::f32, true>, finish_narrow<true, DType::u8, false>,
                                           finish_narrow<true, DType::u8, true>, store_raw};
  static constexpr bool kPartWords = true;
  static constexpr bool kHalves = false;
  using Sum = I;
  [[gnu::always_inline]] static Sum start(const Tile& t, int v) {
    return load_words(t.epilogue->offsets + t.column + v * kWidth);
  }
  [[gnu::always_inline]] static void keep(float* to, Sum sum) { store_words(to, sum); }
  static void finish(const Tile& t, float* sums, int rows, int panels) {
    const TileEpilogue& e = *t.epilogue;
    kFinish[e.out != DType::i32 ? (e.out != DType::f32) * 2 + e.is_clamp : 4](t, sums, rows, panels);
  }
  template <int kRows, int kPanels, bool kHalfPanel, class S>
  [[gnu::always_inline]] static bool store_at_once(const S&, const Tile&) {
    return false;
  }
};

// bf16 widened to f32: two multiplications a word.
struct Bf16ByF32 : Bf16Sums {
  struct Halves {
    V lower, upper;
  };
  using A = Halves;
  using B = Halves;
  [[gnu::always_inline]] static Halves halves(I word) { return {lower_bf16(word), upper_bf16(word)}; }
  [[gnu::always_inline]] static B column(const float* b) { return halves(load_words(b)); }
  [[gnu::always_inline]] static A row(const char* a, const Tile&) { return halves(broadcast_word(a)); }
  [[gnu::always_inline]] static void multiply(Sum& sum, const A& a, const B& b) {
    fma_into(sum, a.lower, b.lower);
    fma_into(sum, a.upper, b.upper);
  }
  [[gnu::always_inline]] static void multiply_row(Sum& sum, const char* a, const B& b, const Tile& t) {
    multiply(sum, row(a, t), b);
  }
};

// Bytes widened to 16 bits, whose sums of two products always fit: vpmaddubsw would saturate.
struct Int8By16 : Int8Sums {
  struct Pairs {
    I even, odd;
  };
  using A = Pairs;
  using B = Pairs;
  [[gnu::always_inline]] static B column(const float* b) {
    I words = load_words(b);
    return {even_i8(words), odd_i8(words)};
  }
  [[gnu::always_inline]] static A pairs(I word, const Tile& t) {
    I flipped = flip_bits(word, t.epilogue->flip);
    return {even_u8(flipped), odd_u8(flipped)};
  }
  [[gnu::always_inline]] static A row(const char* a, const Tile& t) { return pairs(broadcast_word(a), t); }
  [[gnu::always_inline]] static void multiply(Sum& sum, const A& a, const B& b) {
    add_products(sum, a.even, b.even);
    add_products(sum, a.odd, b.odd);
  }
  [[gnu::always_inline]] static void multiply_row(Sum& sum, const char* a, const B& b, const Tile& t) {
    multiply(sum, row(a, t), b);
  }
};

}  // namespace
}  // namespace trine::cpu
