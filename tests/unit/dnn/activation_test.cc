// Accuracy of the activations in the epilogues, over their whole range and at special values. A product over no terms
// (k = 0) plus a bias is the bias: any value can be put through.
#include <gtest/gtest.h>

#include <cmath>

#include "dnn/kernel_row.h"
#include "trine/base/tensor.h"

namespace trine::dnn {
namespace {

constexpr float kInf = INFINITY;
constexpr double kLeast = 0x1p-149;  // the least denormal

std::vector<float> arguments() {
  std::vector<float> x = {0.f,     -0.f,     kInf,  -kInf,  NAN,   1e-40f, -1e-40f,
                          3.4e38f, -3.4e38f, 88.7f, -88.7f, 104.f, -104.f};
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<float>(i) * 0.005f);
  for (int e = -30; e < 7; ++e)
    for (float sign : {-1.f, 1.f}) x.push_back(sign * 1.37f * std::ldexp(1.f, e));
  return x;
}

// Error allowed beside the exact value y: `ulps` of y, and `absolute`.
struct Allowance {
  double ulps, absolute;
};

Allowance allowance(Activation a, double x) {
  switch (a) {
    case Activation::sigmoid: return {4, 1e-37};      // below -87 the result is 0
    case Activation::tanh: return {8, 256 * kLeast};  // numerator and denominator are x * 4.9e-3 and 4.9e-3
    case Activation::silu: return {5, 1e-35};
    case Activation::hardsigmoid: return {1, 1.5e-7};
    case Activation::hardswish: return {2, 1.5e-7 * std::abs(x)};
    case Activation::gelu: return {2, 2.5e-7 * std::abs(x)};  // erf is good to 2e-7
    case Activation::gelu_tanh: return {2, 3e-7 * std::abs(x)};
    default: return {0.5, kLeast};
  }
}

void check(const KernelRow& row, Activation activation, float alpha, float beta) {
  std::vector<float> x = arguments();
  auto n = static_cast<int64_t>(x.size());
  MatmulProblem p{
      .m = 1, .n = n, .k = 0, .epilogue = {.bias = true, .activation = activation, .alpha = alpha, .beta = beta}};
  Tensor workspace(DType::u8, {static_cast<int64_t>(workspace_bytes(row, p, 1))});
  std::vector<float> y(x.size());
  float nothing = 0;
  Args args;
  args.in[0] = args.in[1] = &nothing;
  args.out[0] = y.data();
  args.bias = x.data();
  args.workspace = workspace.mutable_data();
  row.run(p, args);
  for (size_t i = 0; i < x.size(); ++i) {
    double want = apply(activation, x[i], alpha, beta), got = y[i];
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got)) << row.name << " " << name(activation) << "(" << x[i] << ") = " << got;
      continue;
    }
    Allowance allowed = allowance(activation, std::isinf(x[i]) ? 0 : x[i]);
    double bound = allowed.ulps * std::abs(want) * 0x1p-23 + allowed.absolute;
    EXPECT_TRUE(got == want || std::abs(got - want) <= bound)
        << row.name << " " << name(activation) << "(" << x[i] << ") = " << got << ", should be " << want << " +- "
        << bound;
  }
}

TEST(Activation, AgreesWithF64) {
  for (const KernelRow* row : rows_of(OpKind::matmul)) {
    if (!runs_here(*row) || row->fits(MatmulProblem{})) continue;  // others are not of f32
    for (int a = 0; a <= static_cast<int>(Activation::gelu_tanh); ++a) {
      auto activation = static_cast<Activation>(a);
      bool two = activation == Activation::clip;
      check(*row, activation, two ? -1.f : 0.2f, two ? 6.f : 0.5f);
    }
  }
}

}  // namespace
}  // namespace trine::dnn
