// A lock by atomic operations and fences.
#include <cstdio>

__device__ int lock;
__global__ void k(const int* in, int* out) {
  if (threadIdx.x > 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) continue;
  __threadfence();
  *out += in[blockIdx.x] + 1;
  __threadfence();
  atomicExch(&lock, 0);
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  k<<<16, 32>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
