// The runtime API from several host threads at once: memory, streams, events, captures, and errors of each thread.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

void expect_work(int number) {
  constexpr size_t kBytes = 1000;
  std::vector<unsigned char> in(kBytes, static_cast<unsigned char>(number)), out(kBytes);
  cudaStream_t stream = nullptr, other = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithPriority(&other, cudaStreamNonBlocking, 0), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&begin), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  for (int round = 0; round < 20; ++round) {
    void *a = nullptr, *b = nullptr;
    ASSERT_EQ(cudaMalloc(&a, kBytes), cudaSuccess);
    ASSERT_EQ(cudaMallocAsync(&b, kBytes, stream), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(begin, stream), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(a, in.data(), kBytes, cudaMemcpyHostToDevice, stream), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(b, a, kBytes, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(b, 7, 10, stream), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(end, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(other, end, 0), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(out.data(), b, kBytes, cudaMemcpyDeviceToHost, other), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    float milliseconds = -1;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
    EXPECT_GE(milliseconds, 0);
    for (size_t i = 0; i < kBytes; ++i) ASSERT_EQ(out[i], i < 10 ? 7 : number);
    // Errors are the thread's: its own, and none of others.
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_EQ(cudaFree(out.data() + number), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeAsync(b, stream), cudaSuccess);
    EXPECT_EQ(cudaFree(a), cudaSuccess);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(other);
  cudaStreamDestroy(stream);
}

TEST(HostThreads, WorkAtOnce) {
  std::vector<std::thread> hosts;
  for (int h = 1; h <= 4; ++h) hosts.emplace_back(expect_work, h);
  for (std::thread& host : hosts) host.join();
}

TEST(HostThreads, CaptureAtOnce) {
  std::vector<std::thread> hosts;
  for (int h = 1; h <= 4; ++h)
    hosts.emplace_back([h] {
      cudaStream_t stream = nullptr;
      void* memory = nullptr;
      ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
      ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
      for (int round = 0; round < 20; ++round) {
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t exec = nullptr;
        ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        ASSERT_EQ(cudaMemsetAsync(memory, h + round, 64, stream), cudaSuccess);
        ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
        ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
        ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
        unsigned char out[64];
        ASSERT_EQ(cudaMemcpyAsync(out, memory, 64, cudaMemcpyDeviceToHost, stream), cudaSuccess);
        ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        for (const unsigned char byte : out) ASSERT_EQ(byte, h + round);
        EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
        EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
      }
      EXPECT_EQ(cudaFree(memory), cudaSuccess);
      EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    });
  for (std::thread& host : hosts) host.join();
}

}  // namespace
