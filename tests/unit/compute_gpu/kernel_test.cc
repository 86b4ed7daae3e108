// Kernels on a GPU.
#include <algorithm>
#include <numeric>

#include "gpu.h"

namespace trine::compute {
namespace {

TEST_F(Gpu, Adds) {
  const Kernel add = module().kernel("add");
  for (const size_t n : kSizes) {
    const std::vector<float> a = random_floats(n), b = random_floats(n);
    const Buffer da = put(a), db = put(b), out = poisoned<float>(n);
    add.launch(stream(), {.grid = {blocks(n, 128)}, .block = {128}}, at<float>(da), at<float>(db), at<float>(out),
               static_cast<int>(n));
    const std::vector<float> got = get<float>(out, n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], a[i] + b[i]) << n << " at " << i;
  }
}

TEST_F(Gpu, ReducesInSharedMemory) {
  const Kernel reduce = module().kernel("reduce");
  EXPECT_EQ(reduce.properties().static_shared_bytes, 1024u);
  for (const size_t n : kSizes) {
    const std::vector<int> in = random_ints(n);
    const uint32_t count = blocks(n, 256);
    const Buffer din = put(in), out = poisoned<int>(count);
    reduce.launch(stream(), {.grid = {count}, .block = {256}}, at<int>(din), at<int>(out), static_cast<int>(n));
    const std::vector<int> got = get<int>(out, count);
    for (uint32_t b = 0; b < count; ++b) {
      const auto begin = in.begin() + b * 256, end = in.begin() + std::min<size_t>(n, (b + 1) * 256);
      ASSERT_EQ(got[b], std::accumulate(begin, end, 0)) << n << " block " << b;
    }
  }
}

TEST_F(Gpu, Shuffles) {
  const Kernel shuffles = module().kernel("shuffles");
  for (const size_t n : {32, 96, 256, 1024}) {
    const std::vector<int> in = random_ints(n);
    const Buffer din = put(in), sums = poisoned<int>(n), next = poisoned<int>(n), odd = poisoned<uint32_t>(n);
    shuffles.launch(stream(), {.block = {static_cast<uint32_t>(n)}}, at<int>(din), at<int>(sums), at<int>(next),
                    at<uint32_t>(odd));
    const std::vector<int> got_sums = get<int>(sums, n), got_next = get<int>(next, n);
    const std::vector<uint32_t> got_odd = get<uint32_t>(odd, n);
    for (size_t i = 0; i < n; ++i) {
      const size_t warp = i / 32 * 32;
      uint32_t bits = 0;
      for (size_t lane = 0; lane < 32; ++lane) bits |= static_cast<uint32_t>(in[warp + lane] & 1) << lane;
      ASSERT_EQ(got_sums[i], std::accumulate(in.begin() + warp, in.begin() + warp + 32, 0));
      ASSERT_EQ(got_next[i], in[i % 32 == 31 ? i : i + 1]);
      ASSERT_EQ(got_odd[i], bits);
    }
  }
}

TEST_F(Gpu, SharedMemoryOfTheLaunch) {
  const Kernel reverse = module().kernel("reverse");
  for (const size_t n : {1, 33, 1024, 50000}) {  // the last needs more than the 48 KB that are free
    const std::vector<int> in = random_ints(n);
    const Buffer din = put(in), out = poisoned<int>(n);
    reverse.launch(stream(), {.block = {256}, .shared_bytes = static_cast<uint32_t>(n * 4)}, at<int>(din), at<int>(out),
                   static_cast<int>(n));
    EXPECT_EQ(get<int>(out, n), std::vector<int>(in.rbegin(), in.rend()));
  }
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument,
                           [&] { reverse.launch(stream(), {.shared_bytes = 1 << 20}, nullptr, nullptr, 0); }),
                  "bytes of dynamic shared memory"));
}

TEST_F(Gpu, StructsByValue) {
  struct Mixed {
    char tag;
    double scale;
    short steps[3];
    float* out;
  };
  const Buffer out = poisoned<float>(96);
  const Mixed mixed{'a', 1.5, {3, -4, 5}, at<float>(out)};
  module().kernel("by_value").launch(stream(), {.block = {96}}, mixed, '\x02');
  const std::vector<float> got = get<float>(out, 96);
  for (size_t i = 0; i < 96; ++i) ASSERT_EQ(got[i], static_cast<float>(1.5 * mixed.steps[i % 3] + 'a' + 2)) << i;
}

