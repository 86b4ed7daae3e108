// Operands for measuring: every kind of problem that plans hold runs on them, whatever row takes it.
#include <gtest/gtest.h>

#include "device_case.h"
#include "dnn/measure_device.h"

namespace trine::dnn::test {
namespace {

std::vector<Problem> problems_of_every_kind() {
  ConvProblem conv{.n = 2, .in_channels = 8, .out_channels = 16, .in = {1, 6, 5}, .out = {1, 6, 5}};
  conv.kernel = {1, 3, 3}, conv.pad_begin = {0, 1, 1};
  conv.epilogue = {.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
  ConvProblem depthwise{.n = 1, .in_channels = 8, .out_channels = 8, .groups = 8, .in = {1, 6, 5}, .out = {1, 6, 5}};
  depthwise.kernel = {1, 3, 3}, depthwise.pad_begin = {0, 1, 1};
  const MatmulProblem constant{.m = 5, .n = 24, .k = 16, .b_constant = true};
  const MatmulProblem both{.m = 5, .n = 7, .k = 16, .a_batch = {2}, .b_batch = {2}, .trans_b = true};
  PoolProblem pool{.n = 2, .channels = 4, .in = {1, 6, 6}, .out = {1, 3, 3}, .kernel = {1, 2, 2}};
  pool.stride = {1, 2, 2};
  ResizeProblem resize{.n = 1, .channels = 4, .in = {1, 3, 3}, .out = {1, 6, 6}};
  resize.scale = {1, 2, 2};
  const RnnProblem rnn{.steps = 3, .batch = 2, .input = 8, .hidden = 16, .sequence_lens = true, .peephole = true};
  AttentionProblem attention{.batch = 2, .heads = 2, .kv_heads = 2};
  attention.q_len = 5, attention.kv_len = 7, attention.head_dim = attention.v_head_dim = 16;
  attention.q_stride = {160, 80, 16}, attention.k_stride = attention.v_stride = {224, 112, 16};
  attention.out_stride = {160, 80, 16};
  attention.scale = 0.25f;
  return {conv,
          depthwise,
          constant,
          both,
          pool,
          resize,
          rnn,
          attention,
          CopyProblem::transpose({3, 4, 5}, {0, 2, 1}, 2),
          GatherProblem{2, 9, 8, 5, DType::i64},
          GatherProblem{2, 9, 8, 5, DType::i32},
          SoftmaxProblem{.outer = 3, .axis = 17, .inner = 1},
          NormProblem{.kind = NormKind::layer, .n = 3, .channels = 12},
          ReduceProblem{.dims = {4, 7}, .out_dims = {4, 1}},
          ActivationProblem{.elements = 33},
          BinaryProblem{.dims = {3, 4}, .b_dims = {4}},
          LrnProblem{.n = 1, .channels = 7, .image = {1, 3, 3}, .size = 3},
          AffineGridProblem{.n = 2, .axes = 2, .out = {1, 4, 5}},
          GridSampleProblem{.n = 1, .channels = 3, .axes = 2, .in = {1, 5, 6}, .out = {1, 4, 5}}};
}

TEST(MeasureOnDevice, EveryKindOfProblem) {
  const DeviceTraits traits = traits_of(test_device());
  for (const Problem& problem : problems_of_every_kind()) {
    const DeviceChoice choice = find_on_device(problem, traits, {.providers = false});
    ASSERT_FALSE(choice.candidates.empty()) << text(problem);
    const DeviceOperands operands(test_device(), problem);
    const DeviceRow& row = *choice.best();
    EXPECT_GT(measure(row, operands, traits, nullptr, test_programs(), 0.01), 0) << row.name;
  }
}

TEST(MeasureOnDevice, LaunchesTakeCopiesOfWeightsInTurn) {
  using Role = compute::OperandRole;
  const MatmulProblem p{.m = 5, .n = 24, .k = 16, .b_constant = true};
  const DeviceTraits traits = traits_of(test_device());
  const DeviceOperands operands(test_device(), p);
  const DeviceRow& row = *find_on_device(p, traits, {.providers = false}).best();
  const compute::DeviceCall call = device_call(row, p, traits);
  ASSERT_TRUE(row.packed_bytes);
  const size_t bytes = row.packed_bytes(row, p);
  const WayOperands cold(operands, row, &call, call.workspace_bytes, 3 * bytes, 20);
  const auto weights = [&](int turn) { return cold.addresses(turn)(Role{Role::Kind::packed}); };
  compute::Stream stream = test_device().create_stream();
  std::vector<std::vector<char>> contents;
  for (int turn = 0; turn < 4; ++turn) {
    for (int other = 0; other < turn; ++other) EXPECT_NE(weights(turn), weights(other));
    stream.download(contents.emplace_back(bytes).data(), weights(turn), bytes);
  }
  stream.synchronize();
  EXPECT_EQ(contents[3], contents[0]);
  EXPECT_NE(contents[0], std::vector<char>(bytes)) << "random numbers, no zeros";
  EXPECT_EQ(weights(4), weights(0)) << "four are more than three times as large";
  const auto input = [&](int turn) { return cold.addresses(turn)(Role{Role::Kind::in, 0}); };
  EXPECT_EQ(input(0), input(1)) << "what the step before wrote is in the cache";
  const WayOperands few(operands, row, &call, call.workspace_bytes, 1000 * bytes, 2);
  EXPECT_EQ(few.addresses(2)(Role{Role::Kind::packed}), few.addresses(0)(Role{Role::Kind::packed}));
}

// What a library reads lies where the operand of the call would.
TEST(MeasureOnDevice, WeightsThatNobodyPacksFollowTheInput) {
  const MatmulProblem p{.m = 5, .n = 24, .k = 16, .b_constant = true};
  const DeviceOperands operands(test_device(), p);
  DeviceRow raw = *find_on_device(p, traits_of(test_device()), {.providers = false}).best();
  raw.packed_bytes = nullptr;
  const WayOperands way(operands, raw, nullptr, 0);
  using Role = compute::OperandRole;
  EXPECT_NE(way.addresses(0)(Role{Role::Kind::in, 1}), nullptr);
  EXPECT_EQ(way.addresses(0)(Role{Role::Kind::in, 2}), nullptr);
  EXPECT_EQ(way.addresses(0)(Role{Role::Kind::packed}), nullptr);
}

}  // namespace
}  // namespace trine::dnn::test
