#include "parts.h"

namespace {
__device__ int offset = 3;  // each file has its own
__global__ void kernel(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i + offset;
}
}  // namespace

void fill(int* x, int n) { kernel<<<(n + 31) / 32, 32>>>(x, n); }
