// Two arrays in one stretch of dynamic shared memory.
#include <cstdio>

__global__ void k(const int* in, int* out) {
  extern __shared__ float whole[];
  float* first = whole;
  int* second = reinterpret_cast<int*>(whole + blockDim.x);
  first[threadIdx.x] = in[threadIdx.x];
  second[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = second[63 - threadIdx.x] + static_cast<int>(first[63 - threadIdx.x]);
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  k<<<1, 64, 64 * 8>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
