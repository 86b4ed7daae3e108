// Two halves of a block wait at different barriers and still exchange.
// want: race 7 10
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = in[threadIdx.x] + threadIdx.x;
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 32;" ::: "memory");
  else asm volatile("bar.sync 2, 32;" ::: "memory");
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  k<<<1, 64>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
