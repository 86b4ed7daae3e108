// How kernels run on the CPU is said when TRINE_DEBUG asks.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "kernel_case.h"

namespace trine::compute {
namespace {

// What the test below says in a program of its own: the level is read once.
std::string said_with(const std::string& environment) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      environment + " GTEST_TOTAL_SHARDS=1 GTEST_SHARD_INDEX=0 " + self + " --gtest_filter=Modes.OfKernels 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return "";
  std::string said;
  char part[4096];
  while (const size_t n = fread(part, 1, sizeof part, pipe)) said.append(part, n);
  EXPECT_EQ(pclose(pipe), 0);
  return said;
}

TEST(Modes, OfKernels) {
  const Module module = Module::compile(Device::open("cpu"), R"(
    __global__ void plain(int* out) { out[threadIdx.x] = threadIdx.x; }
    __device__ int depth(int n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }
    __global__ void recursive(int* out) { out[threadIdx.x] = depth(out[threadIdx.x] % 9); })");
  Stream stream = Device::open("cpu").create_stream();
  std::vector<int> out(64);
  module.kernel("plain").launch(stream, {.block = {64}}, out.data());
  EXPECT_EQ(out[63], 63);
  module.kernel("recursive").launch(stream, {.block = {64}}, out.data());
  EXPECT_EQ(out[62], 21);  // of 62 % 9 = 8
  module.kernel("plain").launch(stream, {.block = {8, 4}, .cooperative = true}, out.data());
}

TEST(Modes, AreSaidWithTheReason) {
  const std::string said = said_with("TRINE_DEBUG=2");
  EXPECT_NE(said.find("cpu: kernel 'plain(int*)', blocks of 64x1x1: lanes of "), std::string::npos) << said;
  EXPECT_NE(said.find("cpu: kernel 'recursive(int*)', blocks of 64x1x1: threads, ready in "), std::string::npos);
  EXPECT_NE(said.find(" ms; lanes: recursion of "), std::string::npos) << said;
  EXPECT_NE(said.find("blocks of 8x4x1: threads, ready in "), std::string::npos) << said;
  EXPECT_NE(said.find(" ms; a cooperative launch"), std::string::npos) << said;
  EXPECT_EQ(said_with("TRINE_DEBUG=1").find("cpu: kernel"), std::string::npos);
}

}  // namespace
}  // namespace trine::compute
