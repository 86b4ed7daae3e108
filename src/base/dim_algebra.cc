#include "base/dim_algebra.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"

namespace trine {
namespace {

// A polynomial larger than this is no shape that somebody means: hostile models grow them exponentially. Functions
// share their operands, so that the size written out is what to bound: text, substitution and evaluation walk all of
// it.
constexpr size_t kMaxTerms = 256;
constexpr size_t kMaxAtoms = 32;
constexpr int64_t kMaxSize = 4096;

[[noreturn]] void too_large() {
  throw Error(ErrorCode::invalid_model,
              "shape: a symbolic dimension has too many terms; simplify the model's shape arithmetic");
}

}  // namespace

const DimAlgebra::Terms& DimAlgebra::terms(const Dim& d) {
  static const Terms none;
  return d.terms_ ? d.terms_->list : none;
}

Dim DimAlgebra::make(int64_t constant, Terms terms) {
  std::sort(terms.begin(), terms.end(), [](const auto& x, const auto& y) { return x.atoms < y.atoms; });
  Terms merged;
  for (Dim::Term& t : terms) {
    if (t.atoms.size() > kMaxAtoms) too_large();
    if (!merged.empty() && merged.back().atoms == t.atoms)
      merged.back().factor = checked_add(merged.back().factor, t.factor);
    else merged.push_back(std::move(t));
  }
  std::erase_if(merged, [](const Dim::Term& t) { return t.factor == 0; });
  if (merged.size() > kMaxTerms) too_large();
  Dim d(constant);
  const int64_t size = written_size(merged);
  if (size > kMaxSize) too_large();
  if (!merged.empty()) d.terms_ = std::make_shared<const Dim::Terms>(Dim::Terms{std::move(merged), size});
  return d;
}

int64_t DimAlgebra::written_size(const Terms& terms) {
  const auto inside = [](const std::shared_ptr<const Dim>& d) { return d && d->terms_ ? d->terms_->size : 0; };
  int64_t size = 0;
  for (const Dim::Term& t : terms) {
    ++size;
    for (const Dim::Atom& a : t.atoms) size += 1 + inside(a.a) + inside(a.b);
  }
  return size;
}

Dim DimAlgebra::combine(const Dim& a, const Dim& b, int64_t sign) {
  Terms all = terms(a);
  for (Dim::Term t : terms(b)) {
    t.factor = checked_mul(t.factor, sign);
    all.push_back(std::move(t));
  }
  const int64_t c = sign > 0 ? checked_add(a.constant_, b.constant_) : checked_sub(a.constant_, b.constant_);
  return make(c, std::move(all));
}

Dim DimAlgebra::multiply(const Dim& a, const Dim& b) {
  const Terms &x = terms(a), &y = terms(b);
  if (x.size() * y.size() > 16 * kMaxTerms) too_large();
  Terms all;
  for (const Dim::Term& t : x) {
    if (b.constant_ != 0) all.push_back({checked_mul(t.factor, b.constant_), t.atoms});
    for (const Dim::Term& u : y) {
      Dim::Term product{checked_mul(t.factor, u.factor), t.atoms};
      product.atoms.insert(product.atoms.end(), u.atoms.begin(), u.atoms.end());
      std::sort(product.atoms.begin(), product.atoms.end());
      all.push_back(std::move(product));
    }
  }
  if (a.constant_ != 0)
    for (const Dim::Term& u : y) all.push_back({checked_mul(u.factor, a.constant_), u.atoms});
  return make(checked_mul(a.constant_, b.constant_), std::move(all));
}

std::optional<Dim> DimAlgebra::exact_divide(const Dim& a, const Dim& b) {
  if (a == b) return Dim(1);
  Dim::Term by;
  if (b.is_constant()) by.factor = b.constant_;
  else if (b.constant_ == 0 && terms(b).size() == 1) by = terms(b)[0];
  if (by.factor == 0 || (a.constant_ != 0 && !by.atoms.empty())) return std::nullopt;
  const auto divides = [&](int64_t v) { return by.factor == -1 || v % by.factor == 0; };
  if (!divides(a.constant_)) return std::nullopt;
  Terms quotient;
  for (Dim::Term t : terms(a)) {
    if (!divides(t.factor)) return std::nullopt;
    t.factor = floor_divide(t.factor, by.factor);
    for (const Dim::Atom& atom : by.atoms) {
      auto it = std::find(t.atoms.begin(), t.atoms.end(), atom);
      if (it == t.atoms.end()) return std::nullopt;
      t.atoms.erase(it);
    }
    quotient.push_back(std::move(t));
  }
  return make(floor_divide(a.constant_, by.factor), std::move(quotient));
}

void DimAlgebra::split(const Dim& a, int64_t by, Dim& quotient, Dim& rest) {
  Terms q, r;
  for (const Dim::Term& t : terms(a)) {
    if (t.factor % by == 0) q.push_back({t.factor / by, t.atoms});
    else r.push_back(t);
  }
  const int64_t whole = floor_divide(a.constant_, by);
  quotient = make(whole, std::move(q));
  rest = make(floor_remainder(a.constant_, by), std::move(r));
}

int64_t DimAlgebra::apply(Dim::Function function, int64_t a, int64_t b) {
  using F = Dim::Function;
  if (function == F::min) return std::min(a, b);
  if (function == F::max) return std::max(a, b);
  if (b == 0) throw Error(ErrorCode::invalid_model, "shape: division of a dimension by zero");
  if (function == F::floor_div) return floor_divide(a, b);
  if (function == F::ceil_div) return checked_sub(0, floor_divide(checked_sub(0, a), b));
  return floor_remainder(a, b);
}

std::optional<int64_t> DimAlgebra::evaluate(const Dim::Atom& atom, const Bindings& bindings) {
  if (!atom.symbol.empty()) return bindings(atom.symbol);
  const auto a = atom.a->evaluate(bindings), b = atom.b->evaluate(bindings);
  if (!a || !b) return std::nullopt;
  return apply(atom.function, *a, *b);
}

std::string DimAlgebra::text(const Dim::Atom& atom) {
  static constexpr const char* kNames[] = {"floordiv", "ceildiv", "mod", "min", "max"};
  if (!atom.symbol.empty()) return atom.symbol;
  return fmt::format("{}({},{})", kNames[static_cast<int>(atom.function)], atom.a->text(), atom.b->text());
}

}  // namespace trine