TEST_F(Gpu, Variables) {
  const Module::Variable counters = module().variable("counters"), table = module().variable("table");
  ASSERT_EQ(counters.bytes, 16u);
  ASSERT_EQ(table.bytes, 64u);
  const std::vector<float> values = random_floats(16);
  const std::vector<int> before = random_ints(4);
  stream().upload(table.address, values.data(), 64);
  stream().upload(counters.address, before.data(), 16);
  const Buffer out = poisoned<float>(33);
  module().kernel("use_variables").launch(stream(), {.block = {33}}, at<float>(out));
  const std::vector<float> got = get<float>(out, 33);
  for (size_t i = 0; i < 33; ++i) ASSERT_EQ(got[i], values[i % 16] * 2);
  int after[4];
  stream().download(after, counters.address, 16);
  stream().synchronize();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(after[i], before[static_cast<size_t>(i)] + 33);
}

TEST_F(Gpu, ManagedVariablesAreTheHostsToo) {
  const Module::Variable both = module().variable("both");
  auto* values = static_cast<int*>(both.address);
  for (int i = 0; i < 4; ++i) values[i] = i;
  module().kernel("use_managed").launch(stream(), {.block = {4}});
  stream().synchronize();
  EXPECT_EQ(std::vector<int>(values, values + 4), (std::vector<int>{100, 101, 102, 103}));
}

TEST_F(Gpu, ParametersOf4000Bytes) {
  struct Large {
    int values[1000];
  } large;
  const std::vector<int> values = random_ints(1000);
  std::copy(values.begin(), values.end(), large.values);
  const Buffer out = poisoned<int>(1000);
  module().kernel("of_large").launch(stream(), {.block = {1000}}, large, at<int>(out));
  const std::vector<int> got = get<int>(out, 1000);
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(got[i], values[i] * 3);
}

TEST_F(Gpu, LaunchBoundsBoundBlocks) {
  const Kernel bounded = module().kernel("bounded");
  EXPECT_EQ(bounded.properties().most_threads, 192u);
  EXPECT_GT(bounded.properties().registers, 0u);
  const Buffer out = poisoned<int>(192);
  EXPECT_TRUE(
      has(error_of(ErrorCode::invalid_argument, [&] { bounded.launch(stream(), {.block = {193}}, at<int>(out)); }),
          "accepted are 1 to 192"));
  bounded.launch(stream(), {.block = {192}}, at<int>(out));
  EXPECT_EQ(get<int>(out, 192)[191], 191);
}

TEST_F(Gpu, Prints) {
  testing::internal::CaptureStdout();
  module().kernel("say").launch(stream(), {.block = {2}}, 2);
  stream().synchronize();
  fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "thread 0 of 2 says 0.25\nthread 1 of 2 says 0.25\n");
}

TEST_F(Gpu, TemplatesByTheirNames) {
  const std::vector<double> in = {1, -2, 3};
  const Buffer x = put(in);
  module().kernel("scale<double>").launch(stream(), {.block = {32}}, at<double>(x), -2.0, 3);
  EXPECT_EQ(get<double>(x, 3), (std::vector<double>{-2, 4, -6}));
}

TEST_F(Gpu, CooperativeBlocksAreResidentTogether) {
  const Kernel meet = module().kernel("meet");
  const auto count = static_cast<uint32_t>(gpu().info().compute_units) * 4;
  const Buffer arrived = put(std::vector<int>{0}), seen = poisoned<int>(count);
  meet.launch(stream(), {.grid = {count}, .block = {64}, .cooperative = true}, at<int>(arrived), at<int>(seen));
  EXPECT_EQ(get<int>(seen, count), std::vector<int>(count, 1));
  EXPECT_TRUE(has(error_of(ErrorCode::invalid_argument,
                           [&] {
                             meet.launch(stream(), {.grid = {count * 100}, .block = {64}, .cooperative = true},
                                         at<int>(arrived), at<int>(seen));
                           }),
                  "are resident at once"));
}

// How fast host memory goes to the device, pinned and not.

// In a process of its own, whose context is lost.

}  // namespace
}  // namespace trine::compute
