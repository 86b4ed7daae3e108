#include "trine/compute/device.h"

#include <gtest/gtest.h>

#include <numeric>

#include "trine/base/error.h"

namespace trine::compute {
namespace {

TEST(Device, ListsCpuAndNull) {
  std::vector<std::string> ids;
  for (const DeviceInfo& d : devices()) ids.push_back(d.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"cpu", "null"}));
}

TEST(Device, UnknownDeviceNamesWhatThereIs) {
  for (const char* id : {"tpu", "cpu:1", "cpu:x", "cpu:-1", ""}) {
    try {
      Device::open(id);
      FAIL() << id;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::device);
      EXPECT_NE(std::string(e.what()).find("cpu, null"), std::string::npos) << e.what();
    }
  }
}

TEST(Device, CopiesInOrder) {
  const Device cpu = Device::open("cpu");
  std::vector<int> host(1000);
  std::iota(host.begin(), host.end(), 7);
  const size_t bytes = host.size() * sizeof(int);
  Buffer a = cpu.allocate(bytes), b = cpu.allocate(bytes);
  Stream stream = cpu.create_stream();
  stream.fill(b, 0xcd);
  stream.upload(a, 0, host.data(), bytes);
  stream.copy(b, 8, a, 0, bytes - 8);
  std::vector<int> back(host.size());
  stream.download(back.data(), b, 0, bytes);
  stream.synchronize();
  EXPECT_EQ(back[1], static_cast<int>(0xcdcdcdcd));
  EXPECT_TRUE(std::equal(back.begin() + 2, back.end(), host.begin()));
}

TEST(Device, CopyOutsideABufferIsRefused) {
  const Device cpu = Device::open("cpu");
  Buffer a = cpu.allocate(64);
  Stream stream = cpu.create_stream();
  char byte = 1;
  EXPECT_THROW(stream.upload(a, 64, &byte, 1), Error);
  EXPECT_THROW(stream.upload(a, SIZE_MAX, &byte, 2), Error);
  EXPECT_THROW(stream.download(&byte, a, 1, SIZE_MAX), Error);
}

TEST(Device, EventsTimeAndCallbacksRun) {
  for (const char* id : {"cpu", "null"}) {
    const Device device = Device::open(id);
    Stream stream = device.create_stream();
    Event begin = device.create_event(), end = device.create_event();
    int calls = 0;
    stream.record(begin);
    stream.call([&] { ++calls; });
    stream.record(end);
    stream.synchronize();
    EXPECT_EQ(calls, 1);
    EXPECT_GE(end.seconds_since(begin), 0);
  }
}

TEST(Device, HugeAllocationIsAnError) { EXPECT_THROW(Device::open("cpu").allocate(SIZE_MAX - 10), Error); }

}  // namespace
}  // namespace trine::compute
