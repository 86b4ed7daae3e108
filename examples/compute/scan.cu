// Inclusive prefix sums: y_i = x_0 + ... + x_i. Each block scans its stretch and looks back at the blocks before it
// (Merrill and Garland 2016): one pass over memory.
//
//   trine cc examples/compute/scan.cu -o scan && ./scan [elements]
#include <random>

#include "support.h"

constexpr int kBlock = 256, kEach = 8, kStretch = kBlock * kEach;

// What a block has told of itself: nothing, its own sum, or that of everything up to its end.
enum : unsigned long long { kNothing = 0, kOwn = 1ull << 62, kAll = 2ull << 62, kState = 3ull << 62 };

__device__ int warp_scan(int x) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, x, distance);
    if (threadIdx.x % 32 >= distance) x += other;
  }
  return x;
}

// The inclusive sum over the threads of the block.
__device__ int block_scan(int x) {
  __shared__ int warps[kBlock / 32];
  const int warp = threadIdx.x / 32;
  x = warp_scan(x);
  if (threadIdx.x % 32 == 31) warps[warp] = x;
  __syncthreads();
  if (warp == 0) {
    const int sums = warp_scan(threadIdx.x < kBlock / 32 ? warps[threadIdx.x] : 0);
    if (threadIdx.x < kBlock / 32) warps[threadIdx.x] = sums;
  }
  __syncthreads();
  return x + (warp > 0 ? warps[warp - 1] : 0);
}

__device__ int sum_before(unsigned long long* told, int block) {
  int sum = 0;
  for (int b = block - 1; b >= 0; --b) {
    unsigned long long word;
    do word = atomicAdd(&told[b], 0ull);
    while ((word & kState) == kNothing);
    sum += static_cast<int>(word);
    if ((word & kState) == kAll) break;
  }
  return sum;
}

__global__ void scan(const int* in, int* out, int n, unsigned long long* told) {
  __shared__ int before;
  const int first = blockIdx.x * kStretch + threadIdx.x * kEach;
  int x[kEach], sum = 0;
  for (int i = 0; i < kEach; ++i) x[i] = sum += first + i < n ? in[first + i] : 0;
  const int up_to_me = block_scan(sum);
  if (threadIdx.x == kBlock - 1) {
    const auto tell = [&](unsigned long long state, int value) {
      atomicExch(&told[blockIdx.x], state | static_cast<unsigned>(value));
    };
    if (blockIdx.x > 0) tell(kOwn, up_to_me);
    before = sum_before(told, blockIdx.x);
    tell(kAll, before + up_to_me);
  }
  __syncthreads();
  for (int i = 0; i < kEach; ++i)
    if (first + i < n) out[first + i] = before + up_to_me - sum + x[i];
}

int main(int argc, char** argv) {
  const int n = options_of(argc, argv, (1 << 24) + 5, 30'005).size;
  std::mt19937 random(1);
  std::vector<int> x(n);
  for (int& v : x) v = static_cast<int>(random() % 100) - 40;
  const unsigned blocks = blocks_for(n, kStretch);
  DeviceArray<int> in(x), out(in.count());
  DeviceArray<unsigned long long> told(blocks);
  const float ms = milliseconds([&] {
    CHECK(cudaMemset(told.get(), 0, told.bytes()));
    scan<<<blocks, kBlock>>>(in.get(), out.get(), n, told.get());
  });
  CHECK(cudaGetLastError());
  const std::vector<int> y = out.to_host();
  int wrong = 0, sum = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != (sum += x[i]);
  std::printf("%d elements: %.3f ms, %.1f GB/s, %d wrong\n", n, ms, 8.0 * n / ms * 1e-6, wrong);
  return wrong == 0 ? 0 : 1;
}
