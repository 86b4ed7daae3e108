#include <gtest/gtest.h>

#include "trine/base/error.h"
#include "trine/compute/module.h"

namespace trine::compute {
namespace {

TEST(Checks, WhatIsNoCheckIsRefused) {
  const Device cpu = Device::open("cpu");
  constexpr const char* kSource = "__global__ void nothing() {}";
  for (const char* check : {"barrier", "memory", "race", "init", "all"})
    EXPECT_NO_THROW(Module::compile(cpu, kSource, {.checks = {check}})) << check;
  for (const char* check : {"", "Race", "other"}) {
    try {
      Module::compile(cpu, kSource, {.checks = {check}});
      ADD_FAILURE() << check;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
    }
  }
}

std::string finding(const char* source, const std::vector<std::string>& checks, size_t elements) {
  const Device cpu = Device::open("cpu");
  const Module module = Module::compile(cpu, source, {.name = "k.cu", .checks = checks});
  const Buffer buffer = cpu.allocate(elements * sizeof(int));
  Stream stream = cpu.create_stream();
  stream.fill(buffer, 0);
  try {
    module.kernel("k").launch(stream, {.grid = {2}, .block = {32}}, static_cast<int*>(buffer.data()));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THROW(stream.synchronize(), Error);
    return error.what();
  }
  return "";
}

TEST(Checks, LaunchesThrowWhatIsFound) {
  constexpr const char* kEach = "__global__ void k(int* x) { x[blockIdx.x * 32 + threadIdx.x] = threadIdx.x; }";
  EXPECT_EQ(finding(kEach, {"all"}, 64), "");
  const std::string outside = finding(kEach, {"memory"}, 63);
  EXPECT_NE(outside.find("memory: out of bounds at 0 bytes past the end of allocation"), std::string::npos) << outside;
  EXPECT_NE(outside.find("k.cu:1: write of 4 bytes by block (1,0,0), thread (31,0,0)"), std::string::npos) << outside;
  const std::string race = finding("__global__ void k(int* x) {\n*x = blockIdx.x + 1;\n}", {"race"}, 64);
  EXPECT_NE(race.find("race: value-changing"), std::string::npos) << race;
  EXPECT_NE(race.find("k.cu:2: write of 4 bytes by block (0,0,0)"), std::string::npos) << race;
}

}  // namespace
}  // namespace trine::compute
