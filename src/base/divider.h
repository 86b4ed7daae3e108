// What it takes to divide by multiplying: n / divisor = ((n * magic >> 32) + n) >> shift for n below 2^31 (Granlund and
// Montgomery 1994). For kernels on devices, which are given the numbers (backends/cuda/kernels/divider.cuh).
#pragma once

#include <bit>
#include <cstdint>

namespace trine {

struct DividerNumbers {
  uint32_t divisor, magic, shift;
};

// Of 1 to 2^31 - 1; anything below as 1.
inline DividerNumbers divider_numbers(int64_t divisor) {
  const uint64_t d = divisor < 1 ? 1 : static_cast<uint64_t>(divisor);
  const auto shift = static_cast<uint32_t>(std::bit_width(d - 1));
  const uint64_t magic = (uint64_t{1} << 32) * ((uint64_t{1} << shift) - d) / d + 1;
  return {static_cast<uint32_t>(d), static_cast<uint32_t>(magic), shift};
}

}  // namespace trine
