// Whole .cu programs, host code and all: the device's part must compile.
#include <gtest/gtest.h>

#include <string>

#include "compile.h"

namespace trine::simt {
namespace {

DeviceModule program(std::string_view source) { return parsed(source, {.name = "program.cu", .whole_program = true}); }

TEST(Program, VectorAddition) {
  const DeviceModule module = program(R"(
/**/#include <cuda_runtime.h>
/**/#include <cstdio>
/**/#include <iostream>
/**/#include <vector>
/**/#include <string>
/**/#include <algorithm>
/**/#include <chrono>
/**/#include <random>
/**/#include <cmath>

#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                  \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

__constant__ float factor;
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] * factor;
}

template <typename T, int kBlock>
__global__ void sum(const T* x, T* out, int n) {
  __shared__ T part[kBlock];
  extern __shared__ char dynamic[];
  T mine = 0;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) mine += x[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int step = kBlock / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

int main(int argc, char** argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  std::vector<float> a(n), b(n, 2.0f), c(n);
  std::mt19937 random(1);
  std::generate(a.begin(), a.end(), [&] { return random() * 1e-9f; });
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, n * sizeof(float)));
  CHECK(cudaMalloc((void**)&db, n * sizeof(float)));
  CHECK(cudaMallocManaged(&dc, n * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  float two = 2;
  CHECK(cudaMemcpyToSymbol(factor, &two, sizeof two));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreateWithFlags(&stop, cudaEventDisableTiming));
  dim3 block(256), grid((n + block.x - 1) / block.x);
  add<<<grid, block>>>(da, db, dc, n);
  add<<<grid, 256, 0, stream>>>(da, db, dc, n);
  sum<float, 256><<<32, 256, 1024>>>(dc, da, n);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaDeviceSynchronize());
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  printf("%s %d.%d\n", prop.name, prop.major, prop.minor);
  int blocks = 0, size = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&blocks, &size, add));
  CHECK(cudaFuncSetAttribute(sum<double, 128>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  void* arguments[] = {&da, &db, &dc, &n};
  CHECK(cudaLaunchCooperativeKernel((void*)add, grid, block, arguments));
  std::cout << std::sqrt(c[0]) << std::endl;
  CHECK(cudaFree(da));
  return 0;
})");
  ASSERT_EQ(module.kernels.size(), 3u);
  EXPECT_EQ(module.kernels[0].name, "add(float const*, float const*, float*, int)");
  EXPECT_EQ(module.kernels[1].name, "sum<float, 256>(float const*, float*, int)");
  EXPECT_EQ(module.kernels[2].name, "sum<double, 128>(double const*, double*, int)");
  EXPECT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.warnings, "");
}

TEST(Program, NothingNeedBeIncluded) {
  const DeviceModule module = program(R"(
    __global__ void k(int* x) { *x = max(*x, 3); printf("%d\n", *x); }
    struct Timer {
      cudaEvent_t start;
      Timer() { cudaEventCreate(&start); }
      ~Timer() { cudaEventDestroy(start); }
    };
    int main() {
      Timer timer;
      int* p = (int*)malloc(4);
      memset(p, 0, 4);
      printf("%f\n", sqrt(2.0) + pow(2.0, 3.0) + fabs(-1.0f) + max(1, 2) + abs(-3));
      assert(p);
      k<<<1, 1>>>(p);
      cudaStreamCaptureStatus status;
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      cudaStream_t stream = 0;
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
      cudaStreamEndCapture(stream, &graph);
      cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
      cudaGraphInstantiate(&exec, graph, 0);
      cudaGraphLaunch(exec, stream);
      cudaStreamIsCapturing(stream, &status);
      try {
        throw 1;
      } catch (int) {
      }
      free(p);
      return cudaDeviceReset() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
    })");
  EXPECT_EQ(module.kernels.size(), 1u);
}

TEST(Program, LambdasAndClassesCrossToTheDevice) {
  const DeviceModule module = program(R"(
/**/#include <cuda.h>
/**/#include <functional>
    template <class F> __global__ void apply(F f, int n) { int i = threadIdx.x; if (i < n) f(i); }
    struct Add { int* x; __device__ void operator()(int i) const { x[i] += i; } };
    struct Base { __device__ virtual int get() const { return 1; } };
    struct Derived : Base { __device__ int get() const override { return 2; } };
    typedef int (*Function)(int);
    __device__ int twice(int i) { return 2 * i; }
    __device__ Function table[1] = {twice};
    __global__ void indirect(int* x) { Derived d; const Base* b = &d; *x = b->get() + table[*x & 0](3); }
    int main() {
      int* x = nullptr;
      apply<<<1, 32>>>(Add{x}, 32);
      apply<<<1, 32>>>([=] __device__(int i) { x[i] = i; }, 32);
      std::function<int(int)> host = [](int i) { return i; };
      return host(0);
    })");
  EXPECT_EQ(module.kernels.size(), 3u);
}

TEST(Program, MistakesOfTheHostAreToldToo) {
  const std::string message =
      refused("int main() {\n  cudaMaloc(0, 1);\n}\n", {.name = "program.cu", .whole_program = true});
  EXPECT_NE(message.find("program.cu:2:3: error: use of undeclared identifier 'cudaMaloc'"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace trine::simt
