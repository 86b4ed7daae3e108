// Memory of cudaMalloc is read before anybody has written there.
// checks: init
// want: init 7
#include <cstdio>

__global__ void k(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  k<<<1, 64>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
