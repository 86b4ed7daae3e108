// Memory types of loop kernels: value(m) is what is computed with, Stored<M>::of(x) what is written.
#pragma once

#pragma clang fp contract(off)  // an fma stands only where the formula has one

namespace loops {

template <class To, class From>
__device__ inline To bits_as(From from) {
  return __builtin_bit_cast(To, from);
}

struct Flag {
  unsigned char byte;
};
struct F16 {
  unsigned short bits;
};
struct BF16 {
  unsigned short bits;
};
// Floats of at most 8 bits with a sign: exponent and mantissa bits, bias, has infinities, has -0, bits of the NaN (0:
// none), bits of the largest finite value.
template <int E, int M, int kBias, bool kInfinity, bool kMinusZero, unsigned kNan, unsigned kLargest>
struct Small {
  unsigned char bits;
};
struct E8M0 {  // a power of two; 255 is NaN
  unsigned char bits;
};

template <class T>
__device__ inline T value(T x) {
  return x;
}
__device__ inline int value(signed char x) { return x; }
__device__ inline int value(unsigned char x) { return x; }
__device__ inline int value(short x) { return x; }
__device__ inline int value(unsigned short x) { return x; }
__device__ inline bool value(Flag x) { return x.byte != 0; }
__device__ inline float value(F16 x) { return static_cast<float>(bits_as<_Float16>(x.bits)); }
__device__ inline float value(BF16 x) { return bits_as<float>(static_cast<unsigned>(x.bits) << 16); }
__device__ inline float value(E8M0 x) {
  return bits_as<float>(x.bits == 255 ? 0x7fc00000u : x.bits == 0 ? 0x00400000u : static_cast<unsigned>(x.bits) << 23);
}
template <int E, int M, int kBias, bool kInfinity, bool kMinusZero, unsigned kNan, unsigned kLargest>
__device__ inline float value(Small<E, M, kBias, kInfinity, kMinusZero, kNan, kLargest> x) {
  constexpr unsigned kTop = (1u << E) - 1;
  const unsigned rest = x.bits & ((1u << (E + M)) - 1), exponent = rest >> M, mantissa = rest & ((1u << M) - 1);
  const unsigned sign = static_cast<unsigned>(x.bits >> (E + M) & 1) << 31;
  if (!kMinusZero && x.bits == kNan) return bits_as<float>(0x7fc00000u);
  if (kInfinity && exponent == kTop) return bits_as<float>(sign | (mantissa ? 0x7fc00000u : 0x7f800000u));
  if (kMinusZero && kNan && !kInfinity && rest == kNan) return bits_as<float>(sign | 0x7fc00000u);
  const unsigned quantum = static_cast<unsigned>(127 + 1 - kBias - M) << 23;  // of the subnormals
  const unsigned normal = (exponent + 127 - kBias) << 23 | mantissa << (23 - M);
  const float magnitude = exponent ? bits_as<float>(normal) : static_cast<float>(mantissa) * bits_as<float>(quantum);
  return bits_as<float>(bits_as<unsigned>(magnitude) | sign);
}

template <class M>
struct Stored {
  template <class C>
  __device__ static M of(C x) {
    return static_cast<M>(x);
  }
};
template <>
struct Stored<Flag> {
  __device__ static Flag of(bool x) { return {static_cast<unsigned char>(x)}; }
};
template <>
struct Stored<F16> {
  __device__ static F16 of(float x) { return {bits_as<unsigned short>(static_cast<_Float16>(x))}; }
};
template <>
struct Stored<BF16> {
  __device__ static BF16 of(float x) {
    if (!TRINE_ON_CPU) return {bits_as<unsigned short>(static_cast<__bf16>(x))};
    const unsigned bits = bits_as<unsigned>(x);
    return {static_cast<unsigned short>(x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  }
};

template <>
struct Stored<E8M0> {
  // Half of the way up rounds up; there is nothing below 2^-127.
  __device__ static E8M0 of(float x, bool saturate = false) {
    const unsigned bits = bits_as<unsigned>(x) & 0x7fffffff;
    if (bits > 0x7f800000) return {255};
    if (bits == 0x7f800000) return {static_cast<unsigned char>(saturate ? 254 : 255)};
    if (bits <= 0x00400000) return {0};
    // Subnormal numbers above 2^-127: from 1.5 * 2^-127 on the nearest is 2^-126.
    if (bits < 0x00800000) return {static_cast<unsigned char>(bits >= 0x00600000)};
    const unsigned exponent = (bits + 0x00400000) >> 23;
    return {static_cast<unsigned char>(exponent > 254 ? (saturate ? 254 : 255) : exponent)};
  }
};
template <int E, int M, int kBias, bool kInfinity, bool kMinusZero, unsigned kNan, unsigned kLargest>
struct Stored<Small<E, M, kBias, kInfinity, kMinusZero, kNan, kLargest>> {
  using Format = Small<E, M, kBias, kInfinity, kMinusZero, kNan, kLargest>;
  // In units of the last place at its exponent, rounded half to even; a carry moves into the exponent by itself.
  __device__ static Format of(float x, bool saturate = false) {
    const unsigned all = bits_as<unsigned>(x), magnitude = all & 0x7fffffff, sign = all >> 31 << (E + M);
    if (magnitude > 0x7f800000) return {static_cast<unsigned char>(kMinusZero && kNan ? kNan | sign : kNan)};
    int exponent = static_cast<int>(magnitude >> 23) - 127;
    exponent = exponent < 1 - kBias ? 1 - kBias : exponent;
    unsigned bits = kLargest + 1;
    if (magnitude < 0x7f800000) {
      const float scale = bits_as<float>(static_cast<unsigned>(127 + M - exponent) << 23);
      if (exponent < 100)
        bits = static_cast<unsigned>(rintf(bits_as<float>(magnitude) * scale)) +
               (static_cast<unsigned>(exponent + kBias - 1) << M);
    }
    if (bits > kLargest) {
      if (saturate || kNan == 0) bits = kLargest;
      else if (!kInfinity) return {static_cast<unsigned char>(kMinusZero ? kNan | sign : kNan)};
      else bits = ((1u << E) - 1) << M;
    }
    return {static_cast<unsigned char>(bits == 0 && !kMinusZero ? 0 : bits | sign)};
  }
};

}  // namespace loops
