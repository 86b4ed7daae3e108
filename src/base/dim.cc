// Dim's public face: construction, evaluation, text.
#include "trine/base/dim.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "base/dim_algebra.h"

namespace trine {

Dim Dim::symbol(std::string_view name) {
  if (name.empty()) throw Error(ErrorCode::invalid_argument, "dimension: empty symbol name; give it a name");
  return DimAlgebra::atom({std::string(name), {}, nullptr, nullptr});
}

Dim Dim::apply(Function function, const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return DimAlgebra::apply(function, a.constant_, b.constant_);
  if (function == Function::min || function == Function::max) {
    const Dim difference = a - b;
    if (difference.is_constant()) return (difference.constant_ > 0) == (function == Function::max) ? a : b;
    const bool swap = b < a;  // commutative: one canonical order
    return DimAlgebra::atom({"", function, std::make_shared<Dim>(swap ? b : a), std::make_shared<Dim>(swap ? a : b)});
  }
  if (auto exact = DimAlgebra::exact_divide(a, b)) return function == Function::mod ? Dim(0) : *exact;
  if (b.is_constant() && b.constant_ > 0) {
    if (function == Function::ceil_div) return apply(Function::floor_div, a + Dim(b.constant_ - 1), b);
    Dim quotient, rest;
    DimAlgebra::split(a, b.constant_, quotient, rest);
    if (quotient != Dim(0)) {
      const Dim small = apply(function, rest, b);
      return function == Function::mod ? small : quotient + small;
    }
  }
  return DimAlgebra::atom({"", function, std::make_shared<Dim>(a), std::make_shared<Dim>(b)});
}

int64_t Dim::value() const {
  TRINE_CHECK(is_constant(), text());
  return constant_;
}

bool Dim::is_symbol() const {
  return terms_ && constant_ == 0 && terms_->list.size() == 1 && terms_->list[0].factor == 1 &&
         terms_->list[0].atoms.size() == 1 && !terms_->list[0].atoms[0].symbol.empty();
}

void Dim::collect_symbols(std::vector<std::string>& into) const {
  for (const Term& t : DimAlgebra::terms(*this)) {
    for (const Atom& a : t.atoms) {
      if (a.symbol.empty()) {
        a.a->collect_symbols(into);
        a.b->collect_symbols(into);
      } else if (std::find(into.begin(), into.end(), a.symbol) == into.end()) {
        into.push_back(a.symbol);
      }
    }
  }
}

std::optional<int64_t> Dim::evaluate(const Bindings& bindings) const {
  int64_t sum = constant_;
  for (const Term& t : DimAlgebra::terms(*this)) {
    int64_t product = t.factor;
    for (const Atom& a : t.atoms) {
      const auto v = DimAlgebra::evaluate(a, bindings);
      if (!v) return std::nullopt;
      product = checked_mul(product, *v);
    }
    sum = checked_add(sum, product);
  }
  return sum;
}

Dim Dim::substitute(const std::function<std::optional<Dim>(std::string_view)>& with) const {
  if (!terms_) return *this;
  Dim sum(constant_);
  for (const Term& t : terms_->list) {
    Dim product(t.factor);
    for (const Atom& a : t.atoms) {
      if (a.symbol.empty()) product = product * apply(a.function, a.a->substitute(with), a.b->substitute(with));
      else if (auto d = with(a.symbol)) product = product * *d;
      else product = product * symbol(a.symbol);
    }
    sum = sum + product;
  }
  return sum;
}

std::string Dim::text() const {
  if (!terms_) return std::to_string(constant_);
  std::string out;
  for (const Term& t : terms_->list) {
    if (t.factor < 0) out += '-';
    else if (!out.empty()) out += '+';
    std::string product;
    if (t.factor != 1 && t.factor != -1) product = std::to_string(t.factor).substr(t.factor < 0 ? 1 : 0);
    for (const Atom& a : t.atoms) product += (product.empty() ? "" : "*") + DimAlgebra::text(a);
    out += product;
  }
  if (constant_ != 0) out += fmt::format("{:+}", constant_);
  return out;
}

namespace {

// Recursive descent: sum := product (('+'|'-') product)*, product := atom ('*' atom)*.
class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  Dim parse() {
    Dim d = sum(0);
    skip();
    if (at_ != text_.size()) fail();
    return d;
  }

 private:
  Dim sum(int depth) {
    if (depth > 50) fail();
    Dim total = eat('-') ? Dim(0) - product(depth) : product(depth);
    for (;;) {
      if (eat('+')) total = total + product(depth);
      else if (eat('-')) total = total - product(depth);
      else return total;
    }
  }

  Dim product(int depth) {
    Dim d = atom(depth);
    while (eat('*')) d = d * atom(depth);
    return d;
  }

  Dim atom(int depth) {
    skip();
    if (at_ < text_.size() && is_digit(text_[at_])) return number();
    const size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (name.empty()) fail();
    if (!eat('(')) return Dim::symbol(name);
    static constexpr std::string_view kNames[] = {"floordiv", "ceildiv", "mod", "min", "max"};
    const auto* which = std::find(std::begin(kNames), std::end(kNames), name);
    if (which == std::end(kNames)) fail();
    const Dim a = sum(depth + 1);
    if (!eat(',')) fail();
    const Dim b = sum(depth + 1);
    if (!eat(')')) fail();
    return Dim::apply(static_cast<Dim::Function>(which - std::begin(kNames)), a, b);
  }

  int64_t number() {
    int64_t v = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) v = checked_add(checked_mul(v, 10), text_[at_++] - '0');
    return v;
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_name(char c) { return std::string_view("+-*(), []{}\t\n").find(c) == std::string_view::npos; }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool eat(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail() const {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("dimension: cannot read '{}' at column {}; write a number, a name or an expression like 2*T+1",
                    text_, at_ + 1));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Dim Dim::parse(std::string_view text) { return DimParser(text).parse(); }

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return checked_add(a.value(), b.value());
  return DimAlgebra::combine(a, b, 1);
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return checked_sub(a.value(), b.value());
  return DimAlgebra::combine(a, b, -1);
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return checked_mul(a.value(), b.value());
  return DimAlgebra::multiply(a, b);
}

bool operator==(const Dim& a, const Dim& b) { return (a <=> b) == 0; }

std::strong_ordering operator<=>(const Dim& a, const Dim& b) {
  if (a.terms_ == b.terms_) return a.constant_ <=> b.constant_;
  const auto &x = DimAlgebra::terms(a), &y = DimAlgebra::terms(b);
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (auto c = x[i].atoms <=> y[i].atoms; c != 0) return c;
    if (auto c = x[i].factor <=> y[i].factor; c != 0) return c;
  }
  if (auto c = x.size() <=> y.size(); c != 0) return c;
  return a.constant_ <=> b.constant_;
}

size_t Dim::hash() const { return std::hash<std::string>{}(text()); }

}  // namespace trine
