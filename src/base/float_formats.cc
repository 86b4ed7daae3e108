#include "base/float_formats.h"

#include <bit>
#include <cmath>
#include <limits>

#include "trine/base/error.h"

namespace trine {
namespace {

struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;  // else exponents run to the top and overflow is NaN
  bool has_signed_zero;
  uint16_t nan;  // bits of the positive NaN; 0: the format has none
  double largest;
};

constexpr Format format_of(DType type) {
  switch (type) {
    case DType::f16: return {5, 10, 15, true, true, 0x7e00, 65504};
    case DType::bf16: return {8, 7, 127, true, true, 0x7fc0, 0x1.fep127};
    case DType::f8e4m3fn: return {4, 3, 7, false, true, 0x7f, 448};
    case DType::f8e4m3fnuz: return {4, 3, 8, false, false, 0x80, 240};
    case DType::f8e5m2: return {5, 2, 15, true, true, 0x7e, 57344};
    case DType::f8e5m2fnuz: return {5, 2, 16, false, false, 0x80, 57344};
    case DType::f4e2m1: return {2, 1, 1, false, true, 0, 6};
    case DType::f6e2m3: return {2, 3, 1, false, true, 0, 7.5};
    case DType::f6e3m2: return {3, 2, 3, false, true, 0, 28};
    default: return {};
  }
}

// e8m0 holds a power of two, 2^(bits-127); 255 is NaN. There is no zero and no sign.
uint16_t e8m0_bits(double value, Overflow overflow, Rounding rounding) {
  if (std::isnan(value)) return 255;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return overflow == Overflow::saturate ? 254 : 255;
  if (magnitude <= 0x1p-127) return 0;
  int exponent;
  const double fraction = std::frexp(magnitude, &exponent);  // [0.5, 1)
  --exponent;
  // Nearest in the ONNX sense: the mantissa's top bit rounds up, ties away.
  if (rounding == Rounding::up ? fraction > 0.5 : rounding == Rounding::nearest_even && fraction >= 0.75) ++exponent;
  if (exponent > 127) return overflow == Overflow::saturate ? 254 : 255;
  return static_cast<uint16_t>(exponent + 127);
}

// magnitude as a multiple of `quantum`, rounded.
double round_to(double magnitude, double quantum, Rounding rounding) {
  const double scaled = magnitude / quantum;
  if (rounding == Rounding::down) return std::floor(scaled) * quantum;
  if (rounding == Rounding::up) return std::ceil(scaled) * quantum;
  return std::nearbyint(scaled) * quantum;
}

// 2^exponent and the exponent of a number, both within f64's normal range: by bits, as the C library's functions for
// any number take most of a conversion's time.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52); }
int exponent_of(double magnitude) { return static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52) - 1023; }

}  // namespace

uint16_t small_float_bits(DType type, double value, Overflow overflow, Rounding rounding) {
  if (type == DType::f8e8m0) return e8m0_bits(value, overflow, rounding);
  const Format f = format_of(type);
  TRINE_CHECK(f.mantissa_bits > 0, std::string(name(type)));
  const int sign_shift = f.exponent_bits + f.mantissa_bits;
  const auto sign = static_cast<uint16_t>((std::signbit(value) ? 1 : 0) << sign_shift);
  if (std::isnan(value)) return f.has_signed_zero ? static_cast<uint16_t>(f.nan | (f.nan ? sign : 0)) : f.nan;

  const double magnitude = std::fabs(value);
  int exponent = 1 - f.bias;  // of the subnormals
  if (std::isfinite(magnitude)) exponent = std::max(exponent, exponent_of(magnitude));
  const double quantum = power_of_two(exponent - f.mantissa_bits);
  const double rounded = std::isfinite(magnitude) ? round_to(magnitude, quantum, rounding) : magnitude;
  if (rounded > f.largest) {
    const bool clamp = overflow == Overflow::saturate || f.nan == 0;
    if (!clamp) {
      if (!f.has_infinity) return f.has_signed_zero ? static_cast<uint16_t>(f.nan | sign) : f.nan;
      return static_cast<uint16_t>(sign | (((1 << f.exponent_bits) - 1) << f.mantissa_bits));
    }
    return static_cast<uint16_t>(sign | small_float_bits(type, f.largest));
  }
  if (rounded == 0) return f.has_signed_zero ? sign : 0;
  const int top = exponent_of(rounded);
  if (top < 1 - f.bias)
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(rounded * power_of_two(f.bias - 1 + f.mantissa_bits)));
  const auto mantissa =
      static_cast<uint16_t>(rounded * power_of_two(f.mantissa_bits - top)) & ((1 << f.mantissa_bits) - 1);
  return static_cast<uint16_t>(sign | ((top + f.bias) << f.mantissa_bits) | mantissa);
}

double small_float_value(DType type, uint16_t bits) {
  if (type == DType::f8e8m0)
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
  const Format f = format_of(type);
  TRINE_CHECK(f.mantissa_bits > 0, std::string(name(type)));
  const int sign_shift = f.exponent_bits + f.mantissa_bits;
  const int exponent_mask = (1 << f.exponent_bits) - 1, mantissa_mask = (1 << f.mantissa_bits) - 1;
  const bool negative = (bits >> sign_shift) & 1;
  const int exponent = (bits >> f.mantissa_bits) & exponent_mask, mantissa = bits & mantissa_mask;
  const double sign = negative ? -1 : 1;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (!f.has_signed_zero && bits == f.nan) return kNan;
  if (f.has_infinity && exponent == exponent_mask)
    return mantissa ? kNan : sign * std::numeric_limits<double>::infinity();
  if (f.has_signed_zero && f.nan && !f.has_infinity && (bits & ((1 << sign_shift) - 1)) == f.nan) return kNan;
  if (exponent == 0) return sign * mantissa * power_of_two(1 - f.bias - f.mantissa_bits);
  return sign * (mantissa + mantissa_mask + 1) * power_of_two(exponent - f.bias - f.mantissa_bits);
}

}  // namespace trine
