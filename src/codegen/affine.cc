// Index expressions as affine functions of the loops, plus what is left over.
//
// Expressions are simplified by what is known of the loops' ranges: floor_div(128*i + j, 128) is i where j < 128, so a
// reshape inside a group costs nothing when its pieces line up. What stays non-affine is computed at run time as i64.
#include "base/dim_algebra.h"
#include "codegen/expressions.h"
#include "codegen/scalar_types.h"
#include "trine/base/error.h"

namespace trine::codegen {
namespace {

std::optional<Scalar> dynamic_scalar(std::string_view symbol) {
  if (symbol.empty() || symbol[0] != '\2') return std::nullopt;
  return Scalar{std::stoi(std::string(symbol.substr(1)))};
}

// Does the dimension mention a loop or a run-time scalar?
bool varies(const Dim& d) {
  std::vector<std::string> symbols;
  d.collect_symbols(symbols);
  for (const auto& s : symbols) {
    if (s[0] == '\1' || s[0] == '\2') return true;
  }
  return false;
}

bool varies(const Dim::Atom& a) {
  return a.symbol.empty() ? varies(*a.a) || varies(*a.b) : a.symbol[0] == '\1' || a.symbol[0] == '\2';
}

int64_t constant_part(const Dim& d) {
  Dim rest = d;
  for (const auto& t : DimAlgebra::terms(d)) rest = rest - DimAlgebra::make(0, {t});
  return rest.value();
}

}  // namespace

// offset + sum(strides[loop] * loop) + sum(rest)
struct Expressions::Split {
  Dim offset;
  std::vector<Dim> strides;
  std::vector<Dim> rest;
};

Dim Expressions::dynamic_symbol(Scalar at) const { return Dim::symbol("\2" + std::to_string(at.id)); }

namespace {

// Range knowledge over the loops of one Expressions.
class Simplifier {
 public:
  explicit Simplifier(const Expressions& e) : e_(e) {}

  Dim operator()(const Dim& d) const {
    if (!varies(d)) return d;
    Dim sum(constant_part(d));
    for (const auto& t : DimAlgebra::terms(d)) {
      Dim product(t.factor);
      for (const auto& a : t.atoms) product = product * (a.symbol.empty() ? function(a) : DimAlgebra::atom(a));
      sum = sum + product;
    }
    return sum;
  }

 private:
  Dim function(const Dim::Atom& atom) const {
    const Dim a = (*this)(*atom.a), b = (*this)(*atom.b);
    switch (atom.function) {
      case Dim::Function::floor_div: return quotient(a, b);
      case Dim::Function::mod: return a - b * quotient(a, b);
      case Dim::Function::min:
        if (is_below(a, b + 1)) return a;
        if (is_below(b, a + 1)) return b;
        break;
      default: break;
    }
    return Dim::apply(atom.function, a, b);
  }

  // floor(a / b): terms that b divides leave, the rest vanishes when it is known to lie in [0, b).
  Dim quotient(const Dim& a, const Dim& b) const {
    Dim whole, rest;
    if (b.is_constant() && b.value() > 0) {
      DimAlgebra::split(a, b.value(), whole, rest);
    } else {
      rest = Dim(constant_part(a));
      for (const auto& t : DimAlgebra::terms(a)) {
        const Dim term = DimAlgebra::make(0, {t});
        if (auto q = DimAlgebra::exact_divide(term, b)) whole = whole + *q;
        else rest = rest + term;
      }
    }
    if (is_below(rest, b)) return whole;
    return b.is_constant() ? whole + floor_div(rest, b) : floor_div(a, b);
  }

  // Is 0 <= a < b certain? a's terms must be positive multiples of one loop each (shape symbols are at least 1).
  bool is_below(const Dim& a, const Dim& b) const {
    if (constant_part(a) < 0) return false;
    for (const auto& t : DimAlgebra::terms(a)) {
      int loops = 0;
      for (const auto& atom : t.atoms) {
        if (atom.symbol.empty() || atom.symbol[0] == '\2') return false;
        loops += atom.symbol[0] == '\1';
      }
      if (loops != 1 || t.factor < 0) return false;
    }
    const Dim top = a.substitute([&](std::string_view s) -> std::optional<Dim> {
      const int loop = e_.loop_of(s);
      if (loop < 0) return std::nullopt;
      return e_.extent(loop) - 1;
    });
    const Dim room = b - top;
    return room.is_constant() && room.value() >= 1;
  }

