// Views of an arithmetic subgraph that patterns are matched on, so that x * 0.5 * (1 + e), (x / 2) * (e + 1) and
// 0.5 * (x + x * e) need no patterns of their own.
#pragma once

#include <array>

#include "passes/match.h"

namespace trine {

// v as a polynomial of degree at most 3 in x: coefficients of 1, x, x^2, x^3. Nothing when it is none.
using Polynomial = std::array<double, 4>;
std::optional<Polynomial> polynomial(const Rewriter& r, ValueId v, ValueId x);

// The product that node n computes: a number times factors, looking through mul and div by numbers. At most `limit`
// factors, else nothing.
struct Product {
  double number = 1;
  std::vector<ValueId> factors;
  std::vector<int> nodes;  // that make up the product, n first
};
std::optional<Product> product(const Rewriter& r, int n, size_t limit);

// Equal but for the rounding of a constant to a float type.
bool is_near(double value, double wanted, DType type);

}  // namespace trine
