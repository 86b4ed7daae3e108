// The end of a reduction as it was written before Volta: volatile does not order lanes.
// want: race 11
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ int sums[64];
  sums[threadIdx.x] = in[threadIdx.x] + threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 32) {
    volatile int* v = sums;
    v[threadIdx.x] = v[threadIdx.x] + v[threadIdx.x + 16];
  }
  __syncthreads();
  out[threadIdx.x] = sums[0];
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
