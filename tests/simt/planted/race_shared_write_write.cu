// Two threads write different values to one place.
// want: race 7
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ int last;
  last = in[threadIdx.x] + threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = last;
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
