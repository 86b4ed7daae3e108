// The price of an Asian option by simulation: the mean of a path's prices decides. Normal numbers by Box and Muller
// from Philox 4x32-10 (Salmon et al. 2011), so that any thread finds any number of any path without a state.
//
//   trine cc examples/compute/monte_carlo.cu -o monte_carlo && ./monte_carlo [thousands of paths]
#include <cmath>

#include "support.h"

constexpr int kDays = 64, kBlock = 256;
constexpr float kStock = 100, kStrike = 100, kRate = 0.03f, kVolatility = 0.25f;

__host__ __device__ uint32_t high_product(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}

// Ten rounds on the counter (c0, c1, 0, 0).
__host__ __device__ uint4 philox(uint32_t c0, uint32_t c1) {
  uint4 c = {c0, c1, 0, 0};
  uint32_t k0 = 0x2545f491u, k1 = 0x9e3779b9u;
  for (int round = 0; round < 10; ++round, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u)
    c = {high_product(0xcd9e8d57u, c.z) ^ c.y ^ k0, 0xcd9e8d57u * c.z, high_product(0xd2511f53u, c.x) ^ c.w ^ k1,
         0xd2511f53u * c.x};
  return c;
}

// Four normal numbers.
__host__ __device__ float4 normal4(uint4 bits) {
  const auto uniform = [](uint32_t w) { return (w + 0.5f) * 2.3283064e-10f; };
  const float r0 = sqrtf(-2 * logf(uniform(bits.x))), r1 = sqrtf(-2 * logf(uniform(bits.z)));
  const float a0 = 6.2831853f * uniform(bits.y), a1 = 6.2831853f * uniform(bits.w);
  return {r0 * cosf(a0), r0 * sinf(a0), r1 * cosf(a1), r1 * sinf(a1)};
}

__host__ __device__ float payoff(uint32_t path) {
  const float dt = 1.0f / kDays, drift = (kRate - kVolatility * kVolatility / 2) * dt, size = kVolatility * sqrtf(dt);
  float log_price = 0, sum = 0;
  for (int day = 0; day < kDays; day += 4) {
    const float4 z = normal4(philox(path, static_cast<uint32_t>(day)));
    for (float x : {z.x, z.y, z.z, z.w}) sum += expf(log_price += drift + size * x);
  }
  return fmaxf(kStock * sum / kDays - kStrike, 0) * expf(-kRate);
}

__global__ void simulate(double* sums) {
  __shared__ double shared[kBlock];
  const float mine = payoff(blockIdx.x * kBlock + threadIdx.x);
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

int main(int argc, char** argv) {
  const int blocks = options_of(argc, argv, 262, 20).size * 1000 / kBlock, paths = blocks * kBlock;
  DeviceArray<double> sums(blocks);
  const float ms = milliseconds([&] { simulate<<<blocks, kBlock>>>(sums.get()); });
  CHECK(cudaGetLastError());
  double sum = 0, first = 0;
  const std::vector<double> found = sums.to_host();
  for (double s : found) sum += s;
  for (uint32_t path = 0; path < kBlock; ++path) first += payoff(path);
  const double price = sum / paths, error = std::fabs(first - found[0]) / first;
  std::printf("%d paths of %d days: %.3f ms, %.1f M normal numbers/s; the option costs %.3f; first block within %.1e\n",
              paths, kDays, ms, double(paths) * kDays / ms * 1e-3, price, error);
  return error < 1e-5 && price > 5 && price < 9 ? 0 : 1;
}
