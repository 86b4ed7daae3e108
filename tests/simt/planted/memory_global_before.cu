// A stencil without its left edge.
// want: memory 7
#include <cstdio>

__global__ void k(const int* in, int* out) {
  const int t = threadIdx.x;
  out[t] = in[t - 1] + in[t + 1];
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
