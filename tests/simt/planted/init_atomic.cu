// A counter that nobody has set to zero.
// want: init 6
#include <cstdio>

__global__ void k(unsigned* counter) {
  atomicAdd(counter, 1u);
}

int main() {
  unsigned* counter;
  cudaMalloc(&counter, sizeof(unsigned));
  k<<<1, 64>>>(counter);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(counter);
  return error != cudaSuccess;
}
