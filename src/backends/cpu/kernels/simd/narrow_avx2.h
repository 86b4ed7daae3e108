// Narrow types in AVX2 registers. See narrow_baseline.h for what each function means.
#pragma once

#include <cstring>

#include "backends/cpu/kernels/simd/simd_avx2.h"

namespace trine::cpu {
namespace {

using I = __m256i;

[[gnu::always_inline]] inline I load_words(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
[[gnu::always_inline]] inline void store_words(void* p, I v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
[[gnu::always_inline]] inline void store_words_part(void* p, I v, int n) {
  _mm256_maskstore_epi32(static_cast<int*>(p), first_lanes(n), v);
}
[[gnu::always_inline]] inline I broadcast_word(const void* p) {
  int32_t x;
  std::memcpy(&x, p, sizeof x);
  return _mm256_set1_epi32(x);
}
[[gnu::always_inline]] inline I no_words() { return _mm256_setzero_si256(); }
[[gnu::always_inline]] inline I add(I a, I b) { return _mm256_add_epi32(a, b); }
[[gnu::always_inline]] inline I flip_bits(I a, uint32_t bits) {
  return _mm256_xor_si256(a, _mm256_set1_epi32(static_cast<int32_t>(bits)));
}
[[gnu::always_inline]] inline V to_float(I a) { return _mm256_cvtepi32_ps(a); }
[[gnu::always_inline]] inline I to_words(V a) { return _mm256_cvtps_epi32(a); }
[[gnu::always_inline]] inline I whole_words(V a) { return _mm256_cvtps_epi32(a); }

[[gnu::always_inline]] inline V upper_bf16(I a) {
  return _mm256_castsi256_ps(_mm256_and_si256(a, _mm256_set1_epi32(static_cast<int32_t>(0xffff0000))));
}
[[gnu::always_inline]] inline V lower_bf16(I a) { return _mm256_castsi256_ps(_mm256_slli_epi32(a, 16)); }

[[gnu::always_inline]] inline I even_u8(I a) { return _mm256_and_si256(a, _mm256_set1_epi32(0x00ff00ff)); }
[[gnu::always_inline]] inline I odd_u8(I a) { return _mm256_srli_epi16(a, 8); }
[[gnu::always_inline]] inline I even_i8(I a) { return _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8); }
[[gnu::always_inline]] inline I odd_i8(I a) { return _mm256_srai_epi16(a, 8); }
// In place: as intrinsics GCC renames the sums from step to step and then runs out of registers.
[[gnu::always_inline]] inline void add_products(I& sum, I a, I b) {
  I products = _mm256_madd_epi16(a, b);
  asm volatile("vpaddd %1, %0, %0" : "+x"(sum) : "x"(products));
}

// Eight bytes at p of which n are read.
[[gnu::always_inline]] inline __m128i eight_bytes(const void* p, int n) {
  uint64_t x = 0;
  std::memcpy(&x, p, static_cast<size_t>(n < kWidth ? n : kWidth));
  return _mm_cvtsi64_si128(static_cast<long long>(x));
}
[[gnu::always_inline]] inline V load_bytes(const void* p, uint8_t flip, int n) {
  __m128i bytes = n >= kWidth ? _mm_loadl_epi64(static_cast<const __m128i*>(p)) : eight_bytes(p, n);
  bytes = _mm_xor_si128(bytes, _mm_set1_epi8(static_cast<char>(flip)));
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
}
[[gnu::always_inline]] inline void store_bytes(void* p, I v, int n) {
  I low = _mm256_shuffle_epi8(v, _mm256_set1_epi32(0x0c080400));
  auto a = static_cast<uint32_t>(_mm256_extract_epi32(low, 0)), b = static_cast<uint32_t>(_mm256_extract_epi32(low, 4));
  uint64_t all = a | uint64_t{b} << 32;
  n >= kWidth ? std::memcpy(p, &all, 8) : std::memcpy(p, &all, static_cast<size_t>(n < 0 ? 0 : n));
}
[[gnu::always_inline]] inline __m128i eight_halves(const void* p, int n) {
  if (n >= kWidth) return _mm_loadu_si128(static_cast<const __m128i*>(p));
  __m128i x = _mm_setzero_si128();
  std::memcpy(&x, p, static_cast<size_t>(n) * 2);
  return x;
}
[[gnu::always_inline]] inline V load_bf16(const void* p, int n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(eight_halves(p, n)), 16));
}
[[gnu::always_inline]] inline void store_bf16(void* p, V v, int n) {
  I bits = _mm256_castps_si256(v);
  I even = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  I rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(even, _mm256_set1_epi32(0x7fff))), 16);
  I quiet = _mm256_or_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x40));
  rounded = _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(is_nan(v)));
  __m128i halves = _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
  n >= kWidth ? _mm_storeu_si128(static_cast<__m128i*>(p), halves)
              : (void)std::memcpy(p, &halves, static_cast<size_t>(n < 0 ? 0 : n) * 2);
}

}  // namespace
}  // namespace trine::cpu
