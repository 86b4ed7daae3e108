// Functions of double against MPFR. TRINE_MATH_SAMPLES=N tries N arguments of each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "table.h"
#include "ulp.h"

namespace device_math {
namespace {

constexpr double kPi = 0x1.921fb54442d18p1;
constexpr double kEdges[] = {0.0,
                             1.0,
                             2.0,
                             0.5,
                             3.0,
                             0x1p-1074,
                             0x1p-1022,
                             0x1.fffffffffffffp1023,
                             0x1p1023,
                             INFINITY,
                             NAN,
                             kPi,
                             kPi / 2,
                             kPi / 4,
                             1e6,
                             1e22,
                             6381956970095103.0 * 0x1p797,  // nearer to a multiple of pi/2 than any other double
                             0x1p53,
                             0x1p52,
                             0x1p31,
                             709.7827128933841,
                             745.1332191019411,
                             -0x1p-54,
                             20.0,
                             0.56,
                             1e-10,
                             1e300,
                             10.0,
                             100.0,
                             1e15};

int samples() {
  const char* given = std::getenv("TRINE_MATH_SAMPLES");
  return given ? std::atoi(given) : 24000;
}

struct Worst {
  double error = 0, x = 0, y = 0;
  void see(double e, double at, double second = 0) {
    if (e > error) *this = {e, at, second};
  }
};

double any(Random& random) { return std::bit_cast<double>(random.next()); }
double around(Random& random, double size) { return (random.unit() * 2 - 1) * size; }

// Any bits; sizes from 2^-40 to 2^40; near 0, 1 and 700; near multiples of pi/2; near the edges.
double draw(Random& random) {
  switch (random.next() % 8) {
    case 0: return any(random);
    case 1: return std::ldexp(around(random, 1), static_cast<int>(random.next() % 80) - 40);
    case 2: return around(random, 1);
    case 3:
      return std::copysign(1 + around(random, std::ldexp(1, -static_cast<int>(random.next() % 50))), around(random, 1));
    case 4: return around(random, 750);
    case 5: return static_cast<double>(static_cast<int>(random.next() % 2000) - 1000) * (kPi / 2);
    case 6: {
      const double edge = kEdges[random.next() % std::size(kEdges)];
      return std::copysign(std::bit_cast<double>(std::bit_cast<uint64_t>(edge) + random.next() % 9 - 4),
                           around(random, 1));
    }
    default: return around(random, 12);
  }
}

class DoubleFunctions : public testing::TestWithParam<DoubleRow> {};

TEST_P(DoubleFunctions, KeepTheirBound) {
  const DoubleRow& row = GetParam();
  const uint64_t seed = std::random_device()();
  Random random(seed);
  Worst worst;
  const auto attempt = [&](double x) {
    if (std::isnan(x) || (x >= row.low && x <= row.high))
      worst.see(ulp_error(row.run(x), row.reference(x), row.floor), x);
  };
  for (double x : kEdges) attempt(x), attempt(-x);
  for (int i = samples(); i > 0; --i) attempt(draw(random));
  std::printf("%-12s %.3f of %g ulp at %a (seed %llu)\n", row.name, worst.error, row.bound, worst.x,
              static_cast<unsigned long long>(seed));
  EXPECT_LE(worst.error, row.bound) << row.name << "(" << worst.x << ") = " << row.run(worst.x) << ", not "
                                    << row.reference(worst.x) << "; seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(All, DoubleFunctions, testing::ValuesIn(double_rows().begin(), double_rows().end()),
                         [](const auto& row) { return std::string(row.param.name); });

class DoublePairFunctions : public testing::TestWithParam<DoublePairRow> {};

// Like draw; bases near 1 with large exponents; results near the ends of the range; whole exponents.
std::pair<double, double> arguments(Random& random, int kind) {
  switch (kind) {
    case 0: return {draw(random), draw(random)};
    case 1: return {any(random), any(random)};
    case 2: return {1 + around(random, 1e-3), around(random, 1e6)};
    case 3: return {around(random, 4), std::rint(around(random, 40))};
    case 4: return {around(random, 100), around(random, 100)};
    default: {
      const double x = std::exp(around(random, 2));
      return {x, around(random, 760) / std::log(x)};
    }
  }
}

TEST_P(DoublePairFunctions, KeepTheirBound) {
  const DoublePairRow& row = GetParam();
  const uint64_t seed = std::random_device()();
  Random random(seed);
  Worst worst;
  const auto attempt = [&](double x, double y) { worst.see(ulp_error(row.run(x, y), row.reference(x, y)), x, y); };
  for (double x : kEdges)
    for (double y : kEdges) attempt(x, y), attempt(-x, y), attempt(x, -y), attempt(-x, -y);
  for (int i = samples(); i > 0; --i) {
    const auto [x, y] = arguments(random, i % 6);
    attempt(x, y);
  }
  std::printf("%-12s %.3f of %g ulp at %a, %a (seed %llu)\n", row.name, worst.error, row.bound, worst.x, worst.y,
              static_cast<unsigned long long>(seed));
  EXPECT_LE(worst.error, row.bound) << row.name << "(" << worst.x << ", " << worst.y
                                    << ") = " << row.run(worst.x, worst.y) << ", not "
                                    << row.reference(worst.x, worst.y) << "; seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(All, DoublePairFunctions,
                         testing::ValuesIn(double_pair_rows().begin(), double_pair_rows().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace device_math
