// Inline PTX of floating-point numbers: arithmetic in every rounding, comparisons, conversions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ptx_case.h"

namespace trine::compute {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;

// The machine's rounding counts: nothing may be computed in advance.
template <class T>
T kept(T x) {
  volatile T y = x;
  return y;
}
template <class T>
T sum(int mode, T a, T b) {
  return rounded(mode, [&] { return kept(kept(a) + kept(b)); });
}
template <class T>
T product(int mode, T a, T b) {
  return rounded(mode, [&] { return kept(kept(a) * kept(b)); });
}
template <class T>
T quotient(int mode, T a, T b) {
  return rounded(mode, [&] { return kept(kept(a) / kept(b)); });
}
template <class T>
T fused(int mode, T a, T b, T c) {
  return rounded(mode, [&] { return kept(std::fma(kept(a), kept(b), kept(c))); });
}
float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

// A number of 16 bits, of the compiler's own types, rounded once from a double.
uint16_t half_bits(double x) {
  if (std::isnan(x)) return 0x7fff;
  const double size = std::fabs(x);
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (size >= 65520) return sign | 0x7c00;
  const int exponent = size == 0 ? -14 : std::max(std::ilogb(size), -14);
  const double units = std::nearbyint(std::ldexp(size, 10 - exponent));
  return static_cast<uint16_t>(sign | static_cast<uint16_t>(units + (exponent + 14) * 1024.0));
}
double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, rest = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return rest ? NAN : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024 + rest, exponent - 25) : std::ldexp(rest, -24));
}
float bf16_value(uint32_t bits) { return std::bit_cast<float>(bits << 16); }
uint16_t bf16_bits(float x) {
  const u32 bits = std::bit_cast<u32>(x);
  return static_cast<uint16_t>(std::isnan(x) ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <class T>
T integer_of(double x) {
  if (std::isnan(x)) return sizeof(T) == 8 ? static_cast<T>(u64{1} << 63) : T{0};
  const double least = static_cast<double>(std::numeric_limits<T>::min());
  const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
  return x < least ? std::numeric_limits<T>::min() : x >= beyond ? std::numeric_limits<T>::max() : static_cast<T>(x);
}

const KernelCase kCases[] = {
    {"float in every rounding", TRINE_PTX_HEAD R"(
       float a, c = __uint_as_float(v * 2654435761u + w);
       asm("add.rn.f32 %0, %1, %2;" : "=f"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("add.rz.f32 %0, %1, %2;" : "=f"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("sub.rm.f32 %0, %1, %2;" : "=f"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("mul.rp.f32 %0, %1, %2;" : "=f"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(a) : "f"(f), "f"(g), "f"(c)); mix(r, a);
       asm("fma.rm.f32 %0, %1, %2, %3;" : "=f"(a) : "f"(f), "f"(g), "f"(c)); mix(r, a);
       asm("div.rp.f32 %0, %1, %2;" : "=f"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("sqrt.rz.f32 %0, %1;" : "=f"(a) : "f"(fabsf(f))); mix(r, a);
       asm("rcp.rn.f32 %0, %1;" : "=f"(a) : "f"(f)); mix(r, a);
       asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("add.rn.sat.f32 %0, %1, %2;" : "=f"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("add.rn.f32 %0, %1, 0f3F800000;" : "=f"(a) : "f"(f)); mix(r, a);
       asm("min.f32 %0, %1, %2;" : "=f"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("max.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("abs.f32 %0, %1;" : "=f"(a) : "f"(f)); mix(r, a);
       asm("neg.f32 %0, %1;" : "=f"(a) : "f"(f)); mix(r, a);
       asm("copysign.f32 %0, %1, %2;" : "=f"(a) : "f"(f), "f"(g)); mix(r, a);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& x, Mixed& r) {
         const float f = x.f(), g = x.g(), c = std::bit_cast<float>(x.v * 2654435761u + x.w);
         r.add(sum(FE_TONEAREST, f, g));
         r.add(sum(FE_TOWARDZERO, f, g));
         r.add(sum(FE_DOWNWARD, f, -g));
         r.add(product(FE_UPWARD, f, g));
         r.add(fused(FE_TONEAREST, f, g, c));
         r.add(fused(FE_DOWNWARD, f, g, c));
         r.add(quotient(FE_UPWARD, f, g));
         r.add(rounded(FE_TOWARDZERO, [&] { return kept(std::sqrt(kept(std::fabs(f)))); }));
         r.add(quotient(FE_TONEAREST, 1.0f, f));
         r.add(flushed(product(FE_TONEAREST, flushed(f), flushed(g))));
         const float s = f + g;
         r.add(s > 0 ? std::min(s, 1.0f) : 0.0f);
         r.add(f + 1.0f);
         const bool nan = std::isnan(f) || std::isnan(g);
         r.add(std::isnan(f) ? g : std::isnan(g) ? f : std::min(f, g));
         r.add(nan ? NAN : std::max(f, g));
         r.add(std::fabs(f));
         r.add(-f);
         r.add(std::copysign(g, f));
       });
     }},
    {"double", TRINE_PTX_HEAD R"(
       double x = __longlong_as_double((long long)v << 32 | w), y = __longlong_as_double((long long)w << 32 | v), a;
       asm("add.rz.f64 %0, %1, %2;" : "=d"(a) : "d"(x), "d"(y)); mix(r, a);
       asm("mul.rn.f64 %0, %1, %2;" : "=d"(a) : "d"(x), "d"(y)); mix(r, a);
       asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(a) : "d"(x), "d"(y), "d"(1.0)); mix(r, a);
       asm("div.rn.f64 %0, %1, %2;" : "=d"(a) : "d"(x), "d"(y)); mix(r, a);
       asm("sqrt.rn.f64 %0, %1;" : "=d"(a) : "d"(fabs(x))); mix(r, a);
       asm("min.f64 %0, %1, %2;" : "=d"(a) : "d"(x), "d"(y)); mix(r, a);
       asm("mov.f64 %0, 0d3FF8000000000000;" : "=d"(a)); mix(r, a);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& z, Mixed& r) {
         const double x = std::bit_cast<double>(u64{z.v} << 32 | z.w), y = std::bit_cast<double>(u64{z.w} << 32 | z.v);
         r.add(sum(FE_TOWARDZERO, x, y));
         r.add(x * y);
         r.add(std::fma(x, y, 1.0));
         r.add(x / y);
         r.add(std::sqrt(std::fabs(x)));
         r.add(std::isnan(x) ? y : std::isnan(y) ? x : std::min(x, y));
         r.add(1.5);
       });
     }},
    {"comparisons and classes", TRINE_PTX_HEAD R"(
       unsigned a; float b;
       if (t % 3 == 0) g = f;
       asm("{ .reg .pred p; setp.lt.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("{ .reg .pred p; setp.neu.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("{ .reg .pred p; setp.ge.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("{ .reg .pred p; setp.nan.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(a) : "f"(f), "f"(g)); mix(r, a);
       asm("set.le.f32.f32 %0, %1, %2;" : "=f"(b) : "f"(f), "f"(g)); mix(r, b);
       asm("{ .reg .pred p; testp.subnormal.f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(a) : "f"(f)); mix(r, a);
       asm("{ .reg .pred p; testp.finite.f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(a) : "f"(f)); mix(r, a);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& x, Mixed& r) {
         const float f = x.f(), g = x.t % 3 == 0 ? f : x.g();
         r.add(f < g);
         r.add(!(f == g));
         r.add(f >= g);
         r.add(std::isnan(f) || std::isnan(g));
         r.add(f <= g ? 1.0f : 0.0f);
         r.add(std::fpclassify(f) == FP_SUBNORMAL);
         r.add(static_cast<bool>(std::isfinite(f)));
       });
     }},
    {"conversions", TRINE_PTX_HEAD R"(
       float e = (float)(int)v * 0x1p-14f + 0.5f, a; double x = __longlong_as_double((long long)v << 32 | w), b; int d; unsigned u; unsigned long long c; short h;
       asm("cvt.rni.s32.f32 %0, %1;" : "=r"(d) : "f"(e)); mix(r, (unsigned)d);
       asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(u) : "f"(f)); mix(r, u);
       asm("cvt.rmi.s32.f32 %0, %1;" : "=r"(d) : "f"(f)); mix(r, (unsigned)d);
       asm("cvt.rpi.s64.f32 %0, %1;" : "=l"(c) : "f"(e)); mix(r, c);
       asm("cvt.rzi.s16.f32 %0, %1;" : "=h"(h) : "f"(e)); mix(r, (unsigned)(int)h);
       asm("cvt.rn.f32.s32 %0, %1;" : "=f"(a) : "r"(v)); mix(r, a);
       asm("cvt.rz.f32.u32 %0, %1;" : "=f"(a) : "r"(v)); mix(r, a);
       asm("cvt.rp.f32.u64 %0, %1;" : "=f"(a) : "l"((unsigned long long)v << 32 | w)); mix(r, a);
       asm("cvt.rn.f64.s64 %0, %1;" : "=d"(b) : "l"((unsigned long long)v << 32 | w)); mix(r, b);
       asm("cvt.f64.f32 %0, %1;" : "=d"(b) : "f"(f)); mix(r, b);
       asm("cvt.rm.f32.f64 %0, %1;" : "=f"(a) : "d"(x)); mix(r, a);
       asm("cvt.rni.f32.f32 %0, %1;" : "=f"(a) : "f"(e)); mix(r, a);
       asm("cvt.sat.f32.f32 %0, %1;" : "=f"(a) : "f"(e)); mix(r, a);
       asm("cvt.s32.s8 %0, %1;" : "=r"(d) : "r"(v)); mix(r, (unsigned)d);
       asm("cvt.sat.u8.s32 %0, %1;" : "=r"(u) : "r"((int)v >> 20)); mix(r, u);
       asm("cvt.sat.s16.s32 %0, %1;" : "=r"(d) : "r"((int)v >> 8)); mix(r, (unsigned)d);
       asm("cvt.u16.u32 %0, %1;" : "=h"(h) : "r"(v)); mix(r, (unsigned)(unsigned short)h);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& z, Mixed& r) {
         const int s = static_cast<int>(z.v);
         const float f = z.f(), e = static_cast<float>(s) * 0x1p-14f + 0.5f;
         const u64 q = u64{z.v} << 32 | z.w;
         r.add(integer_of<int32_t>(std::nearbyint(e)));
         r.add(integer_of<uint32_t>(std::trunc(f)));
         r.add(integer_of<int32_t>(std::floor(f)));
         r.add(integer_of<int64_t>(std::ceil(e)));
         r.add(int{integer_of<int16_t>(std::trunc(e))});
         r.add(static_cast<float>(s));
         r.add(rounded(FE_TOWARDZERO, [&] { return kept(static_cast<float>(kept(z.v))); }));
         const float near = static_cast<float>(q);  // rounded up by hand: machines convert in ways of their own
         const bool low = near < 0x1p64f && static_cast<u64>(near) < q;
         r.add(low ? std::nextafter(near, INFINITY) : near);
         r.add(static_cast<double>(static_cast<int64_t>(q)));
         r.add(static_cast<double>(f));
         r.add(rounded(FE_DOWNWARD, [&] { return kept(static_cast<float>(kept(std::bit_cast<double>(q)))); }));
         r.add(std::nearbyint(e));
         r.add(std::clamp(e, 0.0f, 1.0f));
         r.add(int{static_cast<int8_t>(z.v)});
         r.add(static_cast<u32>(std::clamp(s >> 20, 0, 255)));
         r.add(std::clamp(s >> 8, -32768, 32767));
         r.add(z.v & 65535);
       });
     }},
    {"numbers of 16 bits", TRINE_PTX_HEAD R"(
       unsigned a; unsigned short h, x = v, y = w, z = v >> 16; float b, e = (float)(int)v * 0x1p-18f;
       if ((x & 0x7c00) == 0x7c00) x ^= 0x400;  // numbers only
       if ((y & 0x7c00) == 0x7c00) y ^= 0x400;
       if ((z & 0x7c00) == 0x7c00) z ^= 0x400;
       asm("add.f16 %0, %1, %2;" : "=h"(h) : "h"(x), "h"(y)); mix(r, (unsigned)h);
       asm("mul.rn.f16 %0, %1, %2;" : "=h"(h) : "h"(x), "h"(y)); mix(r, (unsigned)h);
       asm("cvt.f32.f16 %0, %1;" : "=f"(b) : "h"(x)); mix(r, b);
       asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(e)); mix(r, (unsigned)h);
       asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(a) : "f"(e), "f"(b)); mix(r, a);
       asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(a) : "f"(e), "f"(b)); mix(r, a);
       asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(a) : "r"(0x3f803f80), "r"(0x40404000), "r"(0xc0003f80)); mix(r, a);
       asm("add.f16x2 %0, %1, %2;" : "=r"(a) : "r"(x | y << 16), "r"(z | x << 16)); mix(r, a);
       asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(h) : "h"(x), "h"(y), "h"(z)); mix(r, (unsigned)h);
       asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a) : "f"(e)); mix(r, a);
       asm("neg.f16x2 %0, %1;" : "=r"(a) : "r"(x | z << 16)); mix(r, a);  // of what is no number GPUs make one NaN
       asm("{ .reg .pred p; setp.lt.f16 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(a) : "h"(x), "h"(y)); mix(r, a);
       out[i] = r; })",
     &kShapes,
     [](const Shape& shape, const Ints& in, Ints& out) {
       each_ptx(shape, in, out, [](const PtxWords& p, Mixed& r) {
         const auto number = [](u32 bits) {
           return static_cast<uint16_t>((bits & 0x7c00) == 0x7c00 ? bits ^ 0x400 : bits);
         };
         const uint16_t x = number(p.v & 65535), y = number(p.w & 65535), z = number(p.v >> 16);
         const double a = half_value(x), b = half_value(y), c = half_value(z);
         const float e = static_cast<float>(static_cast<int>(p.v)) * 0x1p-18f;
         r.add(u32{half_bits(a + b)});
         r.add(u32{half_bits(a * b)});
         r.add(static_cast<float>(a));
         r.add(u32{half_bits(e)});
         r.add(u32{half_bits(e)} << 16 | half_bits(a));
         r.add(u32{bf16_bits(e)} << 16 | bf16_bits(static_cast<float>(a)));
         r.add(u32{bf16_bits(bf16_value(0x4040) - 2)} << 16 | bf16_bits(bf16_value(0x4000) + 1));
         r.add(u32{half_bits(b + a)} << 16 | half_bits(a + c));
         r.add(u32{half_bits(a * b + c)});  // exact in double
         r.add((std::bit_cast<u32>(e) + 0x1000) & ~0x1fffu);
         r.add((u32{x} | u32{z} << 16) ^ 0x80008000);
         r.add(a < b);
       });
     }},
};

