// Dynamic shared memory, read by an atomic and through a pointer.
// want: init 6
// want: init 9
#include <cstdio>

__device__ __noinline__ int at(const short* values, int i) { return values[i]; }
__global__ void k(int* out) {
  extern __shared__ int counts[];
  atomicAdd(&counts[threadIdx.x % 8], 1);
  out[threadIdx.x] = at(reinterpret_cast<const short*>(counts + 8), threadIdx.x);
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  k<<<1, 64, 256>>>(out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(out);
  return error != cudaSuccess;
}
