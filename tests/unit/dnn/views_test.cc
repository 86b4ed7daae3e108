// Operands of any strides give what dense ones give, and nothing between their elements is touched.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

#include "dnn/operands.h"
#include "trine/base/error.h"
#include "trine/base/tensor.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn {
namespace {

using Floats = std::vector<float>;

Floats random_floats(int64_t n) {
  static std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  Floats v(static_cast<size_t>(n));
  for (float& x : v) x = normal(random);
  return v;
}

int64_t offset(const View& view, int64_t element) {
  int64_t at = 0;
  for (size_t i = view.dims.size(); i-- > 0; element /= view.dims[i]) at += element % view.dims[i] * view.strides[i];
  return at;
}

// Memory in which an operand lies as a view says, with what stood there before everywhere else.
struct Laid {
  View view;
  Floats memory;
  int64_t first = 0;  // of the element at index 0

  Laid(View v, const Floats& dense) : view(std::move(v)) {
    int64_t low = 0, high = 0;
    for (int64_t i = 0; i < static_cast<int64_t>(dense.size()); ++i)
      low = std::min(low, offset(view, i)), high = std::max(high, offset(view, i));
    memory = random_floats(high - low + 9);
    first = 4 - low;
    for (int64_t i = 0; i < static_cast<int64_t>(dense.size()); ++i)
      memory[static_cast<size_t>(first + offset(view, i))] = dense[static_cast<size_t>(i)];
  }
  float* data() { return memory.data() + first; }
  Floats dense() const {
    Floats out(static_cast<size_t>(element_count(view.dims)));
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = memory[static_cast<size_t>(first + offset(view, static_cast<int64_t>(i)))];
    return out;
  }
};

// [n, h, w, c] as nchw; with gaps between the rows when `pitch` is more than w.
View nchw(int64_t n, int64_t h, int64_t w, int64_t c, int64_t pitch = 0) {
  pitch = pitch ? pitch : w;
  return {{n, h, w, c}, {c * h * pitch, pitch, 1, h * pitch}};
}

ConvProblem conv() {
  ConvProblem p{.n = 2, .in_channels = 6, .out_channels = 10, .in = {1, 7, 8}, .out = {1, 7, 8}, .kernel = {1, 3, 3}};
  p.pad_begin = {0, 1, 1};
  p.epilogue = {.bias = true, .residual = Residual::before_activation, .activation = Activation::relu};
  return p;
}

TEST(Views, ConvolutionInNchwThroughout) {
  const ConvProblem p = conv();
  const OperandSizes sizes = operand_sizes(p);
  const Floats x = random_floats(sizes.in[0]), w = random_floats(sizes.weights[0]), z = random_floats(sizes.residual),
               bias = random_floats(10);
  Floats want(static_cast<size_t>(sizes.out[0]));
  ThreadPool pool(2);
  Primitive(p, {.threads = 2})
      .run({.in = {x.data()}, .weights = {w.data()}, .bias = bias.data(), .residual = z.data(), .out = {want.data()}},
           pool);

  Views views;
  views.in[0] = nchw(2, 7, 8, 6, 11);
  views.weights[0] = {{10, 6, 3, 3}, {54, 1, 18, 6}};  // KRSC
  views.residual = nchw(2, 7, 8, 10);
  views.out[0] = nchw(2, 7, 8, 10, 9);
  Laid lx(views.in[0], x), lw(views.weights[0], w), lz(views.residual, z),
      ly(views.out[0], random_floats(sizes.out[0]));
  const Laid before = ly;
  const Primitive strided(p, {.threads = 2}, views);
  EXPECT_GT(strided.workspace_bytes(), Primitive(p, {.threads = 2}).workspace_bytes());
  Tensor workspace(DType::u8, {static_cast<int64_t>(strided.workspace_bytes() + 64)});
  std::memset(workspace.mutable_data(), 0x5a, workspace.bytes());
  const Operands o{.in = {lx.data()},
                   .weights = {lw.data()},
                   .bias = bias.data(),
                   .residual = lz.data(),
                   .out = {ly.data()},
                   .workspace = workspace.mutable_data()};
  strided.run(o, pool);
  EXPECT_EQ(ly.dense(), want);
  for (size_t i = strided.workspace_bytes(); i < workspace.bytes(); ++i) ASSERT_EQ(workspace.as<uint8_t>()[i], 0x5a);
  // Between the rows nothing has changed.
  Laid restored = ly;
  for (int64_t i = 0; i < sizes.out[0]; ++i)
    restored.memory[static_cast<size_t>(ly.first + offset(ly.view, i))] =
        before.memory[static_cast<size_t>(ly.first + offset(ly.view, i))];
  EXPECT_EQ(restored.memory, before.memory);

  std::vector<std::byte> packed(strided.packed_bytes());
  strided.pack(std::array<const void*, 1>{lw.data()}, packed.data());
  Laid again(views.out[0], random_floats(sizes.out[0]));
  Operands prepacked = o;
  prepacked.packed = packed.data(), prepacked.out[0] = again.data(), prepacked.workspace = nullptr;
  strided.run(prepacked, pool);
  EXPECT_EQ(again.dense(), want);
}

// A filter read backwards in space is cuDNN's CUDNN_CONVOLUTION.
TEST(Views, NegativeStridesFlipAFilter) {
  ConvProblem p = conv();
  p.epilogue = {};
  const OperandSizes sizes = operand_sizes(p);
  const Floats x = random_floats(sizes.in[0]), w = random_floats(sizes.weights[0]);
  Floats flipped(w.size()), want(static_cast<size_t>(sizes.out[0])), y(want.size());
  for (size_t i = 0; i < w.size(); ++i) flipped[i] = w[i / 9 * 9 + 8 - i % 9];
  Primitive(p).run({.in = {x.data()}, .weights = {flipped.data()}, .out = {want.data()}});
  Views views;
  views.weights[0] = {{60, 9}, {9, -1}};
  Primitive(p, {}, views).run({.in = {x.data()}, .weights = {w.data() + 8}, .out = {y.data()}});
  EXPECT_EQ(y, want);
}

TEST(Views, WhatALayoutOrAPixelStrideCanSayIsNotCopied) {
  ConvProblem p = conv();
  p.epilogue = {};
  Views views;
  views.in[0] = nchw(2, 7, 8, 6);
  EXPECT_EQ(std::get<ConvProblem>(Primitive(p, {}, views).problem()).in_layout, Layout::nchw);
  views.in[0] = {{2, 7, 8, 6}, {7 * 8 * 9, 8 * 9, 9, 1}};
  views.out[0] = {{2, 56, 10}, {56 * 12, 12, 1}};
  const Primitive slices(p, {}, views);
  EXPECT_EQ(std::get<ConvProblem>(slices.problem()).in_pixel_stride, 9);
  EXPECT_EQ(std::get<ConvProblem>(slices.problem()).out_pixel_stride, 12);
  PoolProblem pool{.n = 2, .channels = 6, .in = {1, 7, 8}, .out = {1, 3, 4}, .kernel = {1, 2, 2}, .stride = {1, 2, 2}};
  Views both;
  both.in[0] = nchw(2, 7, 8, 6), both.out[0] = nchw(2, 3, 4, 6);
  EXPECT_EQ(std::get<PoolProblem>(Primitive(pool, {}, both).problem()).layout, Layout::nchw);
}

// Every family: each operand with its dimensions in reverse order, and gaps.
TEST(Views, OfEveryFamily) {
  const Problem problems[] = {
      MatmulProblem{.m = 6, .n = 7, .k = 5},
      PoolProblem{.n = 2, .channels = 6, .in = {1, 7, 8}, .out = {1, 3, 4}, .kernel = {1, 2, 2}, .stride = {1, 2, 2}},
      SoftmaxProblem{.outer = 5, .axis = 12},
      ActivationProblem{.function = Unary::tanh, .elements = 60},
      BinaryProblem{Binary::mul, {5, 12}, {12}},
      NormProblem{.n = 3, .channels = 10, .pixels = 4, .training = true},
      LrnProblem{.n = 2, .channels = 7, .image = {1, 3, 2}},
      ReduceProblem{.dims = {5, 12}, .out_dims = {5, 1}},
      ConvWeightsProblem{
          {.n = 2, .in_channels = 4, .out_channels = 3, .in = {1, 5, 5}, .out = {1, 5, 5}, .kernel = {1, 1, 1}},
          true,
          true},
      RnnProblem{.steps = 3, .batch = 2, .input = 4, .hidden = 5}};
  for (const Problem& p : problems) {
    SCOPED_TRACE(text(p));
    const OperandSizes sizes = operand_sizes(p);
    Views views;
    std::vector<Laid> kept;
    kept.reserve(3 * kMostOperands);
    std::vector<Floats> dense;
    dense.reserve(3 * kMostOperands);
    Operands plain, strided;
    const auto lay = [&](View& view, int64_t size, const void*& from, const void*& to) {
      if (size == 0) return;
      int64_t inner = 1;
      for (int64_t d = 2; d * d <= size; ++d) inner = size % d == 0 ? d : inner;
      view = {{size / inner, inner}, {3, 3 * (size / inner) + 2}};
      dense.push_back(random_floats(size));
      for (float& v : dense.back()) v = std::abs(v) + 0.1f;
      kept.emplace_back(view, dense.back());
      from = dense.back().data(), to = kept.back().data();
    };
    std::vector<std::pair<size_t, int>> outs;
    for (int i = 0; i < kMostOperands; ++i) lay(views.in[i], sizes.in[i], plain.in[i], strided.in[i]);
    for (int i = 0; i < kMostWeights; ++i)
      lay(views.weights[i], sizes.weights[i], plain.weights[i], strided.weights[i]);
    for (int i = 0; i < kMostOperands; ++i) {
      const void *from = nullptr, *to = nullptr;
      lay(views.out[i], sizes.out[i], from, to);
      plain.out[i] = const_cast<void*>(from), strided.out[i] = const_cast<void*>(to);
      if (from) outs.emplace_back(kept.size() - 1, i);
    }
    Primitive(p).run(plain);
    const Primitive viewed(p, {}, views);
    viewed.run(strided);
    for (const auto& [k, i] : outs) EXPECT_EQ(kept[k].dense(), dense[k]) << "out " << i;
  }
}

// No row takes f16 as nchw: it is copied as if a view had said so.
TEST(Views, AnNchwInputWithoutARow) {
  ConvProblem p{.n = 2, .in_channels = 6, .out_channels = 5, .in = {1, 4, 4}, .out = {1, 2, 2}, .kernel = {1, 3, 3}};
  p.types = {DType::f16, DType::f16, DType::f16};
  std::vector<uint16_t> x(192), nchw_x(192), w(270), want(40), y(40);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<uint16_t>(0x3c00 + i * 37 % 251);
    nchw_x[i / 96 * 96 + i % 6 * 16 + i % 96 / 6] = x[i];
  }
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<uint16_t>(0x3800 + i * 7 % 113);
  Primitive(p).run({.in = {x.data()}, .weights = {w.data()}, .out = {want.data()}});
  p.in_layout = Layout::nchw;
  Primitive(p).run({.in = {nchw_x.data()}, .weights = {w.data()}, .out = {y.data()}});
  EXPECT_EQ(y, want);
}

