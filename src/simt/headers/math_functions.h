// The names by which CUDA C++ knows the math library: sinf and sin, overloads for float and double, and for whole
// numbers (as doubles). They are for the device and stand beside the host's <cmath>: include this before it.
#pragma once

// clang lets functions of the device stand beside the constexpr ones of <cmath> when both are the system's.
#pragma clang system_header

#include "device_integer_functions.h"
#include "host_defines.h"
#include "math_all.h"

__TRINE_DEVICE__ float expf(float x) { return trine_math::exp(x); }
__TRINE_DEVICE__ float exp(float x) { return trine_math::exp(x); }
__TRINE_DEVICE__ double exp(double x) = delete;
__TRINE_DEVICE__ float exp2f(float x) { return trine_math::exp2(x); }
__TRINE_DEVICE__ float exp2(float x) { return trine_math::exp2(x); }
__TRINE_DEVICE__ double exp2(double x) = delete;
__TRINE_DEVICE__ float exp10f(float x) { return trine_math::exp10(x); }
__TRINE_DEVICE__ float exp10(float x) { return trine_math::exp10(x); }
__TRINE_DEVICE__ double exp10(double x) = delete;
__TRINE_DEVICE__ float expm1f(float x) { return trine_math::expm1(x); }
__TRINE_DEVICE__ float expm1(float x) { return trine_math::expm1(x); }
__TRINE_DEVICE__ double expm1(double x) = delete;
__TRINE_DEVICE__ float logf(float x) { return trine_math::log(x); }
__TRINE_DEVICE__ float log(float x) { return trine_math::log(x); }
__TRINE_DEVICE__ double log(double x) = delete;
__TRINE_DEVICE__ float log2f(float x) { return trine_math::log2(x); }
__TRINE_DEVICE__ float log2(float x) { return trine_math::log2(x); }
__TRINE_DEVICE__ double log2(double x) = delete;
__TRINE_DEVICE__ float log10f(float x) { return trine_math::log10(x); }
__TRINE_DEVICE__ float log10(float x) { return trine_math::log10(x); }
__TRINE_DEVICE__ double log10(double x) = delete;
__TRINE_DEVICE__ float log1pf(float x) { return trine_math::log1p(x); }
__TRINE_DEVICE__ float log1p(float x) { return trine_math::log1p(x); }
__TRINE_DEVICE__ double log1p(double x) = delete;
__TRINE_DEVICE__ float sinf(float x) { return trine_math::sin(x); }
__TRINE_DEVICE__ float sin(float x) { return trine_math::sin(x); }
__TRINE_DEVICE__ double sin(double x) = delete;
__TRINE_DEVICE__ float cosf(float x) { return trine_math::cos(x); }
__TRINE_DEVICE__ float cos(float x) { return trine_math::cos(x); }
__TRINE_DEVICE__ double cos(double x) = delete;
__TRINE_DEVICE__ float tanf(float x) { return trine_math::tan(x); }
__TRINE_DEVICE__ float tan(float x) { return trine_math::tan(x); }
__TRINE_DEVICE__ double tan(double x) = delete;
__TRINE_DEVICE__ float sinpif(float x) { return trine_math::sinpi(x); }
__TRINE_DEVICE__ float sinpi(float x) { return trine_math::sinpi(x); }
__TRINE_DEVICE__ double sinpi(double x) = delete;
__TRINE_DEVICE__ float cospif(float x) { return trine_math::cospi(x); }
__TRINE_DEVICE__ float cospi(float x) { return trine_math::cospi(x); }
__TRINE_DEVICE__ double cospi(double x) = delete;
__TRINE_DEVICE__ float sinhf(float x) { return trine_math::sinh(x); }
__TRINE_DEVICE__ float sinh(float x) { return trine_math::sinh(x); }
__TRINE_DEVICE__ double sinh(double x) = delete;
__TRINE_DEVICE__ float coshf(float x) { return trine_math::cosh(x); }
__TRINE_DEVICE__ float cosh(float x) { return trine_math::cosh(x); }
__TRINE_DEVICE__ double cosh(double x) = delete;
__TRINE_DEVICE__ float tanhf(float x) { return trine_math::tanh(x); }
__TRINE_DEVICE__ float tanh(float x) { return trine_math::tanh(x); }
__TRINE_DEVICE__ double tanh(double x) = delete;
__TRINE_DEVICE__ float asinhf(float x) { return trine_math::asinh(x); }
__TRINE_DEVICE__ float asinh(float x) { return trine_math::asinh(x); }
__TRINE_DEVICE__ double asinh(double x) = delete;
__TRINE_DEVICE__ float acoshf(float x) { return trine_math::acosh(x); }
__TRINE_DEVICE__ float acosh(float x) { return trine_math::acosh(x); }
__TRINE_DEVICE__ double acosh(double x) = delete;
__TRINE_DEVICE__ float atanhf(float x) { return trine_math::atanh(x); }
__TRINE_DEVICE__ float atanh(float x) { return trine_math::atanh(x); }
__TRINE_DEVICE__ double atanh(double x) = delete;
__TRINE_DEVICE__ float erff(float x) { return trine_math::erf(x); }
__TRINE_DEVICE__ float erf(float x) { return trine_math::erf(x); }
__TRINE_DEVICE__ double erf(double x) = delete;
__TRINE_DEVICE__ float sqrtf(float x) { return trine_math::sqrt(x); }
__TRINE_DEVICE__ float sqrt(float x) { return trine_math::sqrt(x); }
__TRINE_DEVICE__ double sqrt(double x) { return trine_math::sqrt(x); }
__TRINE_DEVICE__ float fabsf(float x) { return trine_math::fabs(x); }
__TRINE_DEVICE__ float fabs(float x) { return trine_math::fabs(x); }
__TRINE_DEVICE__ double fabs(double x) { return trine_math::fabs(x); }
__TRINE_DEVICE__ float floorf(float x) { return trine_math::floor(x); }
__TRINE_DEVICE__ float floor(float x) { return trine_math::floor(x); }
__TRINE_DEVICE__ double floor(double x) { return trine_math::floor(x); }
__TRINE_DEVICE__ float ceilf(float x) { return trine_math::ceil(x); }
__TRINE_DEVICE__ float ceil(float x) { return trine_math::ceil(x); }
__TRINE_DEVICE__ double ceil(double x) { return trine_math::ceil(x); }
__TRINE_DEVICE__ float truncf(float x) { return trine_math::trunc(x); }
__TRINE_DEVICE__ float trunc(float x) { return trine_math::trunc(x); }
__TRINE_DEVICE__ double trunc(double x) { return trine_math::trunc(x); }
__TRINE_DEVICE__ float rintf(float x) { return trine_math::rint(x); }
__TRINE_DEVICE__ float rint(float x) { return trine_math::rint(x); }
__TRINE_DEVICE__ double rint(double x) { return trine_math::rint(x); }
__TRINE_DEVICE__ float roundf(float x) { return trine_math::round(x); }
__TRINE_DEVICE__ float round(float x) { return trine_math::round(x); }
__TRINE_DEVICE__ double round(double x) { return trine_math::round(x); }
__TRINE_DEVICE__ float logbf(float x) { return trine_math::logb(x); }
__TRINE_DEVICE__ float logb(float x) { return trine_math::logb(x); }
__TRINE_DEVICE__ double logb(double x) { return trine_math::logb(x); }
__TRINE_DEVICE__ float powf(float x, float y) { return trine_math::pow(x, y); }
__TRINE_DEVICE__ float pow(float x, float y) { return trine_math::pow(x, y); }
__TRINE_DEVICE__ double pow(double x, double y) = delete;
__TRINE_DEVICE__ float fmodf(float x, float y) { return trine_math::fmod(x, y); }
__TRINE_DEVICE__ float fmod(float x, float y) { return trine_math::fmod(x, y); }
__TRINE_DEVICE__ double fmod(double x, double y) { return trine_math::fmod(x, y); }
__TRINE_DEVICE__ float remainderf(float x, float y) { return trine_math::remainder(x, y); }
__TRINE_DEVICE__ float remainder(float x, float y) { return trine_math::remainder(x, y); }
__TRINE_DEVICE__ double remainder(double x, double y) { return trine_math::remainder(x, y); }
__TRINE_DEVICE__ float fminf(float x, float y) { return trine_math::fmin(x, y); }
__TRINE_DEVICE__ float fmin(float x, float y) { return trine_math::fmin(x, y); }
__TRINE_DEVICE__ double fmin(double x, double y) { return trine_math::fmin(x, y); }
__TRINE_DEVICE__ float fmaxf(float x, float y) { return trine_math::fmax(x, y); }
__TRINE_DEVICE__ float fmax(float x, float y) { return trine_math::fmax(x, y); }
__TRINE_DEVICE__ double fmax(double x, double y) { return trine_math::fmax(x, y); }
__TRINE_DEVICE__ float fdimf(float x, float y) { return trine_math::fdim(x, y); }
__TRINE_DEVICE__ float fdim(float x, float y) { return trine_math::fdim(x, y); }
__TRINE_DEVICE__ double fdim(double x, double y) { return trine_math::fdim(x, y); }
__TRINE_DEVICE__ float copysignf(float x, float y) { return trine_math::copysign(x, y); }
__TRINE_DEVICE__ float copysign(float x, float y) { return trine_math::copysign(x, y); }
__TRINE_DEVICE__ double copysign(double x, double y) { return trine_math::copysign(x, y); }
__TRINE_DEVICE__ float nextafterf(float x, float y) { return trine_math::nextafter(x, y); }
__TRINE_DEVICE__ float nextafter(float x, float y) { return trine_math::nextafter(x, y); }
__TRINE_DEVICE__ double nextafter(double x, double y) { return trine_math::nextafter(x, y); }
__TRINE_DEVICE__ float fmaf(float x, float y, float z) { return trine_math::fma(x, y, z); }
__TRINE_DEVICE__ float fma(float x, float y, float z) { return trine_math::fma(x, y, z); }
__TRINE_DEVICE__ double fma(double x, double y, double z) { return trine_math::fma(x, y, z); }
__TRINE_DEVICE__ void sincosf(float x, float* s, float* c) { trine_math::sincos(x, s, c); }
__TRINE_DEVICE__ void sincos(float x, float* s, float* c) { trine_math::sincos(x, s, c); }
__TRINE_DEVICE__ void sincos(double x, double* s, double* c) = delete;
__TRINE_DEVICE__ void sincospif(float x, float* s, float* c) { trine_math::sincospi(x, s, c); }
__TRINE_DEVICE__ void sincospi(float x, float* s, float* c) { trine_math::sincospi(x, s, c); }
__TRINE_DEVICE__ void sincospi(double x, double* s, double* c) = delete;
__TRINE_DEVICE__ float frexpf(float x, int* e) { return trine_math::frexp(x, e); }
__TRINE_DEVICE__ float frexp(float x, int* e) { return trine_math::frexp(x, e); }
__TRINE_DEVICE__ double frexp(double x, int* e) { return trine_math::frexp(x, e); }
__TRINE_DEVICE__ float ldexpf(float x, int n) { return trine_math::ldexp(x, n); }
__TRINE_DEVICE__ float ldexp(float x, int n) { return trine_math::ldexp(x, n); }
__TRINE_DEVICE__ double ldexp(double x, int n) { return trine_math::ldexp(x, n); }
__TRINE_DEVICE__ float modff(float x, float* whole) { return trine_math::modf(x, whole); }
__TRINE_DEVICE__ float modf(float x, float* whole) { return trine_math::modf(x, whole); }
__TRINE_DEVICE__ double modf(double x, double* whole) { return trine_math::modf(x, whole); }
__TRINE_DEVICE__ int ilogbf(float x) { return trine_math::ilogb(x); }
__TRINE_DEVICE__ int ilogb(float x) { return trine_math::ilogb(x); }
__TRINE_DEVICE__ int ilogb(double x) { return trine_math::ilogb(x); }
__TRINE_DEVICE__ float remquof(float x, float y, int* q) { return trine_math::remquo(x, y, q); }
__TRINE_DEVICE__ float remquo(float x, float y, int* q) { return trine_math::remquo(x, y, q); }
__TRINE_DEVICE__ double remquo(double x, double y, int* q) { return trine_math::remquo(x, y, q); }
__TRINE_DEVICE__ float scalblnf(float x, long n) { return trine_math::scalbln(x, n); }
__TRINE_DEVICE__ float scalbln(float x, long n) { return trine_math::scalbln(x, n); }
__TRINE_DEVICE__ double scalbln(double x, long n) { return trine_math::scalbln(x, n); }
__TRINE_DEVICE__ float scalbnf(float x, int n) { return trine_math::ldexp(x, n); }
__TRINE_DEVICE__ float scalbn(float x, int n) { return trine_math::ldexp(x, n); }
__TRINE_DEVICE__ float nearbyintf(float x) { return trine_math::rint(x); }
__TRINE_DEVICE__ float nearbyint(float x) { return trine_math::rint(x); }
__TRINE_DEVICE__ long lrintf(float x) { return trine_math::rint_to<trine_math::i64>(x); }
__TRINE_DEVICE__ long lrint(float x) { return trine_math::rint_to<trine_math::i64>(x); }
__TRINE_DEVICE__ long long llrintf(float x) { return trine_math::rint_to<trine_math::i64>(x); }
__TRINE_DEVICE__ long long llrint(float x) { return trine_math::rint_to<trine_math::i64>(x); }
__TRINE_DEVICE__ long lroundf(float x) { return trine_math::round_to<trine_math::i64>(x); }
__TRINE_DEVICE__ long lround(float x) { return trine_math::round_to<trine_math::i64>(x); }
__TRINE_DEVICE__ long long llroundf(float x) { return trine_math::round_to<trine_math::i64>(x); }
__TRINE_DEVICE__ long long llround(float x) { return trine_math::round_to<trine_math::i64>(x); }
__TRINE_DEVICE__ double scalbn(double x, int n) { return trine_math::ldexp(x, n); }
__TRINE_DEVICE__ double nearbyint(double x) { return trine_math::rint(x); }
__TRINE_DEVICE__ long lrint(double x) { return trine_math::rint_to<trine_math::i64>(x); }
__TRINE_DEVICE__ long long llrint(double x) { return trine_math::rint_to<trine_math::i64>(x); }
__TRINE_DEVICE__ long lround(double x) { return trine_math::round_to<trine_math::i64>(x); }
__TRINE_DEVICE__ long long llround(double x) { return trine_math::round_to<trine_math::i64>(x); }

