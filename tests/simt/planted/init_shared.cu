// Half of a tile is filled, all of it is summed; the second block finds what the first has left there.
// want: init 11
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ int tile[64];
  if (threadIdx.x < 32) tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int sum = 0;
  if (threadIdx.x == 0)
    for (int i = 0; i < 64; ++i) sum += tile[i];
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 128 * sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  k<<<2, 64>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
