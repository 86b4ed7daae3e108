// Numbers for mutations: a seeded stream, and the values at the edges of what programs expect.
#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

namespace trine::fuzz {

// SplitMix64. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
class Random {
 public:
  Random(uint64_t seed, uint64_t stream) : state_(seed * 0x9E3779B97F4A7C15 + stream) { next(); }

  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return next() % n; }
  bool chance(double p) { return static_cast<double>(next() >> 11) * 0x1p-53 < p; }

 private:
  uint64_t state_;
};

constexpr int64_t kEdgeIntegers[] = {0,
                                     0,
                                     1,
                                     1,
                                     -1,
                                     -1,
                                     2,
                                     -2,
                                     3,
                                     7,
                                     15,
                                     16,
                                     17,
                                     64,
                                     127,
                                     128,
                                     255,
                                     256,
                                     1000,
                                     -1000,
                                     32767,
                                     65536,
                                     1 << 20,
                                     1 << 24,
                                     (int64_t{1} << 31) - 1,
                                     int64_t{1} << 31,
                                     -(int64_t{1} << 31),
                                     (int64_t{1} << 32) - 1,
                                     int64_t{1} << 32,
                                     int64_t{1} << 47,
                                     (int64_t{1} << 53) + 1,
                                     int64_t{1} << 61,
                                     int64_t{1} << 62,
                                     -(int64_t{1} << 62),
                                     std::numeric_limits<int64_t>::max(),
                                     std::numeric_limits<int64_t>::max() - 1,
                                     std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::min() + 1};

constexpr float kEdgeReals[] = {0.f,     -0.f,    1.f,      -1.f,    0.5f,     1e-45f,   1e-30f,    1e9f,
                                0x1p31f, 0x1p63f, -0x1p63f, 3.4e38f, -3.4e38f, INFINITY, -INFINITY, NAN};

inline int64_t edge_integer(Random& random) { return kEdgeIntegers[random.below(std::size(kEdgeIntegers))]; }
inline float edge_real(Random& random) { return kEdgeReals[random.below(std::size(kEdgeReals))]; }

}  // namespace trine::fuzz
