// Errors in units of the last place, and where float and double are tried.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace device_math {

// |got - want| / ulp(want), where want is far more precise than T. Results beyond the largest finite number count as
// what they round to, two infinities or NaNs as equal, and a sign of zero that differs as wrong.
template <class T, class Wide>
double ulp_error(T got, Wide want, double floor = 0) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : HUGE_VAL;
  if (want == 0 && got == 0 && floor == 0) return std::signbit(want) == std::signbit(got) ? 0 : HUGE_VAL;
  const Wide end = std::ldexp(Wide(1), Limits::max_exponent);
  if (std::fabs(want) > end) want = std::copysign(end, want);
  int e = Limits::min_exponent;
  if (want != 0) std::frexp(want, &e);
  if (floor > 0) {
    int least;
    std::frexp(floor, &least);
    e = std::max(e, least);
  }
  e = std::min(std::max(e, Limits::min_exponent), Limits::max_exponent) - Limits::digits;
  Wide value = got;
  if (std::isinf(got)) value = std::copysign(end, Wide(got));
  return static_cast<double>(std::fabs(std::ldexp(value - want, -e)));
}

// xorshift128+ of Vigna: quick, and the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : a_(seed * 2 + 1), b_(seed ^ 0x9e3779b97f4a7c15u) {
    for (int i = 0; i < 16; ++i) next();
  }
  uint64_t next() {
    uint64_t x = a_;
    const uint64_t y = b_;
    a_ = y;
    x ^= x << 23;
    b_ = x ^ y ^ (x >> 17) ^ (y >> 26);
    return b_ + y;
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t a_, b_;
};

}  // namespace device_math
