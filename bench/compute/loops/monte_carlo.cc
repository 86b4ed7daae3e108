#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "rows.h"

namespace trine::bench_compute {

constexpr int kDays = 64, kBlock = 256;
constexpr float kStock = 100, kStrike = 100, kRate = 0.03f, kVolatility = 0.25f;

struct Four {
  uint32_t x, y, z, w;
};

static uint32_t high_product(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }

static Four philox(uint32_t c0, uint32_t c1) {
  Four c = {c0, c1, 0, 0};
  uint32_t k0 = 0x2545f491u, k1 = 0x9e3779b9u;
  for (int round = 0; round < 10; ++round, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u)
    c = {high_product(0xcd9e8d57u, c.z) ^ c.y ^ k0, 0xcd9e8d57u * c.z, high_product(0xd2511f53u, c.x) ^ c.w ^ k1,
         0xd2511f53u * c.x};
  return c;
}

static float uniform(uint32_t w) { return (static_cast<float>(w) + 0.5f) * 2.3283064e-10f; }

static float payoff(uint32_t path) {
  const float dt = 1.0f / kDays, drift = (kRate - kVolatility * kVolatility / 2) * dt,
              size = kVolatility * std::sqrt(dt);
  float log_price = 0, sum = 0;
  for (int day = 0; day < kDays; day += 4) {
    const Four bits = philox(path, static_cast<uint32_t>(day));
    const float r0 = std::sqrt(-2 * std::log(uniform(bits.x))), r1 = std::sqrt(-2 * std::log(uniform(bits.z)));
    const float a0 = 6.2831853f * uniform(bits.y), a1 = 6.2831853f * uniform(bits.w);
    for (float z : {r0 * std::cos(a0), r0 * std::sin(a0), r1 * std::cos(a1), r1 * std::sin(a1)})
      sum += std::exp(log_price += drift + size * z);
  }
  return std::fmax(kStock * sum / kDays - kStrike, 0.0f) * std::exp(-kRate);
}

void monte_carlo(const Work& work) {
  double* sums = work.array<double>(0);
  const int blocks = work.number(0);
#pragma omp parallel for schedule(dynamic)
  for (int block = 0; block < blocks; ++block) {
    double sum = 0;
    for (int i = 0; i < kBlock; ++i) sum += payoff(static_cast<uint32_t>(block * kBlock + i));
    sums[block] = sum;
  }
}

}  // namespace trine::bench_compute