__TRINE_DEVICE__ float nanf(const char*) { return trine_math::quiet_nan<float>(); }
__TRINE_DEVICE__ double nan(const char*) { return trine_math::from_bits(0x7ff8000000000000ull); }
__TRINE_DEVICE__ bool isnan(float x) { return trine_math::isnan(x); }
__TRINE_DEVICE__ bool isnan(double x) { return trine_math::isnan(x); }
__TRINE_DEVICE__ bool isinf(float x) { return trine_math::isinf(x); }
__TRINE_DEVICE__ bool isinf(double x) { return trine_math::isinf(x); }
__TRINE_DEVICE__ bool isfinite(float x) { return trine_math::isfinite(x); }
__TRINE_DEVICE__ bool isfinite(double x) { return trine_math::isfinite(x); }
__TRINE_DEVICE__ bool signbit(float x) { return trine_math::signbit(x); }
__TRINE_DEVICE__ bool signbit(double x) { return trine_math::signbit(x); }
__TRINE_DEVICE__ int abs(int x) { return x < 0 ? (int)(0u - (unsigned)x) : x; }
__TRINE_DEVICE__ long abs(long x) { return x < 0 ? (long)(0ul - (unsigned long)x) : x; }
__TRINE_DEVICE__ long long abs(long long x) { return x < 0 ? (long long)(0ull - (unsigned long long)x) : x; }
__TRINE_DEVICE__ float abs(float x) { return trine_math::fabs(x); }
__TRINE_DEVICE__ double abs(double x) { return trine_math::fabs(x); }
__TRINE_DEVICE__ long labs(long x) { return abs(x); }
__TRINE_DEVICE__ long long llabs(long long x) { return abs(x); }

