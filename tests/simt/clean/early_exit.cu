// Threads that have left are not waited for.
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ int tile[64];
  if (threadIdx.x >= 50) return;
  tile[threadIdx.x] = in[threadIdx.x] + threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[49 - threadIdx.x];
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
