// Streams, events, graphs and memory of the CPU from several host threads, each with its own; devices are shared.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "trine/base/error.h"
#include "trine/compute/c.h"
#include "trine/compute/graph.h"

namespace trine::compute {
namespace {

TEST(HostThreads, HaveStreamsOfTheirOwn) {
  const Device device = Device::open("cpu");
  std::vector<std::thread> hosts;
  for (int h = 0; h < 4; ++h)
    hosts.emplace_back([&device, h] {
      Stream stream = device.create_stream();
      const Event begin = device.create_event(), end = device.create_event();
      const Buffer a = device.allocate(1000), b = stream.allocate(1000);
      std::vector<uint8_t> back(1000);
      int calls = 0;
      stream.begin_capture();
      stream.fill(a, static_cast<uint8_t>(h));
      stream.copy(b, 0, a, 0, 1000);
      stream.call([&calls] { ++calls; });
      const Graph graph = stream.end_capture();
      for (int round = 0; round < 20; ++round) {
        stream.record(begin);
        graph.launch(stream);
        stream.record(end);
        stream.download(back.data(), b, 0, 1000);
        stream.synchronize();
        EXPECT_GE(end.seconds_since(begin), 0);
        EXPECT_EQ(back, std::vector<uint8_t>(1000, static_cast<uint8_t>(h)));
      }
      EXPECT_EQ(calls, 20);
    });
  for (std::thread& host : hosts) host.join();
}

TEST(HostThreads, HaveErrorsOfTheirOwn) {
  std::vector<std::thread> hosts;
  for (int h = 0; h < 4; ++h)
    hosts.emplace_back([h] {
      EXPECT_STREQ(trine_last_error(), "");
      const std::string id = "device" + std::to_string(h);
      for (int round = 0; round < 20; ++round) {
        trine_device* device = nullptr;
        EXPECT_EQ(trine_device_open(id.c_str(), &device), TRINE_DEVICE_FAILED);
        EXPECT_NE(std::string(trine_last_error()).find(id), std::string::npos);
      }
    });
  for (std::thread& host : hosts) host.join();
}

}  // namespace
}  // namespace trine::compute
