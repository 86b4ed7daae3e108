// Sorts 32-bit keys, 4 bits a pass: each block counts its digits, one kernel turns counts into places, each block moves
// its keys there in order (ranks by ballots within a warp).
//
//   trine cc examples/compute/radix_sort.cu -o radix_sort && ./radix_sort [keys]
#include <algorithm>
#include <random>

#include "support.h"

constexpr int kBlock = 256, kEach = 8, kStretch = kBlock * kEach, kDigits = 16, kWarps = kBlock / 32;

__global__ void count(const uint32_t* keys, int n, int shift, int* counts) {
  __shared__ int mine[kDigits];
  if (threadIdx.x < kDigits) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < kEach; ++i) {
    const int at = blockIdx.x * kStretch + i * kBlock + threadIdx.x;
    if (at < n) atomicAdd(&mine[keys[at] >> shift & (kDigits - 1)], 1);
  }
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

// Exclusive sums of all counts, by one block.
__global__ void places(int* counts, int n) {
  __shared__ int sums[kBlock];
  const int each = (n + kBlock - 1) / kBlock, first = threadIdx.x * each, end = min(n, first + each);
  int sum = 0;
  for (int i = first; i < end; ++i) sum += counts[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int distance = 1; distance < kBlock; distance *= 2) {
    const int other = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
    __syncthreads();
    sums[threadIdx.x] += other;
    __syncthreads();
  }
  int place = sums[threadIdx.x] - sum;
  for (int i = first; i < end; ++i) {
    const int own = counts[i];
    counts[i] = place, place += own;
  }
}

__global__ void move(const uint32_t* keys, uint32_t* to, int n, int shift, const int* first) {
  __shared__ int next[kDigits], warps[kWarps][kDigits];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < kDigits) next[threadIdx.x] = first[threadIdx.x * gridDim.x + blockIdx.x];
  for (int i = 0; i < kEach; ++i) {
    const int at = blockIdx.x * kStretch + i * kBlock + threadIdx.x;
    const bool real = at < n;
    const uint32_t key = real ? keys[at] : 0;
    const int digit = key >> shift & (kDigits - 1);
    if (lane < kDigits) warps[warp][lane] = 0;
    unsigned same = __ballot_sync(0xffffffffu, real);  // lanes with my digit
    for (int bit = 1; bit < kDigits; bit *= 2) {
      const unsigned those = __ballot_sync(0xffffffffu, digit & bit);
      same &= digit & bit ? those : ~those;
    }
    const int before = __popc(same & ((1u << lane) - 1));
    __syncwarp();
    if (real && before == 0) warps[warp][digit] = __popc(same);
    __syncthreads();
    if (real) {
      int place = next[digit] + before;
      for (int w = 0; w < warp; ++w) place += warps[w][digit];
      to[place] = key;
    }
    __syncthreads();
    if (threadIdx.x < kDigits)
      for (int w = 0; w < kWarps; ++w) next[threadIdx.x] += warps[w][threadIdx.x];
    __syncthreads();
  }
}

int main(int argc, char** argv) {
  const int n = options_of(argc, argv, (1 << 22) + 11, 10'011).size;
  std::mt19937 random(1);
  std::vector<uint32_t> keys(n);
  for (uint32_t& k : keys) k = random();
  const int blocks = static_cast<int>(blocks_for(n, kStretch));
  DeviceArray<uint32_t> in(keys), a(in.count()), b(in.count());
  DeviceArray<int> counts(size_t{kDigits} * blocks);
  const float ms = milliseconds([&] {
    CHECK(cudaMemcpy(a.get(), in.get(), in.bytes(), cudaMemcpyDeviceToDevice));
    uint32_t *from = a.get(), *to = b.get();
    for (int shift = 0; shift < 32; shift += 4) {
      count<<<blocks, kBlock>>>(from, n, shift, counts.get());
      places<<<1, kBlock>>>(counts.get(), kDigits * blocks);
      move<<<blocks, kBlock>>>(from, to, n, shift, counts.get());
      std::swap(from, to);
    }
  });
  CHECK(cudaGetLastError());
  std::sort(keys.begin(), keys.end());
  const bool right = a.to_host() == keys;
  std::printf("%d keys: %.3f ms, %.1f M keys/s, %s\n", n, ms, n / ms * 1e-3, right ? "sorted" : "WRONG");
  return right ? 0 : 1;
}