// Those of whole numbers are in device_integer_functions.h.
__TRINE_DEVICE__ float min(float x, float y) { return trine_math::fmin(x, y); }
__TRINE_DEVICE__ double min(double x, double y) { return trine_math::fmin((double)x, (double)y); }
__TRINE_DEVICE__ double min(float x, double y) { return trine_math::fmin((double)x, (double)y); }
__TRINE_DEVICE__ double min(double x, float y) { return trine_math::fmin((double)x, (double)y); }
__TRINE_DEVICE__ float max(float x, float y) { return trine_math::fmax(x, y); }
__TRINE_DEVICE__ double max(double x, double y) { return trine_math::fmax((double)x, (double)y); }
__TRINE_DEVICE__ double max(float x, double y) { return trine_math::fmax((double)x, (double)y); }
__TRINE_DEVICE__ double max(double x, float y) { return trine_math::fmax((double)x, (double)y); }
__TRINE_DEVICE__ unsigned umin(unsigned x, unsigned y) { return min(x, y); }
__TRINE_DEVICE__ unsigned umax(unsigned x, unsigned y) { return max(x, y); }
__TRINE_DEVICE__ long long llmin(long long x, long long y) { return min(x, y); }
__TRINE_DEVICE__ long long llmax(long long x, long long y) { return max(x, y); }
__TRINE_DEVICE__ unsigned long long ullmin(unsigned long long x, unsigned long long y) { return min(x, y); }
__TRINE_DEVICE__ unsigned long long ullmax(unsigned long long x, unsigned long long y) { return max(x, y); }

