// Copies of rows and between devices, limits, mapped memory, what is done.
#include "../compute/pitched_copy.h"
#include "fixture.h"

namespace trine::compute {
namespace {

TEST_F(CudaTest, CopiesOfRowsAndSlicesTouchNothingElse) {
  expect_pitched_copies(gpu_);
  EXPECT_GT(fake::calls("cuMemcpy3DAsync_v2"), 0);
  fake::fail("cuMemcpy3DAsync_v2", cuda::kInvalidValue);
  Stream stream = gpu_.create_stream();
  char byte = 0;
  const Buffer buffer = gpu_.allocate(1);
  EXPECT_TRUE(
      has(error_of(ErrorCode::device, [&] { stream.copy({buffer.data()}, {&byte}, {1}, CopyKind::host_to_device); }),
          "cuMemcpy3DAsync: CUDA_ERROR_INVALID_VALUE"));
}

TEST_F(CudaTest, CopiesOfRowsAreCaptured) {
  Stream stream = gpu_.create_stream();
  const Buffer buffer = gpu_.allocate(12);
  std::vector<char> host = {1, 2, 3, 4}, back(12);
  stream.fill(buffer, 9);
  stream.begin_capture();
  stream.copy({buffer.data(), 6}, {host.data()}, {2, 2}, CopyKind::host_to_device);
  const Graph graph = stream.end_capture();
  host = {5, 6, 7, 8};
  graph.launch(stream);
  stream.download(back.data(), buffer, 0, 12);
  stream.synchronize();
  EXPECT_EQ(back, (std::vector<char>{5, 6, 9, 9, 9, 9, 7, 8, 9, 9, 9, 9}));
}

TEST_F(CudaTest, CopiesBetweenDevices) {
  const Device other = Device::open("cuda:1"), cpu = Device::open("cpu");
  Stream stream = gpu_.create_stream(), second = other.create_stream(), of_cpu = cpu.create_stream();
  const Buffer a = gpu_.allocate(64), b = other.allocate(64), c = cpu.allocate(64), d = cpu.allocate(64);
  for (int i = 0; i < 64; ++i) static_cast<char*>(c.data())[i] = static_cast<char>(i);
  stream.copy(a, 0, c, 0, 64);
  stream.copy(b, 8, a, 0, 56);
  stream.synchronize();
  second.copy(d, 0, b, 8, 56);
  second.synchronize();
  EXPECT_EQ(fake::calls("cuMemcpyPeerAsync"), 1);
  for (int i = 0; i < 56; ++i) ASSERT_EQ(static_cast<char*>(d.data())[i], i);
  EXPECT_TRUE(
      has(error_of(ErrorCode::invalid_argument, [&] { of_cpu.copy(a, 0, c, 0, 64); }), "give a stream of that device"));
  fake::fail("cuMemcpyPeerAsync", cuda::kInvalidValue);
  EXPECT_TRUE(has(error_of(ErrorCode::device, [&] { stream.copy(b, 0, a, 0, 1); }), "cuMemcpyPeerAsync"));
  stream.copy(b, 0, a, 0, 0);
}

TEST_F(CudaTest, LimitsAreTheDevices) {
  const DeviceLimits limits = gpu_.limits();
  EXPECT_EQ(limits.threads_per_block, 1024u);
  EXPECT_EQ(limits.grid[0], 1u << 30);
  EXPECT_EQ(limits.grid[2], 65534u);
  EXPECT_EQ(limits.shared_bytes_per_block, 232448u);
  EXPECT_EQ(limits.greatest_priority, 5);
  EXPECT_TRUE(limits.cooperative);
  const size_t before = gpu_.free_bytes();
  const Buffer buffer = gpu_.allocate(1000);
  EXPECT_EQ(gpu_.free_bytes(), before - 1000);
}

TEST_F(CudaTest, PoolsAreTrimmed) {
  Stream stream = gpu_.create_stream();
  const size_t before = gpu_.free_bytes();
  stream.allocate(5000);
  EXPECT_EQ(gpu_.free_bytes(), before - 5000);
  gpu_.trim_pool(2000);
  EXPECT_EQ(gpu_.free_bytes(), before - 2000);
  gpu_.trim_pool();
  EXPECT_EQ(gpu_.free_bytes(), before);
}

TEST_F(CudaTest, HostMemoryIsMapped) {
  const HostBuffer host = gpu_.allocate_host(64);
  EXPECT_EQ(host.device_data(), host.data());
  EXPECT_EQ(fake::calls("cuMemHostGetDevicePointer_v2"), 1);
  EXPECT_EQ(gpu_.allocate_host(0).device_data(), nullptr);
}

TEST_F(CudaTest, WhatIsDoneIsTold) {
  const Stream stream = gpu_.create_stream();
  const Event event = gpu_.create_event();
  EXPECT_TRUE(stream.done());
  EXPECT_TRUE(event.done());
  fake::fail("cuStreamQuery", cuda::kNotReady);
  fake::fail("cuEventQuery", cuda::kNotReady);
  EXPECT_FALSE(stream.done());
  EXPECT_FALSE(event.done());
  EXPECT_TRUE(stream.done());
}

}  // namespace
}  // namespace trine::compute
