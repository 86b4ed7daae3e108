// Philox4x32-10: random numbers as a function of a key and a counter, so that element i of a tensor is the same on
// every device and for any number of threads. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace trine {

class Philox {
 public:
  explicit Philox(uint64_t key) : key_(key) {}

  // Four random words for counter `i`.
  std::array<uint32_t, 4> operator()(uint64_t i) const {
    std::array<uint32_t, 4> x = {static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), 0, 0};
    auto k0 = static_cast<uint32_t>(key_), k1 = static_cast<uint32_t>(key_ >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
      const uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
      x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(b),
           static_cast<uint32_t>(a >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(a)};
    }
    return x;
  }

  // Uniform in [0, 1), 53 bits.
  double uniform(uint64_t i) const {
    const auto x = (*this)(i);
    return static_cast<double>((uint64_t{x[0]} << 21) ^ (x[1] >> 11)) * 0x1p-53;
  }

  // Normal with mean 0 and deviation 1 (Box-Muller).
  double normal(uint64_t i) const {
    const auto x = (*this)(i);
    const double u = (static_cast<double>((uint64_t{x[0]} << 21) ^ (x[1] >> 11)) + 0.5) * 0x1p-53;  // never 0
    const double angle = (static_cast<double>((uint64_t{x[2]} << 21) ^ (x[3] >> 11))) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846 * angle);
  }

 private:
  uint64_t key_;
};

}  // namespace trine
