#include <cmath>

#include "rows.h"

namespace trine::bench_compute {

constexpr float kRate = 0.02f, kVolatility = 0.30f;

static float normal_cdf(float x) { return 0.5f * std::erfc(-x * 0.70710678f); }

void black_scholes(const Work& work) {
  const float *stock = work.array<float>(0), *strike = work.array<float>(1), *years = work.array<float>(2);
  float *call = work.array<float>(3), *put = work.array<float>(4);
  const int n = work.number(0);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) {
    const float v = kVolatility * std::sqrt(years[i]);
    const float d1 = (std::log(stock[i] / strike[i]) + (kRate + kVolatility * kVolatility / 2) * years[i]) / v;
    const float discounted = strike[i] * std::exp(-kRate * years[i]);
    call[i] = stock[i] * normal_cdf(d1) - discounted * normal_cdf(d1 - v);
    put[i] = call[i] - stock[i] + discounted;
  }
}

}  // namespace trine::bench_compute
