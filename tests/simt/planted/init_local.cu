// A local array of which one element is never set, read at its place and through a pointer; the array of a call that
// came before has left its values there.
// want: init 16
// want: init 7
#include <cstdio>

__device__ __noinline__ int sum(const int* values, int n) { return n == 0 ? 0 : values[n - 1] + sum(values, n - 1); }
__device__ __noinline__ int whole(int n) {
  int values[8];
  for (int i = 0; i < 8; ++i) values[i] = n + i;
  return sum(values, 8);
}
__device__ __noinline__ int part(int n) {
  int values[8];
  for (int i = 0; i < 7; ++i) values[i] = n + i;
  return values[n & 7] + sum(values, 8);
}
__global__ void k(const int* in, int* out) {
  out[threadIdx.x] = whole(in[threadIdx.x]) + part(in[threadIdx.x] + threadIdx.x);
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  k<<<1, 64>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
