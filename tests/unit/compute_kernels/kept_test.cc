// Kernels on the CPU are kept in the cache of kernels.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "kernel_case.h"

namespace trine::compute {
namespace {

namespace fs = std::filesystem;

class KeptKernels : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/trine_kept_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    if (const char* set = std::getenv("TRINE_CACHE")) before_ = set;
    setenv("TRINE_CACHE", name, 1);
  }
  void TearDown() override {
    if (before_.empty()) unsetenv("TRINE_CACHE");
    else setenv("TRINE_CACHE", before_.c_str(), 1);
    fs::remove_all(folder_);
  }

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_regular_file()) {
        std::ifstream file(entry.path(), std::ios::binary);
        all[entry.path()] = std::string((std::istreambuf_iterator<char>(file)), {});
      }
    return all;
  }

  static void run(CompileOptions options = {}) {
    const Module module = Module::compile(Device::open("cpu"), R"(
      __device__ int offset = 7;
      __global__ void k(int* out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = i + offset; })",
                                          options);
    Stream stream = Device::open("cpu").create_stream();
    std::vector<int> out(100, kPoison);
    module.kernel("k").launch(stream, {.grid = {4}, .block = {32}}, out.data(), 99);
    for (int i = 0; i < 99; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], i + 7);
    ASSERT_EQ(out[99], kPoison);
  }

  std::string folder_, before_;
};

TEST_F(KeptKernels, AreTheSourceTheVariablesAndTheCode) {
  run();
  const auto first = files();
  EXPECT_EQ(first.size(), 3u);
  run();
  EXPECT_EQ(files(), first);
}

TEST_F(KeptKernels, ThatAreDamagedAreReplaced) {
  run();
  const auto first = files();
  for (const size_t at : {size_t{3}, size_t{40}, size_t{100}}) {
    for (const auto& [path, bytes] : first) {
      std::string wrong = bytes;
      wrong[at] = static_cast<char>(~wrong[at]);
      std::ofstream(path, std::ios::binary) << wrong;
    }
    run();
    EXPECT_EQ(files(), first) << "byte " << at;
  }
  for (const auto& [path, bytes] : first) std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  run();
  EXPECT_EQ(files(), first);
}

TEST_F(KeptKernels, AreNotThoseOfDebuggersAndChecks) {
  run({.debug = true});
  run({.checks = {"barrier"}});
  EXPECT_TRUE(files().empty());
  setenv("TRINE_CACHE", "off", 1);
  run();
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace trine::compute
