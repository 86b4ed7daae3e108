// Eight neighbouring sums that are in registers, finished and stored.
#pragma once

#include "contraction.cuh"

namespace trine::contraction {

__device__ __forceinline__ unsigned two_halves(int type, float low, float high) {
  if (type == kF16) {
    const __half2 v = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&v);
  }
  const __nv_bfloat162 v = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&v);
}

template <Act kAct>
__device__ __forceinline__ void activate_eight(const Finish& f, float (&x)[8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = activated(kAct, f.alpha, f.beta, x[i]);
}

// As finish_row of contraction.cuh, for floats: `count` of eight are there; `aligned`: whole ones of y and residual
// begin at multiples of 16 bytes. Activations that networks of images have are computed in registers.
__device__ __forceinline__ void finish_eight(const Finish& f, const FinishOperands& o, float (&x)[8], int count,
                                             long long at, int column, bool aligned) {
  const Act act = Act(f.act);
  const bool known = act <= Act::clip || act == Act::silu || act == Act::hardswish;
  const bool is_half = f.out == kF16 || f.out == kBf16;
  if (!known || !is_half || !aligned || count < 8 ||
      (o.bias && (f.bias != kF32 || (reinterpret_cast<unsigned long long>(o.bias) & 15)))) {
    float kept[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) kept[i] = x[i];
#pragma unroll 1
    for (int i = 0; i < count; ++i) finish(f, o, kept[i], at + i, column + i);
    return;
  }
  const auto add_residual = [&]() __attribute__((always_inline)) {
    float r[8];
    eight_at(f.out, o.residual, at, true, r);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] += r[i];
  };
  if (o.bias) {
    float bias[8];
    eight_at(kF32, o.bias, column, true, bias);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] += bias[i];
  }
  if (Residual(f.residual) == Residual::before) add_residual();
  if (act == Act::relu) activate_eight<Act::relu>(f, x);
  else if (act == Act::clip) activate_eight<Act::clip>(f, x);
  else if (act == Act::silu) {  // exact enough for halves
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = __fdividef(x[i], 1.f + __expf(-x[i]));
  } else if (act == Act::hardswish) activate_eight<Act::hardswish>(f, x);
  if (Residual(f.residual) == Residual::after) add_residual();
  uint4 words;
  if (f.out == kF16)
    words = make_uint4(two_halves(kF16, x[0], x[1]), two_halves(kF16, x[2], x[3]), two_halves(kF16, x[4], x[5]),
                       two_halves(kF16, x[6], x[7]));
  else
    words = make_uint4(two_halves(kBf16, x[0], x[1]), two_halves(kBf16, x[2], x[3]), two_halves(kBf16, x[4], x[5]),
                       two_halves(kBf16, x[6], x[7]));
  *reinterpret_cast<uint4*>(static_cast<unsigned short*>(o.y) + at) = words;
}

}  // namespace trine::contraction
