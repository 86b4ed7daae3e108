// The names by which CUDA C++ knows the math library: sinf and sin, overloads for float and double, and for whole
// numbers (as doubles). They are for the device and stand beside the host's <cmath>: include this before it.
#pragma once

// clang lets functions of the device stand beside the constexpr ones of <cmath> when both are the system's.
#pragma clang system_header

#include "device_integer_functions.h"
#include "host_defines.h"
#include "math_all.h"

// Functions of whole numbers, and of two types, are those of double.
namespace trine_math {
template <class T, bool kWhole = __is_integral(T)>
struct Promote {};
template <class T>
struct Promote<T, true> {
  using Whole = double;
  using Any = double;
};
template <>
struct Promote<float, false> {
  using Any = double;
};
template <>
struct Promote<double, false> {
  using Any = double;
};
template <class T, class U>
using Common = decltype(typename Promote<T>::Any() + typename Promote<U>::Any());
}  // namespace trine_math

// Names are pasted, so these are macros.
#define __TRINE_STD__(name) \
  namespace std {           \
  using ::name;             \
  using ::name##f;          \
  }
#define __TRINE_FLOAT__(name)                                             \
  __TRINE_DEVICE__ float name##f(float x) { return trine_math::name(x); } \
  __TRINE_DEVICE__ float name(float x) { return trine_math::name(x); }
#define __TRINE_ONE__(name)                                              \
  __TRINE_FLOAT__(name)                                                  \
  __TRINE_DEVICE__ double name(double x) { return trine_math::name(x); } \
  template <class T>                                                     \
  __TRINE_DEVICE__ typename trine_math::Promote<T>::Whole name(T x) {    \
    return trine_math::name((double)x);                                  \
  }
#define __TRINE_TWO_OWN__(name)                                                       \
  __TRINE_DEVICE__ float name##f(float x, float y) { return trine_math::name(x, y); } \
  __TRINE_DEVICE__ float name(float x, float y) { return trine_math::name(x, y); }    \
  __TRINE_DEVICE__ double name(double x, double y) { return trine_math::name(x, y); } \
  template <class T, class U>                                                         \
  __TRINE_DEVICE__ trine_math::Common<T, U> name(T x, U y) {                          \
    return trine_math::name((double)x, (double)y);                                    \
  }
#define __TRINE_TWO__(name) __TRINE_TWO_OWN__(name) __TRINE_STD__(name)
// With a second argument, or a result, of one type whatever the first is.
#define __TRINE_AND__(name, function, type)                                              \
  __TRINE_DEVICE__ float name##f(float x, type y) { return trine_math::function(x, y); } \
  __TRINE_DEVICE__ float name(float x, type y) { return trine_math::function(x, y); }    \
  __TRINE_DEVICE__ double name(double x, type y) { return trine_math::function(x, y); }  \
  __TRINE_STD__(name)
#define __TRINE_TO__(type, name, function)                                   \
  __TRINE_DEVICE__ type name##f(float x) { return trine_math::function(x); } \
  __TRINE_DEVICE__ type name(float x) { return trine_math::function(x); }    \
  __TRINE_DEVICE__ type name(double x) { return trine_math::function(x); }   \
  __TRINE_STD__(name)
#define __TRINE_ONE_STD__(name) __TRINE_ONE__(name) __TRINE_STD__(name)

__TRINE_ONE_STD__(exp)
__TRINE_ONE_STD__(exp2)
__TRINE_ONE_STD__(expm1)
__TRINE_ONE_STD__(log)
__TRINE_ONE_STD__(log2)
__TRINE_ONE_STD__(log10)
__TRINE_ONE_STD__(log1p)
__TRINE_ONE_STD__(sin)
__TRINE_ONE_STD__(cos)
__TRINE_ONE_STD__(tan)
__TRINE_ONE_STD__(sinh)
__TRINE_ONE_STD__(cosh)
__TRINE_ONE_STD__(tanh)
__TRINE_ONE_STD__(asin)
__TRINE_ONE_STD__(acos)
__TRINE_ONE_STD__(atan)
__TRINE_ONE_STD__(asinh)
__TRINE_ONE_STD__(acosh)
__TRINE_ONE_STD__(atanh)
__TRINE_ONE_STD__(sqrt)
__TRINE_ONE_STD__(fabs)
__TRINE_ONE_STD__(floor)
__TRINE_ONE_STD__(ceil)
__TRINE_ONE_STD__(trunc)
__TRINE_ONE_STD__(rint)
__TRINE_ONE_STD__(round)
__TRINE_ONE_STD__(logb)
// Of CUDA alone.
__TRINE_ONE__(exp10)
__TRINE_ONE__(sinpi)
__TRINE_ONE__(cospi)
__TRINE_ONE__(rsqrt)
__TRINE_ONE__(cyl_bessel_i0)
__TRINE_ONE__(cyl_bessel_i1)
__TRINE_TWO__(pow)
__TRINE_TWO__(atan2)
__TRINE_TWO__(hypot)
__TRINE_TWO_OWN__(rhypot)
__TRINE_TWO__(fmod)
__TRINE_TWO__(remainder)
__TRINE_TWO__(fmin)
__TRINE_TWO__(fmax)
__TRINE_TWO__(fdim)
__TRINE_TWO__(copysign)
__TRINE_TWO__(nextafter)
__TRINE_AND__(frexp, frexp, int*)
__TRINE_AND__(ldexp, ldexp, int)
__TRINE_AND__(scalbn, ldexp, int)
__TRINE_AND__(scalbln, scalbln, long)
__TRINE_TO__(int, ilogb, ilogb)
__TRINE_TO__(long, lrint, rint_to<trine_math::i64>)
__TRINE_TO__(long long, llrint, rint_to<trine_math::i64>)
__TRINE_TO__(long, lround, round_to<trine_math::i64>)
__TRINE_TO__(long long, llround, round_to<trine_math::i64>)
__TRINE_ONE_STD__(erf)
__TRINE_ONE_STD__(erfc)
__TRINE_ONE_STD__(cbrt)
__TRINE_ONE_STD__(tgamma)
__TRINE_ONE_STD__(lgamma)
__TRINE_ONE__(erfcx)
__TRINE_ONE__(erfinv)
__TRINE_ONE__(erfcinv)
__TRINE_ONE__(normcdf)
__TRINE_ONE__(normcdfinv)
__TRINE_ONE__(rcbrt)

