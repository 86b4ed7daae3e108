#include <gtest/gtest.h>

#include <cmath>

#include "check_rows.h"

namespace trine::dnn::test {
namespace {

constexpr double kEps = 0x1p-24;
constexpr ReduceKind kKinds[] = {ReduceKind::add,   ReduceKind::mul,   ReduceKind::min,
                                 ReduceKind::max,   ReduceKind::amax,  ReduceKind::avg,
                                 ReduceKind::norm1, ReduceKind::norm2, ReduceKind::mul_no_zeros};

bool is_extreme(ReduceKind k) { return k == ReduceKind::min || k == ReduceKind::max || k == ReduceKind::amax; }

double reduce(ReduceKind kind, const std::vector<double>& v, int64_t& where) {
  const bool product = kind == ReduceKind::mul || kind == ReduceKind::mul_no_zeros;
  double r = product ? 1 : kind == ReduceKind::min ? INFINITY : kind == ReduceKind::max ? -INFINITY : 0;
  where = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    const double x = kind == ReduceKind::amax || kind == ReduceKind::norm1 ? std::abs(v[i]) : v[i];
    if (is_extreme(kind)) {
      if (std::isnan(r) || !(std::isnan(x) || i == 0 || (kind == ReduceKind::min ? x < r : x > r))) continue;
      r = x, where = static_cast<int64_t>(i);
    } else {
      r = kind == ReduceKind::mul     ? r * x
          : product                   ? (x == 0 ? r : r * x)
          : kind == ReduceKind::norm2 ? r + x * x
                                      : r + x;
    }
  }
  return kind == ReduceKind::avg ? r / static_cast<double>(v.size()) : kind == ReduceKind::norm2 ? std::sqrt(r) : r;
}

Expected reduce_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<ReduceProblem>(problem);
  std::vector<std::vector<double>> parts(static_cast<size_t>(element_count(p.out_dims)));
  for (size_t i = 0; i < data.in[0].size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), at = 0, stride = 1;
    for (size_t d = p.dims.size(); d-- > 0; rest /= p.dims[d]) {
      if (p.out_dims[d] == p.dims[d]) at += rest % p.dims[d] * stride;
      stride *= p.out_dims[d];
    }
    parts[static_cast<size_t>(at)].push_back(data.in[0][i]);
  }
  Expected e;
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t where;
    const double r = reduce(p.kind, parts[i], where), c = p.beta == 0 ? 0 : static_cast<double>(p.beta) * data.in[1][i];
    double magnitude = std::abs(r);
    if (p.kind == ReduceKind::add || p.kind == ReduceKind::avg)
      magnitude = reduce(ReduceKind::norm1, parts[i], where) /
                  (p.kind == ReduceKind::avg ? static_cast<double>(parts[i].size()) : 1);
    reduce(p.kind, parts[i], where);
    e.out[0].push_back(p.alpha * r + c);
    const bool exact = is_extreme(p.kind) && p.alpha == 1 && c == 0;
    const double terms = static_cast<double>(parts[i].size()) + 8;
    e.bound[0].push_back(exact ? 0 : kEps * (terms * std::abs(p.alpha) * magnitude + 2 * std::abs(c)));
    const bool product = p.kind == ReduceKind::mul || p.kind == ReduceKind::mul_no_zeros;
    if (product) e.bound[0].back() += 1e-30;  // long products of f32 end among the denormals
    if (p.indices) e.out[1].push_back(static_cast<double>(where)), e.bound[1].push_back(0);
  }
  return e;
}

bool is_exact(ReduceKind k) {
  return k != ReduceKind::avg && k != ReduceKind::norm2 && k != ReduceKind::mul && k != ReduceKind::mul_no_zeros;
}

const std::pair<Dims, Dims> kShapes[] = {
    {{7}, {1}},
    {{1}, {1}},
    {{}, {}},
    {{3, 70}, {3, 1}},
    {{3, 70}, {1, 70}},
    {{4, 5, 6}, {4, 1, 6}},
    {{4, 5, 6}, {1, 5, 1}},
    {{2, 3, 4, 5}, {2, 1, 4, 1}},
    {{2, 3, 4, 5}, {1, 3, 1, 5}},
    {{2, 3}, {2, 3}},
    {{2, 130, 3}, {2, 1, 1}},
    {{0, 3}, {1, 3}},
    {{3, 0}, {3, 1}},
    {{0, 3}, {0, 1}},
};

// Products of 8-bit integers overflow f32: nothing is adjusted, but they are left out.
std::function<void(Data&)> no_bytes(ReduceKind k) {
  if (k != ReduceKind::mul && k != ReduceKind::mul_no_zeros) return {};
  return [](Data&) {};
}

TEST(Reduce, AnyDimensions) {
  for (ReduceKind kind : kKinds)
    for (const auto& [dims, out] : kShapes) {
      const Options options{.integers = is_exact(kind), .adjust = no_bytes(kind)};
      check_rows(ReduceProblem{kind, dims, out}, reduce_oracle, options);
      if (element_count(dims)) check_rows(ReduceProblem{kind, dims, out, false, -2, 0.5f}, reduce_oracle, options);
    }
}

TEST(Reduce, LongSums) {
  for (ReduceKind kind : {ReduceKind::add, ReduceKind::max, ReduceKind::norm1, ReduceKind::norm2, ReduceKind::avg}) {
    check_rows(ReduceProblem{kind, {3, 5000}, {3, 1}}, reduce_oracle, {.integers = is_exact(kind)});
    check_rows(ReduceProblem{kind, {5000, 33}, {1, 33}}, reduce_oracle, {.integers = is_exact(kind)});
  }
}

TEST(Reduce, IndicesAreThoseOfTheFirst) {
  for (ReduceKind kind : {ReduceKind::min, ReduceKind::max, ReduceKind::amax})
    for (const auto& [dims, out] : kShapes) check_rows(ReduceProblem{kind, dims, out, true}, reduce_oracle);
}

TEST(Reduce, NanIsTheResult) {
  const auto nans = [](Data& d) { d.in[0][17] = d.in[0][19] = d.in[0][40] = NAN; };
  for (ReduceKind kind : kKinds)
    for (bool indices : {false, true}) {
      if (indices && !is_extreme(kind)) continue;
      check_rows(ReduceProblem{kind, {5, 21}, {5, 1}, indices}, reduce_oracle, {.integers = false, .adjust = nans});
      check_rows(ReduceProblem{kind, {5, 21}, {1, 21}, indices}, reduce_oracle, {.integers = false, .adjust = nans});
    }
}

TEST(Reduce, RefusesOtherShapes) {
  EXPECT_EQ(find(ReduceProblem{ReduceKind::add, {4, 5}, {4}}).best(), nullptr);
  EXPECT_EQ(find(ReduceProblem{ReduceKind::add, {4, 5}, {2, 5}}).best(), nullptr);
  EXPECT_EQ(find(ReduceProblem{ReduceKind::add, {4, 5}, {4, 1}, true}).best(), nullptr);
}

}  // namespace
}  // namespace trine::dnn::test
