#include "compare.h"

#include <fmt/format.h>

#include <cmath>

namespace trine::conformance {
namespace {

std::string describe(const Datum& d) {
  if (d.is_none()) return "nothing";
  return d.is_tensor() ? d.tensor().type_text() : fmt::format("a sequence of {}", d.items().size());
}

bool agree(double got, double want, const Tolerance& t) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (std::isinf(got) || std::isinf(want)) return got == want;
  return std::fabs(got - want) <= t.absolute + t.relative * std::fabs(want);
}

// Elements as doubles; a complex one is two.
std::vector<double> reals(const Tensor& t) {
  if (t.dtype() == DType::c64) return {t.as<float>(), t.as<float>() + 2 * t.elements()};
  if (t.dtype() == DType::c128) return {t.as<double>(), t.as<double>() + 2 * t.elements()};
  return t.f64_values();
}

template <class T, class Same>
std::string first_difference(const std::vector<T>& got, const std::vector<T>& want, Same same) {
  size_t wrong = 0, first = 0;
  for (size_t i = want.size(); i-- > 0;) {
    if (same(got[i], want[i])) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return "";
  return fmt::format("{} of {} elements differ, the first at {}: {} instead of {}", wrong, want.size(), first,
                     got[first], want[first]);
}

std::string tensor_difference(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  if (got.type_text() != want.type_text()) return fmt::format("is {} instead of {}", got.type_text(), want.type_text());
  if (want.dtype() == DType::string) return first_difference(got.strings(), want.strings(), std::equal_to<>());
  if (is_integer(want.dtype()) || want.dtype() == DType::boolean)
    return first_difference(got.i64_values(), want.i64_values(), std::equal_to<>());
  if (want.dtype() == DType::bf16) tolerance.relative = std::max(tolerance.relative, 0x1p-6);
  return first_difference(reals(got), reals(want), [&](double a, double b) { return agree(a, b, tolerance); });
}

}  // namespace

std::string difference(const Datum& got, const Datum& want, const Tolerance& tolerance) {
  if (got.value.index() != want.value.index()) return fmt::format("is {} instead of {}", describe(got), describe(want));
  if (got.is_none()) return "";
  if (got.is_tensor()) return tensor_difference(got.tensor(), want.tensor(), tolerance);
  if (got.items().size() != want.items().size())
    return fmt::format("is {} instead of {}", describe(got), describe(want));
  for (size_t i = 0; i < want.items().size(); ++i)
    if (std::string d = difference(got.items()[i], want.items()[i], tolerance); !d.empty())
      return fmt::format("item {} {}", i, d);
  return "";
}

}  // namespace trine::conformance
