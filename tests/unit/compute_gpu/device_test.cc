// Copies, streams, events, graphs and failures on a GPU.
#include <algorithm>

#include "../compute/pitched_copy.h"
#include "gpu.h"

namespace trine::compute {
namespace {

TEST_F(Gpu, IsDescribed) {
  const DeviceInfo info = gpu().info();
  printf("%s, %s, %zu bytes, %d multiprocessors\n", info.name.c_str(), info.architecture.c_str(), info.memory_bytes,
         info.compute_units);
  EXPECT_EQ(info.architecture.substr(0, 3), "sm_");
  EXPECT_GT(info.memory_bytes, size_t{1} << 30);
  EXPECT_GT(info.compute_units, 0);
}

TEST_F(Gpu, CopiesMoveEveryByte) {
  for (const size_t bytes : {size_t{1}, size_t{31}, size_t{4097}, (size_t{64} << 20) + 3}) {
    HostBuffer host = gpu().allocate_host(bytes), back = gpu().allocate_host(bytes);
    auto* data = static_cast<uint8_t*>(host.data());
    for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(random_());
    std::fill_n(static_cast<uint8_t*>(back.data()), bytes, uint8_t{0xee});
    Buffer a = gpu().allocate(bytes + 5), b = stream().allocate(bytes + 9);
    stream().upload(a, 5, data, bytes);
    stream().fill(b, 0x5a);
    stream().copy(b, 9, a, 5, bytes);
    stream().download(back.data(), b, 9, bytes);
    std::vector<uint8_t> front(9), pageable(bytes);
    stream().download(front.data(), b, 0, 9);
    stream().download(pageable.data(), a, 5, bytes);
    stream().synchronize();
    EXPECT_EQ(front, std::vector<uint8_t>(9, 0x5a));
    EXPECT_TRUE(std::equal(data, data + bytes, static_cast<uint8_t*>(back.data()))) << bytes;
    EXPECT_TRUE(std::equal(data, data + bytes, pageable.begin())) << bytes;
  }
}

TEST_F(Gpu, CopiesOfRowsAndSlicesTouchNothingElse) { expect_pitched_copies(gpu()); }

TEST_F(Gpu, CopiesFromAndToTheCpusBuffers) {
  const Device cpu = Device::open("cpu");
  const Buffer a = cpu.allocate(4096), there = gpu().allocate(4096), b = cpu.allocate(4096);
  for (size_t i = 0; i < 4096; ++i) static_cast<uint8_t*>(a.data())[i] = static_cast<uint8_t>(random_());
  stream().copy(there, 0, a, 0, 4096);
  stream().copy(b, 0, there, 0, 4096);
  stream().synchronize();
  EXPECT_EQ(memcmp(a.data(), b.data(), 4096), 0);
}

TEST_F(Gpu, LimitsMappedMemoryAndWhatIsDone) {
  const DeviceLimits limits = gpu().limits();
  EXPECT_EQ(limits.threads_per_block, 1024u);
  EXPECT_EQ(limits.warp_threads, 32u);
  EXPECT_GE(limits.shared_bytes_per_block, 48u << 10);
  EXPECT_GT(limits.greatest_priority, 0);
  EXPECT_TRUE(limits.cooperative);
  const size_t free_before = gpu().free_bytes();
  {
    const Buffer big = gpu().allocate(size_t{1} << 30);
    EXPECT_LE(gpu().free_bytes() + (size_t{1} << 30), free_before + (size_t{64} << 20));
  }
  stream().allocate(size_t{1} << 30);
  stream().synchronize();
  gpu().trim_pool();
  EXPECT_GE(gpu().free_bytes() + (size_t{64} << 20), free_before);

  const HostBuffer mapped = gpu().allocate_host(1000 * 4);
  auto* values = static_cast<float*>(mapped.data());
  for (int i = 0; i < 1000; ++i) values[i] = static_cast<float>(i);
  const Event after = gpu().create_event();
  module()
      .kernel("scale<float>")
      .launch(stream(), {.grid = {8}, .block = {128}}, static_cast<float*>(mapped.device_data()), 3.0f, 1000);
  stream().record(after);
  stream().synchronize();
  EXPECT_TRUE(stream().done());
  EXPECT_TRUE(after.done());
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(values[i], 3.0f * static_cast<float>(i));
}

TEST_F(Gpu, GraphsReplayAndAreUpdated) {
  const size_t n = 1000;
  const Kernel scale = module().kernel("scale<float>"), add = module().kernel("add");
  const LaunchShape shape{.grid = {blocks(n, 128)}, .block = {128}};
  const std::vector<float> a = random_floats(n);
  const Buffer x = poisoned<float>(n), y = put(random_floats(n)), out = poisoned<float>(n);
  const std::vector<float> b = get<float>(y, n);
  Stream second = gpu().create_stream(1);
  Event forked = gpu().create_event(), joined = gpu().create_event();
  int calls = 0;

  stream().begin_capture();
  stream().upload(x, 0, a.data(), n * 4);
  stream().record(forked);
  second.wait(forked);
  scale.launch(stream(), shape, at<float>(x), 2.0f, static_cast<int>(n));
  stream().fill(out, 0xcd);
  second.call([&] { ++calls; });
  second.record(joined);
  stream().wait(joined);
  add.launch(stream(), shape, at<float>(x), at<float>(y), at<float>(out), static_cast<int>(n));
  Graph graph = stream().end_capture();
  ASSERT_EQ(graph.kernels(), 2u);

  const auto expect = [&](float factor) {
    const std::vector<float> got = get<float>(out, n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], a[i] * factor + b[i]);
  };
  for (int round = 1; round <= 3; ++round) {
    graph.launch(stream());
    expect(2);
    EXPECT_EQ(calls, round);
  }
  graph.update(0, shape, at<float>(x), 4.0f, static_cast<int>(n));
  graph.launch(second);
  second.synchronize();
  expect(4);
}

TEST_F(Gpu, PinnedMemoryIsCopiedFaster) {
  constexpr size_t kBytes = size_t{256} << 20;
  const Buffer device = gpu().allocate(kBytes);
  const HostBuffer pinned = gpu().allocate_host(kBytes);
  const std::vector<uint8_t> plain(kBytes, 3);
  std::fill_n(static_cast<uint8_t*>(pinned.data()), kBytes, uint8_t{3});
  const Event begin = gpu().create_event(), end = gpu().create_event();
  double seconds[2];
  for (int round = 0; round < 2; ++round)  // the first warms up
    for (const bool is_pinned : {false, true}) {
      stream().record(begin);
      stream().upload(device, 0, is_pinned ? pinned.data() : plain.data(), kBytes);
      stream().record(end);
      seconds[is_pinned] = end.seconds_since(begin);
    }
  printf("upload: %.1f GB/s pinned, %.1f GB/s not\n", kBytes / seconds[1] * 1e-9, kBytes / seconds[0] * 1e-9);
  EXPECT_LT(seconds[1], seconds[0]);
}

TEST_F(Gpu, EventsTakeTimes) {
  const Buffer a = gpu().allocate(size_t{256} << 20), b = gpu().allocate(size_t{256} << 20);
  Event begin = gpu().create_event(), end = gpu().create_event();
  stream().fill(a, 1);
  stream().record(begin);
  for (int i = 0; i < 10; ++i) stream().copy(b, 0, a, 0, a.bytes());
  stream().record(end);
  const double seconds = end.seconds_since(begin);
  printf("copies on the device: %.0f GB/s read and written\n", 20.0 * static_cast<double>(a.bytes()) / seconds * 1e-9);
  EXPECT_GT(seconds, 1e-5);
  EXPECT_LT(seconds, 10);
}

TEST_F(Gpu, PrioritiesAndHostCalls) {
  Stream urgent = gpu().create_stream(100);
  EXPECT_GT(urgent.priority(), 0);
  std::string order;
  urgent.call([&] { order += 'a'; });
  urgent.call([] { throw Error(ErrorCode::io, "from a call"); });
  urgent.call([&] { order += 'b'; });
  EXPECT_EQ(error_of(ErrorCode::io, [&] { urgent.synchronize(); }), "from a call");
  EXPECT_EQ(order, "ab");
}

TEST_F(Gpu, OutOfMemoryIsToldAndLeavesTheDeviceUsable) {
  const size_t much = gpu().info().memory_bytes;
  EXPECT_TRUE(has(error_of(ErrorCode::out_of_memory, [&] { gpu().allocate(much); }), "bytes are free"));
  EXPECT_TRUE(has(error_of(ErrorCode::out_of_memory, [&] { stream().allocate(much); }), "bytes are free"));
  EXPECT_EQ(get<int>(put(std::vector<int>{5}), 1), std::vector<int>{5});
}

TEST_F(Gpu, PtxThatTheDriverDoesNotTake) {
  const std::string text = error_of(ErrorCode::invalid_argument, [] { Module::compile(gpu(), kNonsense); });
  printf("%s\n", text.c_str());
  EXPECT_TRUE(has(text, "the driver does not take this PTX")) << text;
}

using GpuDeathTest = Gpu;

TEST_F(GpuDeathTest, AnIllegalAddressNamesTheKernel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto poke = [] {
    Stream stream = gpu().create_stream();
    int* nowhere = reinterpret_cast<int*>(uintptr_t{64});
    module().kernel("poke").launch(stream, {}, nowhere);
    const std::string text = error_of(ErrorCode::device, [&] { stream.synchronize(); });
    fprintf(stderr, "%s\n", text.c_str());
    std::_Exit(0);
  };
  EXPECT_EXIT(poke(), testing::ExitedWithCode(0), "ILLEGAL_ADDRESS.*launched last: poke");
}

TEST_F(GpuDeathTest, AFailedAssertionIsToldOnceItIsWaitedFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto insist = [] {
    Stream stream = gpu().create_stream();
    module().kernel("insist").launch(stream, {}, 3);
    stream.synchronize();
    module().kernel("insist").launch(stream, {}, 4);
    const std::string text = error_of(ErrorCode::device, [&] { stream.synchronize(); });
    fprintf(stderr, "%s\n", text.c_str());
    std::_Exit(0);
  };
  EXPECT_EXIT(insist(), testing::ExitedWithCode(0), "CUDA_ERROR_ASSERT.*launched last: insist");
}

}  // namespace
}  // namespace trine::compute