TEST(Kernels, InlinePtxOfNumbers) { run_cases(kCases); }

// Functions that are only near: the error in units of the last place of a float.
TEST(Kernels, InlinePtxOfFunctions) {
  constexpr const char* kSource = TRINE_PTX_HEAD R"(
    float x = (t + 1) * 0.0625f, s, c, l, e, q, h, y;
    asm("sin.approx.f32 %0, %1;" : "=f"(s) : "f"(x)); asm("cos.approx.ftz.f32 %0, %1;" : "=f"(c) : "f"(x));
    asm("lg2.approx.f32 %0, %1;" : "=f"(l) : "f"(x)); asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(x));
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(q) : "f"(x)); asm("tanh.approx.f32 %0, %1;" : "=f"(h) : "f"(x));
    asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(s), "f"(x));
    out[i] = fabsf(s - sinf(x)) < 1e-5f && fabsf(c - cosf(x)) < 1e-5f && fabsf(l - log2f(x)) < 1e-5f && fabsf(e - exp2f(x)) < 1e-5f * e
      && fabsf(q * q * x - 1) < 1e-5f && fabsf(h - tanhf(x)) < 1e-3f && fabsf(y * x - s) < 1e-5f; (void)n; })";
  const KernelCase cases[] = {{"functions", kSource, &kWarpShapes,
                               [](const Shape&, const Ints&, Ints& out) { std::fill(out.begin(), out.end(), 1); }}};
  run_cases(cases);
}

}  // namespace
}  // namespace trine::compute
