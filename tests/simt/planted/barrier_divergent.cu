// Half of the block waits at another barrier.
// want: barrier 7 9
#include <cstdio>

__global__ void k(const int* in, int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
  out[threadIdx.x] = in[threadIdx.x];
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
