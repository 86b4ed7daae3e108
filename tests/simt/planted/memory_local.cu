// An index that the data decides leaves a local array.
// want: memory 7
#include <cstdio>

__global__ void k(const int* in, int* out) {
  int counts[4] = {};
  for (int i = 0; i < 6; ++i) ++counts[in[i] + i];
  out[threadIdx.x] = counts[0] + counts[3];
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
