#include <cmath>

#include "simt/headers/math_all.h"
#include "table.h"

namespace device_math {
namespace {

namespace tm = trine_math;

// sin(pi x) and cos(pi x); whole numbers give zeros with the sign of x.
double sinpi(double x) {
  if (!std::isfinite(x)) return NAN;
  const double r = std::fmod(x, 2.0);
  if (r == std::trunc(r)) return std::copysign(0.0, x);
  return static_cast<double>(std::sin(3.14159265358979323846264338327950288L * static_cast<long double>(r)));
}
double cospi(double x) {
  if (!std::isfinite(x)) return NAN;
  const double r = std::fmod(std::fabs(x), 2.0);
  if (r == 0.5 || r == 1.5) return 0.0;
  return static_cast<double>(std::cos(3.14159265358979323846264338327950288L * static_cast<long double>(r)));
}

double erfcx(double x) {
  if (x > 9) {  // its asymptotic series
    double term = 1, sum = 1;
    for (int k = 1; k < 12 && std::isfinite(x); ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
    return sum / (x * 1.7724538509055160273);
  }
  return std::exp(x * x) * std::erfc(x);
}

constexpr FloatRow kRows[] = {
    {"expf", 1, [](float x) { return tm::exp(x); }, [](double x) { return std::exp(x); }},
    {"exp2f", 1, [](float x) { return tm::exp2(x); }, [](double x) { return std::exp2(x); }},
    {"exp10f", 1, [](float x) { return tm::exp10(x); }, [](double x) { return exp10(x); }},
    {"expm1f", 1, [](float x) { return tm::expm1(x); }, [](double x) { return std::expm1(x); }},
    {"logf", 1, [](float x) { return tm::log(x); }, [](double x) { return std::log(x); }},
    {"log2f", 1, [](float x) { return tm::log2(x); }, [](double x) { return std::log2(x); }},
    {"log10f", 1, [](float x) { return tm::log10(x); }, [](double x) { return std::log10(x); }},
    {"log1pf", 1, [](float x) { return tm::log1p(x); }, [](double x) { return std::log1p(x); }},
    {"sinf", 2, [](float x) { return tm::sin(x); }, [](double x) { return std::sin(x); }},
    {"cosf", 2, [](float x) { return tm::cos(x); }, [](double x) { return std::cos(x); }},
    {"tanf", 4, [](float x) { return tm::tan(x); }, [](double x) { return std::tan(x); }},
    {"sinpif", 1, [](float x) { return tm::sinpi(x); }, sinpi},
    {"cospif", 1, [](float x) { return tm::cospi(x); }, cospi},
    {"asinf", 2, [](float x) { return tm::asin(x); }, [](double x) { return std::asin(x); }},
    {"acosf", 2, [](float x) { return tm::acos(x); }, [](double x) { return std::acos(x); }},
    {"atanf", 2, [](float x) { return tm::atan(x); }, [](double x) { return std::atan(x); }},
    {"sinhf", 3, [](float x) { return tm::sinh(x); }, [](double x) { return std::sinh(x); }},
    {"coshf", 2, [](float x) { return tm::cosh(x); }, [](double x) { return std::cosh(x); }},
    {"tanhf", 2, [](float x) { return tm::tanh(x); }, [](double x) { return std::tanh(x); }},
    {"asinhf", 3, [](float x) { return tm::asinh(x); }, [](double x) { return std::asinh(x); }},
    {"acoshf", 4, [](float x) { return tm::acosh(x); }, [](double x) { return std::acosh(x); }},
    {"atanhf", 3, [](float x) { return tm::atanh(x); }, [](double x) { return std::atanh(x); }},
    {"rsqrtf", 2, [](float x) { return tm::rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }},
    {"erff", 2, [](float x) { return tm::erf(x); }, [](double x) { return std::erf(x); }},
    {"j0f", 1, [](float x) { return tm::j0(x); }, [](double x) { return ::j0(x); }, "of 1", -1e7, 1e7, 1},
    {"y1f", 1, [](float x) { return tm::y1(x); }, [](double x) { return x == 0  ? -INFINITY
                                                                        : x < 0 ? NAN
                                                                                : ::y1(x); },
     "of 1", -1, 1e7, 1},
    {"fast_exp2", 4, [](float x) { return tm::fast_exp2(x); }, [](double x) { return std::exp2(x); },
     "from -126 to 128", -126, 128},
    {"fast_exp", 4, [](float x) { return tm::fast_exp(x); }, [](double x) { return std::exp(x); }, "from -1 to 1", -1,
     1},
    {"fast_log2", 3, [](float x) { return tm::fast_log2(x); }, [](double x) { return std::log2(x); },
     "of 1; from 1e-37", 1e-37f, 3e38f, 1},
    {"fast_log", 4, [](float x) { return tm::fast_log(x); }, [](double x) { return std::log(x); }, "of 1; from 1e-37",
     1e-37f, 3e38f, 1},
    {"fast_sin", 2, [](float x) { return tm::fast_sin(x); }, [](double x) { return std::sin(x); }, "of 1; to 1e4",
     -1e4f, 1e4f, 1},
    {"fast_cos", 2, [](float x) { return tm::fast_cos(x); }, [](double x) { return std::cos(x); }, "of 1; to 1e4",
     -1e4f, 1e4f, 1},
    {"cbrtf", 1, [](float x) { return tm::cbrt(x); }, [](double x) { return std::cbrt(x); }},
    {"rcbrtf", 2, [](float x) { return tm::rcbrt(x); }, [](double x) { return 1 / std::cbrt(x); }},
    {"tgammaf", 1, [](float x) { return tm::tgamma(x); },
     [](double x) { return std::isinf(x) && x < 0 ? NAN : std::tgamma(x); }},
    {"lgammaf", 1, [](float x) { return tm::lgamma(x); }, [](double x) { return std::lgamma(x); },
     "above 0; below, of 1", -__builtin_inff(), __builtin_inff(), 1},
    {"erfinvf", 6, [](float x) { return tm::erfinv(x); }, [](double x) { return tm::erfinv(x); }},
    {"erfcinvf", 6, [](float x) { return tm::erfcinv(x); }, [](double x) { return tm::erfcinv(x); }},
    {"normcdfinvf", 7, [](float x) { return tm::normcdfinv(x); }, [](double x) { return tm::normcdfinv(x); }},
    {"erfcf", 5, [](float x) { return tm::erfc(x); }, [](double x) { return std::erfc(x); }},
    {"erfcxf", 5, [](float x) { return tm::erfcx(x); }, erfcx},
    {"normcdff", 5, [](float x) { return tm::normcdf(x); },
     [](double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }},
};

constexpr FloatPairRow kPairRows[] = {
    {"hypotf", 1, [](float x, float y) { return tm::hypot(x, y); },
     [](double x, double y) { return std::hypot(x, y); }},
    {"rhypotf", 2, [](float x, float y) { return tm::rhypot(x, y); },
     [](double x, double y) { return 1 / std::hypot(x, y); }},
    {"powf", 2, [](float x, float y) { return tm::pow(x, y); }, [](double x, double y) { return std::pow(x, y); }},
    {"atan2f", 3, [](float y, float x) { return tm::atan2(y, x); },
     [](double y, double x) { return std::atan2(y, x); }},
};

}  // namespace

std::span<const FloatRow> float_rows() { return kRows; }
std::span<const FloatPairRow> float_pair_rows() { return kPairRows; }

}  // namespace device_math
