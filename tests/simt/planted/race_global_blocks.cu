// A block reads what another writes.
// want: race 6 8
#include <cstdio>

__global__ void k(const int* in, int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x] + blockIdx.x + 1;
  __syncthreads();
  if (blockIdx.x > 0 && threadIdx.x == 0) out[200 + blockIdx.x] = out[(blockIdx.x - 1) * blockDim.x];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  k<<<3, 64>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
