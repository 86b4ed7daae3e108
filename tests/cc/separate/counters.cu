#include "parts.h"

__device__ int total = 1;
__constant__ float weights[4] = {1, 2, 3, 4};
__managed__ int rounds = 7;
static __device__ int offset = 1000;

__device__ void add_to_total(int x) { atomicAdd(&total, x); }
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }

int offset_of_counters() {
  int value = 0;
  cudaMemcpyFromSymbol(&value, offset, sizeof value);
  return value;
}
