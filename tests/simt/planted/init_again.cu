// Memory is given back and given out again: what was there is gone.
// want: init 6
#include <cstdio>

constexpr int kCount = 64;
__global__ void k(const int* a, int* out) { out[threadIdx.x] = a[threadIdx.x] + 1; }
__global__ void set(int* a) { a[threadIdx.x] = threadIdx.x; }

int main() {
  int *a, *out;
  cudaMalloc(&a, kCount * sizeof(int));
  cudaMalloc(&out, kCount * sizeof(int));
  set<<<1, kCount>>>(a);
  cudaFree(a);
  cudaMalloc(&a, kCount * sizeof(int));
  k<<<1, kCount>>>(a, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  return error != cudaSuccess;
}
