// Two files, each with kernels and variables of the same names; printf of a kernel.
#include "parts.h"

#include <cstdio>

namespace {
__device__ int offset = 1;
__global__ void kernel(const int* x, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  printf("sum %d offset %d factor %d\n", sum, offset, FACTOR);
}
}  // namespace

int main() {
  int* x;
  cudaMalloc(&x, 100 * sizeof(int));
  fill(x, 100);
  kernel<<<1, 1>>>(x, 100);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  printf("passed\n");
}
