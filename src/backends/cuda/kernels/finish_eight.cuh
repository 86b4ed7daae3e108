// Eights of neighbouring sums that are in registers, finished and stored; contraction.cuh has what takes them from
// shared memory.
#pragma once

#include "contraction.cuh"

namespace trine::contraction {

// sm_80. Of two conversions and their packing ptxas makes instructions at a sixteenth of this one's rate.
__device__ __forceinline__ unsigned two_halves(int type, float low, float high) {
  unsigned word;
  if (type == kF16) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}

// `at` is a multiple of 8 elements, `y` of 16 bytes.
__device__ __forceinline__ void store_eight(int type, void* y, long long at, const float* x) {
  if (type == kF32) {
    float4* to = reinterpret_cast<float4*>(static_cast<float*>(y) + at);
    to[0] = make_float4(x[0], x[1], x[2], x[3]), to[1] = make_float4(x[4], x[5], x[6], x[7]);
    return;
  }
  uint4 words;
  if (type == kF16)
    words = make_uint4(two_halves(kF16, x[0], x[1]), two_halves(kF16, x[2], x[3]), two_halves(kF16, x[4], x[5]),
                       two_halves(kF16, x[6], x[7]));
  else
    words = make_uint4(two_halves(kBf16, x[0], x[1]), two_halves(kBf16, x[2], x[3]), two_halves(kBf16, x[4], x[5]),
                       two_halves(kBf16, x[6], x[7]));
  *reinterpret_cast<uint4*>(static_cast<unsigned short*>(y) + at) = words;
}

// A NaN in x stays one.
__device__ __forceinline__ float at_least(float x, float low) {
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(low));
  return x;
}
__device__ __forceinline__ float at_most(float x, float high) {
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(high));
  return x;
}

template <Act kAct, int kCount>
__device__ __forceinline__ void activate_each(const Finish& f, float (&x)[kCount]) {  // relu, clip, silu, hardswish
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if constexpr (kAct == Act::relu) x[i] = at_least(x[i], 0.f);
    else if constexpr (kAct == Act::clip) x[i] = at_most(at_least(x[i], f.alpha), f.beta);
    else if constexpr (kAct == Act::silu) x[i] = __fdividef(x[i], 1.f + __expf(-x[i]));
    else x[i] *= at_most(at_least(fmaf(x[i], 1.f / 6, 0.5f), 0.f), 1.f);
  }
}

// Whether finish_known can do it: activations that networks of images have, biases that are read at once, no residual.
__device__ __forceinline__ bool finishes_at_once(const Finish& f, const FinishOperands& o, bool aligned) {
  const Act act = Act(f.act);
  const bool known = act <= Act::clip || act == Act::silu || act == Act::hardswish;
  return known && aligned && !f.residual &&
         (!o.bias || (f.bias == kF32 && (reinterpret_cast<unsigned long long>(o.bias) & 15) == 0));
}

// Of kEights eights of the same columns, the first `count` are stored, `step` elements apart.
template <int kEights>
__device__ __forceinline__ void finish_known(const Finish& f, const FinishOperands& o, float (&x)[kEights * 8],
                                             int count, long long at, int step, int column) {
  if (o.bias) {
    float bias[8];
    eight_at(kF32, o.bias, column, true, bias);
#pragma unroll
    for (int i = 0; i < kEights * 8; ++i) x[i] += bias[i % 8];
  }
  const Act act = Act(f.act);
  if (act == Act::relu) activate_each<Act::relu>(f, x);
  else if (act == Act::clip) activate_each<Act::clip>(f, x);
  else if (act == Act::silu) activate_each<Act::silu>(f, x);
  else if (act == Act::hardswish) activate_each<Act::hardswish>(f, x);
#pragma unroll
  for (int i = 0; i < kEights; ++i)
    if (i < count) store_eight(f.out, o.y, at + i * step, x + i * 8);
}

// The first `count` one after the other.
__device__ __forceinline__ void finish_each(const Finish& f, const FinishOperands& o, const float (&x)[8], int count,
                                            long long at, int column) {
  float kept[8];  // apart: they are counted, which registers cannot be
#pragma unroll
  for (int i = 0; i < 8; ++i) kept[i] = x[i];
#pragma unroll 1
  for (int i = 0; i < count; ++i) finish(f, o, kept[i], at + i, column + i);
}

// As finish_row of contraction.cuh, for floats: `count` of eight are there; `aligned`: whole ones begin at multiples of
// 16 bytes.
__device__ __forceinline__ void finish_eight(const Finish& f, const FinishOperands& o, float (&x)[8], int count,
                                             long long at, int column, bool aligned) {
  if (count == 8 && finishes_at_once(f, o, aligned)) finish_known<1>(f, o, x, 1, at, 0, column);
  else finish_each(f, o, x, count, at, column);
}

}  // namespace trine::contraction
