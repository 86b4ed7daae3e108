// A problem of a narrow type gives the bits of the same problem in f32, rounded once: also where the oracles' bounds
// are too wide to tell, where a problem is cut into slices, and for gradients of recurrent networks, whose tests take
// differences of an f64 network.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/float_formats.h"
#include "check_rows.h"
#include "trine/base/tensor.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
namespace {

// Memory of `count` elements.
struct Block {
  DType type = DType::f32;
  Tensor memory;
  int64_t count = 0;

  void make(DType of, int64_t n) {
    type = of, count = n;
    memory = Tensor(DType::u8, {n * static_cast<int64_t>(byte_size(of))});
  }
  void* data() { return count ? memory.mutable_data() : nullptr; }
  void put(int64_t i, double x) {
    if (type == DType::f32) memory.mutable_as<float>()[i] = static_cast<float>(x);
    else if (type == DType::i32) memory.mutable_as<int32_t>()[i] = static_cast<int32_t>(x);
    else if (byte_size(type) == 2) memory.mutable_as<uint16_t>()[i] = small_float_bits(type, x);
    else memory.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(static_cast<int>(x));
  }
  double get(int64_t i) const {
    if (type == DType::f32) return memory.as<float>()[i];
    if (type == DType::i32) return memory.as<int32_t>()[i];
    if (byte_size(type) == 2) return small_float_value(type, memory.as<uint16_t>()[i]);
    return type == DType::i8 ? static_cast<double>(memory.as<int8_t>()[i]) : memory.as<uint8_t>()[i];
  }
};

struct Run {
  Block in[kMostOperands], weights[kMostWeights], residual, out[kMostOperands];
};

// The same numbers, as the narrow problem's types hold them.
void fill(const Problem& narrow, const Problem& wide, unsigned seed, Run& a, Run& b) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const OperandSizes n = operand_sizes(narrow), w = operand_sizes(wide);
  const auto both = [&](Block& x, Block& y, DType type, DType other, int64_t count, std::optional<int32_t> value) {
    x.make(type, count), y.make(other, count);
    for (int64_t i = 0; i < count; ++i) {
      const double v = value ? *value : round_to(type, byte_size(type) == 1 ? 60 * normal(random) : normal(random));
      x.put(i, v), y.put(i, v);
    }
  };
  for (int i = 0; i < kMostOperands; ++i) {
    both(a.in[i], b.in[i], n.in_types[i], w.in_types[i], n.in[i], n.integers[i]);
    both(a.out[i], b.out[i], n.out_types[i], w.out_types[i], n.out[i], 0);
  }
  for (int i = 0; i < kMostWeights; ++i)
    both(a.weights[i], b.weights[i], n.weight_types[i], w.weight_types[i], n.weights[i], std::nullopt);
  both(a.residual, b.residual, n.residual_type, w.residual_type, n.residual, std::nullopt);
}

void run(const Problem& problem, Run& r, int threads) {
  ThreadPool pool(threads);
  Operands o;
  for (int i = 0; i < kMostOperands; ++i) o.in[i] = r.in[i].data(), o.out[i] = r.out[i].data();
  for (int i = 0; i < kMostWeights; ++i) o.weights[i] = r.weights[i].data();
  o.residual = r.residual.data();
  Primitive(problem, {.threads = threads}).run(o, pool);
}

void expect_f32_rounded(const Problem& wide) {
  const unsigned seed = std::random_device{}();
  for (DType type : {DType::f16, DType::bf16, DType::u8, DType::i8}) {
    const Problem narrow = with_type(wide, type);
    if (byte_size(type) == 1 && op_kind(wide) != OpKind::pool && op_kind(wide) != OpKind::binary) continue;
    ASSERT_NE(narrow, wide);
    SCOPED_TRACE(testing::Message() << text(narrow) << " seed " << seed);
    Run a, b;
    fill(narrow, wide, seed, a, b);
    run(narrow, a, 3);
    run(wide, b, 1);
    for (int i = 0; i < kMostOperands; ++i)
      for (int64_t k = 0; k < a.out[i].count; ++k) {
        const double want = round_to(a.out[i].type, b.out[i].get(k)), got = a.out[i].get(k);
        ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
            << "out " << i << " element " << k << " is " << got << ", should be " << want;
      }
  }
}

TEST(ByF32, RecurrentPasses) {
  for (RnnKind kind : {RnnKind::lstm, RnnKind::gru, RnnKind::rnn_tanh})
    for (RnnPass pass : {RnnPass::inference, RnnPass::training, RnnPass::backward_data, RnnPass::backward_weights})
      for (bool add : {false, true}) {
        if (add && pass != RnnPass::backward_weights) continue;
        RnnProblem p{
            .kind = kind, .direction = RnnDirection::bidirectional, .steps = 5, .batch = 3, .input = 7, .hidden = 9};
        p.layers = 2, p.sequence_lens = true, p.pass = pass, p.add = add;
        if (kind == RnnKind::lstm) p.projection = 4;
        expect_f32_rounded(p);
      }
}

