// Each atomic function against what must come out, on global and shared memory, and a lock of compare-and-swap.
#include <cstdio>

#define CHECK(what) \
  if (!(what)) return printf("failed: %s, line %d\n", #what, __LINE__), 1

constexpr int kThreads = 96, kBlocks = 5, kAll = kThreads * kBlocks;

struct Results {
  int sum, least, most, all_bits, any_bits, odd_bits, swapped, locked;
  unsigned up, down;
  float real;
  double precise;
  unsigned long long wide, wide_most;
};

__global__ void atomics(Results* r, int* lock, int* in_shared) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&counter, threadIdx.x % 3 == 0);
  atomicAdd(&r->sum, i);
  atomicSub(&r->sum, 1);
  atomicMin(&r->least, 50 - i);
  atomicMax(&r->most, i);
  atomicAnd(&r->all_bits, ~(1 << i % 7));
  atomicOr(&r->any_bits, 1 << i % 31);
  atomicXor(&r->odd_bits, i);
  atomicInc(&r->up, 99);
  atomicDec(&r->down, 49);
  atomicAdd(&r->real, 0.5f);
  atomicAdd(&r->precise, 0.25);
  atomicAdd(&r->wide, 1ull << 33);
  atomicMax(&r->wide_most, (unsigned long long)i << 32);
  if (i == 7) atomicExch(&r->swapped, 77);
  if (threadIdx.x % 32 == 0) {  // one thread of a warp, as locks of warps are written
    while (atomicCAS(lock, 0, 1) != 0) continue;
    volatile int* guarded = &r->locked;
    *guarded = *guarded + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) in_shared[blockIdx.x] = counter;
}

// Sum by compare-and-swap, as for types without an atomic of their own.
__global__ void product(double* value) {
  auto* bits = reinterpret_cast<unsigned long long*>(value);
  unsigned long long seen = *bits, expected;
  do {
    expected = seen;
    seen = atomicCAS(bits, expected, __double_as_longlong(__longlong_as_double(expected) * 2));
  } while (seen != expected);
}

int main() {
  Results start = {}, *r, got;
  start.all_bits = -1;
  start.least = 1000;
  int *lock, *in_shared, counts[kBlocks];
  double one = 1, *value;
  cudaMalloc(&r, sizeof got);
  cudaMalloc(&lock, sizeof(int));
  cudaMalloc(&in_shared, sizeof counts);
  cudaMalloc(&value, sizeof one);
  cudaMemcpy(r, &start, sizeof start, cudaMemcpyHostToDevice);
  cudaMemcpy(value, &one, sizeof one, cudaMemcpyHostToDevice);
  cudaMemset(lock, 0, sizeof(int));
  atomics<<<kBlocks, kThreads>>>(r, lock, in_shared);
  product<<<2, 16>>>(value);
  CHECK(cudaMemcpy(&got, r, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
  cudaMemcpy(counts, in_shared, sizeof counts, cudaMemcpyDeviceToHost);
  cudaMemcpy(&one, value, sizeof one, cudaMemcpyDeviceToHost);
  int odd = 0;
  for (int i = 0; i < kAll; ++i) odd ^= i;
  CHECK(got.sum == kAll * (kAll - 1) / 2 - kAll);
  CHECK(got.least == 50 - (kAll - 1) && got.most == kAll - 1);
  CHECK(got.all_bits == ~127 && got.any_bits == 0x7fffffff && got.odd_bits == odd);
  CHECK(got.up == kAll % 100u);
  CHECK(got.down == (50u - kAll % 50u) % 50u);
  CHECK(got.real == kAll * 0.5f && got.precise == kAll * 0.25);
  CHECK(got.wide == (1ull << 33) * kAll && got.wide_most == (unsigned long long)(kAll - 1) << 32);
  CHECK(got.swapped == 77 && got.locked == kBlocks * kThreads / 32);
  for (int count : counts) CHECK(count == kThreads / 3);
  CHECK(one == 4294967296.0);
  printf("passed\n");
}
