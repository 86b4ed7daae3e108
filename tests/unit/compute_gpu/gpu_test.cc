// The backend cuda on a GPU. Skipped, with the reason, where there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>

#include "sources.h"
#include "trine/base/error.h"
#include "trine/compute/graph.h"
#include "trine/compute/module.h"

namespace trine::compute {
namespace {

// The only device of the backend, opened once; null when there is none.
Device* the_gpu() {
  static const auto gpu = []() -> std::unique_ptr<Device> {
    try {
      return std::make_unique<Device>(Device::open("cuda:0"));
    } catch (const Error& e) {
      printf("%s\n", e.what());
      return nullptr;
    }
  }();
  return gpu.get();
}

std::string error_of(ErrorCode code, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!the_gpu()) GTEST_SKIP() << "no GPU";
    seed_ = std::random_device{}();
    random_.seed(seed_);
    printf("seed %u\n", seed_);
    stream_ = std::make_unique<Stream>(gpu().create_stream());
  }

  static const Device& gpu() { return *the_gpu(); }
  Stream& stream() { return *stream_; }
  static const Module& module() {
    static const Module compiled = Module::compile(gpu(), kKernels);
    return compiled;
  }

  std::vector<int> random_ints(size_t count) {
    std::uniform_int_distribution<int> distribution(-100000, 100000);
    std::vector<int> values(count);
    for (int& value : values) value = distribution(random_);
    return values;
  }
  std::vector<float> random_floats(size_t count) {
    std::uniform_real_distribution<float> distribution(-100, 100);
    std::vector<float> values(count);
    for (float& value : values) value = distribution(random_);
    return values;
  }

  // On the device; with a poisoned rest that must stay so.
  template <class T>
  Buffer put(const std::vector<T>& values) {
    Buffer buffer = gpu().allocate(values.size() * sizeof(T) + 64);
    stream().fill(buffer, 0xcd);
    stream().upload(buffer, 0, values.data(), values.size() * sizeof(T));
    stream().synchronize();
    return buffer;
  }
  template <class T>
  Buffer poisoned(size_t count) {
    return put(std::vector<T>(count, T(-77)));
  }
  template <class T>
  std::vector<T> get(const Buffer& buffer, size_t count) {
    std::vector<T> values(count);
    std::vector<uint8_t> rest(64);
    stream().download(values.data(), buffer, 0, count * sizeof(T));
    stream().download(rest.data(), buffer, count * sizeof(T), 64);
    stream().synchronize();
    EXPECT_EQ(rest, std::vector<uint8_t>(64, 0xcd));
    return values;
  }

  unsigned seed_ = 0;
  std::mt19937 random_;
  std::unique_ptr<Stream> stream_;
};

constexpr size_t kSizes[] = {1, 31, 32, 33, 96, 256, 1024, 1 << 20};

template <class T>
T* at(const Buffer& buffer) {
  return static_cast<T*>(buffer.data());
}
uint32_t blocks(size_t n, uint32_t threads) { return static_cast<uint32_t>((n + threads - 1) / threads); }

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

TEST_F(Gpu, Adds) {
  const Kernel add = module().kernel("add");
  for (const size_t n : kSizes) {
    const std::vector<float> a = random_floats(n), b = random_floats(n);
    const Buffer da = put(a), db = put(b), out = poisoned<float>(n);
    add.launch(stream(), {.grid = {blocks(n, 128)}, .block = {128}}, at<float>(da), at<float>(db), at<float>(out),
               static_cast<int>(n));
    const std::vector<float> got = get<float>(out, n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], a[i] + b[i]) << n << " at " << i;
  }
}

TEST_F(Gpu, ReducesInSharedMemory) {
  const Kernel reduce = module().kernel("reduce");
  EXPECT_EQ(reduce.properties().static_shared_bytes, 1024u);
  for (const size_t n : kSizes) {
    const std::vector<int> in = random_ints(n);
    const uint32_t count = blocks(n, 256);
    const Buffer din = put(in), out = poisoned<int>(count);
    reduce.launch(stream(), {.grid = {count}, .block = {256}}, at<int>(din), at<int>(out), static_cast<int>(n));
    const std::vector<int> got = get<int>(out, count);
    for (uint32_t b = 0; b < count; ++b) {
      const auto begin = in.begin() + b * 256, end = in.begin() + std::min<size_t>(n, (b + 1) * 256);
      ASSERT_EQ(got[b], std::accumulate(begin, end, 0)) << n << " block " << b;
    }
  }
}

