#include <cmath>

#include "mpfr_reference.h"
#include "simt/headers/math_all.h"
#include "table.h"

namespace device_math {
namespace {

namespace tm = trine_math;

// sin(pi x) and cos(pi x) from x modulo 2, which is exact; whole numbers give zeros with the sign of x.
long double of_pi(double x, int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)) {
  Big y(0, 200), pi(0, 200);
  mpfr_const_pi(pi, MPFR_RNDN);
  mpfr_mul_d(y, pi, std::fmod(x, 2.0), MPFR_RNDN);
  function(y, y, MPFR_RNDN);
  return y.get();
}
long double sinpi(double x) {
  if (!std::isfinite(x)) return NAN;
  return std::fmod(x, 1.0) == 0 ? std::copysign(0.0, x) : of_pi(x, mpfr_sin);
}
long double cospi(double x) {
  if (!std::isfinite(x)) return NAN;
  return std::fabs(std::fmod(x, 1.0)) == 0.5 ? 0.0 : of_pi(x, mpfr_cos);
}

constexpr DoubleRow kRows[] = {
    {"exp", 1, [](double x) { return tm::exp(x); }, big<mpfr_exp>},
    {"exp2", 1, [](double x) { return tm::exp2(x); }, big<mpfr_exp2>},
    {"exp10", 1, [](double x) { return tm::exp10(x); }, big<mpfr_exp10>},
    {"expm1", 1, [](double x) { return tm::expm1(x); }, big<mpfr_expm1>},
    {"log", 1, [](double x) { return tm::log(x); }, big<mpfr_log>},
    {"log2", 1, [](double x) { return tm::log2(x); }, big<mpfr_log2>},
    {"log10", 1, [](double x) { return tm::log10(x); }, big<mpfr_log10>},
    {"log1p", 1, [](double x) { return tm::log1p(x); }, big<mpfr_log1p>},
    {"sin", 1, [](double x) { return tm::sin(x); }, big<mpfr_sin>},
    {"cos", 1, [](double x) { return tm::cos(x); }, big<mpfr_cos>},
    {"tan", 2, [](double x) { return tm::tan(x); }, big<mpfr_tan>},
    {"sinpi", 1, [](double x) { return tm::sinpi(x); }, sinpi},
    {"cospi", 1, [](double x) { return tm::cospi(x); }, cospi},
    {"asin", 2, [](double x) { return tm::asin(x); }, big<mpfr_asin>},
    {"acos", 2, [](double x) { return tm::acos(x); }, big<mpfr_acos>},
    {"atan", 2, [](double x) { return tm::atan(x); }, big<mpfr_atan>},
    {"sinh", 2, [](double x) { return tm::sinh(x); }, big<mpfr_sinh>},
    {"cosh", 1, [](double x) { return tm::cosh(x); }, big<mpfr_cosh>},
    {"tanh", 1, [](double x) { return tm::tanh(x); }, big<mpfr_tanh>},
    {"asinh", 3, [](double x) { return tm::asinh(x); }, big<mpfr_asinh>},
    {"acosh", 3, [](double x) { return tm::acosh(x); }, big<mpfr_acosh>},
    {"atanh", 2, [](double x) { return tm::atanh(x); }, big<mpfr_atanh>},
    {"rsqrt", 2, [](double x) { return tm::rsqrt(x); }, [](double x) { return 1 / std::sqrt((long double)x); }},
};

constexpr DoublePairRow kPairRows[] = {
    {"pow", 1, [](double x, double y) { return tm::pow(x, y); }, big<mpfr_pow>},
    {"atan2", 2, [](double y, double x) { return tm::atan2(y, x); }, big<mpfr_atan2>},
};

}  // namespace

std::span<const DoubleRow> double_rows() { return kRows; }
std::span<const DoublePairRow> double_pair_rows() { return kPairRows; }

}  // namespace device_math
