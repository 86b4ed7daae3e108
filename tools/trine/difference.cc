#include "difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trine::cli {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string type_text(const Datum& datum) {
  if (datum.is_tensor()) return datum.tensor().type_text();
  return datum.is_none() ? "none" : fmt::format("sequence of {}", datum.items().size());
}

Difference of_strings(const Tensor& got, const Tensor& wanted) {
  Difference d;
  for (size_t i = 0; i < got.strings().size(); ++i) {
    if (got.strings()[i] != wanted.strings()[i]) ++d.unlike;
  }
  if (d.unlike) d.max_rel = kInfinity;
  return d;
}

// 64-bit integers do not fit a double: compared as they are.
Difference of_integers(const Tensor& got, const Tensor& wanted) {
  Difference d;
  const auto a = got.i64_values(), b = wanted.i64_values();
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (a[i] == b[i] || apart < d.max_abs) continue;
    d.max_abs = std::max(apart, 1.0);
    d.max_rel = kInfinity;
    d.worst = static_cast<int64_t>(i);
    d.got = static_cast<double>(a[i]);
    d.wanted = static_cast<double>(b[i]);
  }
  return d;
}

Difference of_reals(const Tensor& got, const Tensor& wanted) {
  Difference d;
  double largest = 0;
  const auto a = got.f64_values(), b = wanted.f64_values();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(b[i])) largest = std::max(largest, std::abs(b[i]));
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      if (!(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))) ++d.unlike;
      continue;
    }
    if (const double apart = std::abs(a[i] - b[i]); apart > d.max_abs) {
      d.max_abs = apart;
      d.worst = static_cast<int64_t>(i);
      d.got = a[i];
      d.wanted = b[i];
    }
  }
  d.max_rel = d.unlike ? kInfinity : d.max_abs == 0 ? 0 : largest > 0 ? d.max_abs / largest : kInfinity;
  return d;
}

Difference of_tensors(const Tensor& got, const Tensor& wanted) {
  if (got.dtype() != wanted.dtype() || got.dims() != wanted.dims()) {
    return {.kind = fmt::format("{} where {} is wanted", got.type_text(), wanted.type_text())};
  }
  if (got.dtype() == DType::string) return of_strings(got, wanted);
  if (is_integer(got.dtype()) || got.dtype() == DType::boolean) return of_integers(got, wanted);
  if (is_complex(got.dtype())) {
    Dims dims = got.dims();
    dims.push_back(2);
    const DType part = got.dtype() == DType::c64 ? DType::f32 : DType::f64;
    return of_reals(Tensor(part, dims, got.data(), nullptr), Tensor(part, dims, wanted.data(), nullptr));
  }
  return of_reals(got, wanted);
}

}  // namespace

std::string Difference::text() const {
  if (!kind.empty()) return kind;
  if (unlike) return fmt::format("{} elements where only one is finite or equal", unlike);
  if (max_abs == 0) return "equal";
  return fmt::format("relative {:.2e}, absolute {:.2e} at element {}: {:.7g} where {:.7g} is wanted", max_rel, max_abs,
                     worst, got, wanted);
}

Difference difference(const Datum& got, const Datum& wanted) {
  if (got.is_tensor() && wanted.is_tensor()) return of_tensors(got.tensor(), wanted.tensor());
  if (got.value.index() != wanted.value.index() || (got.is_sequence() && got.items().size() != wanted.items().size())) {
    return {.kind = fmt::format("{} where {} is wanted", type_text(got), type_text(wanted))};
  }
  Difference worst;
  if (got.is_sequence()) {
    for (size_t i = 0; i < got.items().size(); ++i) {
      const Difference d = difference(got.items()[i], wanted.items()[i]);
      if (!d.kind.empty()) return d;
      if (d.max_rel > worst.max_rel) worst = d;
    }
  }
  return worst;
}

}  // namespace trine::cli
