// Spatial transformers on devices.
#include <gtest/gtest.h>

#include <cmath>

#include "device_case.h"

namespace trine::dnn::test {
namespace {

// Positions in f64 on both sides, rounded once or twice: sums of eight numbers below 8.
const CaseOptions kRounding = {.bound = [](double) { return 0x1p-24 * 16 * 8; }};

TEST(DeviceGrid, AffineMaps) {
  Cases cases;
  for (bool align_corners : {false, true}) {
    cases.add(AffineGridProblem{.n = 3, .axes = 2, .out = {1, 4, 5}, .align_corners = align_corners}, kRounding);
    cases.add(AffineGridProblem{.n = 2, .axes = 3, .out = {3, 1, 5}, .align_corners = align_corners}, kRounding);
  }
  cases.add(AffineGridProblem{.n = 0, .axes = 2, .out = {1, 4, 5}});
  cases.run();
}

TEST(DeviceGrid, SamplingPaddingLayoutsTypes) {
  Cases cases;
  for (GridSampling sampling : {GridSampling::nearest, GridSampling::linear})
    for (GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection})
      for (Layout layout : {Layout::nhwc, Layout::nchw})
        for (bool align_corners : {false, true})
          for (int axes : {2, 3}) {
            GridSampleProblem p{.n = 2, .channels = 3, .axes = axes, .in = {axes == 3 ? 4 : 1, 5, 6}};
            p.out = {axes == 3 ? 2 : 1, 7, 3}, p.sampling = sampling, p.padding = padding, p.layout = layout;
            p.align_corners = align_corners;
            CaseOptions options = kRounding;
            options.adjust = [](CaseData& d) { d.set(1, 0, 100), d.set(1, 3, NAN), d.set(1, 4, -1), d.set(1, 7, 1); };
            const bool all = align_corners && axes == 2;
            cases.add(p, all ? std::vector{DType::f32, DType::f16, DType::bf16} : std::vector{DType::f32}, options);
          }
  cases.run();
}

}  // namespace
}  // namespace trine::dnn::test
