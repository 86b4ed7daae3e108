// The same in the order of a stream.
// want: init 6
#include <cstdio>

constexpr int kCount = 64;
__global__ void k(const int* a, int* out) { out[threadIdx.x] = a[threadIdx.x] + 1; }
__global__ void set(int* a) { a[threadIdx.x] = threadIdx.x; }

int main() {
  int *a, *out;
  cudaMallocAsync(&out, kCount * sizeof(int), nullptr);
  cudaMallocAsync(&a, kCount * sizeof(int), nullptr);
  set<<<1, kCount>>>(a);
  cudaFreeAsync(a, nullptr);
  cudaMallocAsync(&a, kCount * sizeof(int), nullptr);
  k<<<1, kCount>>>(a, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  return error != cudaSuccess;
}
