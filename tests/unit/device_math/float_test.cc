// Functions of float against the C library's of double. TRINE_MATH_STRIDE=1 tries every float.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "table.h"
#include "ulp.h"

namespace device_math {
namespace {

constexpr float kEdges[] = {0.0f,
                            1.0f,
                            2.0f,
                            0.5f,
                            3.0f,
                            0x1p-149f,
                            0x1p-126f,
                            0x1.fffffep-127f,
                            0x1.fffffep127f,
                            0x1p127f,
                            INFINITY,
                            NAN,
                            16777216.0f,
                            16777217.0f,
                            8388607.5f,
                            0x1.921fb6p0f,
                            0x1.921fb6p1f,
                            88.72284f,
                            0x1.fffffep-1f,
                            0x1.000002p0f,
                            1e-10f,
                            1e30f,
                            127.0f,
                            128.0f};

uint64_t stride() {
  const char* given = std::getenv("TRINE_MATH_STRIDE");
  return given ? std::strtoull(given, nullptr, 10) : 20011;  // a prime: the mantissa's low bits vary
}

struct Worst {
  double error = 0;
  float x = 0, y = 0;
  void see(double e, float at, float second = 0) {
    if (e > error) *this = {e, at, second};
  }
};

class FloatFunctions : public testing::TestWithParam<FloatRow> {};

TEST_P(FloatFunctions, KeepTheirBound) {
  const FloatRow& row = GetParam();
  Worst worst;
  const auto attempt = [&](float x) {
    if (std::isnan(x) || (x >= row.low && x <= row.high))
      worst.see(ulp_error(row.run(x), row.reference(x), row.floor), x);
  };
  for (uint64_t bits = 0; bits < (1ull << 32); bits += stride())
    attempt(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (float x : kEdges) attempt(x), attempt(-x);
  std::printf("%-12s %.3f of %g ulp at %a\n", row.name, worst.error, row.bound, worst.x);
  EXPECT_LE(worst.error, row.bound) << row.name << "(" << worst.x << ") = " << row.run(worst.x) << ", not "
                                    << row.reference(worst.x);
}

INSTANTIATE_TEST_SUITE_P(All, FloatFunctions, testing::ValuesIn(float_rows().begin(), float_rows().end()),
                         [](const auto& row) { return std::string(row.param.name); });

class FloatPairFunctions : public testing::TestWithParam<FloatPairRow> {};

// Arguments of any bits; of moderate size; near 1; with results near the ends of the range.
std::pair<float, float> arguments(Random& random, int kind) {
  const auto any = [&] { return std::bit_cast<float>(static_cast<uint32_t>(random.next())); };
  const auto around = [&](double size) { return static_cast<float>((random.unit() * 2 - 1) * size); };
  switch (kind) {
    case 0: return {any(), any()};
    case 1: return {around(20), around(20)};
    case 2: return {1 + around(1e-3), any()};
    case 3: return {std::exp(around(40)), around(200)};
    case 4: return {around(4), static_cast<float>(std::rint(around(40)))};
    default: {
      const float x = std::exp(around(2));
      return {x, around(150) / std::log(x)};
    }
  }
}

TEST_P(FloatPairFunctions, KeepTheirBound) {
  const FloatPairRow& row = GetParam();
  const uint64_t seed = std::random_device()();
  Random random(seed);
  Worst worst;
  const auto attempt = [&](float x, float y) { worst.see(ulp_error(row.run(x, y), row.reference(x, y)), x, y); };
  for (float x : kEdges)
    for (float y : kEdges) attempt(x, y), attempt(-x, y), attempt(x, -y), attempt(-x, -y);
  for (int i = 0; i < 600000; ++i) {
    const auto [x, y] = arguments(random, i % 6);
    attempt(x, y);
  }
  std::printf("%-12s %.3f of %g ulp at %a, %a (seed %llu)\n", row.name, worst.error, row.bound, worst.x, worst.y,
              static_cast<unsigned long long>(seed));
  EXPECT_LE(worst.error, row.bound) << row.name << "(" << worst.x << ", " << worst.y
                                    << ") = " << row.run(worst.x, worst.y) << ", not "
                                    << row.reference(worst.x, worst.y) << "; seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(All, FloatPairFunctions, testing::ValuesIn(float_pair_rows().begin(), float_pair_rows().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace device_math
