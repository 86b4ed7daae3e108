// Conversions against Tensor's own, which go through f64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "base/float_formats.h"
#include "dnn/kernel_row.h"
#include "trine/base/tensor.h"
#include "trine/base/thread_pool.h"

namespace trine::dnn {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8, DType::u8, DType::i32};

// What `value`, an f32, is as `type`.
double as(DType type, float value) {
  switch (type) {
    case DType::f16:
    case DType::bf16: return small_float_value(type, small_float_bits(type, value));
    case DType::i8:
      return std::isnan(value) ? 0 : std::clamp(std::nearbyint(static_cast<double>(value)), -128.0, 127.0);
    case DType::u8: return std::isnan(value) ? 0 : std::clamp(std::nearbyint(static_cast<double>(value)), 0.0, 255.0);
    case DType::i32:
      return std::isnan(value) ? 0 : std::clamp(std::nearbyint(static_cast<double>(value)), -0x1p31, 0x1p31 - 1);
    default: return value;
  }
}

std::vector<double> arguments() {
  std::vector<double> v = {0,     -0.0,     0.5,       1.5,   2.5,          -0.5, -1.5,          -2.5,
                           126.5, 127.5,    254.5,     255.5, -128.5,       300,  -300,          1e10,
                           -1e10, 65504,    65519,     65520, 1e-8,         6e-8, 1.00048828125, 1.00146484375,
                           1e-40, INFINITY, -INFINITY, NAN,   3.3895313e38, 3e-5};
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 60);
  while (v.size() < 5000) v.push_back(normal(random));
  return v;
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class Check>
void for_rows(const TransformProblem& p, const void* in, Tensor& out, Check check) {
  for (const KernelRow* row : rows_of(OpKind::transform)) {
    if (row->needs > cpu_level()) continue;
    ASSERT_EQ(row->fits(p), nullptr);
    for (int threads : {1, 3}) {
      ThreadPool pool(threads);
      Args args;
      args.in[0] = in, args.out[0] = out.mutable_data(), args.pool = &pool;
      row->run(p, args);
      check(*row);
    }
  }
}

TEST(Transform, BetweenAllTypes) {
  for (DType from : kTypes)
    for (DType to : kTypes)
      for (float alpha : {1.f, -0.75f}) {
        const std::vector<double> values = arguments();
        std::vector<double> held;
        for (double v : values) held.push_back(as(from, static_cast<float>(v)));
        const auto n = static_cast<int64_t>(values.size());
        const Tensor in = Tensor::from_f64(from, {n}, held);
        Tensor out(to, {n});
        for_rows({{n}, {1}, {1}, from, to, alpha, 0}, in.data(), out, [&](const KernelRow& row) {
          const std::vector<double> got = out.f64_values();
          int bad = 0;
          for (size_t i = 0; i < got.size(); ++i) {
            const double want = as(to, static_cast<float>(held[i]) * alpha);
            if (!is_same(got[i], want) && bad++ == 0)
              ADD_FAILURE() << row.name << " " << name(from) << " " << held[i] << " * " << alpha << " -> " << name(to)
                            << " " << got[i] << ", should be " << want;
          }
        });
      }
}

TEST(Transform, StridesAndBeta) {
  // x is [3,5] of a [3,7]; y is its transpose, between gaps.
  std::vector<float> x(21);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 4;
  Tensor out(DType::i8, {5 * 8});
  const TransformProblem p{{3, 5}, {7, 1}, {1, 8}, DType::f32, DType::i8, 2, 0.5f};
  for (const KernelRow* row : rows_of(OpKind::transform)) {
    if (row->needs > cpu_level()) continue;
    std::memset(out.mutable_data(), 10, 40);
    Args args;
    args.in[0] = x.data(), args.out[0] = out.mutable_data();
    row->run(p, args);
    for (int64_t j = 0; j < 5; ++j)
      for (int64_t i = 0; i < 8; ++i)
        EXPECT_EQ(out.as<int8_t>()[j * 8 + i],
                  i < 3 ? static_cast<int8_t>(2 * x[static_cast<size_t>(i * 7 + j)] + 5) : 10)
            << row->name;
  }
}

TEST(Transform, RefusesOtherTypes) {
  EXPECT_EQ(find(TransformProblem{{4}, {1}, {1}, DType::f64, DType::f32}).best(), nullptr);
  EXPECT_EQ(find(TransformProblem{{4}, {}, {1}, DType::f32, DType::f32}).best(), nullptr);
}

}  // namespace
}  // namespace trine::dnn
