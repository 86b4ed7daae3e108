// Blocks of a cooperative launch meet.
#include <cstdio>

#include <cooperative_groups.h>
__global__ void k(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    const int other = out[(i + 65) % n];
    cooperative_groups::this_grid().sync();
    out[i] = other + 1;
    cooperative_groups::this_grid().sync();
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  int n = 256;
  void* arguments[] = {&out, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(k), dim3(4), dim3(64), arguments, 0, nullptr);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(out);
  return error != cudaSuccess;
}
