// The last block sums what others wrote, but nobody has put a fence between data and counter.
// want: race 8 11
#include <cstdio>

__device__ unsigned arrived;
__global__ void k(const int* in, int* out) {
  if (threadIdx.x > 0) return;
  out[blockIdx.x] = in[blockIdx.x] + 1;
  if (atomicAdd(&arrived, 1u) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += out[b];
  out[gridDim.x] = sum;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  k<<<8, 32>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
