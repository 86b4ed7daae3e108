// Prices of European options by Black and Scholes (1973):
//   call = S N(d1) - X e^(-rT) N(d2),  d1 = (ln(S/X) + (r + v^2/2) T) / (v sqrt(T)),  d2 = d1 - v sqrt(T)
//
//   trine cc examples/compute/black_scholes.cu -o black_scholes && ./black_scholes [options]
#include <cmath>
#include <random>

#include "support.h"

constexpr float kRate = 0.02f, kVolatility = 0.30f;

template <class T>
__host__ __device__ T normal_cdf(T x) {
  return T(0.5) * erfc(-x * T(0.70710678118654752));
}

template <class T>
__host__ __device__ void price(T stock, T strike, T years, T& call, T& put) {
  const T v = T(kVolatility) * sqrt(years);
  const T d1 = (log(stock / strike) + (T(kRate) + T(kVolatility) * T(kVolatility) / 2) * years) / v;
  const T discounted = strike * exp(-T(kRate) * years);
  call = stock * normal_cdf(d1) - discounted * normal_cdf(d1 - v);
  put = call - stock + discounted;  // parity
}

__global__ void price_all(const float* stock, const float* strike, const float* years, float* call, float* put, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) price(stock[i], strike[i], years[i], call[i], put[i]);
}

int main(int argc, char** argv) {
  const int n = options_of(argc, argv, 4'000'000, 10'000).size;
  std::mt19937 random(1);
  const auto uniform = [&](float low, float high) {
    std::vector<float> v(n);
    std::uniform_real_distribution<float> u(low, high);
    for (float& x : v) x = u(random);
    return v;
  };
  const std::vector<float> stock = uniform(5, 30), strike = uniform(1, 100), years = uniform(0.25f, 10);
  DeviceArray<float> s(stock), x(strike), t(years), c(s.count()), p(s.count());
  const auto run = [&] { price_all<<<blocks_for(n, 128), 128>>>(s.get(), x.get(), t.get(), c.get(), p.get(), n); };
  const float ms = milliseconds(run);
  CHECK(cudaGetLastError());
  const std::vector<float> calls = c.to_host(), puts = p.to_host();
  double worst = 0;
  for (int i = 0; i < n; i += 101) {
    double call, put;
    price<double>(stock[i], strike[i], years[i], call, put);
    worst = std::fmax(worst, std::fmax(std::fabs(calls[i] - call), std::fabs(puts[i] - put)));
  }
  std::printf("%d options: %.3f ms, %.1f M a second, largest error %.1e of prices up to 100\n", n, ms, n / ms * 1e-3,
              worst);
  return worst < 1e-4 ? 0 : 1;
}
