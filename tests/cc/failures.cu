// What goes wrong is told as CUDA tells it: codes that stay, and codes that do not.
#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void nothing() {}
__global__ __launch_bounds__(64) void small() {}
__global__ void fails(int* x) { assert(x[0] == 1); }

int main() {
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) return 15;
  const bool on_gpu = strstr(device.name, "NVIDIA");
  nothing<<<1, 2048>>>();
  if (cudaPeekAtLastError() != cudaErrorInvalidConfiguration) return 1;
  if (cudaGetLastError() != cudaErrorInvalidConfiguration || cudaGetLastError() != cudaSuccess) return 2;
  small<<<1, 128>>>();
  if (cudaGetLastError() != cudaErrorLaunchOutOfResources) return 3;
  void* p = nullptr;
  if (cudaMalloc(&p, size_t(1) << 60) != cudaErrorMemoryAllocation) return 4;
  cudaGetLastError();
  if (cudaFree((void*)16) != cudaErrorInvalidValue) return 5;
  if (cudaSetDevice(1000) != cudaErrorInvalidDevice) return 6;
  cudaGetLastError();
  nothing<<<1, 32>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) return 7;

  int* x;
  cudaMalloc(&x, sizeof(int));
  cudaMemset(x, 0, sizeof(int));
  fails<<<1, 1>>>(x);
  if (cudaDeviceSynchronize() != cudaErrorAssert) return 8;
  if (cudaGetLastError() != cudaErrorAssert || cudaGetLastError() != cudaErrorAssert) return 9;
  if (cudaMalloc(&p, 16) != cudaErrorAssert) return 10;
  if (!strstr(cudaGetErrorString(cudaErrorAssert), "device-side assert triggered")) return 11;
  if (on_gpu) return puts("passed") < 0;  // the driver prints the assertion, and its context is lost
  if (!strstr(cudaGetErrorString(cudaErrorAssert), "x[0] == 1")) return 12;
  if (cudaDeviceReset() != cudaSuccess || cudaMalloc(&p, 16) != cudaSuccess) return 13;
  nothing<<<1, 32>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) return 14;
  printf("passed\n");
}
