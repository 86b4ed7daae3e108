// One byte of a word is shared, its neighbours are not.
// want: race 7 8
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ unsigned char flags[64];
  flags[threadIdx.x] = in[threadIdx.x] + threadIdx.x;
  if (threadIdx.x == 40) out[0] = flags[3];
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
