// malloc() on the device gives no zeros.
// want: init 8
#include <cstdio>

__global__ void k(int* out) {
  int* mine = static_cast<int*>(malloc(4 * sizeof(int)));
  mine[0] = threadIdx.x;
  out[threadIdx.x] = mine[0] + mine[1];
  free(mine);
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  k<<<1, 64>>>(out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(out);
  return error != cudaSuccess;
}
