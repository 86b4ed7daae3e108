// Two faults of one kernel are both told.
// want: init 8
// want: race 8 9
#include <cstdio>

__global__ void k(int* out) {
  __shared__ int tile[65];
  out[threadIdx.x] = tile[threadIdx.x + 1];
  tile[threadIdx.x] = threadIdx.x;
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