  const Expressions& e_;
};

}  // namespace

Dim Expressions::simplify(const Dim& index) { return Simplifier(*this)(index); }

Expressions::Split Expressions::split(const Dim& index) {
  const Dim d = simplify(index);
  Split s{Dim(constant_part(d)), std::vector<Dim>(static_cast<size_t>(loop_count())), {}};
  for (const auto& t : DimAlgebra::terms(d)) {
    int loop = -1, varying = 0;
    Dim factor(t.factor);
    for (const auto& a : t.atoms) {
      if (!varies(a)) factor = factor * DimAlgebra::atom(a);
      else if (++varying == 1 && !a.symbol.empty()) loop = loop_of(a.symbol);
    }
    if (varying == 0) s.offset = s.offset + factor;
    else if (varying == 1 && loop >= 0)
      s.strides[static_cast<size_t>(loop)] = s.strides[static_cast<size_t>(loop)] + factor;
    else s.rest.push_back(DimAlgebra::make(0, {t}));
  }
  return s;
}

Scalar Expressions::index_value(const Dim& index) {
  Split s = split(index);
  bool varying = !s.offset.is_constant();
  for (const Dim& d : s.strides) varying |= d != Dim(0);
  Scalar sum = varying ? intern(Inst{.kind = InstKind::index,
                                     .type = DType::i64,
                                     .access = intern(Access{-1, s.offset, s.strides}),
                                     .loops = {}})
                       : integer(s.offset.value());
  for (const Dim& term : s.rest) sum = apply(ScalarOp::add, sum, term_value(term));
  return sum;
}

// A product of atoms of which some are functions or run-time scalars.
Scalar Expressions::term_value(const Dim& term) {
  const auto& t = DimAlgebra::terms(term)[0];
  Dim uniform(t.factor);
  Scalar product{-1};
  for (const auto& a : t.atoms) {
    if (!varies(a)) {
      uniform = uniform * DimAlgebra::atom(a);
      continue;
    }
    const Scalar v = atom_value(DimAlgebra::atom(a));
    product = product.id < 0 ? v : apply(ScalarOp::mul, product, v);
  }
  const Scalar factor = index_value(uniform);
  return product.id < 0 ? factor : apply(ScalarOp::mul, product, factor);
}

Scalar Expressions::atom_value(const Dim& atom) {
  const Dim::Atom& a = DimAlgebra::terms(atom)[0].atoms[0];
  if (!a.symbol.empty()) {
    if (auto at = dynamic_scalar(a.symbol)) return *at;
    return index_value(atom);
  }
  const Scalar x = index_value(*a.a), y = index_value(*a.b);
  switch (a.function) {
    case Dim::Function::min: return apply(ScalarOp::min, x, y);
    case Dim::Function::max: return apply(ScalarOp::max, x, y);
    case Dim::Function::mod: return apply(ScalarOp::mod, x, y);
    case Dim::Function::floor_div: return apply(ScalarOp::div, apply(ScalarOp::sub, x, apply(ScalarOp::mod, x, y)), y);
    case Dim::Function::ceil_div: break;
  }
  const Scalar minus = apply(ScalarOp::neg, x);  // ceil(x/y) = -floor(-x/y)
  return apply(ScalarOp::neg, apply(ScalarOp::div, apply(ScalarOp::sub, minus, apply(ScalarOp::mod, minus, y)), y));
}

Scalar Expressions::load(int operand, const Dim& address, Scalar mask, Scalar fallback) {
  Split s = split(address);
  Scalar dynamic{-1};
  for (const Dim& term : s.rest) {
    const Scalar v = term_value(term);
    dynamic = dynamic.id < 0 ? v : apply(ScalarOp::add, dynamic, v);
  }
  if (mask.id >= 0 && is_constant(mask)) {
    if (!inst(mask).bits) return fallback;
    mask = {-1};
  }
  const DType memory = kernel_.operands[static_cast<size_t>(operand)].dtype;
  return intern(Inst{.kind = InstKind::load,
                     .type = compute_type(memory),
                     .a = dynamic.id,
                     .b = mask.id,
                     .c = mask.id < 0 ? -1 : fallback.id,
                     .access = intern(Access{operand, std::move(s.offset), std::move(s.strides)}),
                     .loops = {}});
}

int Expressions::affine_access(int operand, const Dim& address) {
  Split s = split(address);
  TRINE_CHECK(s.rest.empty(), address.text());
  return intern(Access{operand, std::move(s.offset), std::move(s.strides)});
}

}  // namespace trine::codegen
