// CUDA C++ of these tests.
#pragma once

namespace trine::compute {

constexpr const char* kKernels = R"(
__device__ int counters[4];
__constant__ float table[16];

__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

// A block of 256 threads sums its part.
__global__ void reduce(const int* in, int* out, int n) {
  __shared__ int part[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// Of each warp: its sum by a butterfly, the value of the next lane, the lanes with odd values.
__global__ void shuffles(const int* in, int* sums, int* next, unsigned* odd) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = in[i], sum = value;
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  sums[i] = sum;
  next[i] = __shfl_down_sync(0xffffffffu, value, 1);
  odd[i] = __ballot_sync(0xffffffffu, value & 1);
}

// Turns the order of n numbers around, in memory that the launch gives.
__global__ void reverse(const int* in, int* out, int n) {
  extern __shared__ int held[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) held[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = held[n - 1 - i];
}

struct Mixed {
  char tag;
  double scale;
  short steps[3];
  float* out;
};
__global__ void by_value(Mixed m, char last) {
  int i = threadIdx.x;
  m.out[i] = static_cast<float>(m.scale * m.steps[i % 3] + m.tag + last);
}

__global__ void use_variables(float* out) {
  out[threadIdx.x] = table[threadIdx.x % 16] * 2;
  if (threadIdx.x < 4) counters[threadIdx.x] += blockDim.x;
}

// Every block waits for all others: it ends only when all are resident.
__global__ void meet(int* arrived, int* seen) {
  if (threadIdx.x != 0) return;
  atomicAdd(arrived, 1);
  while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) {
  }
  seen[blockIdx.x] = 1;
}

__global__ void poke(int* where) { *where = 1; }

__global__ void say(int n) { printf("thread %d of %d says %.2f\n", (int)threadIdx.x, n, 0.25); }

__global__ void insist(int n) { assert(n == 3); }

struct Large {
  int values[1000];
};
__global__ void of_large(Large large, int* out) { out[threadIdx.x] = large.values[threadIdx.x] * 3; }

__global__ void __launch_bounds__(192) bounded(int* out) { out[threadIdx.x] = threadIdx.x; }

__managed__ int both[4];
__global__ void use_managed() { both[threadIdx.x] += 100; }

template <class T>
__global__ void scale(T* x, T a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
template __global__ void scale<float>(float*, float, int);
template __global__ void scale<double>(double*, double, int);
)";

constexpr const char* kNonsense = R"(
__global__ void nonsense() { asm volatile("no_such_instruction;"); }
)";

}  // namespace trine::compute
