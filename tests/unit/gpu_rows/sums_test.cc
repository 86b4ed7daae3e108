// Softmax, normalisations and reductions on devices.
#include <gtest/gtest.h>

#include <cmath>

#include "device_case.h"

namespace trine::dnn::test {
namespace {

const std::vector<DType> kFloats = {DType::f32, DType::f16, DType::bf16};
const std::vector<DType> kAll = {DType::f32, DType::f16, DType::bf16, DType::i8, DType::u8};

// Sums of `terms` numbers of at most `most`, each addition rounded, in any order on either side.
CaseOptions sums(double terms, double most) {
  return {.bound = [=](double want) { return 2 * (terms + 16) * 0x1p-24 * (most + std::abs(want)); }};
}

TEST(DeviceSoftmax, KindsAxesTypes) {
  Cases cases;
  for (SoftmaxKind kind : {SoftmaxKind::accurate, SoftmaxKind::fast, SoftmaxKind::log})
    for (int64_t axis : {1, 31, 300, 1000})
      for (int64_t inner : {1, 5})
        cases.add(SoftmaxProblem{.kind = kind, .outer = 3, .axis = axis, .inner = inner},
                  axis == 300 ? kFloats : std::vector{DType::f32}, sums(static_cast<double>(axis), 1));
  cases.add(SoftmaxProblem{.outer = 3, .axis = 0, .inner = 4});
  cases.run();
}

TEST(DeviceSoftmax, NothingAndNan) {
  Cases cases;
  for (SoftmaxKind kind : {SoftmaxKind::accurate, SoftmaxKind::log})
    for (int64_t inner : {1, 3}) {
      CaseOptions options = sums(40, 1);
      options.adjust = [](CaseData& d) {
        for (int64_t i = 0; i < 40; ++i) d.set(0, i * (d.sizes.in[0] / 160), -INFINITY);
        d.set(0, d.sizes.in[0] - 1, NAN);
      };
      cases.add(SoftmaxProblem{.kind = kind, .outer = 4, .axis = 40, .inner = inner}, options);
    }
  cases.run();
}

TEST(DeviceNorm, KindsLayoutsTypes) {
  Cases cases;
  for (NormKind kind : {NormKind::batch, NormKind::instance, NormKind::group, NormKind::layer, NormKind::rms})
    for (Layout layout : {Layout::nhwc, Layout::nchw})
      for (bool training : {false, true}) {
        if (training && kind != NormKind::batch) continue;
        NormProblem p{.kind = kind, .n = 3, .channels = 12, .pixels = 35, .groups = kind == NormKind::group ? 4 : 1};
        p.layout = layout, p.training = training;
        CaseOptions options = sums(420, 16);
        options.adjust = [](CaseData& d) {  // a running variance
          for (int64_t i = d.sizes.in[3] / 2; i < d.sizes.in[3]; ++i) d.set(3, i, 0.25 + std::abs(d.at(3, i)));
        };
        cases.add(p, kFloats, options);
        p.add = p.relu = true, p.shift = false;
        cases.add(p, options);
      }
  for (int64_t channels : {1, 33, 768, 3000})
    for (NormKind kind : {NormKind::layer, NormKind::rms}) {
      NormProblem p{.kind = kind, .n = 5, .channels = channels};
      p.epsilon = 1e-2f;
      cases.add(p, sums(static_cast<double>(channels), 16));
    }
  cases.run();
}

TEST(DeviceReduce, KindsAxesIndices) {
  Cases cases;
  for (int kind = 0; kind <= static_cast<int>(ReduceKind::mul_no_zeros); ++kind)
    for (const Dims& out : {Dims{1, 1, 1}, Dims{4, 1, 6}, Dims{1, 7, 1}, Dims{4, 7, 6}}) {
      ReduceProblem p{.kind = static_cast<ReduceKind>(kind), .dims = {4, 7, 6}, .out_dims = out};
      const bool product = p.kind == ReduceKind::mul || p.kind == ReduceKind::mul_no_zeros;
      CaseOptions options = sums(168, product ? 0x1p-110 : 8);  // parts of a product may be subnormal
      p.indices = kind >= 2 && kind <= 4;
      const bool averages = p.kind == ReduceKind::avg || p.kind == ReduceKind::norm2;
      cases.add(p, options);
      if (!product && !averages) cases.add(p, {DType::f16, DType::i8}, {.integers = true});
      p.alpha = 2, p.beta = 0.5f;
      cases.add(p, options);
    }
  ReduceProblem large{.kind = ReduceKind::add, .dims = {3, 1000}, .out_dims = {3, 1}};
  cases.add(large, kAll, {.integers = true});
  large.kind = ReduceKind::max, large.indices = true;
  CaseOptions with_nan;
  with_nan.adjust = [](CaseData& d) { d.set(0, 700, NAN), d.set(0, 300, NAN), d.set(0, 1500, 99), d.set(0, 1900, 99); };
  cases.add(large, with_nan);
  for (ReduceKind kind : {ReduceKind::add, ReduceKind::min, ReduceKind::avg})
    cases.add(ReduceProblem{.kind = kind, .dims = {3, 0}, .out_dims = {3, 1}});
  cases.run();
}

}  // namespace
}  // namespace trine::dnn::test
