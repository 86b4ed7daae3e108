// A dimension: an integer constant, or an expression over named symbols ("N", "2*T+1", "floor((H+3)/2)").
//
// An expression is a polynomial with integer coefficients whose atoms are symbols or one of the functions below, kept
// in a canonical form: two dimensions that are equal as polynomials compare equal. Arithmetic is checked: an overflow
// of int64 throws Error{invalid_model}.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trine {

class Dim;

// Gives a symbol its value; nothing when it is unknown.
using Bindings = std::function<std::optional<int64_t>(std::string_view)>;

class Dim {
 public:
  enum class Function : uint8_t { floor_div, ceil_div, mod, min, max };  // of two dimensions

  Dim() : Dim(0) {}
  Dim(int64_t value) : constant_(value) {}  // NOLINT: a number is a dimension
  Dim(int value) : constant_(value) {}      // NOLINT
  static Dim symbol(std::string_view name);
  static Dim apply(Function function, const Dim& a, const Dim& b);

  bool is_constant() const { return !terms_; }
  // The constant's value; the dimension must be constant.
  int64_t value() const;
  std::optional<int64_t> constant() const { return terms_ ? std::nullopt : std::optional(constant_); }
  bool is_symbol() const;                                      // exactly one symbol with factor 1
  void collect_symbols(std::vector<std::string>& into) const;  // appends each symbol once

  // The value under `bindings`; nothing when a symbol is unknown. Division by zero throws.
  std::optional<int64_t> evaluate(const Bindings& bindings) const;
  // Replaces symbols for which `with` returns a dimension.
  Dim substitute(const std::function<std::optional<Dim>(std::string_view)>& with) const;

  std::string text() const;
  static Dim parse(std::string_view text);  // inverse of text(); throws Error{invalid_argument}

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);
  friend std::strong_ordering operator<=>(const Dim& a, const Dim& b);
  size_t hash() const;

  struct Term;  // coefficient and sorted atoms
  struct Atom;  // symbol or function
  struct Terms;

 private:
  friend struct DimAlgebra;
  int64_t constant_ = 0;
  std::shared_ptr<const Terms> terms_;  // null for a constant; never empty
};

Dim operator+(const Dim& a, const Dim& b);
Dim operator-(const Dim& a, const Dim& b);
Dim operator*(const Dim& a, const Dim& b);
bool operator==(const Dim& a, const Dim& b);
std::strong_ordering operator<=>(const Dim& a, const Dim& b);

inline Dim floor_div(const Dim& a, const Dim& b) { return Dim::apply(Dim::Function::floor_div, a, b); }
inline Dim ceil_div(const Dim& a, const Dim& b) { return Dim::apply(Dim::Function::ceil_div, a, b); }
inline Dim mod(const Dim& a, const Dim& b) { return Dim::apply(Dim::Function::mod, a, b); }
inline Dim min(const Dim& a, const Dim& b) { return Dim::apply(Dim::Function::min, a, b); }
inline Dim max(const Dim& a, const Dim& b) { return Dim::apply(Dim::Function::max, a, b); }

}  // namespace trine
