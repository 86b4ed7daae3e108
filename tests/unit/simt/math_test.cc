// CUDA's math functions beside the host's <cmath>, in every standard that kernels may ask for.
#include <gtest/gtest.h>

#include <string>

#include "compile.h"

namespace trine::simt {
namespace {

constexpr const char* kSource = R"(
    #include <cmath>
    #include <algorithm>
    #include <limits>
    __global__ void k(float* p, double* d, int n) {
      const float x = p[0];
      int e;
      p[1] = sinf(x) + sin(x) + std::sin(x) + std::pow(x, 2.0f) + pow(x, 3.0f) + std::abs(x) + abs(n) + fabsf(x);
      p[2] = std::exp(x) + ::exp(x) + expf(x) + std::isnan(x) + isnan(d[0]) + std::numeric_limits<float>::max();
      p[3] = frexpf(x, &e) + std::floor(x) + lroundf(x) + fminf(x, 1) + std::tanh(x) + erff(x) + std::trunc(x);
      d[4] = sin(d[0]) + std::exp(d[1]) + pow(d[0], 2) + pow(x, 3) + std::cos(n) + rsqrt(d[2]) + rsqrtf(x) + asin(x) +
             atan2(d[0], 1) + std::acos(d[1]) + log(2) + std::cosh(d[2]) + exp10(d[3]) + nearbyint(d[4]) + ldexp(x, n);
      d[0] = fmax(d[1], 2) + std::fma(d[1], d[2], d[3]) + sqrt(n) + std::max(1, n) + max(n, 3) + min(x, 2.0f);
      d[1] = cbrt(d[0]) + std::cbrt(x) + cbrtf(x) + rcbrt(d[1]) + hypot(d[0], 2) + std::hypot(x, 1.0f) + rhypotf(x, x) +
             norm3d(d[0], d[1], d[2]) + norm4df(x, x, x, x) + rnorm3df(x, x, x) + norm(3, d) + rnormf(2, p);
      d[2] = erfc(d[0]) + std::erf(d[1]) + std::erfc(x) + erfcx(d[2]) + erfinvf(x) + erfcinv(d[3]) + normcdf(d[0]) +
             normcdfinvf(x) + std::tgamma(x) + lgamma(d[0]) + lgammaf(x) + std::lgamma(d[1]) + erf(n);
    }
    inline double on_the_host(double x) { return std::sin(x) + std::sin(1.0f) + std::abs(x) + std::pow(x, 2.0); })";

TEST(Math, NamesStandBesideThoseOfTheHost) {
  for (const int standard : {14, 17, 20}) {
    compute::CompileOptions options;
    options.standard = standard;
    EXPECT_EQ(parsed(kSource, options).kernels.size(), 1u) << standard;
  }
}

}  // namespace
}  // namespace trine::simt
