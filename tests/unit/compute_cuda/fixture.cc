#include "fixture.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "simt/run/cache.h"
#include "simt/run/cache_key.h"
#include "simt/run/compile_ptx.h"

namespace trine::compute {
namespace {

// Before anything asks for devices.
class Environment : public testing::Environment {
 public:
  Environment() {
    setenv("TRINE_CUDA_DRIVER", FAKE_DRIVER, 1);
    char name[] = "/tmp/trine_cuda_XXXXXX";
    folder_ = mkdtemp(name);
    setenv("TRINE_CACHE", folder_.c_str(), 1);
  }
  ~Environment() override { std::filesystem::remove_all(folder_); }

 private:
  std::string folder_;
};
const auto* const environment = testing::AddGlobalTestEnvironment(new Environment);

template <class T>
T argument(const fake::Launch& launch, int index) {
  T value;
  std::memcpy(&value, launch.arguments[index], sizeof value);
  return value;
}

void run_scale(const fake::Launch& launch) {
  auto* x = argument<float*>(launch, 0);
  const auto a = argument<float>(launch, 1);
  const int n = argument<int>(launch, 2);
  const auto threads = static_cast<int>(launch.grid[0] * launch.block[0]);
  for (int i = 0; i < std::min(n, threads); ++i) x[i] *= a;
}

void run_blocks(const fake::Launch& launch) {
  auto* out = argument<int*>(launch, 0);
  const unsigned values[] = {launch.grid[0],
                             launch.grid[1],
                             launch.grid[2],
                             launch.block[0],
                             launch.block[1],
                             launch.block[2],
                             launch.shared_bytes,
                             launch.cooperative + 10u * launch.overlap +
                                 100 * (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] - 1)};
  std::copy(std::begin(values), std::end(values), out);
}

}  // namespace

const char* const kSource = "the kernels of these tests";

std::string error_of(ErrorCode code, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  return "no error";
}

void put_into_cache(const std::string& source, const std::string& ptx, const simt::DeviceModule& info) {
  const simt::Cache cache(simt::cache_folder());
  cache.store(*simt::cache_key(source, {}, "ptx sm_90a 90"), simt::encode({info, ptx}));
}

void define_kernels() {
  fake::define("_Z5scalePffi", {8, 4, 4}, run_scale);
  fake::define("_Z6blocksPi", {8}, run_blocks);
  simt::DeviceModule info;
  info.kernels = {{"_Z5scalePffi", "scale(float*, float, int)", {{0, 8}, {8, 4}, {12, 4}}, 16, 0, 1024},
                  {"_Z6blocksPi", "blocks(int*)", {{0, 8}}, 8, 0, 1024}};
  info.variables = {{"table", "table", 16, false, false}};
  put_into_cache(
      kSource, ".visible .global .b8 table[16];\n.visible .entry _Z5scalePffi(\n.visible .entry _Z6blocksPi(\n", info);
}

std::vector<float> random_floats(size_t count) {
  const unsigned seed = std::random_device{}();
  printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> distribution(-10, 10);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

}  // namespace trine::compute
