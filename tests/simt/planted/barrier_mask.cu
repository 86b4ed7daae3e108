// A mask names lanes that have gone elsewhere.
// want: barrier 7
#include <cstdio>

__global__ void k(const int* in, int* out) {
  int v = in[threadIdx.x];
  if (threadIdx.x < 16) v += __shfl_sync(0xffffffffu, v, 0);
  else __syncwarp(0xffff0000u);
  out[threadIdx.x] = v;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  k<<<1, 32>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