TEST_F(Gpu, Shuffles) {
  const Kernel shuffles = module().kernel("shuffles");
  for (const size_t n : {32, 96, 256, 1024}) {
    const std::vector<int> in = random_ints(n);
    const Buffer din = put(in), sums = poisoned<int>(n), next = poisoned<int>(n), odd = poisoned<uint32_t>(n);
    shuffles.launch(stream(), {.block = {static_cast<uint32_t>(n)}}, at<int>(din), at<int>(sums), at<int>(next),
                    at<uint32_t>(odd));
    const std::vector<int> got_sums = get<int>(sums, n), got_next = get<int>(next, n);
    const std::vector<uint32_t> got_odd = get<uint32_t>(odd, n);
    for (size_t i = 0; i < n; ++i) {
      const size_t warp = i / 32 * 32;
      uint32_t bits = 0;
      for (size_t lane = 0; lane < 32; ++lane) bits |= static_cast<uint32_t>(in[warp + lane] & 1) << lane;
      ASSERT_EQ(got_sums[i], std::accumulate(in.begin() + warp, in.begin() + warp + 32, 0));
      ASSERT_EQ(got_next[i], in[i % 32 == 31 ? i : i + 1]);
      ASSERT_EQ(got_odd[i], bits);
    }
  }
}

TEST_F(Gpu, SharedMemoryOfTheLaunch) {
  const Kernel reverse = module().kernel("reverse");
  for (const size_t n : {1, 33, 1024, 50000}) {  // the last needs more than the 48 KB that are free
    const std::vector<int> in = random_ints(n);
    const Buffer din = put(in), out = poisoned<int>(n);
    reverse.launch(stream(), {.block = {256}, .shared_bytes = static_cast<uint32_t>(n * 4)}, at<int>(din), at<int>(out),
                   static_cast<int>(n));
    EXPECT_EQ(get<int>(out, n), std::vector<int>(in.rbegin(), in.rend()));
  }
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument,
                           [&] { reverse.launch(stream(), {.shared_bytes = 1 << 20}, nullptr, nullptr, 0); }),
                  "bytes of dynamic shared memory"));
}

TEST_F(Gpu, StructsByValue) {
  struct Mixed {
    char tag;
    double scale;
    short steps[3];
    float* out;
  };
  const Buffer out = poisoned<float>(96);
  const Mixed mixed{'a', 1.5, {3, -4, 5}, at<float>(out)};
  module().kernel("by_value").launch(stream(), {.block = {96}}, mixed, '\x02');
  const std::vector<float> got = get<float>(out, 96);
  for (size_t i = 0; i < 96; ++i) ASSERT_EQ(got[i], static_cast<float>(1.5 * mixed.steps[i % 3] + 'a' + 2)) << i;
}

TEST_F(Gpu, Variables) {
  const Module::Variable counters = module().variable("counters"), table = module().variable("table");
  ASSERT_EQ(counters.bytes, 16u);
  ASSERT_EQ(table.bytes, 64u);
  const std::vector<float> values = random_floats(16);
  const std::vector<int> before = random_ints(4);
  stream().upload(table.address, values.data(), 64);
  stream().upload(counters.address, before.data(), 16);
  const Buffer out = poisoned<float>(33);
  module().kernel("use_variables").launch(stream(), {.block = {33}}, at<float>(out));
  const std::vector<float> got = get<float>(out, 33);
  for (size_t i = 0; i < 33; ++i) ASSERT_EQ(got[i], values[i % 16] * 2);
  int after[4];
  stream().download(after, counters.address, 16);
  stream().synchronize();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(after[i], before[static_cast<size_t>(i)] + 33);
}

TEST_F(Gpu, TemplatesByTheirNames) {
  const std::vector<double> in = {1, -2, 3};
  const Buffer x = put(in);
  module().kernel("scale<double>").launch(stream(), {.block = {32}}, at<double>(x), -2.0, 3);
  EXPECT_EQ(get<double>(x, 3), (std::vector<double>{-2, 4, -6}));
}

TEST_F(Gpu, CooperativeBlocksAreResidentTogether) {
  const Kernel meet = module().kernel("meet");
  const auto count = static_cast<uint32_t>(gpu().info().compute_units) * 4;
  const Buffer arrived = put(std::vector<int>{0}), seen = poisoned<int>(count);
  meet.launch(stream(), {.grid = {count}, .block = {64}, .cooperative = true}, at<int>(arrived), at<int>(seen));
  EXPECT_EQ(get<int>(seen, count), std::vector<int>(count, 1));
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument,
                           [&] {
                             meet.launch(stream(), {.grid = {count * 100}, .block = {64}, .cooperative = true},
                                         at<int>(arrived), at<int>(seen));
                           }),
                  "are resident at once"));
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

// In a process of its own, whose context is lost.
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

}  // namespace
}  // namespace trine::compute
