// Memory over many runs: nothing grows (report D7).
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "model_of.h"
#include "trine/engine/session.h"

// There under the address sanitizer only, which keeps freed memory for a while: resident pages say little then.
extern "C" __attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes();

namespace trine {
namespace {

size_t bytes_in_use() {
  if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
  size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

Model convolutions() {
  return model_of(R"(graph(%x: f32[1,N,80]) {
    %w: f32[96,80,3] = const f32[96,80,3] random(1)
    %v: f32[32,96,5] = const f32[32,96,5] random(2)
    %t: f32[1,80,N] = transpose %x {perm=[0,2,1]}
    %c: f32[1,96,N] = conv %t %w {pads=[1,1]}
    %r: f32[1,96,N] = relu %c
    %y: f32[1,32,N] = conv %r %v {pads=[2,2]}
    return %y
  })");
}

TEST(Memory, EightHundredRunsGrowNothing) {
  Session session(build(convolutions(), {.threads = 1, .code = false}), {.threads = 1});
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const auto run = [&](int64_t length) {
    Tensor x(DType::f32, {1, length, 80});
    for (int64_t i = 0; i < x.elements(); ++i) x.mutable_as<float>()[i] = normal(random);
    ASSERT_EQ(session.run({Datum(x)})[0].tensor().dim(2), length);
  };
  for (int i = 0; i < 40; ++i) run(200 + i % 4);
  const size_t before = bytes_in_use();
  for (int i = 0; i < 800; ++i) run(200 + i % 4);
  EXPECT_LT(bytes_in_use(), before + (1 << 20));
}

TEST(Memory, SizesThatComeAndGoAreForgotten) {
  Session session(build(convolutions(), {.threads = 1, .code = false}), {.threads = 1});
  const auto run = [&](int64_t length) {
    Tensor x(DType::f32, {1, length, 80});
    std::fill_n(x.mutable_as<float>(), x.elements(), 0.5f);
    session.run({Datum(x)});
  };
  for (int64_t n = 1; n <= 300; ++n) run(n);
  const size_t before = bytes_in_use();
  for (int64_t n = 1; n <= 300; ++n) run(n);
  EXPECT_LT(bytes_in_use(), before + (4 << 20));
}

}  // namespace
}  // namespace trine
