// Graphs on devices whose captures are lists of operations.
#include "trine/compute/graph.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <numeric>
#include <random>

#include "trine/base/error.h"

namespace trine::compute {
namespace {

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    return e.what();
  }
  return "no error";
}

std::vector<uint32_t> random_words(size_t count) {
  const uint32_t seed = std::random_device{}();
  printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  return words;
}

class GraphOfSize : public testing::TestWithParam<size_t> {};

// Nothing happens while capturing; each launch reads what is there then.
TEST_P(GraphOfSize, ReplaysCopiesFillsAndCalls) {
  const size_t count = GetParam(), bytes = count * sizeof(uint32_t);
  const Device cpu = Device::open("cpu");
  Stream stream = cpu.create_stream();
  Buffer a = cpu.allocate(bytes), b = cpu.allocate(bytes + 4);
  std::vector<uint32_t> in = random_words(count), out(count + 1, 0xdeadbeef);
  int calls = 0;

  stream.begin_capture();
  EXPECT_TRUE(stream.capturing());
  stream.fill(b, 0x5a);
  stream.upload(a, 0, in.data(), bytes);
  stream.call([&] { ++calls; });
  stream.copy(b, 4, a, 0, bytes);
  stream.download(out.data(), b, 0, bytes + 4);
  const Graph graph = stream.end_capture();
  EXPECT_FALSE(stream.capturing());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(out, std::vector<uint32_t>(count + 1, 0xdeadbeef));

  for (int round = 1; round <= 3; ++round) {
    const std::vector<uint32_t> fresh = random_words(count);
    std::copy(fresh.begin(), fresh.end(), in.begin());
    std::fill(out.begin(), out.end(), 0xdeadbeef);
    graph.launch(stream);
    stream.synchronize();
    EXPECT_EQ(calls, round);
    EXPECT_EQ(out[0], 0x5a5a5a5au);
    EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin() + 1));
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, GraphOfSize, testing::Values(1, 31, 32, 33, 96, 256, 1024));

TEST(Graph, LivesOnWithoutTheStreamThatWasCaptured) {
  const Device cpu = Device::open("cpu");
  int calls = 0;
  const Graph graph = [&] {
    Stream stream = cpu.create_stream();
    stream.begin_capture();
    const auto step = std::make_shared<int>(7);
    stream.call([&calls, step] { calls += *step; });
    return stream.end_capture();
  }();
  Stream other = cpu.create_stream();
  const Graph copy = graph;
  graph.launch(other);
  copy.launch(other);
  EXPECT_EQ(calls, 14);
  EXPECT_EQ(graph.kernels(), 0u);
}

TEST(Graph, StreamsJoinByEvents) {
  const Device cpu = Device::open("cpu");
  Stream first = cpu.create_stream(), second = cpu.create_stream();
  Event forked = cpu.create_event(), joined = cpu.create_event();
  std::string order;
  first.begin_capture();
  first.call([&] { order += 'a'; });
  first.record(forked);
  second.wait(forked);
  EXPECT_TRUE(second.capturing());
  second.call([&] { order += 'b'; });
  second.record(joined);
  EXPECT_NE(error_of([&] { second.end_capture(); }).find("where it began"), std::string::npos);
  first.wait(joined);
  first.call([&] { order += 'c'; });
  const Graph graph = first.end_capture();
  EXPECT_FALSE(second.capturing());
  EXPECT_EQ(order, "");
  second.call([&] { order += '-'; });
  graph.launch(first);
  graph.launch(second);
  EXPECT_EQ(order, "-abcabc");
}

TEST(Graph, MistakesAreNamed) {
  const Device cpu = Device::open("cpu");
  Stream stream = cpu.create_stream();
  Event event = cpu.create_event(), captured = cpu.create_event();
  EXPECT_NE(error_of([&] { stream.end_capture(); }).find("not being captured"), std::string::npos);
  stream.record(event);
  stream.begin_capture();
  EXPECT_NE(error_of([&] { stream.begin_capture(); }).find("begin_capture: "), std::string::npos);
  EXPECT_NE(error_of([&] { stream.synchronize(); }).find("end_capture() first"), std::string::npos);
  EXPECT_NE(error_of([&] { stream.allocate(8); }).find("allocate: "), std::string::npos);
  EXPECT_NE(error_of([&] { stream.wait(event); }).find("same capture"), std::string::npos);
  stream.record(captured);
  Graph graph = stream.end_capture();
  EXPECT_NE(error_of([&] { stream.wait(captured); }).find("has ended"), std::string::npos);
  EXPECT_NE(error_of([&] { captured.seconds_since(event); }).find("seconds_since: "), std::string::npos);
  EXPECT_NE(error_of([&] { captured.synchronize(); }).find("in a capture"), std::string::npos);
  EXPECT_NE(error_of([&] { graph.update(0, {}); }).find("kernel 0 of a graph of 0"), std::string::npos);
  Stream foreign = Device::open("null").create_stream();
  EXPECT_NE(error_of([&] { graph.launch(foreign); }).find("another device"), std::string::npos);
  stream.begin_capture();
  EXPECT_NE(error_of([&] { graph.launch(stream); }).find("launch: a graph"), std::string::npos);
  stream.end_capture().launch(stream);  // of nothing
  stream.record(captured);
  EXPECT_GE(captured.seconds_since(event), 0);
}

TEST(Graph, AStreamMayGoWhileItIsCaptured) {
  const Device cpu = Device::open("cpu");
  Stream joined = cpu.create_stream();
  {
    Stream stream = cpu.create_stream();
    Event event = cpu.create_event();
    stream.begin_capture();
    stream.record(event);
    joined.wait(event);
  }
  EXPECT_FALSE(joined.capturing());
  joined.synchronize();
}

TEST(Graph, ErrorsOfCallsComeOutOfTheLaunch) {
  const Device cpu = Device::open("cpu");
  Stream stream = cpu.create_stream();
  stream.begin_capture();
  stream.call([] { throw Error(ErrorCode::invalid_argument, "from a call"); });
  const Graph graph = stream.end_capture();
  EXPECT_EQ(error_of([&] { graph.launch(stream); }), "from a call");
}

TEST(Device, HostMemoryAndOrderedMemoryWorkEverywhere) {
  const Device cpu = Device::open("cpu");
  EXPECT_EQ(cpu.create_stream(5).priority(), 0);
  EXPECT_EQ(cpu.create_stream(-5).priority(), 0);
  Stream stream = cpu.create_stream();
  for (const size_t bytes : {0, 1, 33, 4096}) {
    HostBuffer host = cpu.allocate_host(bytes);
    Buffer device = stream.allocate(bytes);
    ASSERT_EQ(host.bytes(), bytes);
    ASSERT_EQ(device.bytes(), bytes);
    char* data = static_cast<char*>(host.data());
    std::iota(data, data + bytes, char{3});
    stream.upload(device, 0, data, bytes);
    std::vector<char> back(bytes);
    stream.download(back.data(), device, 0, bytes);
    stream.synchronize();
    EXPECT_TRUE(std::equal(back.begin(), back.end(), data));
    HostBuffer moved = std::move(host);
    EXPECT_EQ(moved.data(), data);
    EXPECT_EQ(host.bytes(), 0u);
  }
}

}  // namespace
}  // namespace trine::compute
