// Narrow types in AVX-512 registers. See narrow_baseline.h for what each function means.
#pragma once

#include <cstring>

#include "backends/cpu/kernels/simd/simd_avx512.h"

namespace trine::cpu {
namespace {

using I = __m512i;

[[gnu::always_inline]] inline I load_words(const void* p) { return _mm512_loadu_si512(p); }
[[gnu::always_inline]] inline void store_words(void* p, I v) { _mm512_storeu_si512(p, v); }
[[gnu::always_inline]] inline void store_words_part(void* p, I v, int n) {
  n >= kWidth ? _mm512_storeu_si512(p, v) : _mm512_mask_storeu_epi32(p, first_lanes(n), v);
}
[[gnu::always_inline]] inline I broadcast_word(const void* p) {
  int32_t x;
  std::memcpy(&x, p, sizeof x);
  return _mm512_set1_epi32(x);
}
[[gnu::always_inline]] inline I no_words() { return _mm512_setzero_si512(); }
[[gnu::always_inline]] inline I add(I a, I b) { return _mm512_add_epi32(a, b); }
[[gnu::always_inline]] inline I flip_bits(I a, uint32_t bits) {
  return _mm512_xor_si512(a, _mm512_set1_epi32(static_cast<int32_t>(bits)));
}
[[gnu::always_inline]] inline V to_float(I a) { return _mm512_cvtepi32_ps(a); }
[[gnu::always_inline]] inline I to_words(V a) { return _mm512_cvtps_epi32(a); }
[[gnu::always_inline]] inline I whole_words(V a) { return _mm512_cvtps_epi32(a); }

[[gnu::always_inline]] inline V upper_bf16(I a) {
  return _mm512_castsi512_ps(_mm512_and_si512(a, _mm512_set1_epi32(static_cast<int32_t>(0xffff0000))));
}
[[gnu::always_inline]] inline V lower_bf16(I a) { return _mm512_castsi512_ps(_mm512_slli_epi32(a, 16)); }

[[gnu::always_inline]] inline I even_u8(I a) { return _mm512_and_si512(a, _mm512_set1_epi32(0x00ff00ff)); }
[[gnu::always_inline]] inline I odd_u8(I a) { return _mm512_srli_epi16(a, 8); }
[[gnu::always_inline]] inline I even_i8(I a) { return _mm512_srai_epi16(_mm512_slli_epi16(a, 8), 8); }
[[gnu::always_inline]] inline I odd_i8(I a) { return _mm512_srai_epi16(a, 8); }
// In place: as intrinsics GCC renames the sums from step to step and then runs out of registers.
[[gnu::always_inline]] inline void add_products(I& sum, I a, I b) {
  I products = _mm512_madd_epi16(a, b);
  asm volatile("vpaddd %1, %0, %0" : "+v"(sum) : "v"(products));
}

[[gnu::always_inline]] inline V load_bytes(const void* p, uint8_t flip, int n) {
  __m128i bytes =
      n >= kWidth ? _mm_loadu_si128(static_cast<const __m128i*>(p)) : _mm_maskz_loadu_epi8(first_lanes(n), p);
  bytes = _mm_xor_si128(bytes, _mm_set1_epi8(static_cast<char>(flip)));
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
}
[[gnu::always_inline]] inline void store_bytes(void* p, I v, int n) {
  __m128i bytes = _mm512_cvtepi32_epi8(v);
  n >= kWidth ? _mm_storeu_si128(static_cast<__m128i*>(p), bytes) : _mm_mask_storeu_epi8(p, first_lanes(n), bytes);
}
[[gnu::always_inline]] inline V load_bf16(const void* p, int n) {
  __m256i halves =
      n >= kWidth ? _mm256_loadu_si256(static_cast<const __m256i*>(p)) : _mm256_maskz_loadu_epi16(first_lanes(n), p);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
[[gnu::always_inline]] inline void store_bf16(void* p, V v, int n) {
#if defined(__AVX512BF16__)  // denormals become zeros
  auto halves = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(v));
#else
  I bits = _mm512_castps_si512(v);
  I upper = _mm512_srli_epi32(bits, 16);
  I even = _mm512_and_si512(upper, _mm512_set1_epi32(1));
  I rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(even, _mm512_set1_epi32(0x7fff))), 16);
  rounded = _mm512_mask_or_epi32(rounded, is_nan(v), upper, _mm512_set1_epi32(0x40));
  __m256i halves = _mm512_cvtepi32_epi16(rounded);
#endif
  n >= kWidth ? _mm256_storeu_si256(static_cast<__m256i*>(p), halves)
              : _mm256_mask_storeu_epi16(p, first_lanes(n), halves);
}

}  // namespace
}  // namespace trine::cpu
