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

long double normcdf(double x) {
  Big y(x, 200), root(2, 200);
  mpfr_sqrt(root, root, MPFR_RNDN);
  mpfr_div(y, y, root, MPFR_RNDN);
  mpfr_neg(y, y, MPFR_RNDN);
  mpfr_erfc(y, y, MPFR_RNDN);
  mpfr_div_ui(y, y, 2, MPFR_RNDN);
  return y.get();
}
long double erfcx(double x) {
  Big y(x, 200), square(x, 200);
  mpfr_sqr(square, square, MPFR_RNDN);
  if (x > 2e4) {  // two terms of its series
    const long double wide = x, term = 1 / (wide * std::sqrt(3.14159265358979323846264338327950288L));
    return std::isinf(x) ? 0 : term * (1 - 0.5L / (wide * wide) * (1 - 1.5L / (wide * wide)));
  }
  mpfr_exp(square, square, MPFR_RNDN);
  mpfr_erfc(y, y, MPFR_RNDN);
  mpfr_mul(y, y, square, MPFR_RNDN);
  return y.get();
}

long double lgamma(double x) {
  Big y(x, 200);
  int sign;
  mpfr_lgamma(y, &sign, y, MPFR_RNDN);
  return y.get();
}
long double tgamma(double x) {
  Big y(x, 64);
  mpfr_gamma(y, y, MPFR_RNDN);
  return y.get();
}

// z with erfc(z) = y, by Newton's steps on log erfc from where the library's result stands; `times` scales it.
long double erfcinv(long double y, long double guess) {
  Big z(guess, 200), want(y, 200), e(0, 200), slope(0, 200), step(0, 200);
  mpfr_log(want, want, MPFR_RNDN);
  for (int i = 0; i < 6; ++i) {
    mpfr_erfc(e, z, MPFR_RNDN);
    mpfr_sqr(slope, z, MPFR_RNDN);
    mpfr_neg(slope, slope, MPFR_RNDN);
    mpfr_exp(slope, slope, MPFR_RNDN);
    mpfr_mul_d(slope, slope, 1.1283791670955126, MPFR_RNDN);  // a Newton's step needs no exact slope
    mpfr_log(step, e, MPFR_RNDN);
    mpfr_sub(step, step, want, MPFR_RNDN);
    mpfr_mul(step, step, e, MPFR_RNDN);
    mpfr_div(step, step, slope, MPFR_RNDN);
    mpfr_add(z, z, step, MPFR_RNDN);
  }
  return z.get();
}
long double erfcinv(double y) {
  if (!(y > 0 && y < 2)) return y == 0 ? INFINITY : y == 2 ? -INFINITY : NAN;
  if (y == 1) return 0;
  return erfcinv(static_cast<long double>(y), tm::erfcinv(y));
}
long double normcdfinv(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
  if (p == 0.5) return -0.0L;
  return -1.41421356237309504880168872420969808L * erfcinv(2.0L * static_cast<long double>(p), tm::erfcinv(p + p));
}
// By erf for small x, where erfc is near 1.
long double erfinv(double x) {
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? std::copysign(INFINITY, x) : NAN;
  if (x == 0) return x;
  Big z(tm::erfinv(x), 200), e(0, 200), slope(0, 200);
  for (int i = 0; i < 6; ++i) {
    mpfr_erf(e, z, MPFR_RNDN);
    mpfr_sub_d(e, e, x, MPFR_RNDN);
    mpfr_sqr(slope, z, MPFR_RNDN);
    mpfr_exp(slope, slope, MPFR_RNDN);
    mpfr_mul_d(slope, slope, 0.88622692545275801, MPFR_RNDN);
    mpfr_mul(e, e, slope, MPFR_RNDN);
    mpfr_sub(z, z, e, MPFR_RNDN);
  }
  return z.get();
}

