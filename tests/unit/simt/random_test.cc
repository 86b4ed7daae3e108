// The device's random numbers, compiled for the host: Philox's published answers, and that positions are where cuRAND
// has them.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

// After <cmath>, whose functions stand in for the device's.
#include "simt/headers/curand_kernel.h"

namespace {

std::vector<unsigned> words(uint4 x) { return {x.x, x.y, x.z, x.w}; }

TEST(Random, PhiloxGivesThePublishedAnswers) {
  using Words = std::vector<unsigned>;
  EXPECT_EQ(words(trine_random::philox(uint4{0, 0, 0, 0}, uint2{0, 0})),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const unsigned all = 0xffffffff;
  EXPECT_EQ(words(trine_random::philox(uint4{all, all, all, all}, uint2{all, all})),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      words(trine_random::philox(uint4{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, uint2{0xa4093822, 0x299f31d0})),
      (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, OffsetsAreStepsOfTheSequence) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  curandState whole;
  curand_init(seed, 7, 0, &whole);
  std::vector<unsigned> numbers(64);
  for (unsigned& number : numbers) number = curand(&whole);
  for (unsigned offset = 0; offset < 40; ++offset) {
    curandState later;
    curand_init(seed, 7, offset, &later);
    curandState skipped;
    curand_init(seed, 7, offset / 3, &skipped);
    skipahead(offset - offset / 3, &skipped);
    EXPECT_EQ(curand(&later), numbers[offset]) << offset;
    EXPECT_EQ(curand(&skipped), numbers[offset]) << offset;
    EXPECT_EQ(words(curand4(&later)),
              (std::vector<unsigned>(numbers.begin() + offset + 1, numbers.begin() + offset + 5)))
        << offset;
  }
}

TEST(Random, SubsequencesAndSeedsDiffer) {
  curandState a, b, c, d;
  curand_init(1, 0, 0, &a);
  curand_init(1, 1, 0, &b);
  curand_init(1ull << 40, 0, 0, &c);
  curand_init(1, 1ull << 40, 0, &d);
  EXPECT_EQ(b.ctr.z, 1u);
  EXPECT_EQ(d.ctr.w, 256u);
  const unsigned x = curand(&a);
  EXPECT_NE(x, curand(&b));
  EXPECT_NE(x, curand(&c));
  EXPECT_NE(x, curand(&d));
}

TEST(Random, CountersCarryOver) {
  curandState state;
  curand_init(3, 5, ~0ull, &state);  // the last numbers before 2^64
  EXPECT_EQ(state.STATE, 3u);
  EXPECT_EQ(words(state.ctr), (std::vector<unsigned>{0xffffffff, 0x3fffffff, 5, 0}));
  state.ctr = uint4{0xffffffff, 0xffffffff, 5, 0};
  curand4(&state);
  EXPECT_EQ(words(state.ctr), (std::vector<unsigned>{0, 0, 6, 0}));
}

TEST(Random, DistributionsHaveTheirMoments) {
  curandState state;
  curand_init(12345, 0, 0, &state);
  double sum = 0, normal_sum = 0, normal_squares = 0, least = 1, most = 0;
  const int n = 100000;
  for (int i = 0; i < n; ++i) {
    const float u = curand_uniform(&state), z = curand_normal(&state);
    sum += u;
    least = std::min<double>(least, u);
    most = std::max<double>(most, u);
    normal_sum += z;
    normal_squares += z * z;
  }
  // Five standard errors.
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(normal_sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(normal_squares / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_GT(least, 0);
  EXPECT_LE(most, 1);
  EXPECT_EQ(trine_random::uniform(0xffffffff), 1.0f);
  EXPECT_GT(trine_random::uniform(0), 0.0f);
}

}  // namespace
