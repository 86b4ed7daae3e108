#include "case.h"

#include <algorithm>

namespace trine::bench_compute {

size_t bytes_of(Type type) { return type == Type::f64 || type == Type::u64 ? 8 : 4; }

// A NaN as a float and as a double, and no number that a kernel finds.
constexpr std::byte kPoison{0xff};

Array scratch(Type type, size_t count) {
  return {.type = type, .content = std::vector<std::byte>(count * bytes_of(type), kPoison)};
}

Array output(Type type, size_t count) {
  Array array = scratch(type, count);
  array.is_output = true;
  return array;
}

Step zeros(ArrayIndex to) { return {.to = to.index}; }
Step copied(ArrayIndex to, ArrayIndex from) { return {.to = to.index, .from = from.index}; }

std::vector<float> uniform(std::mt19937& random, size_t count, float low, float high) {
  std::vector<float> values(count);
  std::uniform_real_distribution<float> distribution(low, high);
  for (float& v : values) v = distribution(random);
  return values;
}

std::vector<float> normal(std::mt19937& random, size_t count) {
  std::vector<float> values(count);
  std::normal_distribution<float> distribution;
  for (float& v : values) v = distribution(random);
  return values;
}

}  // namespace trine::bench_compute
