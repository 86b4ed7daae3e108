// Circular functions of float: x = q pi/2 + r, |r| <= pi/4, and two polynomials of r.
// Bounds in ulp: sin, cos, sincos 2; tan 4; sinpi, cospi 1.
#pragma once

#include "math_base.h"

namespace trine_math {

template <class T>
struct Angle {
  T r;    // the rest, |r| <= pi/4
  i32 q;  // the quadrant; its two low bits count
};

// Payne and Hanek: only the bits of 2/pi that matter for x mod 2 pi take part. x = m 2^e; the 96 bits of 2/pi from
// weight 2^(1-e) on, times m, modulo 2^96, are the quadrant (two bits) and the fraction of one.
TRINE_MATH Angle<float> reduce_huge(float x) {
  static constexpr u32 kTwoOverPi[9] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                        0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u};
  const u32 bits = to_bits(x);
  const u32 m = (bits & 0x7fffffu) | 0x800000u;
  const u32 at = (bits >> 23 & 0xffu) - 150u + 30u;  // e - 2, and 32 zeros in front
  const u32 word = at >> 5 < 5u ? at >> 5 : 5u, shift = at & 31u;
  const u64 w01 = static_cast<u64>(kTwoOverPi[word]) << 32 | kTwoOverPi[word + 1];
  const u64 w12 = w01 << 32 | kTwoOverPi[word + 2], w23 = w12 << 32 | kTwoOverPi[word + 3];
  const u32 high = static_cast<u32>(w01 << shift >> 32), middle = static_cast<u32>(w12 << shift >> 32);
  const u32 low = static_cast<u32>(w23 << shift >> 32);
  const u64 p0 = static_cast<u64>(m) * low;
  const u64 p1 = static_cast<u64>(m) * middle + (p0 >> 32);
  const u64 top = (static_cast<u64>(m * high) << 32) + p1;
  const i64 fraction = static_cast<i64>(top << 2 | (p0 >> 30 & 3u));
  const i32 q = static_cast<i32>(top >> 62) + (fraction < 0);
  const float r = static_cast<float>(static_cast<double>(fraction) * 0x1.921fb54442d18p-64);  // pi/2 2^-64
  return {isfinite(x) ? mulsign(r, x) : quiet_nan<float>(), x < 0.0f ? -q : q};
}

// Cody and Waite: pi/2 in three pieces; the first product is exact under fma as long as q has 22 bits. All pieces are
// taken off, so that -0 stays.
TRINE_MATH Angle<float> reduce(float x) {
  Angle<float> a;
  const float f = round_product(x, 0.636619747f, &a.q);
  a.r = fma(f, -5.390303e-15f, fma(f, -7.5497894e-8f, fma(f, -1.57079625f, x)));
  if (fabs(x) > 71476.0f) a = reduce_huge(x);
  return a;
}

// sin and cos on |r| <= pi/4; +0 for the cube of -0, which times the polynomial leaves -0 in the sum.
TRINE_MATH float sin_kernel(float r) {
  const float z = r * r;
  return fma(fma(r, z, 0.0f), poly(z, -0.16666654f, 0.008332117f, -0.00019510215f), r);
}
TRINE_MATH float cos_kernel(float r) {
  const float z = r * r;
  return fma(z * z, poly(z, 0.041666646f, -0.0013887307f, 2.4431884e-05f), fma(z, -0.5f, 1.0f));
}

// sin and cos of r + q pi/2, of those of r. Both are at hand, so that nothing branches.
template <class T>
TRINE_MATH T sin_of(i32 q, T sin_r, T cos_r) {
  const T y = q & 1 ? cos_r : sin_r;
  return q & 2 ? -y : y;
}
template <class T>
TRINE_MATH T cos_of(i32 q, T sin_r, T cos_r) {
  return sin_of(q + 1, sin_r, cos_r);
}

TRINE_MATH void sincos(float x, float* s, float* c) {
  const Angle<float> a = reduce(x);
  const float sin_r = sin_kernel(a.r), cos_r = cos_kernel(a.r);
  *s = sin_of(a.q, sin_r, cos_r);
  *c = cos_of(a.q, sin_r, cos_r);
}
TRINE_MATH float sin(float x) {
  float s, c;
  sincos(x, &s, &c);
  return s;
}
TRINE_MATH float cos(float x) {
  float s, c;
  sincos(x, &s, &c);
  return c;
}
TRINE_MATH float tan(float x) {
  const Angle<float> a = reduce(x);
  const float s = sin_kernel(a.r), c = cos_kernel(a.r);
  return a.q & 1 ? -c / s : s / c;
}

// x = q/2 + r exactly; from 2^24 on every float is even.
TRINE_MATH Angle<float> reduce_pi(float x) {
  const float inside = fabs(x) < 16777216.0f ? x : x * 0.0f;
  const float f = __builtin_rintf(inside + inside);
  return {fma(f, -0.5f, inside), static_cast<i32>(isnan(f) ? 0.0f : f)};
}
// sin(pi r) and cos(pi r) on |r| <= 1/4; pi is a pair.
TRINE_MATH float sinpi_kernel(float r) {
  const float z = r * r;
  return fma(3.14159274f, r, r * poly(z, -8.74227766e-8f, -5.167709f, 2.5497975f, -0.58933693f));
}
TRINE_MATH float cospi_kernel(float r) {
  const float z = r * r;
  return poly(z, 1.0f, -4.934802f, 4.0586987f, -1.3348359f, 0.22974521f);
}
TRINE_MATH void sincospi(float x, float* s, float* c) {
  const Angle<float> a = reduce_pi(x);
  const float sin_r = sinpi_kernel(a.r), cos_r = cospi_kernel(a.r);
  const float y = sin_of(a.q, sin_r, cos_r);
  *s = y == 0.0f ? mulsign(0.0f, x) : y;  // whole numbers: zero with the sign of x
  *c = cos_of(a.q, sin_r, cos_r) + 0.0f;
}
TRINE_MATH float sinpi(float x) {
  float s, c;
  sincospi(x, &s, &c);
  return s;
}
TRINE_MATH float cospi(float x) {
  float s, c;
  sincospi(x, &s, &c);
  return c;
}

}  // namespace trine_math
