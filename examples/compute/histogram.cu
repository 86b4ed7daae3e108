// How often each byte occurs: a histogram in shared memory for each block, added to the whole one at its end.
//
//   trine cc examples/compute/histogram.cu -o histogram && ./histogram [words]
#include <random>

#include "support.h"

constexpr int kBins = 256;

__global__ void count(const uint32_t* words, size_t n, unsigned* bins) {
  __shared__ unsigned mine[kBins];
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    for (int b = 0; b < 4; ++b) atomicAdd(&mine[words[i] >> (8 * b) & 255], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

int main(int argc, char** argv) {
  const size_t n = options_of(argc, argv, 1 << 22, 20'001).size;
  std::mt19937 random(1);
  std::vector<uint32_t> words(n);
  std::vector<unsigned> want(kBins), zero(kBins);
  for (uint32_t& w : words) w = random() & random();  // bytes with few bits are more frequent
  for (uint32_t w : words)
    for (int b = 0; b < 4; ++b) ++want[w >> (8 * b) & 255];

  DeviceArray<uint32_t> data(words);
  DeviceArray<unsigned> bins(zero);
  const auto run = [&] {
    CHECK(cudaMemset(bins.get(), 0, bins.bytes()));
    count<<<64, 256>>>(data.get(), n, bins.get());
  };
  const float ms = milliseconds(run);
  CHECK(cudaGetLastError());
  const bool right = bins.to_host() == want;
  std::printf("%zu bytes: %.3f ms, %.2f GB/s, %s\n", n * 4, ms, n * 4 / ms * 1e-6, right ? "right" : "WRONG");
  return right ? 0 : 1;
}
