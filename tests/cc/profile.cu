// What `trine profile` is to see: see check_trace.py for what it expects of this.
#include <nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
#include <trine_profile.h>

#include <cstdio>
#include <thread>
#include <vector>

__global__ void scale(float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}

__global__ void spin(unsigned* out, int rounds) {
  unsigned v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v = v * 1664525u + 1013904223u;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

void inner() {
  NVTX3_FUNC_RANGE();
  nvtxMarkA("here");
}

int main() {
  const int n = 1 << 16;
  const size_t bytes = n * sizeof(float);
  std::vector<float> host(n, 1.0f), back(n, -1.0f);
  float* x = nullptr;
  unsigned* y = nullptr;
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, 64 * 64 * 4);
  nvtxRangePushA("outer \"quoted\" \\ \xc3\xa9 \xff");
  cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice);
  trineProfileWork(2.0 * bytes, n);
  for (int i = 0; i < 10; ++i) scale<<<n / 256, 256>>>(x, 2.0f, n);
  trineProfileWork(0, 0);
  {
    nvtx3::scoped_range range{nvtx3::event_attributes{"spins", nvtx3::rgb{255, 0, 0}, nvtx3::payload{3}}};
    for (int i = 0; i < 3; ++i) spin<<<64, 64>>>(y, 20000);
  }
  inner();
  const nvtxRangeId_t across = nvtxRangeStartA("across threads");
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      nvtxNameOsThreadA(0, ("helper " + std::to_string(t)).c_str());
      for (int i = 0; i < 20; ++i) {
        nvtx3::scoped_range range("helper");
        scale<<<2, 32>>>(x, 1.0f, 64);
      }
    });
  for (std::thread& thread : threads) thread.join();
  nvtxRangeEnd(across);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  scale<<<1, 32, 0, stream>>>(x, 1.0f, 32);
  scale<<<1, 32, 0, stream>>>(x, 1.0f, 32);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  for (int i = 0; i < 4; ++i) cudaGraphLaunch(exec, stream);
  cudaMemset(y, 0, 64 * 64 * 4);
  cudaMemcpy(back.data(), x, bytes, cudaMemcpyDeviceToHost);
  nvtxRangePop();
  cudaFree(y);
  cudaFree(x);
  const bool right = back[100] == 1024.0f && cudaGetLastError() == cudaSuccess;
  std::puts(right ? "passed" : "failed");
  return right ? 0 : 1;
}
