// Neighbouring bytes belong to different threads.
#include <cstdio>

__global__ void k(const int* in, int* out) {
  __shared__ unsigned char tile[256];
  tile[threadIdx.x] = in[threadIdx.x] + threadIdx.x;
  unsigned char* bytes = reinterpret_cast<unsigned char*>(out);
  bytes[threadIdx.x] = tile[threadIdx.x];
  __syncthreads();
  bytes[256 + threadIdx.x] = tile[255 - threadIdx.x];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  k<<<1, 256>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
