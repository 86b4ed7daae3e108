#include "simt/compile/jit_float.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace trine::simt {
namespace {

// A bf16 is returned in the low bits of a vector register, as a float is in all of them.
float in_register(uint32_t bits) { return std::bit_cast<float>(bits); }

uint32_t bf16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

float truncate_float(float value) { return in_register(bf16_bits(value)); }

// By way of a float that is rounded to odd: rounding twice is rounding once.
float truncate_double(double value) {
  auto near = static_cast<float>(value);
  const double back = near;
  if (back != value && std::isfinite(near) && !(std::bit_cast<uint32_t>(near) & 1)) {
    const bool too_far = std::abs(back) > std::abs(value);
    near = std::bit_cast<float>(std::bit_cast<uint32_t>(near) + (too_far ? uint32_t(-1) : 1u));
  }
  return in_register(bf16_bits(near));
}

}  // namespace

std::span<const RuntimeSymbol> float_conversions() {
  static const RuntimeSymbol table[] = {{"__truncsfbf2", reinterpret_cast<void*>(truncate_float)},
                                        {"__truncdfbf2", reinterpret_cast<void*>(truncate_double)}};
  return table;
}

}  // namespace trine::simt
