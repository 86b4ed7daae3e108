// Numbers of any type in memory, and what happens to sums of products before they are stored.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "contraction_args.cuh"
#include "epilogue.cuh"
#include "overlap.cuh"

namespace trine::contraction {

__device__ inline float float_at(int type, const void* p, long long i) {
  switch (type) {
    case kF16: return __half2float(static_cast<const __half*>(p)[i]);
    case kBf16: return __bfloat162float(static_cast<const __nv_bfloat16*>(p)[i]);
    case kI8: return static_cast<const signed char*>(p)[i];
    case kU8: return static_cast<const unsigned char*>(p)[i];
    default: return static_cast<const float*>(p)[i];
  }
}
__device__ inline int byte_at(int type, const void* p, long long i) {
  return type == kI8 ? static_cast<const signed char*>(p)[i] : static_cast<const unsigned char*>(p)[i];
}

// compute capability 9.0: this kernel may have begun before the one before it was done, whose results it reads after
// this; the next one may begin.
template <bool kOverlap>
__device__ __forceinline__ void wait_for_results() {
  if constexpr (kOverlap) {
    let_next_begin();
    wait_for_previous();
  }
}

struct Eight {
  float v[8];
};
// Apart, and not inlined: sixteen branches of which seldom any is taken.
__device__ __noinline__ inline Eight eight_slowly(int type, const void* from, long long at) {
  Eight x;
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] = float_at(type, from, at + i);
  return x;
}

// Eight neighbours; `fast`: they begin at a multiple of 16 bytes. With a constant type no branch is left.
__device__ __forceinline__ void eight_at(int type, const void* from, long long at, bool fast, float (&x)[8]) {
  if (!fast) {
    const Eight slow = eight_slowly(type, from, at);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = slow.v[i];
    return;
  }
  if (type == kF32) {
    const float4* v = reinterpret_cast<const float4*>(static_cast<const float*>(from) + at);
    const float4 low = v[0], high = v[1];
    x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
    x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
    return;
  }
  const uint4 words = *reinterpret_cast<const uint4*>(static_cast<const unsigned short*>(from) + at);
  const unsigned w[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const unsigned short bits = static_cast<unsigned short>(w[i / 2] >> (i % 2 * 16));
    x[i] = type == kF16 ? __half2float(__ushort_as_half(bits)) : __uint_as_float(unsigned(bits) << 16);
  }
}

__device__ inline void put(int type, void* p, long long i, float x) {
  if (type == kF16) static_cast<__half*>(p)[i] = __float2half_rn(x);
  else if (type == kBf16) static_cast<__nv_bfloat16*>(p)[i] = __float2bfloat16_rn(x);
  else static_cast<float*>(p)[i] = x;
}

// Operands of what follows the sums; each may be null.
struct FinishOperands {
  const void *bias, *residual;
  const float* scale;
  void* y;
};

// `at` counts elements of y, `column` those of bias and scale.
__device__ inline void finish(const Finish& f, const FinishOperands& o, float sum, long long at, int column) {
  float x = f.factor * sum;
  if (o.bias) x += float_at(f.bias, o.bias, column);
  const Epilogue e{Act(f.act), Residual(f.residual), f.alpha, f.beta};
  put(f.out, o.y, at, finished(e, x, f.residual ? float_at(f.out, o.residual, at) : 0.f));
}

// Sums of 8-bit integers, zero points taken off. Each operation is rounded once, none is fused: the same bits
// everywhere.
__device__ inline void finish(const Finish& f, const FinishOperands& o, int sum, long long at, int column) {
  if (o.bias && f.bias == kI32) sum = int(unsigned(sum) + unsigned(static_cast<const int*>(o.bias)[column]));
  if (f.out == kI32) {
    static_cast<int*>(o.y)[at] = sum;
    return;
  }
  const bool bytes = f.out == kI8 || f.out == kU8;
  float scale = __fmul_rn(o.scale ? o.scale[f.scale_per_channel ? column : 0] : 1.f, f.factor);
  float bias = o.bias && f.bias != kI32 ? static_cast<const float*>(o.bias)[column] : 0.f;
  float residual_scale = f.residual_scale, multiplier = f.out_multiplier, alpha = f.alpha, beta = f.beta;
  if (f.multiply_first) {
    scale = __fmul_rn(scale, multiplier);
    bias = __fmul_rn(bias, multiplier);
    residual_scale = __fmul_rn(residual_scale, multiplier);
    if (Act(f.act) == Act::clip) alpha = __fmul_rn(alpha, multiplier), beta = __fmul_rn(beta, multiplier);
    multiplier = 1;
  }
  float x = __fadd_rn(__fmul_rn(float(sum), scale), bias), r = 0;
  if (f.residual) {
    r = float_at(f.out, o.residual, at);
    if (bytes) r = __fmul_rn(__fadd_rn(r, -float(f.residual_zero)), residual_scale);
  }
  if (Residual(f.residual) == Residual::before) x = __fadd_rn(x, r);
  x = activated(Act(f.act), alpha, beta, x);
  if (Residual(f.residual) == Residual::after) x = __fadd_rn(x, r);
  if (!bytes) {
    static_cast<float*>(o.y)[at] = x;
    return;
  }
  const float low = float((f.out == kI8 ? -128 : 0) - f.out_zero), high = low + 255;
  x = fminf(fmaxf(rintf(__fmul_rn(x, multiplier)), low), high);
  static_cast<unsigned char*>(o.y)[at] = static_cast<unsigned char>(int(x) + f.out_zero);
}

