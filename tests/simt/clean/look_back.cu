// Each block waits for a flag of the block before.
#include <cstdio>

__device__ volatile int flags[8];
__global__ void k(const int* in, int* out) {
  __shared__ int before;
  if (threadIdx.x == 0) {
    before = 0;
    if (blockIdx.x > 0) {
      while (flags[blockIdx.x - 1] == 0) continue;
      __threadfence();
      before = out[blockIdx.x - 1];
    }
    out[blockIdx.x] = before + in[blockIdx.x] + 1;
    __threadfence();
    flags[blockIdx.x] = 1;
  }
  __syncthreads();
  out[32 + blockIdx.x * 16 + threadIdx.x] = before;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  k<<<8, 16>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
