// free() and use.
// want: memory 9
#include <cstdio>

__global__ void k(const int* in, int* out) {
  int* mine = static_cast<int*>(malloc(16));
  mine[0] = in[threadIdx.x];
  free(mine);
  out[threadIdx.x] = mine[0];
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
