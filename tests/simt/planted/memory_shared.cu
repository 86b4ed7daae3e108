// A tile is one element too small.
// want: memory 8
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ int tile[63];
  __shared__ int other[64];
  tile[threadIdx.x] = in[threadIdx.x];
  other[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[0] + other[threadIdx.x];
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
