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
};

constexpr FloatPairRow kPairRows[] = {
    {"powf", 2, [](float x, float y) { return tm::pow(x, y); }, [](double x, double y) { return std::pow(x, y); }},
    {"atan2f", 3, [](float y, float x) { return tm::atan2(y, x); },
     [](double y, double x) { return std::atan2(y, x); }},
};

}  // namespace

std::span<const FloatRow> float_rows() { return kRows; }
std::span<const FloatPairRow> float_pair_rows() { return kPairRows; }

}  // namespace device_math
