// Memory, copies, streams, events.
#include <numeric>
#include <stdexcept>
#include <thread>

#include "compute/backend_table.h"
#include "fixture.h"

namespace trine::compute {
namespace {

TEST_F(CudaTest, DevicesAreListed) {
  std::vector<std::string> ids;
  for (const DeviceInfo& d : devices()) ids.push_back(d.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"cpu", "cuda:0", "cuda:1", "null"}));
  const DeviceInfo info = Device::open("cuda:1").info();
  EXPECT_EQ(info.name, "Pretended GPU 1");
  EXPECT_EQ(info.architecture, "sm_90");
  EXPECT_EQ(info.memory_bytes, fake::settings().memory_bytes);
  EXPECT_EQ(info.compute_units, 4);
  EXPECT_EQ(Device::open("cuda").info().id, "cuda:0");
  EXPECT_TRUE(has(error_of(ErrorCode::device, [] { Device::open("cuda:2"); }), "cuda:1"));
}

TEST_F(CudaTest, QueriesTellWhatIsBehind) {
  const BackendTable& table = *find_backend("cuda");
  const StreamHandle stream = table.create_stream(0);
  const EventHandle event = table.create_event(0);
  table.record(0, event, stream);
  fake::fail("cuStreamQuery", cuda::kNotReady);
  EXPECT_FALSE(table.stream_done(0, stream));
  EXPECT_TRUE(table.stream_done(0, stream));
  fake::fail("cuEventQuery", cuda::kNotReady);
  EXPECT_FALSE(table.event_done(0, event));
  EXPECT_TRUE(table.event_done(0, event));
  fake::fail("cuEventQuery", cuda::kIllegalAddress);
  EXPECT_TRUE(has(error_of(ErrorCode::device, [&] { table.event_done(0, event); }), "cuEventQuery"));
  table.destroy_event(0, event);
  table.destroy_stream(0, stream);
}

class CopiesOfSize : public testing::TestWithParam<size_t> {};

TEST_P(CopiesOfSize, MoveEveryByteAndNoOther) {
  fake::reset();
  const size_t count = GetParam(), bytes = count * sizeof(float);
  const Device gpu = Device::open("cuda:1");
  Stream stream = gpu.create_stream();
  const std::vector<float> in = random_floats(count);
  std::vector<float> out(count + 2, 7.0f);
  {
    Buffer a = gpu.allocate(bytes), b = stream.allocate(bytes);
    HostBuffer host = gpu.allocate_host(bytes);
    if (count) std::copy(in.begin(), in.end(), static_cast<float*>(host.data()));
    stream.upload(a, 0, host.data(), bytes);
    stream.fill(b, 0xff);
    stream.copy(b, 0, a, 0, bytes);
    stream.download(out.data() + 1, b, 0, bytes);
    stream.synchronize();
  }
  EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin() + 1));
  EXPECT_EQ(out.front(), 7.0f);
  EXPECT_EQ(out.back(), 7.0f);
  EXPECT_EQ(fake::bytes_allocated(), 0u);
}
INSTANTIATE_TEST_SUITE_P(Sizes, CopiesOfSize, testing::Values(0, 1, 31, 32, 33, 96, 256, 1024));

TEST_F(CudaTest, OutOfMemorySaysHowMuchThereIs) {
  Buffer a = gpu_.allocate(1000000);
  const std::string text = error_of(ErrorCode::out_of_memory, [&] { gpu_.allocate(48577); });
  EXPECT_EQ(text, "cuda:0: cuMemAlloc cannot allocate 48577 bytes; 48576 of 1048576 bytes are free");
  EXPECT_EQ(fake::calls("cuMemPoolTrimTo"), 1);
  fake::fail("cuMemHostAlloc", cuda::kOutOfMemory);
  EXPECT_TRUE(has(error_of(ErrorCode::out_of_memory, [&] { gpu_.allocate_host(99); }), "cannot allocate 99 bytes"));
  Stream stream = gpu_.create_stream();
  EXPECT_TRUE(
      has(error_of(ErrorCode::out_of_memory, [&] { stream.allocate(48577); }), "cuMemAllocAsync cannot allocate"));
  EXPECT_EQ(gpu_.allocate(48576).bytes(), 48576u);
}

TEST_F(CudaTest, MemoryOfTheProgramIsRegistered) {
  std::vector<char> own(1000, 3);
  {
    const HostBuffer all = gpu_.register_host(own.data(), own.size());
    EXPECT_EQ(all.data(), own.data());
    EXPECT_EQ(all.device_data(), own.data());
    EXPECT_EQ(fake::calls("cuMemHostRegister_v2"), 1);
    const std::string twice = error_of(ErrorCode::invalid_argument, [&] { gpu_.register_host(own.data() + 999, 2); });
    EXPECT_TRUE(has(twice, "cuMemHostRegister")) << twice;
    HostBuffer moved = gpu_.register_host(nullptr, 0);
    moved = gpu_.allocate_host(8);  // frees one, unregisters none
    EXPECT_EQ(fake::calls("cuMemHostUnregister"), 0);
  }
  EXPECT_EQ(fake::calls("cuMemHostUnregister"), 1);
  EXPECT_EQ(own, std::vector<char>(1000, 3));
  gpu_.register_host(own.data(), 1, true);
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument, [&] { gpu_.register_host(nullptr, 1); }), "null"));
  fake::fail("cuMemHostRegister_v2", cuda::kOutOfMemory);
  EXPECT_TRUE(has(error_of(ErrorCode::out_of_memory, [&] { gpu_.register_host(own.data(), 99); }), "pin 99 bytes"));
  fake::fail("cuMemHostRegister_v2", cuda::kNotSupported);
  error_of(ErrorCode::unsupported, [&] { gpu_.register_host(own.data(), 99, true); });
  const HostBuffer on_cpu = Device::open("cpu").register_host(own.data(), own.size());
  EXPECT_EQ(on_cpu.device_data(), own.data());
}

