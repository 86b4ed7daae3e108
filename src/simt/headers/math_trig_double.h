// Circular functions of double, as those of float but with r as a pair. Bounds in ulp: sin, cos, sincos, sinpi, cospi
// 1; tan 2.
#pragma once

#include "math_trig_float.h"

namespace trine_math {

struct WideAngle {
  Pair<double> r;
  i32 q;
};

TRINE_MATH u64 multiply_high(u64 a, u64 b) {
  const u64 a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const u64 middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xffffffffu);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

// As for float: 192 bits of 2/pi from weight 2^(1-e) on, times the 53 bits of x, modulo 2^192.
TRINE_MATH WideAngle reduce_huge(double x) {
  static constexpr u64 kTwoOverPi[21] = {0,
                                         0xa2f9836e4e441529u,
                                         0xfc2757d1f534ddc0u,
                                         0xdb6295993c439041u,
                                         0xfe5163abdebbc561u,
                                         0xb7246e3a424dd2e0u,
                                         0x06492eea09d1921cu,
                                         0xfe1deb1cb129a73eu,
                                         0xe88235f52ebb4484u,
                                         0xe99c7026b45f7e41u,
                                         0x3991d639835339f4u,
                                         0x9c845f8bbdf9283bu,
                                         0x1ff897ffde05980fu,
                                         0xef2f118b5a0a6d1fu,
                                         0x6d367ecf27cb09b7u,
                                         0x4f463f669e5fea2du,
                                         0x7527bac7ebe5f17bu,
                                         0x3d0739f78a5292eau,
                                         0x6bfb5fb11f8d5d08u,
                                         0x56033046fc7b6babu,
                                         0xf0cfbc209af4361du};
  const u64 bits = to_bits(x), m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  const u32 at = static_cast<u32>(bits >> 52 & 0x7ffu) - 1075u + 62u;  // e - 2, and 64 zeros in front
  const u32 word = at >> 6 < 17u ? at >> 6 : 17u, shift = at & 63u;
  const auto window = [&](u32 i) {
    return kTwoOverPi[word + i] << shift | (kTwoOverPi[word + i + 1] >> 1) >> (63u - shift);
  };
  const u64 high = window(0), middle = window(1), low = window(2);
  const u64 p2 = m * low, carry = multiply_high(m, low), p1 = m * middle + carry;
  const u64 top = m * high + multiply_high(m, middle) + (p1 < carry);
  const i64 fraction = static_cast<i64>(top << 2 | p1 >> 62);
  const u64 below = p1 << 2 | p2 >> 62;
  const i32 q = static_cast<i32>(top >> 62) + (fraction < 0);
  const double upper = static_cast<double>(static_cast<i32>(fraction >> 32)) * 0x1p-32;
  const double lower = static_cast<double>(static_cast<u32>(fraction)) * 0x1p-64;
  const Pair<double> whole = add(two_sum(upper, lower), static_cast<double>(below) * 0x1p-128);
  Pair<double> r = mul(whole, Pair<double>{1.5707963267948966, 6.123233995736766e-17});
  r.hi = mulsign(r.hi, x);
  r.lo = mulsign(r.lo, x);
  return {r, x < 0.0 ? -q : q};
}

// pi/2 in four pieces; the first two of 33 bits, so that their products with q are exact.
TRINE_MATH WideAngle reduce(double x) {
  WideAngle a;
  const double f = round_product(x, 0.6366197723675814, &a.q);
  const Pair<double> head = two_sum(fma(f, -1.5707963267341256, x), f * -6.077100506303966e-11);
  a.r = add(add(head, two_product(f, -2.0222662487959506e-21)), f * -1.0085854035872483e-37);
  if (fabs(x) > 1e6) a = reduce_huge(x);
  a.r.hi = isfinite(x) ? a.r.hi : quiet_nan<double>();
  return a;
}

// sin and cos of hi + lo, |hi| <= pi/4.
TRINE_MATH double sin_kernel(Pair<double> r) {
  const double z = r.hi * r.hi;
  return r.hi + fma(r.hi * z,
                    poly(z, -0.1666666666666663, 0.008333333333321919, -0.0001984126982945851, 2.755731358226442e-06,
                         -2.5050742320642017e-08, 1.589594363745134e-10),
                    r.lo * fma(z, -0.5, 1.0));
}
TRINE_MATH double cos_kernel(Pair<double> r) {
  const double z = r.hi * r.hi, head = fma(z, -0.5, 1.0);
  const double tail =
      fma(z * z,
          poly(z, 0.041666666666666664, -0.0013888888888888447, 2.4801587301259435e-05, -2.755731910074097e-07,
               2.0876731789403645e-09, -1.1468014576243103e-11, 4.645453434969779e-14),
          -r.hi * r.lo);
  return head + (fma(z, -0.5, 1.0 - head) + fma(fma(r.hi, r.hi, -z), -0.5, tail));
}
TRINE_MATH void sincos(WideAngle a, double* s, double* c) {
  const double sin_r = sin_kernel(a.r), cos_r = cos_kernel(a.r);
  *s = sin_of(a.q, sin_r, cos_r);
  *c = cos_of(a.q, sin_r, cos_r);
}

TRINE_MATH void sincos(double x, double* s, double* c) {
  sincos(reduce(x), s, c);
  *s = x == 0.0 ? x : *s;
}
TRINE_MATH double sin(double x) {
  double s, c;
  sincos(x, &s, &c);
  return s;
}
TRINE_MATH double cos(double x) {
  double s, c;
  sincos(x, &s, &c);
  return c;
}
TRINE_MATH double tan(double x) {
  const WideAngle a = reduce(x);
  const double s = sin_kernel(a.r), c = cos_kernel(a.r);
  const double y = a.q & 1 ? -c / s : s / c;
  return x == 0.0 ? x : y;
}

// x = q/2 + r exactly, and pi r as a pair; from 2^53 on every double is even.
TRINE_MATH WideAngle reduce_pi(double x) {
  const double inside = fabs(x) < 0x1p53 ? x : x * 0.0;
  const double f = __builtin_rint(inside + inside), r = fma(f, -0.5, inside);
  const double quarter = f - 4.0 * __builtin_floor(f * 0.25);
  return {mul(Pair<double>{3.141592653589793, 1.2246467991473532e-16}, r),
          static_cast<i32>(isnan(quarter) ? 0.0 : quarter)};
}
TRINE_MATH void sincospi(double x, double* s, double* c) {
  sincos(reduce_pi(x), s, c);
  *s = *s == 0.0 ? mulsign(0.0, x) : *s;
  *c += 0.0;
}
TRINE_MATH double sinpi(double x) {
  double s, c;
  sincospi(x, &s, &c);
  return s;
}
TRINE_MATH double cospi(double x) {
  double s, c;
  sincospi(x, &s, &c);
  return c;
}

}  // namespace trine_math
