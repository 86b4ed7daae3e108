#include "ops/sort_keys.h"

#include <cmath>

namespace trine {
namespace {

int compare_reals(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return a < b ? -1 : a > b;
}

template <class Real>
std::vector<double> parts_of(const Tensor& t) {
  const Real* p = t.as<Real>();
  return std::vector<double>(p, p + 2 * t.elements());
}

}  // namespace

SortKeys::SortKeys(const Tensor& tensor) : tensor_(tensor), is_unsigned_(tensor.dtype() == DType::u64) {
  if (tensor.dtype() == DType::string) {
    strings_ = &tensor_.strings();
  } else if (is_complex(tensor.dtype())) {
    parts_ = 2;
    reals_ = tensor.dtype() == DType::c64 ? parts_of<float>(tensor) : parts_of<double>(tensor);
  } else if (is_float(tensor.dtype())) {
    reals_ = tensor.f64_values();
  } else {
    integers_ = tensor.i64_values();
  }
}

int SortKeys::compare(int64_t a, int64_t b) const {
  const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
  if (strings_) return (*strings_)[i].compare((*strings_)[j]);
  if (!reals_.empty()) {
    const int first = compare_reals(reals_[i * static_cast<size_t>(parts_)], reals_[j * static_cast<size_t>(parts_)]);
    return first != 0 || parts_ == 1 ? first : compare_reals(reals_[2 * i + 1], reals_[2 * j + 1]);
  }
  const int64_t x = integers_[i], y = integers_[j];
  if (is_unsigned_) return static_cast<uint64_t>(x) < static_cast<uint64_t>(y) ? -1 : x != y;
  return x < y ? -1 : x > y;
}

}  // namespace trine