// Functions of whole numbers, and of two types, are those of double.
namespace trine_math {
template <class T>
struct Promote {};

template <>
struct Promote<bool> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<char> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<signed char> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<unsigned char> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<short> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<unsigned short> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<int> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<unsigned> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<long> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<unsigned long> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<long long> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<unsigned long long> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<float> {
  using Any = double;
};
template <>
struct Promote<double> {
  using Any = double;
};
template <class T, class U>
using Common = decltype(typename Promote<T>::Any() + typename Promote<U>::Any());
}  // namespace trine_math

template <class T>
__TRINE_DEVICE__ typename trine_math::Promote<T>::Whole sqrt(T x) {
  return trine_math::sqrt((double)x);
}
template <class T>
__TRINE_DEVICE__ typename trine_math::Promote<T>::Whole fabs(T x) {
  return trine_math::fabs((double)x);
}
template <class T>
__TRINE_DEVICE__ typename trine_math::Promote<T>::Whole floor(T x) {
  return trine_math::floor((double)x);
}
template <class T>
__TRINE_DEVICE__ typename trine_math::Promote<T>::Whole ceil(T x) {
  return trine_math::ceil((double)x);
}
template <class T>
__TRINE_DEVICE__ typename trine_math::Promote<T>::Whole trunc(T x) {
  return trine_math::trunc((double)x);
}
template <class T>
__TRINE_DEVICE__ typename trine_math::Promote<T>::Whole rint(T x) {
  return trine_math::rint((double)x);
}
template <class T>
__TRINE_DEVICE__ typename trine_math::Promote<T>::Whole round(T x) {
  return trine_math::round((double)x);
}
template <class T>
__TRINE_DEVICE__ typename trine_math::Promote<T>::Whole logb(T x) {
  return trine_math::logb((double)x);
}
template <class T, class U>
__TRINE_DEVICE__ trine_math::Common<T, U> fmod(T x, U y) {
  return trine_math::fmod((double)x, (double)y);
}
template <class T, class U>
__TRINE_DEVICE__ trine_math::Common<T, U> remainder(T x, U y) {
  return trine_math::remainder((double)x, (double)y);
}
template <class T, class U>
__TRINE_DEVICE__ trine_math::Common<T, U> fmin(T x, U y) {
  return trine_math::fmin((double)x, (double)y);
}
template <class T, class U>
__TRINE_DEVICE__ trine_math::Common<T, U> fmax(T x, U y) {
  return trine_math::fmax((double)x, (double)y);
}
template <class T, class U>
__TRINE_DEVICE__ trine_math::Common<T, U> fdim(T x, U y) {
  return trine_math::fdim((double)x, (double)y);
}
template <class T, class U>
__TRINE_DEVICE__ trine_math::Common<T, U> copysign(T x, U y) {
  return trine_math::copysign((double)x, (double)y);
}
template <class T, class U>
__TRINE_DEVICE__ trine_math::Common<T, U> nextafter(T x, U y) {
  return trine_math::nextafter((double)x, (double)y);
}

