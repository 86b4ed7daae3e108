// Sums of the same eight neighbouring columns in one row after the other: what all rows share is read once, before.
#pragma once

#include "contraction.cuh"

namespace trine::contraction {

__device__ inline bool begins_at_16(const void* p) { return (reinterpret_cast<unsigned long long>(p) & 15) == 0; }

// Eight elements of the residual as they are in memory; of 16-bit ones only `low` counts.
struct OldEight {
  uint4 low, high;
};

__device__ __forceinline__ void unpack(int type, const OldEight& old, float (&x)[8]) {
  const unsigned w[8] = {old.low.x, old.low.y, old.low.z, old.low.w, old.high.x, old.high.y, old.high.z, old.high.w};
  if (type == kF32) {
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = __uint_as_float(w[i]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const unsigned bits = w[i / 2] >> (i % 2 * 16) & 0xffffu;
    x[i] =
        type == kF16 ? __half2float(__ushort_as_half(static_cast<unsigned short>(bits))) : __uint_as_float(bits << 16);
  }
}

__device__ __forceinline__ void store_eight(int type, void* y, long long at, const float (&x)[8]) {
  if (type == kF32) {
    float4* to = reinterpret_cast<float4*>(static_cast<float*>(y) + at);
    to[0] = make_float4(x[0], x[1], x[2], x[3]);
    to[1] = make_float4(x[4], x[5], x[6], x[7]);
    return;
  }
  unsigned w[4] = {};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const unsigned short bits =
        type == kF16 ? __half_as_ushort(__float2half_rn(x[i])) : __bfloat16_as_ushort(__float2bfloat16_rn(x[i]));
    w[i / 2] |= unsigned(bits) << (i % 2 * 16);
  }
  *reinterpret_cast<uint4*>(static_cast<unsigned short*>(y) + at) = make_uint4(w[0], w[1], w[2], w[3]);
}

// One number after the other moves to the front: one copy of code that is long, and no array in memory.
template <class Number, class Make>
__device__ __forceinline__ void each_in_turn(Number (&x)[8], int count, const Make& make) {
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    const Number made = make(i, x[0]);
#pragma unroll
    for (int j = 0; j < 7; ++j) x[j] = x[j + 1];
    x[7] = made;
  }
}

template <class Sum>
struct Columns;

template <>
struct Columns<float> {
  const Finish& f;
  const FinishOperands& o;
  int column, count;
  bool fast;  // eight are read and written at once
  float shift[8];

  // `count` of eight columns are there; `aligned`: eights of y and residual begin at multiples of eight elements.
  __device__ __forceinline__ Columns(const Finish& f_, const FinishOperands& o_, int column_, int count_, bool aligned,
                                     const int*)
      : f(f_), o(o_), column(column_), count(count_) {
    fast = aligned && count == 8 && begins_at_16(o.y) && (!f.residual || begins_at_16(o.residual)) &&
           (!o.bias || f.bias == kF32);
    const float* bias = static_cast<const float*>(o.bias);
#pragma unroll
    for (int i = 0; i < 8; ++i) shift[i] = fast && bias ? bias[column + i] : 0.f;
  }

  __device__ __forceinline__ OldEight old(long long at) const {
    OldEight x{};
    if (!f.residual || !fast) return x;
    const uint4* from =
        reinterpret_cast<const uint4*>(static_cast<const char*>(o.residual) + (f.out == kF32 ? at * 4 : at * 2));
    x.low = from[0];
    if (f.out == kF32) x.high = from[1];
    return x;
  }

  __device__ __forceinline__ void finish_row(float (&x)[8], const OldEight& old, long long at) const {
    if (!fast)
      return each_in_turn(
          x, count, [&](int i, float sum) __attribute__((always_inline)) {
            finish(f, o, sum, at + i, column + i);
            return sum;
          });
    float r[8];
    unpack(f.out, old, r);
    const bool before = Residual(f.residual) == Residual::before;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      x[i] = f.factor * x[i] + shift[i];
      if (before) x[i] += r[i];
    }
    if (Act(f.act) == Act::relu || Act(f.act) == Act::clip) {
      const float low = Act(f.act) == Act::relu ? 0.f : f.alpha;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        x[i] = x[i] < low ? low : x[i];
        if (Act(f.act) == Act::clip && x[i] > f.beta) x[i] = f.beta;
      }
    } else if (Act(f.act) != Act::none) {
      each_in_turn(
          x, 8, [&](int, float y) __attribute__((always_inline)) { return activated(Act(f.act), f.alpha, f.beta, y); });
    }
    if (Residual(f.residual) == Residual::after) {
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] += r[i];
    }
    store_eight(f.out, o.y, at, x);
  }
};

