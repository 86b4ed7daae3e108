#include "passes/expression.h"

#include <cmath>

namespace trine {
namespace {

constexpr int kMaxDepth = 10;

std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b) {
  Polynomial out{};
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j >= out.size()) return std::nullopt;
      out[i + j] += a[i] * b[j];
    }
  return out;
}

bool is_number(const Polynomial& p) { return p[1] == 0 && p[2] == 0 && p[3] == 0; }

std::optional<Polynomial> power(const Polynomial& p, double exponent) {
  if (exponent != 1 && exponent != 2 && exponent != 3) return std::nullopt;
  std::optional<Polynomial> out = p;
  for (int i = 1; i < static_cast<int>(exponent) && out; ++i) out = multiply(*out, p);
  return out;
}

std::optional<Polynomial> expand(const Rewriter& r, ValueId v, ValueId x, int depth) {
  if (v == x) return Polynomial{0, 1, 0, 0};
  if (const auto number = r.number(v)) return Polynomial{*number, 0, 0, 0};
  const int n = r.maker(v);
  if (n < 0 || depth > kMaxDepth) return std::nullopt;
  const bool is_sum = r.is(n, "add"), is_difference = r.is(n, "sub");
  if (r.is(n, "neg")) {
    const auto a = expand(r, r.input(n, 0), x, depth + 1);
    return a ? multiply(*a, {-1, 0, 0, 0}) : std::nullopt;
  }
  if (!is_sum && !is_difference && !r.is(n, "mul") && !r.is(n, "div") && !r.is(n, "pow")) return std::nullopt;
  const auto a = expand(r, r.input(n, 0), x, depth + 1);
  const auto b = a ? expand(r, r.input(n, 1), x, depth + 1) : std::nullopt;
  if (!b) return std::nullopt;
  if (r.is(n, "mul")) return multiply(*a, *b);
  if (r.is(n, "div")) return is_number(*b) && (*b)[0] != 0 ? multiply(*a, {1 / (*b)[0], 0, 0, 0}) : std::nullopt;
  if (r.is(n, "pow")) return is_number(*b) ? power(*a, (*b)[0]) : std::nullopt;
  Polynomial out = *a;
  for (size_t i = 0; i < out.size(); ++i) out[i] += is_sum ? (*b)[i] : -(*b)[i];
  return out;
}

bool collect(const Rewriter& r, ValueId v, bool root, Product& into, size_t limit) {
  if (const auto number = r.number(v)) {
    into.number *= *number;
    return true;
  }
  const int n = r.maker(v);
  const bool part = n >= 0 && (root || r.used_once(v)) && into.nodes.size() < 8;
  if (part && r.is(n, "mul")) {
    into.nodes.push_back(n);
    return collect(r, r.input(n, 0), false, into, limit) && collect(r, r.input(n, 1), false, into, limit);
  }
  if (part && r.is(n, "div")) {
    const auto divisor = r.number(r.input(n, 1));
    if (divisor && *divisor != 0) {
      into.nodes.push_back(n);
      into.number /= *divisor;
      return collect(r, r.input(n, 0), false, into, limit);
    }
  }
  into.factors.push_back(v);
  return !root && into.factors.size() <= limit;
}

}  // namespace

std::optional<Polynomial> polynomial(const Rewriter& r, ValueId v, ValueId x) { return expand(r, v, x, 0); }

std::optional<Product> product(const Rewriter& r, int n, size_t limit) {
  Product p;
  if ((!r.is(n, "mul") && !r.is(n, "div")) || !collect(r, r.output(n), true, p, limit)) return std::nullopt;
  return p;
}

bool is_near(double value, double wanted, DType type) {
  const double digits = type == DType::f16 ? 1e-3 : type == DType::bf16 ? 8e-3 : 2e-6;
  return std::abs(value - wanted) <= digits * std::abs(wanted);
}

}  // namespace trine