TEST(Views, OfHalves) {
  PoolProblem p{.n = 2, .channels = 6, .in = {1, 4, 4}, .out = {1, 2, 2}, .kernel = {1, 2, 2}, .stride = {1, 2, 2}};
  p.type = DType::bf16;
  std::vector<uint16_t> x(192), nchw_x(192), want(48), y(48);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<uint16_t>(0x3f80 + i * 37 % 251);
    nchw_x[i / 96 * 96 + i % 6 * 16 + i % 96 / 6] = x[i];
  }
  Primitive(p).run({.in = {x.data()}, .out = {want.data()}});
  Views views;
  views.in[0] = nchw(2, 4, 4, 6);
  Primitive(p, {}, views).run({.in = {nchw_x.data()}, .out = {y.data()}});
  EXPECT_EQ(y, want);
}

TEST(Views, WhatDoesNotMatchIsRefused) {
  const ActivationProblem p{.elements = 12};
  const auto refused = [&](View in, View out, std::string_view why) {
    Views views;
    views.in[0] = std::move(in), views.out[0] = std::move(out);
    try {
      Primitive none(p, {}, views);
      ADD_FAILURE() << why;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  };
  refused({{3, 5}, {5, 1}}, {}, "the operand has 12 elements");
  refused({{12}, {1, 1}}, {}, "1 dimensions and 2 strides");
  refused({{-3, -4}, {4, 1}}, {}, "the operand has 12 elements");
  refused({}, {{3, 4}, {4, 0}}, "share memory");
  refused({}, {{3, 4}, {2, 1}}, "share memory");
  refused({}, {{3, 4}, {4, -1}}, "share memory");
  Views views;
  views.in[0] = {{3, 4}, {1, 3}};
  EXPECT_THROW(Primitive(p, {.workspace_bytes = 40}, views), Error);
}

}  // namespace
}  // namespace trine::dnn
