// The canonical form behind Dim: terms sorted by their atoms, no zero factor, each term's atoms sorted (repetition =
// power).
#pragma once

#include "trine/base/dim.h"

namespace trine {

struct Dim::Atom {
  std::string symbol;  // empty for a function
  Function function = Function::floor_div;
  std::shared_ptr<const Dim> a, b;

  friend std::strong_ordering operator<=>(const Atom& x, const Atom& y) {
    if (auto c = x.symbol.compare(y.symbol); c != 0) return c <=> 0;
    if (!x.symbol.empty()) return std::strong_ordering::equal;
    if (auto c = x.function <=> y.function; c != 0) return c;
    if (auto c = *x.a <=> *y.a; c != 0) return c;
    return *x.b <=> *y.b;
  }
  friend bool operator==(const Atom& x, const Atom& y) { return (x <=> y) == 0; }
};

struct Dim::Term {
  int64_t factor = 0;
  std::vector<Atom> atoms;
};

struct Dim::Terms {
  std::vector<Term> list;
  int64_t size;  // terms and atoms when written out, those inside functions too
};

struct DimAlgebra {
  using Terms = std::vector<Dim::Term>;

  static const Terms& terms(const Dim& d);
  static Dim make(int64_t constant, Terms terms);  // brings terms into canonical form
  static int64_t written_size(const Terms& terms);
  static Dim atom(Dim::Atom a) { return make(0, {Dim::Term{1, {std::move(a)}}}); }
  static Dim combine(const Dim& a, const Dim& b, int64_t sign);  // a + sign*b
  static Dim multiply(const Dim& a, const Dim& b);
  // a / b when it divides exactly as polynomials and b is one term, a constant or a itself; else nothing.
  static std::optional<Dim> exact_divide(const Dim& a, const Dim& b);
  // a = by*quotient + rest, rest holding the terms that by (> 0) does not divide and a constant in [0, by).
  static void split(const Dim& a, int64_t by, Dim& quotient, Dim& rest);
  static int64_t apply(Dim::Function function, int64_t a, int64_t b);
  static std::optional<int64_t> evaluate(const Dim::Atom& atom, const Bindings& bindings);
  static std::string text(const Dim::Atom& atom);
};

}  // namespace trine
