// Numbers that make no sense are refused with a reason, before anything is divided by them; gates change their order.
#include <gtest/gtest.h>

#include <limits>

#include "trine/base/error.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn {
namespace {

void expect_fault(const Problem& p, std::string_view what) {
  EXPECT_NE(fault(p).find(what), std::string::npos) << text(p) << ": " << fault(p);
  try {
    Primitive none(p);
    ADD_FAILURE() << text(p);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
  }
}

TEST(Fault, OfConvolutions) {
  const ConvProblem good{.in_channels = 4, .out_channels = 6, .in = {1, 5, 5}, .out = {1, 3, 3}, .kernel = {1, 3, 3}};
  EXPECT_EQ(fault(good), "");
  const auto with = [&](auto change, std::string_view what) {
    ConvProblem p = good;
    change(p);
    expect_fault(p, what);
    expect_fault(ConvWeightsProblem{p}, what);
  };
  with([](ConvProblem& p) { p.groups = 0; }, "groups 0; 1 at least");
  with([](ConvProblem& p) { p.groups = 4; }, "groups 4 of 4 and 6 channels");
  with([](ConvProblem& p) { p.stride[1] = 0; }, "stride 0");
  with([](ConvProblem& p) { p.stride[2] = -1; }, "stride -1");
  with([](ConvProblem& p) { p.dilation[2] = 0; }, "dilation 0");
  with([](ConvProblem& p) { p.kernel[0] = 0; }, "kernel 0");
  with([](ConvProblem& p) { p.n = -1; }, "x -1; 0 at least");
  with([](ConvProblem& p) { p.in_pixel_stride = 3; }, "pixel stride of x 3; 4 at least");
  with([](ConvProblem& p) { p.out_pixel_stride = 5; }, "pixel stride of y 5; 6 at least");
  with([](ConvProblem& p) { p.n = std::numeric_limits<int64_t>::max(); }, "2^56 at most");
}

TEST(Fault, OfOthers) {
  expect_fault(MatmulProblem{.m = -1, .n = 2, .k = 3}, "-1; 0 at least");
  expect_fault(MatmulProblem{.m = 1, .n = 2, .k = 3, .a_batch = {2}, .b_batch = {3}}, "batches of 2 and 3");
  expect_fault(MatmulProblem{.m = 1, .n = 2, .k = 3, .b_batch = {2}, .b_constant = true}, "a constant b with a batch");
  expect_fault(MatmulProblem{.m = 1, .n = 8, .k = 3, .out_row_stride = 7}, "row stride of y 7");
  expect_fault(PoolProblem{.channels = 1, .stride = {1, 0, 1}}, "stride 0");
  expect_fault(PoolBackwardProblem{{.channels = 1, .pad_begin = {0, -1, 0}}}, "padding -1");
  expect_fault(AttentionProblem{.heads = 3, .kv_heads = 2}, "3 heads over 2");
  expect_fault(AttentionProblem{.kv_heads = 0}, "kv_heads 0");
  expect_fault(AttentionProblem{.dropout = 1}, "dropout 1");
  expect_fault(RnnProblem{.steps = 1, .input = 1, .hidden = 0}, "hidden 0");
  expect_fault(RnnProblem{.steps = 1, .input = 1, .hidden = 1, .layers = 0}, "layers 0");
  expect_fault(ActivationProblem{.elements = -5}, "-5");
  expect_fault(DropoutProblem{.elements = 5, .rate = 1.5}, "rate 1.5");
  expect_fault(DropoutProblem{.elements = 5, .rate = std::numeric_limits<double>::quiet_NaN()}, "rate nan");
  expect_fault(SoftmaxProblem{.outer = -1}, "-1");
  expect_fault(NormProblem{.channels = 4, .groups = 0}, "groups 0");
  expect_fault(NormProblem{.channels = 4, .epsilon = -1}, "epsilon -1");
  expect_fault(LrnProblem{.channels = 4, .size = 0}, "size 0");
  expect_fault(AffineGridProblem{.axes = 4}, "4 axes");
  expect_fault(GridSampleProblem{.axes = 1}, "1 axes");
  expect_fault(ResizeProblem{.channels = 1, .scale = {1, 0, 1}}, "scale 0");
  expect_fault(CopyProblem{{2}, {1, 1}, {1}, 4}, "strides other in number");
  expect_fault(BinaryProblem{Binary::add, {-1}, {1}}, "-1");
  expect_fault(ReduceProblem{.dims = {-1}, .out_dims = {1}}, "-1");
}

// cuDNN's lstm is i f c o, its gru r z h; ONNX's i o f c and z r h.
TEST(ReorderGates, OfEveryWeight) {
  RnnProblem p{.direction = RnnDirection::bidirectional, .steps = 1, .input = 2, .hidden = 1};
  p.layers = 2;
  // Two layers of two directions, four gates of one row: the first layer has 2 columns, the second 2 as well.
  std::vector<float> w, want;
  for (int block = 0; block < 4; ++block)
    for (int gate : {0, 1, 2, 3})
      for (int column = 0; column < 2; ++column) w.push_back(static_cast<float>(100 * block + 10 * gate + column));
  for (int block = 0; block < 4; ++block)
    for (int gate : {0, 3, 1, 2})  // cuDNN's gates at ONNX's places
      for (int column = 0; column < 2; ++column) want.push_back(static_cast<float>(100 * block + 10 * gate + column));
  std::vector<float> out(w.size()), back(w.size());
  reorder_gates(p, 0, GateOrder::cudnn, w.data(), GateOrder::onnx, out.data());
  EXPECT_EQ(out, want);
  reorder_gates(p, 0, GateOrder::onnx, out.data(), GateOrder::cudnn, back.data());
  EXPECT_EQ(back, w);

  RnnProblem gru{.kind = RnnKind::gru, .steps = 1, .input = 2, .hidden = 2};
  const std::vector<float> bias = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};  // both biases: r z n of two rows each
  std::vector<float> theirs(12);
  reorder_gates(gru, 2, GateOrder::cudnn, bias.data(), GateOrder::onnx, theirs.data());
  EXPECT_EQ(theirs, (std::vector<float>{2, 3, 0, 1, 4, 5, 8, 9, 6, 7, 10, 11}));
  EXPECT_THROW(reorder_gates(p, 4, GateOrder::cudnn, w.data(), GateOrder::onnx, out.data()), Error);
}

}  // namespace
}  // namespace trine::dnn
