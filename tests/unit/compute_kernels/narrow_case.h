// Numbers of 16 bits as a test sees them: exact values, and rounding as the definition says.
#pragma once

#include <cmath>
#include <cstdint>

namespace trine::compute {

struct Format {
  int mantissa, least;  // stored bits; exponent of the smallest normal number
  int bias() const { return 1 - least; }
  uint32_t infinity() const { return ((0x8000u >> mantissa) - 1) << mantissa; }

  long double value(uint32_t code) const {
    const uint32_t magnitude = code & 0x7fff, fraction = magnitude & ((1u << mantissa) - 1);
    const int exponent = static_cast<int>(magnitude >> mantissa);
    long double v = std::ldexp(static_cast<long double>(fraction), least - mantissa);
    if (exponent) v = std::ldexp(1.0L + std::ldexp(static_cast<long double>(fraction), -mantissa), exponent - bias());
    if (magnitude >= infinity()) v = magnitude > infinity() ? NAN : INFINITY;
    return code & 0x8000 ? -v : v;
  }

  // The code nearest to high + low, |low| less than half of high's last place; ties go to even; NaN is 0x7fff.
  uint32_t nearest(long double high, long double low = 0) const {
    if (std::isnan(high)) return 0x7fff;
    const uint32_t sign = std::signbit(high) ? 0x8000 : 0;
    if (sign) high = -high, low = -low;
    if (high == 0) return sign;
    if (std::isinf(high)) return sign | infinity();
    const int exponent = std::max(std::ilogb(high), least);
    const long double t = std::ldexp(high, mantissa - exponent), whole = std::floor(t), rest = t - whole;
    auto count = static_cast<uint64_t>(whole);
    if (rest > 0.5L || (rest == 0.5L && (low > 0 || (low == 0 && count % 2)))) ++count;
    const uint64_t code = count + (static_cast<uint64_t>(exponent - least) << mantissa);  // a carry moves the exponent
    return sign | static_cast<uint32_t>(std::min<uint64_t>(code, infinity()));
  }
};
inline constexpr Format kHalf{10, -14}, kBf16{7, -126};

}  // namespace trine::compute
