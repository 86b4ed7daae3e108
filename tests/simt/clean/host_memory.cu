// Pinned, managed and registered memory.
#include <cstdio>

__global__ void k(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  cudaMemset(out, 0, 256 * sizeof(int));
  int *pinned, *managed;
  static int registered[64];
  cudaMallocHost(&pinned, 256);
  cudaMallocManaged(&managed, 256);
  cudaHostRegister(registered, 256, 0);
  for (int i = 0; i < 64; ++i) pinned[i] = managed[i] = registered[i] = i;
  k<<<1, 64>>>(pinned, out);
  k<<<1, 64>>>(managed, out);
  k<<<1, 64>>>(registered, managed);
  k<<<1, 64>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaHostUnregister(registered);
  cudaFreeHost(pinned);
  cudaFree(managed);
  cudaFree(in);
  cudaFree(out);
  return error != cudaSuccess;
}