__TRINE_DEVICE__ float nearbyintf(float x) { return trine_math::rint(x); }
__TRINE_DEVICE__ float nearbyint(float x) { return trine_math::rint(x); }
__TRINE_DEVICE__ double nearbyint(double x) { return trine_math::rint(x); }
__TRINE_DEVICE__ float fmaf(float x, float y, float z) { return trine_math::fma(x, y, z); }
__TRINE_DEVICE__ float fma(float x, float y, float z) { return trine_math::fma(x, y, z); }
__TRINE_DEVICE__ double fma(double x, double y, double z) { return trine_math::fma(x, y, z); }
__TRINE_DEVICE__ float modff(float x, float* whole) { return trine_math::modf(x, whole); }
__TRINE_DEVICE__ float modf(float x, float* whole) { return trine_math::modf(x, whole); }
__TRINE_DEVICE__ double modf(double x, double* whole) { return trine_math::modf(x, whole); }
__TRINE_DEVICE__ float remquof(float x, float y, int* q) { return trine_math::remquo(x, y, q); }
__TRINE_DEVICE__ float remquo(float x, float y, int* q) { return trine_math::remquo(x, y, q); }
__TRINE_DEVICE__ double remquo(double x, double y, int* q) { return trine_math::remquo(x, y, q); }
__TRINE_STD__(nearbyint)
__TRINE_STD__(fma)
__TRINE_STD__(modf)
__TRINE_STD__(remquo)

__TRINE_DEVICE__ void sincosf(float x, float* s, float* c) { trine_math::sincos(x, s, c); }
__TRINE_DEVICE__ void sincos(float x, float* s, float* c) { trine_math::sincos(x, s, c); }
__TRINE_DEVICE__ void sincos(double x, double* s, double* c) { trine_math::sincos(x, s, c); }
__TRINE_DEVICE__ void sincospif(float x, float* s, float* c) { trine_math::sincospi(x, s, c); }
__TRINE_DEVICE__ void sincospi(float x, float* s, float* c) { trine_math::sincospi(x, s, c); }
__TRINE_DEVICE__ void sincospi(double x, double* s, double* c) { trine_math::sincospi(x, s, c); }

#define __TRINE_BESSEL__(name)                                                          \
  __TRINE_DEVICE__ float name##0f(float x) { return trine_math::name##0(x); }           \
  __TRINE_DEVICE__ float name##1f(float x) { return trine_math::name##1(x); }           \
  __TRINE_DEVICE__ double name##0(double x) { return trine_math::name##0(x); }          \
  __TRINE_DEVICE__ double name##1(double x) { return trine_math::name##1(x); }          \
  __TRINE_DEVICE__ float name##nf(int n, float x) { return trine_math::name##n(n, x); } \
  __TRINE_DEVICE__ double name##n(int n, double x) { return trine_math::name##n(n, x); }
__TRINE_BESSEL__(j)
__TRINE_BESSEL__(y)
#undef __TRINE_BESSEL__

#define __TRINE_LENGTH__(name)                                                                                      \
  __TRINE_DEVICE__ float name##3df(float x, float y, float z) { return trine_math::name##3d(x, y, z); }             \
  __TRINE_DEVICE__ double name##3d(double x, double y, double z) { return trine_math::name##3d(x, y, z); }          \
  __TRINE_DEVICE__ float name##4df(float x, float y, float z, float w) { return trine_math::name##4d(x, y, z, w); } \
  __TRINE_DEVICE__ double name##4d(double x, double y, double z, double w) {                                        \
    return trine_math::name##4d(x, y, z, w);                                                                        \
  }                                                                                                                 \
  __TRINE_DEVICE__ float name##f(int n, const float* x) { return trine_math::name(n, x); }                          \
  __TRINE_DEVICE__ double name(int n, const double* x) { return trine_math::name(n, x); }
__TRINE_LENGTH__(norm)
__TRINE_LENGTH__(rnorm)
#undef __TRINE_LENGTH__

__TRINE_DEVICE__ float fdividef(float x, float y) { return x / y; }
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

#undef __TRINE_STD__
#undef __TRINE_FLOAT__
#undef __TRINE_ONE__
#undef __TRINE_ONE_STD__
#undef __TRINE_TWO__
#undef __TRINE_TWO_OWN__
#undef __TRINE_AND__
#undef __TRINE_TO__

namespace std {
using ::abs;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::labs;
using ::llabs;
using ::signbit;
}  // namespace std