// Sums of `count` columns, 8 at most, at `sums` in shared memory, which is written to as well. Rare activations stand
// in a loop: eight times their code would not fit the instruction cache.
__device__ inline void finish_row(const Finish& f, const FinishOperands& o, float* sums, int count, long long at,
                                  int column, bool aligned, const int*) {
  const bool is_half = f.out == kF16 || f.out == kBf16;
  const auto misaligned = [&](const void* p) { return (reinterpret_cast<unsigned long long>(p) & 15) != 0; };
  aligned = aligned && is_half && count == 8 && !misaligned(o.y) && !misaligned(f.residual ? o.residual : nullptr);
  if (!aligned || (o.bias && f.bias != kF32)) {
#pragma unroll 1
    for (int i = 0; i < count; ++i) finish(f, o, sums[i], at + i, column + i);
    return;
  }
  float x[8], r[8] = {};
  if (f.residual) eight_at(f.out, o.residual, at, true, r);
  const float* bias = static_cast<const float*>(o.bias);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    x[i] = f.factor * sums[i];
    if (bias) x[i] += bias[column + i];
    if (Residual(f.residual) == Residual::before) x[i] += r[i];
  }
  if (Act(f.act) == Act::relu || Act(f.act) == Act::clip) {
    const float low = Act(f.act) == Act::relu ? 0.f : f.alpha;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      x[i] = x[i] < low ? low : x[i];
      if (Act(f.act) == Act::clip && x[i] > f.beta) x[i] = f.beta;
    }
  } else if (Act(f.act) != Act::none) {
#pragma unroll
    for (int i = 0; i < 8; ++i) sums[i] = x[i];
#pragma unroll 1
    for (int i = 0; i < 8; ++i) sums[i] = activated(Act(f.act), f.alpha, f.beta, sums[i]);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = sums[i];
  }
  unsigned w[4] = {};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (Residual(f.residual) == Residual::after) x[i] += r[i];
    const unsigned short bits =
        f.out == kF16 ? __half_as_ushort(__float2half_rn(x[i])) : __bfloat16_as_ushort(__float2bfloat16_rn(x[i]));
    w[i / 2] |= unsigned(bits) << (i % 2 * 16);
  }
  *reinterpret_cast<uint4*>(static_cast<unsigned short*>(o.y) + at) = make_uint4(w[0], w[1], w[2], w[3]);
}
__device__ inline void finish_row(const Finish& f, const FinishOperands& o, int* sums, int count, long long at,
                                  int column, bool, const int* column_sums) {
#pragma unroll 1
  for (int i = 0; i < count; ++i) finish(f, o, sums[i] - f.in_zero * column_sums[column + i], at + i, column + i);
}

// Where a member of a batch begins.
__device__ inline void batch_offsets(const Batches& batches, int index, long long& a, long long& b) {
  a = b = 0;
  for (int i = 0; i < batches.rank; ++i) {
    const int at = index % batches.extent[i];
    index /= batches.extent[i];
    a += at * batches.a_step[i];
    b += at * batches.b_step[i];
  }
}

// Where kernel position k of an output position reads along one axis; `origin` is out * stride - pad, of a transposed
// convolution out + pad.
__device__ inline int origin_of(const Window& w, int axis, int out) {
  return w.transposed ? out + w.pad[axis] : out * w.stride[axis] - w.pad[axis];
}
__device__ inline bool source_of(const Window& w, int axis, int origin, int k, int& at) {
  if (!w.transposed) {
    at = origin + k * w.dilation[axis];
    return unsigned(at) < unsigned(w.in[axis]);
  }
  const int far = origin - k * w.dilation[axis];
  at = far / w.stride[axis];
  return far >= 0 && at * w.stride[axis] == far && at < w.in[axis];
}

}  // namespace trine::contraction
