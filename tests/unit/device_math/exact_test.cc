// Functions whose results are exact, against the C library's, bit for bit.
#include <gtest/gtest.h>

#include <random>

#include "mpfr_reference.h"
#include "simt/headers/math_convert.h"
#include "simt/headers/math_remainder.h"
#include "ulp.h"

namespace device_math {
namespace {

namespace tm = trine_math;

template <class T>
bool same(T a, T b) {
  return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class T>
class Exact : public testing::Test {
 protected:
  const uint64_t seed_ = std::random_device()();
  Random random_{seed_};

  // Any bits; moderate numbers, halves among them; ends.
  T draw() {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const T ends[] = {0,
                      1,
                      std::numeric_limits<T>::infinity(),
                      std::numeric_limits<T>::quiet_NaN(),
                      T(0.5),
                      T(2.5),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::min(),
                      T(0.49999997),
                      std::numeric_limits<T>::max()};
    const uint64_t bits = random_.next();
    switch (random_.next() % 4) {
      case 0: return std::copysign(ends[bits % 10], bits >> 63 ? T(-1) : T(1));
      case 1: return static_cast<T>(static_cast<int64_t>(bits) >> (10 + random_.next() % 54)) / 2;
      case 2: return static_cast<T>((random_.unit() - 0.5) * 100);
      default: {
        const T x = std::bit_cast<T>(static_cast<Bits>(bits));
        return std::isnan(x) ? T(NAN) : x;  // the C library tells signalling ones apart
      }
    }
  }
  void hold(const char* what, T got, T want, T a, T b = 0) {
    ASSERT_TRUE(same(got, want)) << what << "(" << a << ", " << b << ") = " << got << ", not " << want << "; seed "
                                 << seed_;
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Exact, Types);

TYPED_TEST(Exact, WholePartsAndExponents) {
  using T = TypeParam;
  for (int i = 0; i < 300000 && !this->HasFatalFailure(); ++i) {
    const T x = this->draw();
    this->hold("round", tm::round(x), std::round(x), x);
    T whole, whole_want;
    const T rest = tm::modf(x, &whole), rest_want = std::modf(x, &whole_want);
    this->hold("modf", rest, rest_want, x);
    this->hold("modf's whole", whole, whole_want, x);
    int e, e_want;
    const T m = tm::frexp(x, &e), m_want = std::frexp(x, &e_want);
    this->hold("frexp", m, m_want, x);
    if (std::isfinite(x)) {
      EXPECT_EQ(e, e_want) << x;
    }
    if (std::isfinite(x) && x != 0) {
      EXPECT_EQ(tm::ilogb(x), std::ilogb(x)) << x;
    }
    this->hold("logb", tm::logb(x), std::logb(x), x);
    const int n = static_cast<int>(this->random_.next() % 4400) - 2200;
    const int few = n % 300;
    this->hold("ldexp", tm::ldexp(x, n), std::ldexp(x, n), x, n);
    this->hold("ldexp", tm::ldexp(x, few), std::ldexp(x, few), x, few);
    EXPECT_EQ(tm::saturate(static_cast<float>(x)), x > 0 ? std::min(static_cast<float>(x), 1.0f) : 0.0f);
  }
}

TYPED_TEST(Exact, PairsOfNumbers) {
  using T = TypeParam;
  for (int i = 0; i < 200000 && !this->HasFatalFailure(); ++i) {
    const T a = this->draw(), b = i % 7 == 0 ? a * T(i % 5) : this->draw();
    if (a != b) {  // C leaves the sign of fmin(0, -0) open
      this->hold("fmin", tm::fmin(a, b), std::fmin(a, b), a, b);
      this->hold("fmax", tm::fmax(a, b), std::fmax(a, b), a, b);
    }
    this->hold("fdim", tm::fdim(a, b), std::fdim(a, b), a, b);
    this->hold("nextafter", tm::nextafter(a, b), std::nextafter(a, b), a, b);
    this->hold("fmod", tm::fmod(a, b), std::fmod(a, b), a, b);
    // MPFR's: glibc 2.36 errs where the quotient is halfway between two whole numbers.
    Big x(a), y(b), rest;
    long low;
    mpfr_remquo(rest, &low, x, y, MPFR_RNDN);
    const T want = static_cast<T>(rest.get());
    this->hold("remainder", tm::remainder(a, b), want, a, b);
    int q, q_want = static_cast<int>(low & 7);
    this->hold("remquo", tm::remquo(a, b, &q), want, a, b);
    if (std::isfinite(a) && !std::isnan(b) && b != 0) {
      EXPECT_EQ(q & 7, q_want) << a << " " << b;
      EXPECT_TRUE(q == 0 || (q < 0) == (std::signbit(a) != std::signbit(b)));
    }
  }
}

TYPED_TEST(Exact, MinimaOfZerosAndNans) {
  using T = TypeParam;
  EXPECT_TRUE(std::signbit(tm::fmin(T(0), -T(0))) && std::signbit(tm::fmin(-T(0), T(0))));
  EXPECT_TRUE(!std::signbit(tm::fmax(T(0), -T(0))) && !std::signbit(tm::fmax(-T(0), T(0))));
  EXPECT_TRUE(std::isnan(tm::fmin(T(NAN), T(NAN))));
  EXPECT_EQ(tm::fmax(T(NAN), T(-1)), T(-1));
  EXPECT_EQ(tm::ilogb(T(0)), INT32_MIN);
  EXPECT_EQ(tm::ilogb(T(NAN)), INT32_MIN);
  EXPECT_EQ(tm::ilogb(T(-INFINITY)), INT32_MAX);
}

}  // namespace
}  // namespace device_math
