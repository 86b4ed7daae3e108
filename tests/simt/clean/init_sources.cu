// All ways by which memory gets its values: copies in one, two and three dimensions, fills, kernels, the host through
// pointers, variables, parameters; and the pattern that new memory has, written by a program.
#include <cstdio>
#include <cstring>

__device__ int table[64];
__constant__ int constants[64] = {1, 2, 3};
struct Big {
  int values[8];
};
constexpr int kPattern = 0x7FEDB5A9;

__global__ void set(int* out) { out[threadIdx.x] = kPattern; }
__global__ void bytes(unsigned char* rgba) { rgba[4 * threadIdx.x] = 7; }
__global__ void k(const int* a, const int* b, const int* c, const int* d, const int* e, const unsigned char* rgba, Big big,
                  int row, int* out) {
  const int i = threadIdx.x;
  int sum = a[i] + b[i / 8 * row + i % 8] + c[i] + d[i] + e[i] + table[i] + constants[i] + big.values[i % 8];
  for (int j = 0; j < 4; ++j) sum += rgba[4 * i + j];
  out[i] = sum;
}

int main() {
  int host[64];
  for (int& value : host) value = kPattern;
  constexpr size_t kBytes = sizeof host;
  int *a, *b, *c, *d, *e, *out;
  unsigned char* rgba;
  size_t pitch;
  cudaMalloc(&a, kBytes);
  cudaMemcpy(a, host, kBytes, cudaMemcpyHostToDevice);
  cudaMallocPitch(&b, &pitch, 32, 8);
  cudaMemcpy2D(b, pitch, host, 32, 32, 8, cudaMemcpyHostToDevice);
  cudaMalloc(&c, kBytes);
  set<<<1, 64>>>(c);
  cudaMallocManaged(&d, kBytes);
  for (int i = 0; i < 64; ++i) d[i] = i;
  cudaMallocHost(&e, kBytes);
  std::memset(e, 0, kBytes);
  cudaMallocManaged(&rgba, kBytes);
  for (size_t i = 0; i < kBytes; ++i) rgba[i] = static_cast<unsigned char>(i);
  bytes<<<1, 64>>>(rgba);
  cudaMalloc(&out, kBytes);
  const int row = static_cast<int>(pitch / sizeof(int));
  k<<<1, 64>>>(a, b, c, d, e, rgba, Big{}, row, out);
  cudaMemcpy(a, c, kBytes, cudaMemcpyDeviceToDevice);
  cudaMemset2D(b, pitch, 1, 32, 8);
  k<<<1, 64>>>(out, b, a, c, d, rgba, Big{}, row, e);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  for (int* p : {a, b, c, d, out}) cudaFree(p);
  cudaFree(rgba);
  cudaFreeHost(e);
  return error != cudaSuccess;
}
