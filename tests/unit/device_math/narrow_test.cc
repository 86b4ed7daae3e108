// Numbers of 16 and 8 bits: every code, and floats between neighbours, in every rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "simt/headers/math_narrow.h"
#include "ulp.h"

namespace device_math {
namespace {

namespace tm = trine_math;

// By the definition, from sign, exponent and fraction.
template <class F>
double value(uint32_t code) {
  constexpr int kM = tm::NarrowBits<F>::kM;
  const uint32_t magnitude = code & (F::kSign - 1), fraction = magnitude & ((1u << kM) - 1);
  const int exponent = static_cast<int>(magnitude >> kM);
  double v = std::ldexp(exponent ? (1u << kM) + fraction : fraction, std::max(exponent, 1) - F::kBias - kM);
  if (magnitude > F::kMax) v = F::kOver == F::kInf && magnitude == F::kInf ? INFINITY : NAN;
  return code & F::kSign ? -v : v;
}

template <class F>
class NarrowFormat : public testing::Test {};
using Formats = testing::Types<tm::HalfFormat, tm::E4m3, tm::E5m2>;
TYPED_TEST_SUITE(NarrowFormat, Formats);

TYPED_TEST(NarrowFormat, EveryCodeIsTheFloatItStandsForAndComesBack) {
  using F = TypeParam;
  for (uint32_t code = 0; code < 2 * F::kSign; ++code) {
    const float y = tm::widen<F>(code);
    if (std::isnan(value<F>(code))) {
      EXPECT_TRUE(std::isnan(y)) << code;
      EXPECT_TRUE(std::isnan(value<F>(tm::narrow_to<F>(y)))) << code;
      continue;
    }
    EXPECT_EQ(static_cast<double>(y), value<F>(code)) << code;
    EXPECT_EQ(std::signbit(y), code >= F::kSign) << code;
    EXPECT_EQ(tm::narrow_to<F>(y), code) << code;
  }
}

// Between each number and the next: the middle goes to the even one, what is beside the middle to the nearer.
TYPED_TEST(NarrowFormat, FloatsGoToTheNearest) {
  using F = TypeParam;
  for (uint32_t code = 0; code < F::kMax; ++code) {
    const auto middle = static_cast<float>((value<F>(code) + value<F>(code + 1)) / 2);
    for (const float sign : {1.0f, -1.0f}) {
      const uint32_t mark = sign < 0 ? F::kSign : 0;
      EXPECT_EQ(tm::narrow_to<F>(sign * middle), mark | (code + code % 2)) << code;
      EXPECT_EQ(tm::narrow_to<F>(sign * std::nextafter(middle, 0.0f)), mark | code) << code;
      EXPECT_EQ(tm::narrow_to<F>(sign * std::nextafter(middle, INFINITY)), mark | (code + 1)) << code;
    }
  }
}

TYPED_TEST(NarrowFormat, WhatIsTooLarge) {
  using F = TypeParam;
  const double step = value<F>(F::kMax) - value<F>(F::kMax - 1);
  const auto over = static_cast<float>(value<F>(F::kMax) + 0.51 * step);
  for (const float x : {over, 1e30f, std::numeric_limits<float>::max(), INFINITY}) {
    EXPECT_EQ(tm::narrow_to<F>(x), F::kOver) << x;
    EXPECT_EQ(tm::narrow_to<F>(-x), F::kSign | F::kOver) << x;
    EXPECT_EQ(tm::narrow_to<F>(x, true), F::kMax) << x;
    EXPECT_EQ(tm::narrow_to<F>(-x, true), F::kSign | F::kMax) << x;
  }
  EXPECT_TRUE(std::isnan(value<F>(tm::narrow_to<F>(NAN, true))));
}

template <tm::Round kRound>
void hold_half(float x) {
  const uint32_t code = tm::narrow_to_half(x);
  const uint32_t got = tm::settle_code<kRound, tm::HalfFormat>(code, tm::widen_half(static_cast<uint16_t>(code)), x);
  const double y = value<tm::HalfFormat>(got), next_in = value<tm::HalfFormat>((got & 0x7fff) ? got - 1 : got);
  const bool towards_zero = kRound == tm::Round::zero || (kRound == tm::Round::up ? std::signbit(x) : !std::signbit(x));
  const double wide = std::fabs(static_cast<double>(x)), a = std::fabs(y), inner = std::fabs(next_in);
  if (towards_zero) {
    const double outer = std::fabs(value<tm::HalfFormat>(got + 1));
    EXPECT_TRUE(a <= wide && (outer > wide || std::isinf(a))) << x << " gave " << y;
  } else {
    EXPECT_TRUE(a >= wide && (inner < wide || a == 0)) << x << " gave " << y;
  }
}

TEST(Narrow, DirectedRoundings) {
  const uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  for (int i = 0; i < 200000 && !testing::Test::HasFailure(); ++i) {
    float x = std::bit_cast<float>(static_cast<uint32_t>(random.next()));
    if (i % 2) x = std::ldexp(static_cast<float>(random.unit() - 0.5), static_cast<int>(random.next() % 44) - 26);
    if (std::isnan(x)) continue;
    hold_half<tm::Round::zero>(x);
    hold_half<tm::Round::up>(x);
    hold_half<tm::Round::down>(x);
  }
}

// A double that is made a float on the way rounds once: middles of halves, and what is a little beside them.
TEST(Narrow, DoublesAndWholeNumbersRoundOnce) {
  for (uint32_t code = 0; code < tm::HalfFormat::kMax; ++code) {
    const double middle = (value<tm::HalfFormat>(code) + value<tm::HalfFormat>(code + 1)) / 2;
    EXPECT_EQ(tm::narrow_to_half(tm::odd_float(std::nextafter(middle, 0.0))), code);
    EXPECT_EQ(tm::narrow_to_half(tm::odd_float(middle)), code + code % 2);
    EXPECT_EQ(tm::narrow_to_half(tm::odd_float(std::nextafter(middle, INFINITY))), code + 1);
  }
  const tm::i64 middle = (tm::i64{1} << 62) + (tm::i64{1} << 54);  // of two bf16
  EXPECT_EQ(tm::narrow_to_bf16(tm::odd_integer(middle - 1)), 0x5e80);
  EXPECT_EQ(tm::narrow_to_bf16(tm::odd_integer(middle)), 0x5e80);
  EXPECT_EQ(tm::narrow_to_bf16(tm::odd_integer(middle + 1)), 0x5e81);
  EXPECT_EQ(tm::narrow_to_bf16(tm::odd_integer(-middle - 1)), 0xde81);
}

}  // namespace
}  // namespace device_math