// Of 8-bit integers; `column_sums`, times the zero point, are taken off. To the bit as finish() of contraction.cuh.
template <>
struct Columns<int> {
  const Finish& f;
  const FinishOperands& o;
  int column, count;
  bool fast;  // an activation that is short, too
  int shift[8];
  float scale[8], bias[8];
  float before;  // what multiplies before the activation, of which the rest is after it

  __device__ __forceinline__ Columns(const Finish& f_, const FinishOperands& o_, int column_, int count_, bool aligned,
                                     const int* column_sums)
      : f(f_), o(o_), column(column_), count(count_) {
    fast = aligned && count == 8 && begins_at_16(o.y) && (!f.residual || begins_at_16(o.residual)) && f.out != kI32 &&
           Act(f.act) <= Act::clip;
    before = f.multiply_first ? f.out_multiplier : 1.f;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      shift[i] = i < count && column_sums ? -f.in_zero * column_sums[column + i] : 0;
      scale[i] = 1, bias[i] = 0;
      if (!fast) continue;
      if (o.bias && f.bias == kI32)
        shift[i] = int(unsigned(shift[i]) + static_cast<const unsigned*>(o.bias)[column + i]);
      if (o.scale) scale[i] = o.scale[f.scale_per_channel ? column + i : 0];
      if (o.bias && f.bias != kI32) bias[i] = static_cast<const float*>(o.bias)[column + i];
      scale[i] = __fmul_rn(__fmul_rn(scale[i], f.factor), before), bias[i] = __fmul_rn(bias[i], before);
    }
  }

  __device__ __forceinline__ bool bytes() const { return f.out != kF32; }

  __device__ __forceinline__ OldEight old(long long at) const {
    OldEight x{};
    if (!f.residual || !fast) return x;
    if (bytes()) {
      const uint2 both = *reinterpret_cast<const uint2*>(static_cast<const char*>(o.residual) + at);
      x.low.x = both.x, x.low.y = both.y;
      return x;
    }
    const uint4* from = reinterpret_cast<const uint4*>(static_cast<const float*>(o.residual) + at);
    x.low = from[0], x.high = from[1];
    return x;
  }

  __device__ __forceinline__ float residual_of(const float (&wide)[8], const OldEight& old, int i) const {
    if (!bytes()) return wide[i];
    const unsigned bits = (i < 4 ? old.low.x : old.low.y) >> (i % 4 * 8) & 255u;
    const int number = f.out == kI8 ? int(bits << 24) >> 24 : int(bits);
    return __fmul_rn(__fadd_rn(float(number), -float(f.residual_zero)), __fmul_rn(f.residual_scale, before));
  }

  __device__ __forceinline__ void finish_row(int (&sums)[8], const OldEight& old, long long at) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) sums[i] = int(unsigned(sums[i]) + unsigned(shift[i]));
    if (!fast)
      return each_in_turn(
          sums, count, [&](int i, int sum) __attribute__((always_inline)) {
            finish(f, o, sum, at + i, column + i);
            return sum;
          });
    const bool clips = Act(f.act) == Act::clip;
    const float least = clips ? __fmul_rn(f.alpha, before) : 0.f, most = __fmul_rn(f.beta, before);
    const float low = float((f.out == kI8 ? -128 : 0) - f.out_zero), after = f.multiply_first ? 1.f : f.out_multiplier;
    float x[8], wide[8];
    unpack(kF32, old, wide);
    unsigned w[2] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      x[i] = __fadd_rn(__fmul_rn(float(sums[i]), scale[i]), bias[i]);
      const float r = f.residual ? residual_of(wide, old, i) : 0.f;
      if (Residual(f.residual) == Residual::before) x[i] = __fadd_rn(x[i], r);
      if (Act(f.act) != Act::none) x[i] = x[i] < least ? least : x[i];
      if (clips) x[i] = x[i] > most ? most : x[i];
      if (Residual(f.residual) == Residual::after) x[i] = __fadd_rn(x[i], r);
      const float narrow = fminf(fmaxf(rintf(__fmul_rn(x[i], after)), low), low + 255);
      w[i / 4] |= unsigned((int(narrow) + f.out_zero) & 255) << (i % 4 * 8);
    }
    if (!bytes()) return store_eight(kF32, o.y, at, x);
    *reinterpret_cast<uint2*>(static_cast<char*>(o.y) + at) = make_uint2(w[0], w[1]);
  }
};

}  // namespace trine::contraction