TEST_F(CudaTest, MemoryThatThePoolKeepsIsGivenBackBeforeItIsShort) {
  Stream stream = gpu_.create_stream();
  stream.allocate(900000);  // freed at once, kept by the pool
  EXPECT_EQ(gpu_.allocate(900000).bytes(), 900000u);
  EXPECT_EQ(fake::calls("cuMemAlloc_v2"), 2);
}

TEST_F(CudaTest, StreamsGiveTheDriversOwn) {
  const Stream a = gpu_.create_stream(), b = gpu_.create_stream();
  EXPECT_NE(a.native(), nullptr);
  EXPECT_NE(a.native(), b.native());
  EXPECT_EQ(Device::open("cpu").create_stream().native(), nullptr);
}

TEST_F(CudaTest, PrioritiesAreCutToTheDevices) {
  EXPECT_EQ(gpu_.create_stream().priority(), 0);
  EXPECT_EQ(gpu_.create_stream(3).priority(), 3);
  EXPECT_EQ(gpu_.create_stream(100).priority(), 5);
  EXPECT_EQ(gpu_.create_stream(-1).priority(), 0);
}

TEST_F(CudaTest, EventsOrderAndTime) {
  Stream first = gpu_.create_stream(), second = gpu_.create_stream();
  Event begin = gpu_.create_event(), end = gpu_.create_event();
  int calls = 0;
  first.record(begin);
  first.call([&] { ++calls; });
  first.record(end);
  second.wait(end);
  end.synchronize();
  EXPECT_GE(end.seconds_since(begin), 0);
  EXPECT_LT(end.seconds_since(begin), 1);
  EXPECT_EQ(fake::calls("cuStreamWaitEvent"), 1);
  EXPECT_EQ(calls, 1);
}

TEST_F(CudaTest, WhatHostCallsThrowComesOutOfSynchronize) {
  Stream stream = gpu_.create_stream();
  stream.call([] { throw std::runtime_error("first"); });
  stream.call([] { throw std::runtime_error("second"); });
  try {
    stream.synchronize();
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "first");
  }
  stream.synchronize();
}

TEST_F(CudaTest, EveryFailingCallIsNamed) {
  Stream stream = gpu_.create_stream();
  Buffer buffer = gpu_.allocate(64);
  Event event = gpu_.create_event();
  char host[64] = {};
  const std::pair<const char*, std::function<void()>> rows[] = {
      {"cuMemcpyHtoDAsync_v2", [&] { stream.upload(buffer, 0, host, 64); }},
      {"cuMemcpyDtoHAsync_v2", [&] { stream.download(host, buffer, 0, 64); }},
      {"cuMemcpyDtoDAsync_v2", [&] { stream.copy(buffer, 0, buffer, 32, 32); }},
      {"cuMemsetD8Async", [&] { stream.fill(buffer, 1); }},
      {"cuStreamSynchronize", [&] { stream.synchronize(); }},
      {"cuStreamCreateWithPriority", [&] { gpu_.create_stream(); }},
      {"cuEventCreate", [&] { gpu_.create_event(); }},
      {"cuEventRecord", [&] { stream.record(event); }},
      {"cuEventSynchronize", [&] { event.synchronize(); }},
      {"cuStreamWaitEvent", [&] { stream.wait(event); }},
      {"cuMemAlloc_v2", [&] { gpu_.allocate(8); }},
      {"cuMemHostAlloc", [&] { gpu_.allocate_host(8); }},
      {"cuMemHostRegister_v2", [&] { gpu_.register_host(host, 8); }},
      {"cuMemAllocAsync", [&] { stream.allocate(8); }},
      {"cuStreamBeginCapture_v2", [&] { stream.begin_capture(); }},
  };
  for (const auto& [function, work] : rows) {
    fake::fail(function, 46);
    const std::string text = error_of(ErrorCode::device, work);
    EXPECT_TRUE(has(text, std::string(function).substr(0, 8)) && has(text, ": CUDA error 46")) << function << text;
    work();  // and then it works again
    if (stream.capturing()) stream.end_capture();
  }
}

TEST_F(CudaTest, HandlesLeaveNothingBehind) {
  const size_t objects = fake::objects();
  {
    Stream stream = gpu_.create_stream(2);
    Event event = gpu_.create_event(), begin = gpu_.create_event();
    stream.record(event);
    HostBuffer host = gpu_.allocate_host(10), registered = gpu_.register_host(&stream, 1);
    Stream captured = gpu_.create_stream();
    captured.begin_capture();
    captured.call([] {});
    stream.begin_capture();
    const Graph graph = stream.end_capture();
    EXPECT_GT(fake::objects(), objects);
  }
  EXPECT_EQ(fake::objects(), objects);
}

TEST_F(CudaTest, ThreadsUseDevicesOfTheirOwn) {
  std::vector<std::thread> threads;
  for (const char* id : {"cuda:0", "cuda:1"})
    threads.emplace_back([id] {
      const Device gpu = Device::open(id);
      EXPECT_EQ(gpu.create_stream().priority(), 0);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace trine::compute
