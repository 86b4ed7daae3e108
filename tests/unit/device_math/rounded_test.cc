// Arithmetic and conversions in every rounding against the machine's own rounding modes, bit for bit.
#include <gtest/gtest.h>

#include <cfenv>
#include <random>

#include "simt/headers/math_convert.h"
#include "ulp.h"

namespace device_math {
namespace {

using trine_math::Round;
namespace tm = trine_math;

constexpr int mode_of(Round round) {
  switch (round) {
    case Round::nearest: return FE_TONEAREST;
    case Round::zero: return FE_TOWARDZERO;
    case Round::up: return FE_UPWARD;
    default: return FE_DOWNWARD;
  }
}

// A value that the compiler knows nothing of.
template <class T>
T opaque(T x) {
  asm volatile("" : "+m"(x) : : "memory");
  return x;
}

// The machine's result of f; opaque, so that it is computed between the two changes of mode.
template <Round kRound, class F, class... A>
auto on_machine(F f, A... a) {
  std::fesetround(mode_of(kRound));
  const auto result = opaque(f(opaque(a)...));
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class T>
bool same(T a, T b) {
  return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}

// Any bits, numbers near each other, few bits, numbers near the ends.
template <class T>
T draw(Random& random, T near) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const uint64_t bits = random.next();
  const auto any = [](uint64_t b) { return std::bit_cast<T>(static_cast<Bits>(b)); };
  constexpr int kMantissa = std::numeric_limits<T>::digits - 1, kTotal = sizeof(T) * 8;
  const uint64_t sign = bits >> 63 << (kTotal - 1);
  switch (random.next() % 8) {
    case 0: return static_cast<T>(static_cast<int>(bits % 64) - 32);
    case 1: return any(static_cast<Bits>(std::bit_cast<Bits>(near) + bits % 5 - 2));
    case 2: return -near;
    case 3:
      return any(sign | (bits & 7) << (kMantissa - 3) |
                 (bits >> 8 & ((1u << (kTotal - kMantissa - 1)) - 1)) << kMantissa);
    case 4: return any(sign | (bits & ((uint64_t(1) << (kMantissa + 3)) - 1)));  // near zero
    case 5: {
      const T of[] = {0,
                      std::numeric_limits<T>::infinity(),
                      std::numeric_limits<T>::quiet_NaN(),
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::denorm_min()};
      return std::copysign(of[bits % 6], any(sign));
    }
    default: return any(bits);
  }
}

template <class T>
struct Drawn {
  T a, b, c;
  explicit Drawn(Random& random) : a(draw<T>(random, 1)), b(draw<T>(random, a)), c(draw<T>(random, -a * b)) {}
};

template <class T, Round kRound>
void check_arithmetic() {
  const uint64_t seed = std::random_device()();
  Random random(seed);
  for (int i = 0; i < 200000; ++i) {
    const Drawn<T> d(random);
    const auto hold = [&](const char* what, T got, T want) {
      ASSERT_TRUE(same(got, want)) << what << " " << d.a << ", " << d.b << ", " << d.c << " (seed " << seed
                                   << "): " << got << ", not " << want;
    };
    hold("add", tm::add_rounded<kRound>(d.a, d.b), on_machine<kRound>([](T a, T b) { return a + b; }, d.a, d.b));
    hold("mul", tm::mul_rounded<kRound>(d.a, d.b), on_machine<kRound>([](T a, T b) { return a * b; }, d.a, d.b));
    hold("div", tm::div_rounded<kRound>(d.a, d.b), on_machine<kRound>([](T a, T b) { return a / b; }, d.a, d.b));
    hold("sqrt", tm::sqrt_rounded<kRound>(d.a), on_machine<kRound>([](T a) { return std::sqrt(a); }, d.a));
    hold("fma", tm::fma_rounded<kRound>(d.a, d.b, d.c),
         on_machine<kRound>([](T a, T b, T c) { return std::fma(a, b, c); }, d.a, d.b, d.c));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Rounded, FloatArithmeticIsExact) {
  check_arithmetic<float, Round::nearest>();
  check_arithmetic<float, Round::zero>();
  check_arithmetic<float, Round::up>();
  check_arithmetic<float, Round::down>();
}

TEST(Rounded, DoubleArithmeticIsExact) {
  check_arithmetic<double, Round::nearest>();
  check_arithmetic<double, Round::zero>();
  check_arithmetic<double, Round::up>();
  check_arithmetic<double, Round::down>();
}

template <Round kRound>
long double whole(long double x) {
  switch (kRound) {
    case Round::nearest: return std::nearbyint(x);
    case Round::zero: return std::trunc(x);
    case Round::up: return std::ceil(x);
    default: return std::floor(x);
  }
}

// cvt of PTX: ends for what lies beyond, the stated integer for NaN.
template <class Int, Round kRound, class T>
Int converted(T x) {
  const int bits = sizeof(Int) * 8;
  if (std::isnan(x)) return bits == 32 && sizeof(T) == 4 ? Int(0) : static_cast<Int>(uint64_t(1) << (bits - 1));
  const long double y = whole<kRound>(x);
  if (y < static_cast<long double>(std::numeric_limits<Int>::min())) return std::numeric_limits<Int>::min();
  if (y > static_cast<long double>(std::numeric_limits<Int>::max())) return std::numeric_limits<Int>::max();
  return static_cast<Int>(y);
}

template <class T, class Int, Round kRound>
void check_to_integer(uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < 20000; ++i) {
    T x = draw<T>(random, static_cast<T>(std::ldexp(T(1), static_cast<int>(random.next() % 66))));
    if (i % 3 == 0) x = static_cast<T>(static_cast<int64_t>(random.next()) >> (random.next() % 64)) / 2;
    ASSERT_EQ((tm::to_integer<Int, kRound>(x)), (converted<Int, kRound>(x))) << x << ", seed " << seed;
  }
}

template <class T, Round kRound>
void check_conversions(uint64_t seed) {
  check_to_integer<T, tm::i32, kRound>(seed);
  check_to_integer<T, tm::u32, kRound>(seed);
  check_to_integer<T, tm::i64, kRound>(seed);
  check_to_integer<T, tm::u64, kRound>(seed);
  Random random(seed);
  for (int i = 0; i < 20000; ++i) {
    const tm::u64 u = random.next() >> (random.next() % 64);
    const tm::i64 s = static_cast<tm::i64>(random.next()) >> (random.next() % 64);
    const auto hold = [&](auto got, auto want) { ASSERT_TRUE(same(got, want)) << u << ", " << s << ", seed " << seed; };
    const auto to = [](auto zero) {  // rounding down, what clang makes of 64 bits turns 0 into -0
      return [=](auto v) { return std::is_integral_v<decltype(v)> && v == 0 ? zero : static_cast<decltype(zero)>(v); };
    };
    hold(tm::to_float<kRound>(u), on_machine<kRound>(to(0.0f), u));
    hold(tm::to_float<kRound>(s), on_machine<kRound>(to(0.0f), s));
    hold(tm::to_float<kRound>(static_cast<tm::u32>(u)), on_machine<kRound>(to(0.0f), static_cast<tm::u32>(u)));
    hold(tm::to_float<kRound>(static_cast<tm::i32>(s)), on_machine<kRound>(to(0.0f), static_cast<tm::i32>(s)));
    hold(tm::to_double<kRound>(u), on_machine<kRound>(to(0.0), u));
    hold(tm::to_double<kRound>(s), on_machine<kRound>(to(0.0), s));
    const double d = draw<double>(random, static_cast<double>(static_cast<float>(s)));
    hold(tm::narrow<kRound>(d), on_machine<kRound>(to(0.0f), d));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Rounded, ConversionsAreExact) {
  const uint64_t seed = std::random_device()();
  check_conversions<float, Round::nearest>(seed);
  check_conversions<float, Round::zero>(seed);
  check_conversions<float, Round::up>(seed);
  check_conversions<float, Round::down>(seed);
  check_conversions<double, Round::nearest>(seed);
  check_conversions<double, Round::zero>(seed);
  check_conversions<double, Round::up>(seed);
  check_conversions<double, Round::down>(seed);
}

}  // namespace
}  // namespace device_math
