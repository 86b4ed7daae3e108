// A barrier is missing at the end of a loop: the next round writes what others still read.
// want: race 9 11
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ int tile[64];
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    tile[threadIdx.x] = in[threadIdx.x] + round;
    __syncthreads();
    sum += tile[63 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
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
