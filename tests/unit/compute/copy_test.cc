// Copies of rows, fills of parts, limits: on the CPU. tests/unit/compute_cuda has the same for GPUs.
#include <gtest/gtest.h>

#include <functional>

#include "pitched_copy.h"
#include "trine/base/error.h"

namespace trine::compute {
namespace {

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "no error";
}

TEST(Copies, OfRowsAndSlicesTouchNothingElse) { expect_pitched_copies(Device::open("cpu")); }

TEST(Copies, OfNothingTouchNoMemory) {
  Stream stream = Device::open("cpu").create_stream();
  for (const Extent& extent : {Extent{0, 5, 5}, Extent{5, 0, 5}, Extent{5, 5, 0}})
    stream.copy({nullptr}, {nullptr}, extent, CopyKind::host_to_device);
}

TEST(Copies, ThatMakeNoSenseAreRefused) {
  const Device cpu = Device::open("cpu");
  Stream stream = cpu.create_stream();
  const Buffer buffer = cpu.allocate(1000);
  std::vector<char> host(1000);
  const auto copy = [&](const Pitched& to, const Extent& extent) {
    return refusal([&] { stream.copy(to, {host.data()}, extent, CopyKind::host_to_device); });
  };
  EXPECT_EQ(copy({buffer.data(), 9}, {10, 2}),
            "copy: rows of the target that lie 9 bytes apart for 10 bytes each; they must not overlap");
  EXPECT_NE(copy({buffer.data(), 10, 15}, {10, 2, 2}).find("slices of the target that lie 15"), std::string::npos);
  EXPECT_NE(copy({buffer.data(), 10, 25}, {10, 2, 2}).find("multiples of a row"), std::string::npos);
  EXPECT_EQ(copy({buffer.data(), 500, 0, 1000}, {501, 1, 1}).substr(0, 14), "copy: rows of ");
  EXPECT_EQ(copy({buffer.data(), 500, 0, 1000}, {1, 3, 1}),
            "copy: 1 x 3 x 1 bytes end at 1001 of the target; there are 1000");
  EXPECT_NE(copy({buffer.data(), SIZE_MAX / 2, 0, 1000}, {1, 5, 3}).find("of the target"), std::string::npos);
  EXPECT_EQ(copy({buffer.data(), 500, 0, 1000}, {500, 2, 1}), "no error");
}

TEST(Copies, BetweenTheCpuAndAnotherDeviceAreOfTheOthersStream) {
  const Device cpu = Device::open("cpu"), null = Device::open("null");
  const Buffer here = cpu.allocate(64), there = null.allocate(64);
  Stream of_cpu = cpu.create_stream(), of_null = null.create_stream();
  EXPECT_EQ(refusal([&] { of_null.copy(there, 0, here, 0, 64); }), "no error");
  EXPECT_EQ(refusal([&] { of_null.copy(here, 0, there, 0, 64); }), "no error");
  EXPECT_EQ(refusal([&] { of_cpu.copy(there, 0, here, 0, 64); }),
            "copy: the stream is of cpu 0, the buffers of null 0 and the host; give a stream of that device");
  EXPECT_EQ(refusal([&] { of_null.copy(here, 0, here, 32, 32); }),
            "copy: the buffers are of cpu, the stream of null; give a stream of theirs");
}

TEST(Fills, OfPartsStayInside) {
  const Device cpu = Device::open("cpu");
  Stream stream = cpu.create_stream();
  const Buffer buffer = cpu.allocate(100);
  stream.fill(buffer, 1);
  stream.fill(buffer, 10, 20, 2);
  stream.fill(buffer, 100, 0, 3);
  for (size_t i = 0; i < 100; ++i)
    ASSERT_EQ(static_cast<const uint8_t*>(buffer.data())[i], i >= 10 && i < 30 ? 2 : 1) << i;
  EXPECT_EQ(refusal([&] { stream.fill(buffer, 90, 11, 4); }),
            "fill: 11 bytes at 90 in a buffer of 100 bytes; they must lie within it");
}

TEST(Devices, TellLimitsAndWhatIsDone) {
  const Device cpu = Device::open("cpu");
  const DeviceLimits limits = cpu.limits();
  EXPECT_EQ(limits.threads_per_block, 1024u);
  EXPECT_EQ(limits.block[2], 64u);
  EXPECT_EQ(limits.shared_bytes_per_block, 227u << 10);
  EXPECT_EQ(limits.greatest_priority, 0);
  EXPECT_GT(cpu.free_bytes(), 0u);
  EXPECT_LE(cpu.free_bytes(), cpu.info().memory_bytes);
  cpu.trim_pool();
  const HostBuffer host = cpu.allocate_host(10);
  EXPECT_EQ(host.device_data(), host.data());
  const Stream stream = cpu.create_stream();
  EXPECT_TRUE(stream.done());
  EXPECT_TRUE(cpu.create_event().done());
}

}  // namespace
}  // namespace trine::compute