// I0 and I1 by their series, which converges for all x.
template <int kOrder>
long double bessel_i(double x) {
  if (std::isnan(x) || std::isinf(x)) return kOrder ? x : x * x;
  if (std::fabs(x) > 800) return kOrder && x < 0 ? -INFINITY : INFINITY;
  Big term(1, 300), sum(1, 300), z(x, 300);
  mpfr_sqr(z, z, MPFR_RNDN);
  mpfr_div_ui(z, z, 4, MPFR_RNDN);
  for (unsigned k = 1; k < 1200; ++k) {
    mpfr_mul(term, term, z, MPFR_RNDN);
    mpfr_div_ui(term, term, static_cast<unsigned long>(k) * (k + kOrder), MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
    if (mpfr_zero_p(static_cast<mpfr_ptr>(term)) ||
        (k > 100 && mpfr_get_exp(static_cast<mpfr_ptr>(sum)) - mpfr_get_exp(static_cast<mpfr_ptr>(term)) > 100))
      break;
  }
  if (kOrder) mpfr_mul_d(sum, sum, x / 2, MPFR_RNDN);
  return sum.get();
}
template <int (*kFunction)(mpfr_ptr, long, mpfr_srcptr, mpfr_rnd_t), int kOrder>
long double of_order(double x) {
  Big y(x);
  kFunction(y, kOrder, y, MPFR_RNDN);
  return y.get();
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
    {"j0", 5, [](double x) { return tm::j0(x); }, big<mpfr_j0>, "of 1", -1e7, 1e7, 1},
    {"j1", 3, [](double x) { return tm::j1(x); }, big<mpfr_j1>, "of 1", -1e7, 1e7, 1},
    {"y0", 16, [](double x) { return tm::y0(x); }, big<mpfr_y0>, "of 1", -1, 1e7, 1},
    {"y1", 3, [](double x) { return tm::y1(x); }, big<mpfr_y1>, "of 1", -1, 1e7, 1},
    {"jn_5", 16, [](double x) { return tm::jn(5, x); }, of_order<mpfr_jn, 5>, "of 1", -1e7, 1e7, 1},
    {"jn_40", 16, [](double x) { return tm::jn(40, x); }, of_order<mpfr_jn, 40>, "of 1", -1e7, 1e7, 1},
    {"yn_5", 16, [](double x) { return tm::yn(5, x); }, of_order<mpfr_yn, 5>, "of 1", -1, 1e7, 1},
    {"cyl_bessel_i0", 8, [](double x) { return tm::cyl_bessel_i0(x); }, bessel_i<0>},
    {"cyl_bessel_i1", 8, [](double x) { return tm::cyl_bessel_i1(x); }, bessel_i<1>},
    {"cbrt", 1, [](double x) { return tm::cbrt(x); }, big<mpfr_cbrt>},
    {"rcbrt", 2, [](double x) { return tm::rcbrt(x); }, [](double x) { return 1 / big<mpfr_cbrt>(x); }},
    {"tgamma", 6, [](double x) { return tm::tgamma(x); }, tgamma},
    {"lgamma", 6, [](double x) { return tm::lgamma(x); }, lgamma, "", 0},
    {"lgamma_below", 6, [](double x) { return tm::lgamma(x); }, lgamma, "of 1", -1e4, 0, 1},
    {"erfinv", 8, [](double x) { return tm::erfinv(x); }, erfinv},
    {"erfcinv", 8, [](double x) { return tm::erfcinv(x); }, erfcinv},
    {"normcdfinv", 8, [](double x) { return tm::normcdfinv(x); }, normcdfinv},
    {"erf", 2, [](double x) { return tm::erf(x); }, big<mpfr_erf>},
    {"erfc", 5, [](double x) { return tm::erfc(x); }, big<mpfr_erfc>},
    {"erfcx", 5, [](double x) { return tm::erfcx(x); }, erfcx},
    {"normcdf", 5, [](double x) { return tm::normcdf(x); }, normcdf},
};

constexpr DoublePairRow kPairRows[] = {
    {"hypot", 1, [](double x, double y) { return tm::hypot(x, y); }, big<mpfr_hypot>},
    {"rhypot", 2, [](double x, double y) { return tm::rhypot(x, y); },
     [](double x, double y) { return 1 / big<mpfr_hypot>(x, y); }},
    {"pow", 1, [](double x, double y) { return tm::pow(x, y); }, big<mpfr_pow>},
    {"atan2", 2, [](double y, double x) { return tm::atan2(y, x); }, big<mpfr_atan2>},
};

}  // namespace

std::span<const DoubleRow> double_rows() { return kRows; }
std::span<const DoublePairRow> double_pair_rows() { return kPairRows; }

}  // namespace device_math
