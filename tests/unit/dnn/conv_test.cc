#include <gtest/gtest.h>

#include "check_rows.h"

namespace trine::dnn::test {
namespace {

struct Pad {
  int64_t begin, end;
};

// A 2-D convolution of the usual parameters; output sizes follow from them.
ConvProblem conv2d(int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, Pad pad = {0, 0},
                   int64_t groups = 1, int64_t dilation = 1) {
  ConvProblem p;
  p.in_channels = in;
  p.out_channels = out;
  p.groups = groups;
  p.in = {1, size, size + 1};  // not square: a mixed up axis shows
  p.kernel = {1, kernel, kernel};
  p.stride = {1, stride, stride};
  p.dilation = {1, dilation, dilation};
  p.pad_begin = {0, pad.begin, pad.begin};
  for (size_t i = 1; i < 3; ++i) p.out[i] = (p.in[i] + pad.begin + pad.end - (kernel - 1) * dilation - 1) / stride + 1;
  return p;
}

// The transposed convolution whose gradient-like size rule gives `extra` more rows than the least.
ConvProblem transposed2d(int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride, Pad pad = {0, 0},
                         int64_t groups = 1, int64_t dilation = 1, int64_t extra = 0) {
  ConvProblem p = conv2d(size, in, out, kernel, stride, pad, groups, dilation);
  p.transposed = true;
  for (size_t i = 1; i < 3; ++i)
    p.out[i] = (p.in[i] - 1) * stride + (kernel - 1) * dilation + 1 - pad.begin - pad.end + extra;
  return p;
}

void check(const ConvProblem& p, bool integers = true, int least_rows = 1) {
  check_rows(p, conv_oracle, {.integers = integers, .least_rows = least_rows});
}

TEST(Conv, Pointwise) {
  for (int64_t in : {1, 3, 16, 31})
    for (int64_t out : {1, 16, 24, 50}) {
      check(conv2d(7, in, out, 1));
      check(conv2d(7, in, out, 1, 2));
    }
  check(conv2d(20, 70, 100, 1));
}

TEST(Conv, ThreeByThree) {
  for (int64_t stride : {1, 2, 3})
    for (int64_t channels : {1, 3, 5, 16, 20}) check(conv2d(9, channels, 33, 3, stride, {1, 1}));
  check(conv2d(14, 64, 48, 3, 1, {1, 1}));
  check(conv2d(6, 200, 20, 3, 1, {1, 1}));  // depth in blocks of taps
  check(conv2d(3, 1600, 17, 3, 1, {1, 1}));
}

TEST(Conv, PaddingOnOneSideAndBeyondTheKernel) {
  check(conv2d(8, 4, 10, 3, 2, {0, 1}));
  check(conv2d(8, 4, 10, 4, 1, {2, 1}));
  check(conv2d(3, 4, 10, 3, 1, {5, 4}));
  check(conv2d(1, 20, 10, 3, 1, {1, 1}));
  check(conv2d(5, 12, 10, 1, 1, {1, 1}));
}

TEST(Conv, Dilated) {
  check(conv2d(11, 5, 18, 3, 1, {2, 2}, 1, 2));
  check(conv2d(11, 16, 18, 3, 2, {3, 3}, 1, 3));
}

TEST(Conv, FirstLayers) {
  for (int64_t channels : {1, 2, 3, 4}) {
    for (Layout layout : {Layout::nhwc, Layout::nchw}) {
      ConvProblem p = conv2d(23, channels, 32, 7, 2, {3, 3});
      p.in_layout = layout;
      check(p, true, 3);
      p = conv2d(12, channels, 16, 3, 2, {0, 1});
      p.in_layout = layout;
      check(p, true, 3);
    }
  }
}

// Lines of one tile and one more, of several, of one and a half; one to five panels of columns, not all full.
TEST(Conv, FirstLayersOfEveryWidth) {
  for (int64_t width : {13, 14, 15, 28, 41})
    for (int64_t out : {5, 16, 24, 48, 70}) {
      ConvProblem p = conv2d(width - 1, 3, out, 3, 1, {1, 1});
      p.in_pixel_stride = 5, p.out_pixel_stride = out + 3;
      p.epilogue = {.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
      check(p, true, 3);
    }
  ConvProblem p = conv2d(30, 3, 40, 5, 1, {2, 2});
  p.n = 2, p.dilation[1] = 2, p.out[1] -= 4;
  for (Residual residual : {Residual::none, Residual::after_activation})
    for (Activation activation : {Activation::none, Activation::silu}) {
      p.epilogue = {.residual = residual, .activation = activation};
      check(p, activation == Activation::none, 3);
    }
}

// Patches side by side are read where they are.
TEST(Conv, Patches) {
  check(conv2d(59, 3, 96, 4, 4), true, 3);  // one column is left over
  ConvProblem p = conv2d(60, 3, 96, 4, 4);
  p.in[2] = 60;
  check(p, true, 3);
  p = conv2d(64, 3, 768, 16, 16);
  p.in[2] = 64;
  check(p, true, 3);
}

TEST(Conv, NchwInputWithManyChannels) {
  ConvProblem p = conv2d(7, 20, 19, 3, 1, {1, 1});
  p.in_layout = Layout::nchw;
  check(p);
}

TEST(Conv, Grouped) {
  check(conv2d(7, 32, 64, 3, 1, {1, 1}, 2));
  check(conv2d(7, 12, 20, 3, 1, {1, 1}, 4));
  check(conv2d(6, 64, 64, 3, 2, {1, 1}, 32));
  check(conv2d(6, 16, 16, 1, 1, {0, 0}, 4));
}

// Scales and shifts of channels, also where pixels lie apart.
TEST(Conv, DepthwiseOfOneTap) {
  for (int64_t channels : {4, 16, 17, 50, 300})
    for (Activation activation : {Activation::none, Activation::relu, Activation::silu})
      for (bool bias : {false, true}) {
        ConvProblem p = conv2d(7, channels, channels, 1, 1, {0, 0}, channels);
        p.n = 2;
        p.epilogue = {.bias = bias, .activation = activation};
        const bool exact = activation != Activation::silu;
        check(p, exact);
        p.in_pixel_stride = channels + 20, p.out_pixel_stride = channels + 3;
        check(p, exact);
      }
  ConvProblem padded = conv2d(7, 20, 20, 1, 1, {1, 0}, 20);
  check(padded);
}

TEST(Conv, Depthwise) {
  for (int64_t kernel : {1, 2, 3, 5, 7})
    for (int64_t stride : {1, 2})
      for (int64_t channels : {1, 16, 19, 40})
        check(conv2d(9, channels, channels, kernel, stride, {kernel / 2, kernel / 2}, channels));
  check(conv2d(15, 24, 24, 3, 1, {0, 2}, 24));
  check(conv2d(15, 24, 24, 3, 1, {2, 2}, 24, 2));
  check(conv2d(2, 17, 17, 7, 1, {3, 3}, 17));
  check(conv2d(29, 72, 72, 3, 2, {1, 1}, 72));
  check(conv2d(9, 6, 18, 3, 1, {1, 1}, 6));  // multiplier 3
}

TEST(Conv, OneAndThreeDimensions) {
  ConvProblem line;
  line.in_channels = 10, line.out_channels = 21;
  line.in = {1, 1, 50}, line.kernel = {1, 1, 9}, line.pad_begin = {0, 0, 4}, line.out = {1, 1, 50};
  check(line);
  line.in_channels = 1, line.stride = {1, 1, 5}, line.out = {1, 1, 10};
  check(line);
  ConvProblem solid;
  solid.n = 2, solid.in_channels = 5, solid.out_channels = 18;
  solid.in = {4, 5, 6}, solid.kernel = {3, 2, 3}, solid.pad_begin = {1, 0, 1}, solid.out = {4, 4, 6};
  check(solid);
  solid.groups = 5, solid.out_channels = 5;
  check(solid);
}

TEST(Conv, BatchesAndSlices) {
  ConvProblem p = conv2d(7, 16, 32, 3, 1, {1, 1});
  p.n = 3;
  p.in_pixel_stride = 24, p.out_pixel_stride = 50;
  p.epilogue = {.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
  check(p);
  p = conv2d(7, 16, 32, 1);
  p.n = 2;
  p.in_pixel_stride = 24, p.out_pixel_stride = 50;
  check(p);
  p = conv2d(7, 32, 32, 3, 1, {1, 1}, 32);
  p.n = 2;
  p.in_pixel_stride = 40, p.out_pixel_stride = 50;
  check(p);
}

TEST(Conv, LargeEnoughToFork) {
  check(conv2d(28, 40, 72, 3, 1, {1, 1}), false);
  check(conv2d(28, 64, 128, 1), false);
  check(conv2d(40, 96, 96, 3, 1, {1, 1}, 96), false);
}

TEST(Conv, Epilogues) {
  for (int act = 0; act <= static_cast<int>(Activation::gelu_tanh); ++act) {
    for (Residual residual : {Residual::none, Residual::before_activation, Residual::after_activation}) {
      auto activation = static_cast<Activation>(act);
      Epilogue e{.bias = true, .residual = residual, .activation = activation, .alpha = -2, .beta = 6};
      if (activation == Activation::leaky_relu) e.alpha = 0.5;
      if (activation == Activation::hardsigmoid) e.alpha = 0.2f, e.beta = 0.5f;
      for (int64_t groups : {1, 2, 24}) {
        ConvProblem p = conv2d(7, 24, 24, 3, 1, {1, 1}, groups);
        p.epilogue = e;
        check(p, activation <= Activation::leaky_relu);
      }
    }
  }
}

TEST(Conv, Transposed) {
  for (int64_t stride : {1, 2, 3})
    for (int64_t kernel : {1, 2, 3, 4}) {
      check(transposed2d(5, 6, 20, kernel, stride));
      if (kernel > 2) check(transposed2d(5, 20, 6, kernel, stride, {1, 1}));
    }
  check(transposed2d(5, 6, 20, 3, 2, {1, 0}, 1, 1, 1));
  check(transposed2d(5, 6, 20, 3, 2, {0, 0}, 2));
  check(transposed2d(5, 6, 20, 3, 2, {2, 2}, 1, 2));
  ConvProblem p = transposed2d(6, 32, 16, 4, 2, {1, 1});
  p.n = 2;
  p.out_pixel_stride = 20;
  p.epilogue = {.bias = true, .residual = Residual::after_activation, .activation = Activation::relu};
  check(p);
  p = transposed2d(20, 32, 40, 2, 2);
  check(p);
}

TEST(Conv, TransposedInOneAndThreeDimensions) {
  ConvProblem p;
  p.transposed = true;
  p.in_channels = 10, p.out_channels = 21;
  p.in = {1, 1, 20}, p.kernel = {1, 1, 8}, p.stride = {1, 1, 4}, p.pad_begin = {0, 0, 2}, p.out = {1, 1, 80};
  check(p);
  p.in = {3, 2, 4}, p.kernel = {2, 3, 2}, p.stride = {2, 1, 2}, p.pad_begin = {0, 1, 0}, p.out = {6, 2, 8};
  check(p);
}

TEST(Conv, EmptyBatch) {
  ConvProblem p = conv2d(7, 16, 32, 3, 1, {1, 1});
  p.n = 0;
  check(p);
}

}  // namespace
}  // namespace trine::dnn::test
