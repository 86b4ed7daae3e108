// The functions of NVIDIA's libdevice by their names, for bitcode and libraries that call them: what CUDA's own
// functions are here. A table: one line each. Linked where a module declares one of them (compile/libdevice.h).
#pragma once

#include "math_narrow.h"

#define TRINE_NV extern "C" __attribute__((device))

TRINE_NV int __nv_abs(int a) { return abs(a); }
TRINE_NV double __nv_acos(double a) { return acos(a); }
TRINE_NV float __nv_acosf(float a) { return acosf(a); }
TRINE_NV double __nv_acosh(double a) { return acosh(a); }
TRINE_NV float __nv_acoshf(float a) { return acoshf(a); }
TRINE_NV double __nv_asin(double a) { return asin(a); }
TRINE_NV float __nv_asinf(float a) { return asinf(a); }
TRINE_NV double __nv_asinh(double a) { return asinh(a); }
TRINE_NV float __nv_asinhf(float a) { return asinhf(a); }
TRINE_NV double __nv_atan2(double a, double b) { return atan2(a, b); }
TRINE_NV float __nv_atan2f(float a, float b) { return atan2f(a, b); }
TRINE_NV double __nv_atan(double a) { return atan(a); }
TRINE_NV float __nv_atanf(float a) { return atanf(a); }
TRINE_NV double __nv_atanh(double a) { return atanh(a); }
TRINE_NV float __nv_atanhf(float a) { return atanhf(a); }
TRINE_NV int __nv_brev(int a) { return __brev(a); }
TRINE_NV long long __nv_brevll(long long a) { return __brevll(a); }
TRINE_NV int __nv_byte_perm(int a, int b, int c) { return __byte_perm(a, b, c); }
TRINE_NV double __nv_cbrt(double a) { return cbrt(a); }
TRINE_NV float __nv_cbrtf(float a) { return cbrtf(a); }
TRINE_NV double __nv_ceil(double a) { return ceil(a); }
TRINE_NV float __nv_ceilf(float a) { return ceilf(a); }
TRINE_NV int __nv_clz(int a) { return __clz(a); }
TRINE_NV int __nv_clzll(long long a) { return __clzll(a); }
TRINE_NV double __nv_copysign(double a, double b) { return copysign(a, b); }
TRINE_NV float __nv_copysignf(float a, float b) { return copysignf(a, b); }
TRINE_NV double __nv_cos(double a) { return cos(a); }
TRINE_NV float __nv_cosf(float a) { return cosf(a); }
TRINE_NV double __nv_cosh(double a) { return cosh(a); }
TRINE_NV float __nv_coshf(float a) { return coshf(a); }
TRINE_NV double __nv_cospi(double a) { return cospi(a); }
TRINE_NV float __nv_cospif(float a) { return cospif(a); }
TRINE_NV double __nv_cyl_bessel_i0(double a) { return cyl_bessel_i0(a); }
TRINE_NV float __nv_cyl_bessel_i0f(float a) { return cyl_bessel_i0f(a); }
TRINE_NV double __nv_cyl_bessel_i1(double a) { return cyl_bessel_i1(a); }
TRINE_NV float __nv_cyl_bessel_i1f(float a) { return cyl_bessel_i1f(a); }
TRINE_NV double __nv_dadd_rd(double a, double b) { return __dadd_rd(a, b); }
TRINE_NV double __nv_dadd_rn(double a, double b) { return __dadd_rn(a, b); }
TRINE_NV double __nv_dadd_ru(double a, double b) { return __dadd_ru(a, b); }
TRINE_NV double __nv_dadd_rz(double a, double b) { return __dadd_rz(a, b); }
TRINE_NV double __nv_ddiv_rd(double a, double b) { return __ddiv_rd(a, b); }
TRINE_NV double __nv_ddiv_rn(double a, double b) { return __ddiv_rn(a, b); }
TRINE_NV double __nv_ddiv_ru(double a, double b) { return __ddiv_ru(a, b); }
TRINE_NV double __nv_ddiv_rz(double a, double b) { return __ddiv_rz(a, b); }
TRINE_NV double __nv_dmul_rd(double a, double b) { return __dmul_rd(a, b); }
TRINE_NV double __nv_dmul_rn(double a, double b) { return __dmul_rn(a, b); }
TRINE_NV double __nv_dmul_ru(double a, double b) { return __dmul_ru(a, b); }
TRINE_NV double __nv_dmul_rz(double a, double b) { return __dmul_rz(a, b); }
TRINE_NV float __nv_double2float_rd(double a) { return __double2float_rd(a); }
TRINE_NV float __nv_double2float_rn(double a) { return __double2float_rn(a); }
TRINE_NV float __nv_double2float_ru(double a) { return __double2float_ru(a); }
TRINE_NV float __nv_double2float_rz(double a) { return __double2float_rz(a); }
TRINE_NV int __nv_double2hiint(double a) { return __double2hiint(a); }
TRINE_NV int __nv_double2int_rd(double a) { return __double2int_rd(a); }
TRINE_NV int __nv_double2int_rn(double a) { return __double2int_rn(a); }
TRINE_NV int __nv_double2int_ru(double a) { return __double2int_ru(a); }
TRINE_NV int __nv_double2int_rz(double a) { return __double2int_rz(a); }
TRINE_NV long long __nv_double2ll_rd(double a) { return __double2ll_rd(a); }
TRINE_NV long long __nv_double2ll_rn(double a) { return __double2ll_rn(a); }
TRINE_NV long long __nv_double2ll_ru(double a) { return __double2ll_ru(a); }
TRINE_NV long long __nv_double2ll_rz(double a) { return __double2ll_rz(a); }
TRINE_NV int __nv_double2loint(double a) { return __double2loint(a); }
TRINE_NV unsigned int __nv_double2uint_rd(double a) { return __double2uint_rd(a); }
TRINE_NV unsigned int __nv_double2uint_rn(double a) { return __double2uint_rn(a); }
TRINE_NV unsigned int __nv_double2uint_ru(double a) { return __double2uint_ru(a); }
TRINE_NV unsigned int __nv_double2uint_rz(double a) { return __double2uint_rz(a); }
TRINE_NV unsigned long long __nv_double2ull_rd(double a) { return __double2ull_rd(a); }
TRINE_NV unsigned long long __nv_double2ull_rn(double a) { return __double2ull_rn(a); }
TRINE_NV unsigned long long __nv_double2ull_ru(double a) { return __double2ull_ru(a); }
TRINE_NV unsigned long long __nv_double2ull_rz(double a) { return __double2ull_rz(a); }
TRINE_NV unsigned long long __nv_double_as_longlong(double a) { return __double_as_longlong(a); }
TRINE_NV double __nv_drcp_rd(double a) { return __drcp_rd(a); }
TRINE_NV double __nv_drcp_rn(double a) { return __drcp_rn(a); }
TRINE_NV double __nv_drcp_ru(double a) { return __drcp_ru(a); }
TRINE_NV double __nv_drcp_rz(double a) { return __drcp_rz(a); }
TRINE_NV double __nv_dsqrt_rd(double a) { return __dsqrt_rd(a); }
TRINE_NV double __nv_dsqrt_rn(double a) { return __dsqrt_rn(a); }
TRINE_NV double __nv_dsqrt_ru(double a) { return __dsqrt_ru(a); }
TRINE_NV double __nv_dsqrt_rz(double a) { return __dsqrt_rz(a); }
TRINE_NV double __nv_dsub_rd(double a, double b) { return __dsub_rd(a, b); }
TRINE_NV double __nv_dsub_rn(double a, double b) { return __dsub_rn(a, b); }
TRINE_NV double __nv_dsub_ru(double a, double b) { return __dsub_ru(a, b); }
TRINE_NV double __nv_dsub_rz(double a, double b) { return __dsub_rz(a, b); }
TRINE_NV double __nv_erfc(double a) { return erfc(a); }
TRINE_NV float __nv_erfcf(float a) { return erfcf(a); }
TRINE_NV double __nv_erfcinv(double a) { return erfcinv(a); }
TRINE_NV float __nv_erfcinvf(float a) { return erfcinvf(a); }
TRINE_NV double __nv_erfcx(double a) { return erfcx(a); }
TRINE_NV float __nv_erfcxf(float a) { return erfcxf(a); }
TRINE_NV double __nv_erf(double a) { return erf(a); }
TRINE_NV float __nv_erff(float a) { return erff(a); }
TRINE_NV double __nv_erfinv(double a) { return erfinv(a); }
TRINE_NV float __nv_erfinvf(float a) { return erfinvf(a); }
TRINE_NV double __nv_exp10(double a) { return exp10(a); }
TRINE_NV float __nv_exp10f(float a) { return exp10f(a); }
TRINE_NV double __nv_exp2(double a) { return exp2(a); }
TRINE_NV float __nv_exp2f(float a) { return exp2f(a); }
TRINE_NV double __nv_exp(double a) { return exp(a); }
TRINE_NV float __nv_expf(float a) { return expf(a); }
TRINE_NV double __nv_expm1(double a) { return expm1(a); }
TRINE_NV float __nv_expm1f(float a) { return expm1f(a); }
TRINE_NV double __nv_fabs(double a) { return fabs(a); }
TRINE_NV float __nv_fabsf(float a) { return fabsf(a); }
TRINE_NV float __nv_fadd_rd(float a, float b) { return __fadd_rd(a, b); }
TRINE_NV float __nv_fadd_rn(float a, float b) { return __fadd_rn(a, b); }
TRINE_NV float __nv_fadd_ru(float a, float b) { return __fadd_ru(a, b); }
TRINE_NV float __nv_fadd_rz(float a, float b) { return __fadd_rz(a, b); }
TRINE_NV float __nv_fast_cosf(float a) { return __cosf(a); }
TRINE_NV float __nv_fast_exp10f(float a) { return __exp10f(a); }
TRINE_NV float __nv_fast_expf(float a) { return __expf(a); }
TRINE_NV float __nv_fast_fdividef(float a, float b) { return __fdividef(a, b); }
TRINE_NV float __nv_fast_log10f(float a) { return __log10f(a); }
TRINE_NV float __nv_fast_log2f(float a) { return __log2f(a); }
TRINE_NV float __nv_fast_logf(float a) { return __logf(a); }
TRINE_NV float __nv_fast_powf(float a, float b) { return __powf(a, b); }
TRINE_NV void __nv_fast_sincosf(float a, float* b, float* c) { __sincosf(a, b, c); }
TRINE_NV float __nv_fast_sinf(float a) { return __sinf(a); }
TRINE_NV float __nv_fast_tanf(float a) { return __tanf(a); }
TRINE_NV double __nv_fdim(double a, double b) { return fdim(a, b); }
TRINE_NV float __nv_fdimf(float a, float b) { return fdimf(a, b); }
TRINE_NV float __nv_fdiv_rd(float a, float b) { return __fdiv_rd(a, b); }
TRINE_NV float __nv_fdiv_rn(float a, float b) { return __fdiv_rn(a, b); }
TRINE_NV float __nv_fdiv_ru(float a, float b) { return __fdiv_ru(a, b); }
TRINE_NV float __nv_fdiv_rz(float a, float b) { return __fdiv_rz(a, b); }
TRINE_NV int __nv_ffs(int a) { return __ffs(a); }
TRINE_NV int __nv_ffsll(long long a) { return __ffsll(a); }
TRINE_NV int __nv_finitef(float a) { return isfinite(a); }
TRINE_NV unsigned short __nv_float2half_rn(float a) { return (short)trine_math::narrow_to_half(a); }
TRINE_NV int __nv_float2int_rd(float a) { return __float2int_rd(a); }
TRINE_NV int __nv_float2int_rn(float a) { return __float2int_rn(a); }
TRINE_NV int __nv_float2int_ru(float a) { return __float2int_ru(a); }
TRINE_NV int __nv_float2int_rz(float a) { return __float2int_rz(a); }
TRINE_NV long long __nv_float2ll_rd(float a) { return __float2ll_rd(a); }
TRINE_NV long long __nv_float2ll_rn(float a) { return __float2ll_rn(a); }
TRINE_NV long long __nv_float2ll_ru(float a) { return __float2ll_ru(a); }
TRINE_NV long long __nv_float2ll_rz(float a) { return __float2ll_rz(a); }
TRINE_NV unsigned int __nv_float2uint_rd(float a) { return __float2uint_rd(a); }
TRINE_NV unsigned int __nv_float2uint_rn(float a) { return __float2uint_rn(a); }
TRINE_NV unsigned int __nv_float2uint_ru(float a) { return __float2uint_ru(a); }
TRINE_NV unsigned int __nv_float2uint_rz(float a) { return __float2uint_rz(a); }
TRINE_NV unsigned long long __nv_float2ull_rd(float a) { return __float2ull_rd(a); }
TRINE_NV unsigned long long __nv_float2ull_rn(float a) { return __float2ull_rn(a); }
TRINE_NV unsigned long long __nv_float2ull_ru(float a) { return __float2ull_ru(a); }
TRINE_NV unsigned long long __nv_float2ull_rz(float a) { return __float2ull_rz(a); }
TRINE_NV int __nv_float_as_int(float a) { return __float_as_int(a); }
TRINE_NV unsigned int __nv_float_as_uint(float a) { return __float_as_uint(a); }
TRINE_NV double __nv_floor(double a) { return floor(a); }
TRINE_NV float __nv_floorf(float a) { return floorf(a); }
TRINE_NV double __nv_fma(double a, double b, double c) { return fma(a, b, c); }
TRINE_NV float __nv_fmaf(float a, float b, float c) { return fmaf(a, b, c); }
TRINE_NV float __nv_fmaf_ieee_rd(float a, float b, float c) { return __fmaf_ieee_rd(a, b, c); }
TRINE_NV float __nv_fmaf_ieee_rn(float a, float b, float c) { return __fmaf_ieee_rn(a, b, c); }
TRINE_NV float __nv_fmaf_ieee_ru(float a, float b, float c) { return __fmaf_ieee_ru(a, b, c); }
TRINE_NV float __nv_fmaf_ieee_rz(float a, float b, float c) { return __fmaf_ieee_rz(a, b, c); }
TRINE_NV float __nv_fmaf_rd(float a, float b, float c) { return __fmaf_rd(a, b, c); }
TRINE_NV float __nv_fmaf_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
TRINE_NV float __nv_fmaf_ru(float a, float b, float c) { return __fmaf_ru(a, b, c); }
TRINE_NV float __nv_fmaf_rz(float a, float b, float c) { return __fmaf_rz(a, b, c); }
TRINE_NV double __nv_fma_rd(double a, double b, double c) { return __fma_rd(a, b, c); }
TRINE_NV double __nv_fma_rn(double a, double b, double c) { return __fma_rn(a, b, c); }
TRINE_NV double __nv_fma_ru(double a, double b, double c) { return __fma_ru(a, b, c); }
TRINE_NV double __nv_fma_rz(double a, double b, double c) { return __fma_rz(a, b, c); }
TRINE_NV double __nv_fmax(double a, double b) { return fmax(a, b); }
TRINE_NV float __nv_fmaxf(float a, float b) { return fmaxf(a, b); }
TRINE_NV double __nv_fmin(double a, double b) { return fmin(a, b); }
TRINE_NV float __nv_fminf(float a, float b) { return fminf(a, b); }
TRINE_NV double __nv_fmod(double a, double b) { return fmod(a, b); }
TRINE_NV float __nv_fmodf(float a, float b) { return fmodf(a, b); }
TRINE_NV float __nv_fmul_rd(float a, float b) { return __fmul_rd(a, b); }
TRINE_NV float __nv_fmul_rn(float a, float b) { return __fmul_rn(a, b); }
TRINE_NV float __nv_fmul_ru(float a, float b) { return __fmul_ru(a, b); }
TRINE_NV float __nv_fmul_rz(float a, float b) { return __fmul_rz(a, b); }
TRINE_NV float __nv_frcp_rd(float a) { return __frcp_rd(a); }
TRINE_NV float __nv_frcp_rn(float a) { return __frcp_rn(a); }
TRINE_NV float __nv_frcp_ru(float a) { return __frcp_ru(a); }
TRINE_NV float __nv_frcp_rz(float a) { return __frcp_rz(a); }
TRINE_NV double __nv_frexp(double a, int* b) { return frexp(a, b); }
TRINE_NV float __nv_frexpf(float a, int* b) { return frexpf(a, b); }
TRINE_NV float __nv_frsqrt_rn(float a) { return __frsqrt_rn(a); }
TRINE_NV float __nv_fsqrt_rd(float a) { return __fsqrt_rd(a); }
TRINE_NV float __nv_fsqrt_rn(float a) { return __fsqrt_rn(a); }
TRINE_NV float __nv_fsqrt_ru(float a) { return __fsqrt_ru(a); }
TRINE_NV float __nv_fsqrt_rz(float a) { return __fsqrt_rz(a); }
TRINE_NV float __nv_fsub_rd(float a, float b) { return __fsub_rd(a, b); }
TRINE_NV float __nv_fsub_rn(float a, float b) { return __fsub_rn(a, b); }
TRINE_NV float __nv_fsub_ru(float a, float b) { return __fsub_ru(a, b); }
TRINE_NV float __nv_fsub_rz(float a, float b) { return __fsub_rz(a, b); }
TRINE_NV int __nv_hadd(int a, int b) { return __hadd(a, b); }
TRINE_NV float __nv_half2float(unsigned short a) { return trine_math::widen_half((unsigned short)a); }
TRINE_NV double __nv_hiloint2double(int a, int b) { return __hiloint2double(a, b); }
TRINE_NV double __nv_hypot(double a, double b) { return hypot(a, b); }
TRINE_NV float __nv_hypotf(float a, float b) { return hypotf(a, b); }
TRINE_NV int __nv_ilogb(double a) { return ilogb(a); }
TRINE_NV int __nv_ilogbf(float a) { return ilogbf(a); }
TRINE_NV double __nv_int2double_rn(int a) { return __int2double_rn(a); }
TRINE_NV float __nv_int2float_rd(int a) { return __int2float_rd(a); }
TRINE_NV float __nv_int2float_rn(int a) { return __int2float_rn(a); }
TRINE_NV float __nv_int2float_ru(int a) { return __int2float_ru(a); }
TRINE_NV float __nv_int2float_rz(int a) { return __int2float_rz(a); }
TRINE_NV float __nv_int_as_float(int a) { return __int_as_float(a); }
TRINE_NV int __nv_isfinited(double a) { return isfinite(a); }
TRINE_NV int __nv_isinfd(double a) { return isinf(a); }
TRINE_NV int __nv_isinff(float a) { return isinf(a); }
TRINE_NV int __nv_isnand(double a) { return isnan(a); }
TRINE_NV int __nv_isnanf(float a) { return isnan(a); }
TRINE_NV double __nv_j0(double a) { return j0(a); }
TRINE_NV float __nv_j0f(float a) { return j0f(a); }
TRINE_NV double __nv_j1(double a) { return j1(a); }
TRINE_NV float __nv_j1f(float a) { return j1f(a); }
TRINE_NV float __nv_jnf(int a, float b) { return jnf(a, b); }
TRINE_NV double __nv_jn(int a, double b) { return jn(a, b); }
TRINE_NV double __nv_ldexp(double a, int b) { return ldexp(a, b); }
TRINE_NV float __nv_ldexpf(float a, int b) { return ldexpf(a, b); }
TRINE_NV double __nv_lgamma(double a) { return lgamma(a); }
TRINE_NV float __nv_lgammaf(float a) { return lgammaf(a); }
TRINE_NV double __nv_ll2double_rd(long long a) { return __ll2double_rd(a); }
TRINE_NV double __nv_ll2double_rn(long long a) { return __ll2double_rn(a); }
TRINE_NV double __nv_ll2double_ru(long long a) { return __ll2double_ru(a); }
TRINE_NV double __nv_ll2double_rz(long long a) { return __ll2double_rz(a); }
TRINE_NV float __nv_ll2float_rd(long long a) { return __ll2float_rd(a); }
TRINE_NV float __nv_ll2float_rn(long long a) { return __ll2float_rn(a); }
TRINE_NV float __nv_ll2float_ru(long long a) { return __ll2float_ru(a); }
TRINE_NV float __nv_ll2float_rz(long long a) { return __ll2float_rz(a); }
TRINE_NV long long __nv_llabs(long long a) { return llabs(a); }
TRINE_NV long long __nv_llmax(long long a, long long b) { return llmax(a, b); }
TRINE_NV long long __nv_llmin(long long a, long long b) { return llmin(a, b); }
TRINE_NV long long __nv_llrint(double a) { return llrint(a); }
TRINE_NV long long __nv_llrintf(float a) { return llrintf(a); }
TRINE_NV long long __nv_llround(double a) { return llround(a); }
TRINE_NV long long __nv_llroundf(float a) { return llroundf(a); }
TRINE_NV double __nv_log10(double a) { return log10(a); }
TRINE_NV float __nv_log10f(float a) { return log10f(a); }
TRINE_NV double __nv_log1p(double a) { return log1p(a); }
TRINE_NV float __nv_log1pf(float a) { return log1pf(a); }
TRINE_NV double __nv_log2(double a) { return log2(a); }
TRINE_NV float __nv_log2f(float a) { return log2f(a); }
TRINE_NV double __nv_logb(double a) { return logb(a); }
TRINE_NV float __nv_logbf(float a) { return logbf(a); }
TRINE_NV double __nv_log(double a) { return log(a); }
TRINE_NV float __nv_logf(float a) { return logf(a); }
TRINE_NV double __nv_longlong_as_double(long long a) { return __longlong_as_double(a); }
TRINE_NV int __nv_max(int a, int b) { return max(a, b); }
TRINE_NV int __nv_min(int a, int b) { return min(a, b); }
TRINE_NV double __nv_modf(double a, double* b) { return modf(a, b); }
TRINE_NV float __nv_modff(float a, float* b) { return modff(a, b); }
TRINE_NV int __nv_mul24(int a, int b) { return __mul24(a, b); }
TRINE_NV long long __nv_mul64hi(long long a, long long b) { return __mul64hi(a, b); }
TRINE_NV int __nv_mulhi(int a, int b) { return __mulhi(a, b); }
TRINE_NV double __nv_nan(const signed char* a) { return nan((const char*)a); }
TRINE_NV float __nv_nanf(const signed char* a) { return nanf((const char*)a); }
TRINE_NV double __nv_nearbyint(double a) { return nearbyint(a); }
TRINE_NV float __nv_nearbyintf(float a) { return nearbyintf(a); }
TRINE_NV double __nv_nextafter(double a, double b) { return nextafter(a, b); }
TRINE_NV float __nv_nextafterf(float a, float b) { return nextafterf(a, b); }
TRINE_NV double __nv_norm3d(double a, double b, double c) { return norm3d(a, b, c); }
TRINE_NV float __nv_norm3df(float a, float b, float c) { return norm3df(a, b, c); }
TRINE_NV double __nv_norm4d(double a, double b, double c, double d) { return norm4d(a, b, c, d); }
TRINE_NV float __nv_norm4df(float a, float b, float c, float d) { return norm4df(a, b, c, d); }
TRINE_NV double __nv_normcdf(double a) { return normcdf(a); }
TRINE_NV float __nv_normcdff(float a) { return normcdff(a); }
TRINE_NV double __nv_normcdfinv(double a) { return normcdfinv(a); }
TRINE_NV float __nv_normcdfinvf(float a) { return normcdfinvf(a); }
TRINE_NV float __nv_normf(int a, const float* b) { return normf(a, b); }
TRINE_NV double __nv_norm(int a, const double* b) { return norm(a, b); }
TRINE_NV int __nv_popc(unsigned int a) { return __popc(a); }
TRINE_NV int __nv_popcll(unsigned long long a) { return __popcll(a); }
TRINE_NV double __nv_pow(double a, double b) { return pow(a, b); }
TRINE_NV float __nv_powf(float a, float b) { return powf(a, b); }
TRINE_NV double __nv_powi(double a, int b) { return pow(a, (double)b); }
TRINE_NV float __nv_powif(float a, int b) { return powf(a, (float)b); }
TRINE_NV double __nv_rcbrt(double a) { return rcbrt(a); }
TRINE_NV float __nv_rcbrtf(float a) { return rcbrtf(a); }
TRINE_NV double __nv_rcp64h(double a) { return __hiloint2double(__double2hiint(1.0 / a), 0); }
TRINE_NV double __nv_remainder(double a, double b) { return remainder(a, b); }
TRINE_NV float __nv_remainderf(float a, float b) { return remainderf(a, b); }
TRINE_NV double __nv_remquo(double a, double b, int* c) { return remquo(a, b, c); }
TRINE_NV float __nv_remquof(float a, float b, int* c) { return remquof(a, b, c); }
TRINE_NV int __nv_rhadd(int a, int b) { return __rhadd(a, b); }
TRINE_NV double __nv_rhypot(double a, double b) { return rhypot(a, b); }
TRINE_NV float __nv_rhypotf(float a, float b) { return rhypotf(a, b); }
TRINE_NV double __nv_rint(double a) { return rint(a); }
TRINE_NV float __nv_rintf(float a) { return rintf(a); }
TRINE_NV double __nv_rnorm3d(double a, double b, double c) { return rnorm3d(a, b, c); }
TRINE_NV float __nv_rnorm3df(float a, float b, float c) { return rnorm3df(a, b, c); }
TRINE_NV double __nv_rnorm4d(double a, double b, double c, double d) { return rnorm4d(a, b, c, d); }
TRINE_NV float __nv_rnorm4df(float a, float b, float c, float d) { return rnorm4df(a, b, c, d); }
TRINE_NV float __nv_rnormf(int a, const float* b) { return rnormf(a, b); }
TRINE_NV double __nv_rnorm(int a, const double* b) { return rnorm(a, b); }
TRINE_NV double __nv_round(double a) { return round(a); }
TRINE_NV float __nv_roundf(float a) { return roundf(a); }
TRINE_NV double __nv_rsqrt(double a) { return rsqrt(a); }
TRINE_NV float __nv_rsqrtf(float a) { return rsqrtf(a); }
TRINE_NV int __nv_sad(int a, int b, int c) { return __sad(a, b, c); }
TRINE_NV float __nv_saturatef(float a) { return __saturatef(a); }
TRINE_NV double __nv_scalbn(double a, int b) { return scalbn(a, b); }
TRINE_NV float __nv_scalbnf(float a, int b) { return scalbnf(a, b); }
TRINE_NV int __nv_signbitd(double a) { return signbit(a); }
TRINE_NV int __nv_signbitf(float a) { return signbit(a); }
TRINE_NV void __nv_sincos(double a, double* b, double* c) { sincos(a, b, c); }
TRINE_NV void __nv_sincosf(float a, float* b, float* c) { sincosf(a, b, c); }
TRINE_NV void __nv_sincospi(double a, double* b, double* c) { sincospi(a, b, c); }
TRINE_NV void __nv_sincospif(float a, float* b, float* c) { sincospif(a, b, c); }
TRINE_NV double __nv_sin(double a) { return sin(a); }
TRINE_NV float __nv_sinf(float a) { return sinf(a); }
TRINE_NV double __nv_sinh(double a) { return sinh(a); }
TRINE_NV float __nv_sinhf(float a) { return sinhf(a); }
TRINE_NV double __nv_sinpi(double a) { return sinpi(a); }
TRINE_NV float __nv_sinpif(float a) { return sinpif(a); }
TRINE_NV double __nv_sqrt(double a) { return sqrt(a); }
TRINE_NV float __nv_sqrtf(float a) { return sqrtf(a); }
TRINE_NV double __nv_tan(double a) { return tan(a); }
TRINE_NV float __nv_tanf(float a) { return tanf(a); }
TRINE_NV double __nv_tanh(double a) { return tanh(a); }
TRINE_NV float __nv_tanhf(float a) { return tanhf(a); }
TRINE_NV double __nv_tgamma(double a) { return tgamma(a); }
TRINE_NV float __nv_tgammaf(float a) { return tgammaf(a); }
TRINE_NV double __nv_trunc(double a) { return trunc(a); }
TRINE_NV float __nv_truncf(float a) { return truncf(a); }
TRINE_NV int __nv_uhadd(unsigned int a, unsigned int b) { return __uhadd(a, b); }
TRINE_NV double __nv_uint2double_rn(unsigned int a) { return __uint2double_rn(a); }
TRINE_NV float __nv_uint2float_rd(unsigned int a) { return __uint2float_rd(a); }
TRINE_NV float __nv_uint2float_rn(unsigned int a) { return __uint2float_rn(a); }
TRINE_NV float __nv_uint2float_ru(unsigned int a) { return __uint2float_ru(a); }
TRINE_NV float __nv_uint2float_rz(unsigned int a) { return __uint2float_rz(a); }
TRINE_NV float __nv_uint_as_float(unsigned int a) { return __uint_as_float(a); }
TRINE_NV double __nv_ull2double_rd(unsigned long long a) { return __ull2double_rd(a); }
TRINE_NV double __nv_ull2double_rn(unsigned long long a) { return __ull2double_rn(a); }
TRINE_NV double __nv_ull2double_ru(unsigned long long a) { return __ull2double_ru(a); }
TRINE_NV double __nv_ull2double_rz(unsigned long long a) { return __ull2double_rz(a); }
TRINE_NV float __nv_ull2float_rd(unsigned long long a) { return __ull2float_rd(a); }
TRINE_NV float __nv_ull2float_rn(unsigned long long a) { return __ull2float_rn(a); }
TRINE_NV float __nv_ull2float_ru(unsigned long long a) { return __ull2float_ru(a); }
TRINE_NV float __nv_ull2float_rz(unsigned long long a) { return __ull2float_rz(a); }
TRINE_NV unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) { return ullmax(a, b); }
TRINE_NV unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) { return ullmin(a, b); }
TRINE_NV unsigned int __nv_umax(unsigned int a, unsigned int b) { return umax(a, b); }
TRINE_NV unsigned int __nv_umin(unsigned int a, unsigned int b) { return umin(a, b); }
TRINE_NV unsigned int __nv_umul24(unsigned int a, unsigned int b) { return __umul24(a, b); }
TRINE_NV unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) { return __umul64hi(a, b); }
TRINE_NV unsigned int __nv_umulhi(unsigned int a, unsigned int b) { return __umulhi(a, b); }
TRINE_NV unsigned int __nv_urhadd(unsigned int a, unsigned int b) { return __urhadd(a, b); }
TRINE_NV unsigned int __nv_usad(unsigned int a, unsigned int b, unsigned int c) { return __usad(a, b, c); }
TRINE_NV int __nv_vabs2(int a) { return __vabs2(a); }
TRINE_NV int __nv_vabs4(int a) { return __vabs4(a); }
TRINE_NV int __nv_vabsdiffs2(int a, int b) { return __vabsdiffs2(a, b); }
TRINE_NV int __nv_vabsdiffs4(int a, int b) { return __vabsdiffs4(a, b); }
TRINE_NV int __nv_vabsdiffu2(int a, int b) { return __vabsdiffu2(a, b); }
TRINE_NV int __nv_vabsdiffu4(int a, int b) { return __vabsdiffu4(a, b); }
TRINE_NV int __nv_vabsss2(int a) { return __vabsss2(a); }
TRINE_NV int __nv_vabsss4(int a) { return __vabsss4(a); }
TRINE_NV int __nv_vadd2(int a, int b) { return __vadd2(a, b); }
TRINE_NV int __nv_vadd4(int a, int b) { return __vadd4(a, b); }
TRINE_NV int __nv_vaddss2(int a, int b) { return __vaddss2(a, b); }
TRINE_NV int __nv_vaddss4(int a, int b) { return __vaddss4(a, b); }
TRINE_NV int __nv_vaddus2(int a, int b) { return __vaddus2(a, b); }
TRINE_NV int __nv_vaddus4(int a, int b) { return __vaddus4(a, b); }
TRINE_NV int __nv_vavgs2(int a, int b) { return __vavgs2(a, b); }
TRINE_NV int __nv_vavgs4(int a, int b) { return __vavgs4(a, b); }
TRINE_NV int __nv_vavgu2(int a, int b) { return __vavgu2(a, b); }
TRINE_NV int __nv_vavgu4(int a, int b) { return __vavgu4(a, b); }
TRINE_NV int __nv_vcmpeq2(int a, int b) { return __vcmpeq2(a, b); }
TRINE_NV int __nv_vcmpeq4(int a, int b) { return __vcmpeq4(a, b); }
TRINE_NV int __nv_vcmpges2(int a, int b) { return __vcmpges2(a, b); }
TRINE_NV int __nv_vcmpges4(int a, int b) { return __vcmpges4(a, b); }
TRINE_NV int __nv_vcmpgeu2(int a, int b) { return __vcmpgeu2(a, b); }
TRINE_NV int __nv_vcmpgeu4(int a, int b) { return __vcmpgeu4(a, b); }
TRINE_NV int __nv_vcmpgts2(int a, int b) { return __vcmpgts2(a, b); }
TRINE_NV int __nv_vcmpgts4(int a, int b) { return __vcmpgts4(a, b); }
TRINE_NV int __nv_vcmpgtu2(int a, int b) { return __vcmpgtu2(a, b); }
TRINE_NV int __nv_vcmpgtu4(int a, int b) { return __vcmpgtu4(a, b); }
TRINE_NV int __nv_vcmples2(int a, int b) { return __vcmples2(a, b); }
TRINE_NV int __nv_vcmples4(int a, int b) { return __vcmples4(a, b); }
TRINE_NV int __nv_vcmpleu2(int a, int b) { return __vcmpleu2(a, b); }
TRINE_NV int __nv_vcmpleu4(int a, int b) { return __vcmpleu4(a, b); }
TRINE_NV int __nv_vcmplts2(int a, int b) { return __vcmplts2(a, b); }
TRINE_NV int __nv_vcmplts4(int a, int b) { return __vcmplts4(a, b); }
TRINE_NV int __nv_vcmpltu2(int a, int b) { return __vcmpltu2(a, b); }
TRINE_NV int __nv_vcmpltu4(int a, int b) { return __vcmpltu4(a, b); }
TRINE_NV int __nv_vcmpne2(int a, int b) { return __vcmpne2(a, b); }
TRINE_NV int __nv_vcmpne4(int a, int b) { return __vcmpne4(a, b); }
TRINE_NV int __nv_vhaddu2(int a, int b) { return __vhaddu2(a, b); }
TRINE_NV int __nv_vhaddu4(int a, int b) { return __vhaddu4(a, b); }
TRINE_NV int __nv_vmaxs2(int a, int b) { return __vmaxs2(a, b); }
TRINE_NV int __nv_vmaxs4(int a, int b) { return __vmaxs4(a, b); }
TRINE_NV int __nv_vmaxu2(int a, int b) { return __vmaxu2(a, b); }
TRINE_NV int __nv_vmaxu4(int a, int b) { return __vmaxu4(a, b); }
TRINE_NV int __nv_vmins2(int a, int b) { return __vmins2(a, b); }
TRINE_NV int __nv_vmins4(int a, int b) { return __vmins4(a, b); }
TRINE_NV int __nv_vminu2(int a, int b) { return __vminu2(a, b); }
TRINE_NV int __nv_vminu4(int a, int b) { return __vminu4(a, b); }
TRINE_NV int __nv_vneg2(int a) { return __vneg2(a); }
TRINE_NV int __nv_vneg4(int a) { return __vneg4(a); }
TRINE_NV int __nv_vnegss2(int a) { return __vnegss2(a); }
TRINE_NV int __nv_vnegss4(int a) { return __vnegss4(a); }
TRINE_NV int __nv_vsads2(int a, int b) { return __vsads2(a, b); }
TRINE_NV int __nv_vsads4(int a, int b) { return __vsads4(a, b); }
TRINE_NV int __nv_vsadu2(int a, int b) { return __vsadu2(a, b); }
TRINE_NV int __nv_vsadu4(int a, int b) { return __vsadu4(a, b); }
TRINE_NV int __nv_vseteq2(int a, int b) { return __vseteq2(a, b); }
TRINE_NV int __nv_vseteq4(int a, int b) { return __vseteq4(a, b); }
TRINE_NV int __nv_vsetges2(int a, int b) { return __vsetges2(a, b); }
TRINE_NV int __nv_vsetges4(int a, int b) { return __vsetges4(a, b); }
TRINE_NV int __nv_vsetgeu2(int a, int b) { return __vsetgeu2(a, b); }
TRINE_NV int __nv_vsetgeu4(int a, int b) { return __vsetgeu4(a, b); }
TRINE_NV int __nv_vsetgts2(int a, int b) { return __vsetgts2(a, b); }
TRINE_NV int __nv_vsetgts4(int a, int b) { return __vsetgts4(a, b); }
TRINE_NV int __nv_vsetgtu2(int a, int b) { return __vsetgtu2(a, b); }
TRINE_NV int __nv_vsetgtu4(int a, int b) { return __vsetgtu4(a, b); }
TRINE_NV int __nv_vsetles2(int a, int b) { return __vsetles2(a, b); }
TRINE_NV int __nv_vsetles4(int a, int b) { return __vsetles4(a, b); }
TRINE_NV int __nv_vsetleu2(int a, int b) { return __vsetleu2(a, b); }
TRINE_NV int __nv_vsetleu4(int a, int b) { return __vsetleu4(a, b); }
TRINE_NV int __nv_vsetlts2(int a, int b) { return __vsetlts2(a, b); }
TRINE_NV int __nv_vsetlts4(int a, int b) { return __vsetlts4(a, b); }
TRINE_NV int __nv_vsetltu2(int a, int b) { return __vsetltu2(a, b); }
TRINE_NV int __nv_vsetltu4(int a, int b) { return __vsetltu4(a, b); }
TRINE_NV int __nv_vsetne2(int a, int b) { return __vsetne2(a, b); }
TRINE_NV int __nv_vsetne4(int a, int b) { return __vsetne4(a, b); }
TRINE_NV int __nv_vsub2(int a, int b) { return __vsub2(a, b); }
TRINE_NV int __nv_vsub4(int a, int b) { return __vsub4(a, b); }
TRINE_NV int __nv_vsubss2(int a, int b) { return __vsubss2(a, b); }
TRINE_NV int __nv_vsubss4(int a, int b) { return __vsubss4(a, b); }
TRINE_NV int __nv_vsubus2(int a, int b) { return __vsubus2(a, b); }
TRINE_NV int __nv_vsubus4(int a, int b) { return __vsubus4(a, b); }
TRINE_NV double __nv_y0(double a) { return y0(a); }
TRINE_NV float __nv_y0f(float a) { return y0f(a); }
TRINE_NV double __nv_y1(double a) { return y1(a); }
TRINE_NV float __nv_y1f(float a) { return y1f(a); }
TRINE_NV float __nv_ynf(int a, float b) { return ynf(a, b); }
TRINE_NV double __nv_yn(int a, double b) { return yn(a, b); }

#undef TRINE_NV