namespace std {
using ::abs;
using ::acosh;
using ::acoshf;
using ::asinh;
using ::asinhf;
using ::atanh;
using ::atanhf;
using ::ceil;
using ::ceilf;
using ::copysign;
using ::copysignf;
using ::cos;
using ::cosf;
using ::cosh;
using ::coshf;
using ::erf;
using ::erff;
using ::exp;
using ::exp2;
using ::exp2f;
using ::expf;
using ::expm1;
using ::expm1f;
using ::fabs;
using ::fabsf;
using ::fdim;
using ::fdimf;
using ::floor;
using ::floorf;
using ::fma;
using ::fmaf;
using ::fmax;
using ::fmaxf;
using ::fmin;
using ::fminf;
using ::fmod;
using ::fmodf;
using ::frexp;
using ::frexpf;
using ::ilogb;
using ::ilogbf;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::labs;
using ::ldexp;
using ::ldexpf;
using ::llabs;
using ::llrint;
using ::llrintf;
using ::llround;
using ::llroundf;
using ::log;
using ::log10;
using ::log10f;
using ::log1p;
using ::log1pf;
using ::log2;
using ::log2f;
using ::logb;
using ::logbf;
using ::logf;
using ::lrint;
using ::lrintf;
using ::lround;
using ::lroundf;
using ::modf;
using ::modff;
using ::nearbyint;
using ::nearbyintf;
using ::nextafter;
using ::nextafterf;
using ::pow;
using ::powf;
using ::remainder;
using ::remainderf;
using ::remquo;
using ::remquof;
using ::rint;
using ::rintf;
using ::round;
using ::roundf;
using ::scalbln;
using ::scalblnf;
using ::scalbn;
using ::scalbnf;
using ::signbit;
using ::sin;
using ::sinf;
using ::sinh;
using ::sinhf;
using ::sqrt;
using ::sqrtf;
using ::tan;
using ::tanf;
using ::tanh;
using ::tanhf;
using ::trunc;
using ::truncf;
}  // namespace std
