// The sum of an array: each thread adds a stretch, warps add by shuffles, the first warp of a block adds the warps'
// sums.
//
//   trine cc examples/compute/reduction.cu -o reduction && ./reduction [elements]
#include <cmath>
#include <random>

#include "support.h"

template <class T>
__device__ T warp_sum(T x) {
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_down_sync(0xffffffffu, x, distance);
  return x;
}

template <int kBlock, class T>
__global__ void sum(const float* in, size_t n, T* out) {
  __shared__ T warps[kBlock / 32];
  T mine = 0;
  const size_t step = size_t{gridDim.x} * kBlock;
  for (size_t i = size_t{blockIdx.x} * kBlock + threadIdx.x; i < n; i += step) mine += in[i];
  mine = warp_sum(mine);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  mine = threadIdx.x < kBlock / 32 ? warps[threadIdx.x] : T(0);
  mine = warp_sum(mine);
  if (threadIdx.x == 0) atomicAdd(out, mine);
}

int main(int argc, char** argv) {
  const size_t n = options_of(argc, argv, (1 << 24) + 3, 100'003).size;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> x(n);
  double want = 0, size = 0;
  for (float& v : x) v = uniform(random), want += v, size += std::fabs(v);

  DeviceArray<float> in(x);
  DeviceArray<double> out(1);
  const float ms = milliseconds([&] {
    CHECK(cudaMemset(out.get(), 0, out.bytes()));
    sum<256><<<256, 256>>>(in.get(), n, out.get());
  });
  CHECK(cudaGetLastError());
  const double error = std::fabs(out.to_host()[0] - want) / size;
  std::printf("%zu elements: %.3f ms, %.1f GB/s, relative error %.1e\n", n, ms, double(n) * 4 / ms * 1e-6, error);
  return error < 1e-12 ? 0 : 1;
}
