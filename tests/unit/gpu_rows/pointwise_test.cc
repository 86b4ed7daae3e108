// One element at a time on devices: activations, binary operations, conversions, local response.
#include <gtest/gtest.h>

#include <cmath>

#include "device_case.h"

namespace trine::dnn::test {
namespace {

const std::vector<DType> kAll = {DType::f32, DType::f16, DType::bf16, DType::i8, DType::u8};

// Of results that are a few operations' roundings off, `ulps` of them in f32.
CaseOptions within(double ulps) {
  return {.bound = [=](double want) { return ulps * 0x1p-23 * std::max(std::abs(want), 0x1p-100); }};
}

TEST(DeviceActivation, EveryFunction) {
  Cases cases;
  for (int f = 0; f <= static_cast<int>(Unary::error_function); ++f) {
    const auto function = static_cast<Unary>(f);
    ActivationProblem p{.function = function, .elements = 1003, .alpha = 0.3f, .beta = 0.7f};
    CaseOptions options;
    options.bound = [](double want) { return 0x1p-23 * 16 * (std::abs(want) + 1); };
    const bool of_positive = function == Unary::square_root || function == Unary::logarithm ||
                             function == Unary::reciprocal || function == Unary::reciprocal_root ||
                             function == Unary::tangent;
    if (of_positive)
      options.adjust = [](CaseData& d) {
        for (int64_t i = 0; i < d.sizes.in[0]; ++i) d.set(0, i, 0.5 + std::abs(d.at(0, i)) / 8);
      };
    cases.add(p, {DType::f32}, options);
  }
  for (Unary function : {Unary::relu, Unary::clip, Unary::negate, Unary::absolute})
    cases.add(ActivationProblem{.function = function, .elements = 77, .alpha = -2, .beta = 3}, kAll);
  cases.add(ActivationProblem{.elements = 0});
  cases.add(ActivationProblem{.elements = 33}, CaseOptions{.shift = 1});
  cases.run();
}

TEST(DeviceBinary, OperationsBroadcastsAndTypes) {
  Cases cases;
  for (int op = 0; op <= static_cast<int>(Binary::select); ++op) {
    BinaryProblem p{.op = static_cast<Binary>(op), .dims = {3, 4, 5}, .b_dims = {4, 1}};
    CaseOptions options = within(16);
    if (p.op == Binary::power || p.op == Binary::remainder)
      options.adjust = [](CaseData& d) {
        for (int i : {0, 1})
          for (int64_t e = 0; e < d.sizes.in[i]; ++e) d.set(i, e, 0.25 * (1 + i) + std::abs(d.at(i, e)));
      };
    if (p.op == Binary::remainder) options.bound = [](double) { return 0x1p-16; };
    cases.add(p, options);
  }
  for (Binary op : {Binary::add, Binary::max, Binary::select, Binary::less})
    for (const Dims& b : {Dims{}, Dims{7}, Dims{3, 1, 1}, Dims{3, 5, 7}}) {
      BinaryProblem p{.op = op, .dims = {3, 5, 7}, .b_dims = b};
      cases.add(p, kAll, {.integers = true});
      p.beta = 2, p.alpha1 = -1;
      if (op != Binary::select) cases.add(p, CaseOptions{.integers = true});
    }
  cases.add(BinaryProblem{.dims = {3, 0}, .b_dims = {}});
  cases.run();
}

TEST(DeviceTransform, TypesAndStrides) {
  Cases cases;
  const std::vector<DType> types = {DType::f32, DType::f16, DType::bf16, DType::i8, DType::u8, DType::i32};
  for (DType from : types)
    for (DType to : types) {
      if (from != DType::f32 && to != DType::f32 && from != to) continue;
      TransformProblem p{.dims = {3, 5}, .in_strides = {7, 1}, .out_strides = {1, 4}, .in = from, .out = to};
      cases.add(p);
    }
  TransformProblem p{.dims = {4, 6}, .in_strides = {6, 1}, .out_strides = {6, 1}, .alpha = 0.5f};
  cases.add(p);
  cases.run();
}

TEST(DeviceLrn, AcrossAndWithin) {
  Cases cases;
  for (bool within_channel : {false, true})
    for (Layout layout : {Layout::nhwc, Layout::nchw})
      for (int64_t size : {1, 4, 5}) {
        LrnProblem p{.within = within_channel, .n = 2, .channels = 7, .image = {2, 4, 5}, .size = size};
        p.layout = layout, p.alpha = 0.3f, p.k = 1;
        cases.add(p, {DType::f32, DType::f16}, within(32));
      }
  cases.run();
}

}  // namespace
}  // namespace trine::dnn::test
