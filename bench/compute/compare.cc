#include <fmt/format.h>

#include <cmath>

#include "measure.h"

namespace trine::bench_compute {
namespace {

template <class T>
double value_at(const std::vector<std::byte>& bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

double value_of(Type type, const std::vector<std::byte>& bytes, size_t i) {
  switch (type) {
    case Type::f32: return value_at<float>(bytes, i);
    case Type::f64: return value_at<double>(bytes, i);
    case Type::i32: return value_at<int32_t>(bytes, i);
    case Type::u32: return value_at<uint32_t>(bytes, i);
    case Type::u64: return value_at<uint64_t>(bytes, i);
  }
  return 0;
}

// NaN is the poison of outputs, so it equals nothing.
bool equal(double a, double b, const Tolerance& t) {
  return std::fabs(a - b) <= t.absolute + t.relative * std::fabs(b);
}

}  // namespace

std::string compare(const Case& problem, const Contents& ours, const Contents& theirs) {
  size_t at = 0;
  for (const Array& array : problem.arrays) {
    if (!array.is_output) continue;
    const auto &a = ours[at], &b = theirs[at];
    ++at;
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < array.count(); ++i)
      if (!equal(value_of(array.type, a, i), value_of(array.type, b, i), problem.tolerance) && wrong++ == 0) first = i;
    if (static_cast<double>(wrong) > problem.tolerance.share * static_cast<double>(array.count()))
      return fmt::format("{} of {} elements, first {}: ours {}, theirs {}", wrong, array.count(), first,
                         value_of(array.type, a, first), value_of(array.type, b, first));
  }
  return "";
}

}  // namespace trine::bench_compute
