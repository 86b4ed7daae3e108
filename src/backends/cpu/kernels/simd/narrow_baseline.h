// Narrow types in plain vectors of 4 lanes: what each function means.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "backends/cpu/kernels/simd/simd_baseline.h"

namespace trine::cpu {
namespace {

using I = int32_t __attribute__((vector_size(16)));

template <class To, class From>
[[gnu::always_inline]] inline To as(From v) {
  To to;
  static_assert(sizeof to == sizeof v);
  std::memcpy(&to, &v, sizeof to);
  return to;
}

[[gnu::always_inline]] inline I load_words(const void* p) {
  I v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
[[gnu::always_inline]] inline void store_words(void* p, I v) { std::memcpy(p, &v, sizeof v); }
[[gnu::always_inline]] inline void store_words_part(void* p, I v, int n) {
  std::memcpy(p, &v, static_cast<size_t>(n < kWidth ? n : kWidth) * 4);
}
// The word at p in every lane.
[[gnu::always_inline]] inline I broadcast_word(const void* p) {
  int32_t x;
  std::memcpy(&x, p, sizeof x);
  return I{x, x, x, x};
}
[[gnu::always_inline]] inline I no_words() { return I{}; }
[[gnu::always_inline]] inline I add(I a, I b) {
  using U = uint32_t __attribute__((vector_size(16)));  // wraps
  return as<I>(as<U>(a) + as<U>(b));
}
[[gnu::always_inline]] inline I flip_bits(I a, uint32_t bits) { return a ^ static_cast<int32_t>(bits); }
[[gnu::always_inline]] inline V to_float(I a) { return __builtin_convertvector(a, V); }
// Rounds half to even; for |a| < 2^22.
[[gnu::always_inline]] inline I to_words(V a) { return __builtin_convertvector(round_even(a), I); }
// Of whole numbers.
[[gnu::always_inline]] inline I whole_words(V a) { return __builtin_convertvector(a, I); }

// The bf16 in the upper and lower half of each word.
[[gnu::always_inline]] inline V upper_bf16(I a) { return as<V>(a & static_cast<int32_t>(0xffff0000)); }
[[gnu::always_inline]] inline V lower_bf16(I a) { return as<V>(a << 16); }

// Bytes 0 and 2, 1 and 3 of each word as 16-bit numbers.
[[gnu::always_inline]] inline I even_u8(I a) { return a & 0x00ff00ff; }
[[gnu::always_inline]] inline I odd_u8(I a) { return (a >> 8) & 0x00ff00ff; }
[[gnu::always_inline]] inline I even_i8(I a) {
  using S = int16_t __attribute__((vector_size(16)));
  return as<I>((as<S>(a) << 8) >> 8);
}
[[gnu::always_inline]] inline I odd_i8(I a) {
  using S = int16_t __attribute__((vector_size(16)));
  return as<I>(as<S>(a) >> 8);
}
// sum += the two products of 16-bit numbers in each word.
[[gnu::always_inline]] inline void add_products(I& sum, I a, I b) {
  sum = add(sum, ((a << 16) >> 16) * ((b << 16) >> 16));
  sum = add(sum, (a >> 16) * (b >> 16));
}

// n <= kWidth bytes, each xor `flip`, as floats of 0 to 255.
[[gnu::always_inline]] inline V load_bytes(const void* p, uint8_t flip, int n) {
  V v = {};
  for (int i = 0; i < n && i < kWidth; ++i) v[i] = static_cast<uint8_t>(static_cast<const uint8_t*>(p)[i] ^ flip);
  return v;
}
// The lowest byte of the first n lanes.
[[gnu::always_inline]] inline void store_bytes(void* p, I v, int n) {
  for (int i = 0; i < n && i < kWidth; ++i) static_cast<uint8_t*>(p)[i] = static_cast<uint8_t>(v[i]);
}
[[gnu::always_inline]] inline V load_bf16(const void* p, int n) {
  I v = {};
  for (int i = 0; i < n && i < kWidth; ++i)
    v[i] = static_cast<int32_t>(uint32_t{static_cast<const uint16_t*>(p)[i]} << 16);
  return as<V>(v);
}
// Rounds half to even; a NaN stays one.
[[gnu::always_inline]] inline void store_bf16(void* p, V v, int n) {
  for (int i = 0; i < n && i < kWidth; ++i) {
    float x = v[i];
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    uint32_t rounded = x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    static_cast<uint16_t*>(p)[i] = static_cast<uint16_t>(rounded);
  }
}

}  // namespace
}  // namespace trine::cpu
