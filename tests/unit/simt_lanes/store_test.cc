// Code that is kept between runs: a second program compiles nothing, and what is damaged is compiled again.
#include <gtest/gtest.h>

#include <numeric>

#include "lanes_program.h"
#include "trine/base/error.h"

namespace trine::simt {
namespace {

struct Memory final : CodeStore {
  std::optional<std::string> find(const std::string& key) override {
    const auto found = kept.find(key);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  }
  void store(const std::string& key, std::string_view bytes) override {
    kept[key] = bytes;
    ++stored;
  }
  std::map<std::string, std::string> kept;
  int stored = 0;
};

constexpr const char* kSource = R"(
__device__ int factor = 3;
__device__ int depth(int n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }
__global__ void k(int* out) { __shared__ int s[64]; s[threadIdx.x] = factor * threadIdx.x; __syncthreads();
                              out[threadIdx.x] = s[63 - threadIdx.x]; }
__global__ void recursive(int* out) { out[threadIdx.x] = depth(threadIdx.x % 5); })";

void run(const std::shared_ptr<Memory>& store) {
  LanesProgram program(kSource);
  program.use_store(store);
  for (const int width : {8, 32}) {
    std::vector<int> out(64, -1), want(64);
    program.run("k", {1}, {64}, width, out.data());
    for (int i = 0; i < 64; ++i) want[size_t(i)] = 3 * (63 - i);
    ASSERT_EQ(out, want) << "width " << width;
  }
  EXPECT_NE(program.refusal("recursive", {64}).find("recursion of"), std::string::npos);
}

TEST(StoredCode, IsFoundByASecondProgram) {
  const auto store = std::make_shared<Memory>();
  run(store);
  EXPECT_EQ(store->stored, 4);  // variables, two widths, a refusal
  const auto first = store->kept;
  run(store);
  EXPECT_EQ(store->stored, 4);
  store->kept.clear();
  run(store);
  EXPECT_EQ(store->kept, first);  // the same code each time
}

TEST(StoredCode, IsReplacedWhereItIsDamaged) {
  const auto store = std::make_shared<Memory>();
  run(store);
  const auto first = store->kept;
  for (const size_t left : {0, 1, 31, 96}) {
    for (auto& [key, bytes] : store->kept) bytes.resize(left);
    run(store);
    EXPECT_EQ(store->kept, first) << left << " bytes left";
  }
}

TEST(StoredCode, IsThatOfItsProcessor) {
  const auto store = std::make_shared<Memory>();
  int before = 0;
  for (const CpuLevel level : kCpuLevels) {
    limit_cpu_level(level);
    if (cpu_level() != level) continue;  // more than this machine has
    run(store);
    EXPECT_EQ(store->stored, before += 4) << name(level);
  }
  limit_cpu_level({});
}

}  // namespace
}  // namespace trine::simt
