// A copy carries what is missing: from device to device, over memory that a kernel had written; of a struct in a kernel.
// want: init 17
// want: init 18
#include <cstdio>

struct Pair {
  int a, b;
};

__global__ void set(Pair* pairs) { pairs[threadIdx.x] = {1, 2}; }
__global__ void half(Pair* pairs) {
  Pair mine;
  mine.a = threadIdx.x;
  pairs[threadIdx.x] = mine;
}
__global__ void k(const Pair* pairs, int* out) {
  out[threadIdx.x] = pairs[threadIdx.x].a;
  out[threadIdx.x] += pairs[threadIdx.x].b;
}

int main() {
  Pair *from, *halves, *to;
  int* out;
  cudaMalloc(&from, 64 * sizeof(Pair));
  cudaMalloc(&halves, 64 * sizeof(Pair));
  cudaMalloc(&to, 64 * sizeof(Pair));
  cudaMalloc(&out, 64 * sizeof(int));
  set<<<1, 64>>>(to);
  half<<<1, 64>>>(halves);
  cudaMemcpy(to, halves, 32 * sizeof(Pair), cudaMemcpyDeviceToDevice);     // without b
  cudaMemcpy(to + 63, from, sizeof(Pair), cudaMemcpyDeviceToDevice);  // nothing
  k<<<1, 64>>>(to, out);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(from);
  cudaFree(halves);
  cudaFree(to);
  cudaFree(out);
  return error != cudaSuccess;
}