// Larger than a slice, with a smaller one at the end.
TEST(ByF32, Slices) {
  expect_f32_rounded(ActivationProblem{.function = Unary::gelu, .elements = 700001});
  expect_f32_rounded(DropoutProblem{.elements = 300001, .rate = 0.3, .seed = 5, .offset = 9});
  expect_f32_rounded(SoftmaxProblem{.outer = 301, .axis = 1009});
  expect_f32_rounded(BinaryProblem{Binary::mul, {301, 1009}, {1009}});
  expect_f32_rounded(BinaryProblem{Binary::sub, {301, 1009}, {301, 1}});
  expect_f32_rounded(ReduceProblem{.kind = ReduceKind::norm2, .dims = {301, 1009}, .out_dims = {301, 1}});
  PoolProblem pool{
      .n = 7, .channels = 40, .in = {1, 33, 35}, .out = {1, 16, 17}, .kernel = {1, 3, 3}, .stride = {1, 2, 2}};
  for (PoolKind kind : {PoolKind::max, PoolKind::average_with_pad}) {
    pool.kind = kind;
    expect_f32_rounded(pool);
    pool.in_pixel_stride = 47, pool.out_pixel_stride = 41;
    expect_f32_rounded(pool);
    pool.in_pixel_stride = pool.out_pixel_stride = 0;
  }
  expect_f32_rounded(LrnProblem{.n = 7, .channels = 30, .image = {1, 50, 41}});
  for (NormKind kind : {NormKind::layer, NormKind::rms, NormKind::group, NormKind::instance})
    expect_f32_rounded(
        NormProblem{.kind = kind, .n = 9, .channels = 32, .pixels = 1500, .groups = 4, .add = true, .relu = true});
  for (Layout layout : {Layout::nhwc, Layout::nchw})
    for (bool training : {false, true})
      for (Pass pass : {Pass::forward, Pass::backward}) {
        NormProblem p{.pass = pass, .n = 9, .channels = 37, .pixels = 1500, .layout = layout, .training = training};
        expect_f32_rounded(p);
        p.add = p.relu = true, p.n = 3, p.pixels = 1;
        expect_f32_rounded(p);
      }
  for (NormKind kind : {NormKind::layer, NormKind::group})
    for (bool scale : {false, true})
      expect_f32_rounded(NormProblem{.kind = kind,
                                     .pass = Pass::backward,
                                     .n = 9,
                                     .channels = 32,
                                     .pixels = 1500,
                                     .groups = 4,
                                     .scale = scale,
                                     .shift = scale});
  AttentionProblem attention{.batch = 5,
                             .heads = 4,
                             .kv_heads = 2,
                             .q_len = 130,
                             .kv_len = 151,
                             .head_dim = 32,
                             .v_head_dim = 16,
                             .scale = 0.2f};
  attention.q_stride = {130 * 4 * 32, 32, 4 * 32}, attention.k_stride = {151 * 2 * 32, 32, 2 * 32};
  attention.v_stride = {151 * 2 * 16, 16, 2 * 16}, attention.out_stride = {130 * 4 * 16 + 5, 16, 4 * 16};
  attention.lengths = attention.alibi = attention.causal = attention.lse = true;
  attention.mask = MaskKind::additive, attention.mask_stride = {151, 0, 0, 1};
  expect_f32_rounded(attention);
  attention.dropout = 0.25f;
  expect_f32_rounded(attention);
  expect_f32_rounded(ConvWeightsProblem{
      {.n = 3, .in_channels = 17, .out_channels = 24, .in = {1, 20, 21}, .out = {1, 18, 19}, .kernel = {1, 3, 3}},
      true});
  expect_f32_rounded(GridSampleProblem{.n = 5, .channels = 33, .in = {1, 40, 41}, .out = {1, 39, 30}});
  expect_f32_rounded(ResizeProblem{
      .mode = ResizeMode::linear, .n = 5, .channels = 33, .in = {1, 20, 21}, .out = {1, 40, 42}, .scale = {1, 2, 2}});
}

// Each operand of a binary problem has a type of its own.
TEST(ByF32, MixedTypes) {
  const uint16_t a[3] = {small_float_bits(DType::bf16, 1.5), small_float_bits(DType::bf16, -2), 0};
  const float b[3] = {0.25f, 1e30f, -0.375f};
  uint16_t y[3];
  Primitive(BinaryProblem{.op = Binary::add, .dims = {3}, .b_dims = {3}, .type = DType::bf16})
      .run({.in = {a, b}, .out = {y}});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(y[i], small_float_bits(DType::bf16, static_cast<float>(small_float_value(DType::bf16, a[i])) + b[i]));
}

}  // namespace
}  // namespace trine::dnn::test
