// Two buffers need one barrier in each round.
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ int tile[2][64];
  int v = in[threadIdx.x] + threadIdx.x;
  for (int round = 0; round < 5; ++round) {
    tile[round % 2][threadIdx.x] = v;
    __syncthreads();
    v += tile[round % 2][(threadIdx.x + 7) % 64];
  }
  out[threadIdx.x] = v;
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
