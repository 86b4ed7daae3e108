// Constant memory, tables of the compiler, text that is printed.
#include <cstdio>

__constant__ int weights[4] = {1, 2, 3, 4};
__device__ int total[4];
__global__ void k(const int* in, int* out) {
  const char* words[] = {"zero", "one", "two", "three"};
  const int small[] = {5, 6, 7, 8};
  const char* word = words[(in[threadIdx.x] + threadIdx.x) % 4];
  if (threadIdx.x < 4) total[threadIdx.x] = weights[threadIdx.x];
  out[threadIdx.x] = word[0] + small[threadIdx.x % 4];
  if (threadIdx.x == 0) printf("%s %d\n", word, out[0]);
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
