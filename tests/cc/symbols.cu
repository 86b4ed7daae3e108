// Constants, variables of the device and managed ones, by their names.
#include <cstdio>

__constant__ float factors[4];
__device__ int counter = 5;
static __device__ double table[2] = {1.5, 2.5};
__managed__ int shared_count = 7;

__global__ void use(float* out) {
  out[threadIdx.x] = factors[threadIdx.x] * 2;
  atomicAdd(&counter, 1);
  if (threadIdx.x == 0) {
    table[1] += table[0];
    shared_count += 10;
  }
}

int main() {
  const float factor[4] = {1, 2, 3, 4};
  float *out, got[4];
  int count = 0;
  double values[2];
  size_t bytes = 0;
  void* address = nullptr;
  cudaMalloc(&out, sizeof got);
  if (shared_count != 7) return 1;
  shared_count = 20;
  if (cudaMemcpyToSymbol(factors, factor, sizeof factor) != cudaSuccess) return 2;
  if (cudaMemcpyToSymbol(factors, factor, sizeof factor, 4) != cudaErrorInvalidValue) return 3;
  cudaGetLastError();
  use<<<1, 4>>>(out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 4;
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 4; ++i)
    if (got[i] != 2 * factor[i]) return 5;
  cudaMemcpyFromSymbol(&count, counter, sizeof count);
  if (count != 9) return 6;
  cudaMemcpyFromSymbol(values, table, sizeof values);
  if (values[1] != 4) return 7;
  if (cudaGetSymbolSize(&bytes, factors) != cudaSuccess || bytes != 16) return 8;
  if (cudaGetSymbolAddress(&address, counter) != cudaSuccess || !address) return 9;
  if (shared_count != 30) return 10;
  printf("passed\n");
}
