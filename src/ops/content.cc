#include "ops/content.h"

#include "trine/base/error.h"

namespace trine {

// Sums, products, quotients, minima and maxima of numbers that are not negative stay so: a minus sign is the only way
// out.
bool never_negative(const Dim& a) {
  if (auto value = a.constant()) return *value >= 0;
  return a.text().find('-') == std::string::npos;
}

static bool never_zero(const Dim& difference) { return never_negative(difference - 1); }

std::optional<bool> always_equal(const Dim& a, const Dim& b) {
  if (a == b) return true;
  if (a.is_constant() && b.is_constant()) return false;
  if (never_zero(a - b) || never_zero(b - a)) return false;
  return std::nullopt;
}

Dim truncated_div(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) {
    if (b.value() == 0) return 0;
    return b.value() == -1 ? Dim(0) - a : Dim(a.value() / b.value());
  }
  if (never_negative(a) && never_negative(b)) return floor_div(a, b);
  if (!never_negative(b)) throw Error(ErrorCode::unsupported, "div: sign of a symbolic divisor unknown");
  return floor_div(max(a, 0), b) - floor_div(max(Dim(0) - a, 0), b);
}

Dim floor_mod(const Dim& a, const Dim& b) {
  if (!never_negative(b) || b == Dim(0)) throw Error(ErrorCode::unsupported, "mod: sign of a symbolic divisor unknown");
  return a - floor_div(a, b) * b;
}

static bool fits(const Dim& d, DType type) {
  auto value = d.constant();
  if (!value) return type == DType::i64 || type == DType::i32;
  if (is_signed_integer(type)) return *value >= integer_min(type) && *value <= static_cast<int64_t>(integer_max(type));
  return *value >= 0 && static_cast<uint64_t>(*value) <= integer_max(type);
}

void set_checked_content(InferContext& c, DType type, std::vector<Dim> content) {
  if (!is_integer(type) && type != DType::boolean) return;
  for (const Dim& d : content)
    if (!fits(d, type)) return;
  c.set_content(0, std::move(content));
}

void fold_content(InferContext& c, DimUnary f) {
  auto content = c.content(0);
  if (!content) return;
  try {
    for (Dim& d : *content) d = f(d);
  } catch (const Error&) {
    return;  // overflow, or depends on values: known only at run time
  }
  set_checked_content(c, c.dtype(0), std::move(*content));
}

void fold_content(InferContext& c, DimBinary f) {
  auto result = c.content(0);
  for (int i = 1; result && i < c.input_count(); ++i) {
    auto other = c.content(i);
    if (!other) return;
    if (result->size() == 1) result->resize(other->size(), Dim((*result)[0]));
    if (other->size() != result->size() && other->size() != 1) return;
    try {
      for (size_t k = 0; k < result->size(); ++k) (*result)[k] = f((*result)[k], (*other)[other->size() == 1 ? 0 : k]);
    } catch (const Error&) {
      return;
    }
  }
  if (result) set_checked_content(c, c.dtype(0), std::move(*result));
}

void pass_content(InferContext& c, int input) {
  if (auto content = c.content(input)) c.set_content(0, std::move(*content));
}

}  // namespace trine
