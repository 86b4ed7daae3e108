// What is linear in an operand has the gradient as its adjoint: <f(x), dy> = <x, dx>. At sizes past those of the
// oracles, on several threads, through Primitive.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dnn/operands.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn {
namespace {

using Floats = std::vector<float>;

class Adjoint : public testing::Test {
 protected:
  Floats random(int64_t n) {
    std::normal_distribution<float> normal;
    Floats v(static_cast<size_t>(n));
    for (float& x : v) x = normal(random_);
    return v;
  }
  void expect_equal(const Floats& y, const Floats& dy, const Floats& x, const Floats& dx) const {
    double left = 0, right = 0, magnitude = 1;
    for (size_t i = 0; i < y.size(); ++i)
      left += static_cast<double>(y[i]) * dy[i], magnitude += std::abs(static_cast<double>(y[i]) * dy[i]);
    for (size_t i = 0; i < x.size(); ++i)
      right += static_cast<double>(x[i]) * dx[i], magnitude += std::abs(static_cast<double>(x[i]) * dx[i]);
    EXPECT_NEAR(left, right, 1e-6 * magnitude) << "seed " << seed_;
    EXPECT_GT(std::abs(left), 0);
  }
  void run(const Problem& p, const Operands& operands) { Primitive(p, {.threads = 7}).run(operands, pool_); }

  unsigned seed_ = std::random_device{}();
  std::mt19937 random_{seed_};
  ThreadPool pool_{7};
};

TEST_F(Adjoint, GridSampleInTheImage) {
  for (GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection})
    for (GridSampling sampling : {GridSampling::nearest, GridSampling::linear}) {
      GridSampleProblem p{
          .n = 3, .channels = 45, .in = {1, 31, 23}, .out = {1, 29, 40}, .sampling = sampling, .padding = padding};
      const OperandSizes sizes = operand_sizes(p);
      const Floats x = random(sizes.in[0]), grid = random(sizes.in[1]), dy = random(sizes.out[0]);
      Floats y(dy.size(), NAN), dx(x.size(), NAN), dgrid(grid.size(), NAN);
      run(p, {.in = {x.data(), grid.data()}, .out = {y.data()}});
      p.pass = Pass::backward;
      run(p, {.in = {x.data(), grid.data(), dy.data()}, .out = {dx.data(), dgrid.data()}});
      expect_equal(y, dy, x, dx);
    }
}

TEST_F(Adjoint, AffineGridInTheMap) {
  AffineGridProblem p{.n = 4, .axes = 3, .out = {9, 20, 31}};
  const OperandSizes sizes = operand_sizes(p);
  const Floats theta = random(sizes.in[0]), dgrid = random(sizes.out[0]);
  Floats grid(dgrid.size(), NAN), dtheta(theta.size(), NAN);
  run(p, {.in = {theta.data()}, .out = {grid.data()}});
  p.pass = Pass::backward;
  run(p, {.in = {dgrid.data()}, .out = {dtheta.data()}});
  expect_equal(grid, dgrid, theta, dtheta);
}

// Maxima and relu are linear along x, so <f(x), dy> = <x, dx> holds for them too.
TEST_F(Adjoint, Pools) {
  for (PoolKind kind : {PoolKind::max, PoolKind::average, PoolKind::average_with_pad})
    for (Layout layout : {Layout::nhwc, Layout::nchw}) {
      PoolProblem p{.kind = kind, .n = 3, .channels = 75, .in = {1, 41, 37}, .out = {1, 21, 19}, .kernel = {1, 3, 3}};
      p.stride = {1, 2, 2}, p.pad_begin = p.pad_end = {0, 1, 1}, p.layout = layout;
      const OperandSizes sizes = operand_sizes(p);
      const Floats x = random(sizes.in[0]), dy = random(sizes.out[0]);
      Floats y(dy.size(), NAN), dx(x.size(), NAN);
      run(p, {.in = {x.data()}, .out = {y.data()}});
      run(PoolBackwardProblem{p}, {.in = {x.data(), dy.data()}, .out = {dx.data()}});
      expect_equal(y, dy, x, dx);
    }
}

TEST_F(Adjoint, Relu) {
  ActivationProblem p{.elements = 300001};
  const Floats x = random(p.elements), dy = random(p.elements);
  Floats y(x.size(), NAN), dx(x.size(), NAN);
  run(p, {.in = {x.data()}, .out = {y.data()}});
  p.pass = Pass::backward;
  run(p, {.in = {x.data(), y.data(), dy.data()}, .out = {dx.data()}});
  expect_equal(y, dy, x, dx);
}

TEST_F(Adjoint, DropoutIsItsOwn) {
  const DropoutProblem p{.elements = 300001, .rate = 0.3, .seed = 11, .offset = 5};
  const Floats x = random(p.elements), dy = random(p.elements);
  Floats y(x.size(), NAN), dx(x.size(), NAN);
  run(p, {.in = {x.data()}, .out = {y.data()}});
  run(p, {.in = {dy.data()}, .out = {dx.data()}});
  expect_equal(y, dy, x, dx);
}

// With a mean of 0 and no shift inference is linear in x, and in the scale.
TEST_F(Adjoint, BatchNormForInference) {
  for (Layout layout : {Layout::nhwc, Layout::nchw}) {
    NormProblem p{.n = 5, .channels = 67, .pixels = 400, .layout = layout, .shift = false};
    const OperandSizes sizes = operand_sizes(p);
    const Floats x = random(sizes.in[0]), scale = random(67), dy = random(sizes.out[0]);
    Floats running = random(2 * 67), y(dy.size(), NAN), dx(x.size(), NAN), dscale(67, NAN);
    for (size_t i = 0; i < 67; ++i) running[i] = 0, running[67 + i] = std::abs(running[67 + i]) + 0.1f;
    Operands o{.in = {x.data(), scale.data()}, .out = {y.data()}};
    o.in[3] = running.data();
    run(p, o);
    p.pass = Pass::backward;
    Operands back{.in = {x.data(), dy.data(), scale.data(), running.data()}, .out = {dx.data(), dscale.data()}};
    run(p, back);
    expect_equal(y, dy, x, dx);
    expect_equal(y, dy, scale, dscale);
  }
}

// At sizes where every algorithm is chosen for one of them.
TEST_F(Adjoint, Convolutions) {
  for (int64_t groups : {1, 4, 64})
    for (int64_t kernel : {1, 3, 5})
      for (int64_t stride : {1, 2}) {
        ConvProblem p{.n = 2, .in_channels = 64, .out_channels = 64, .groups = groups, .in = {1, 29, 31}};
        p.kernel = {1, kernel, kernel}, p.stride = {1, stride, stride}, p.pad_begin = {0, kernel / 2, kernel / 2};
        for (size_t i = 1; i < 3; ++i) p.out[i] = (p.in[i] + 2 * (kernel / 2) - kernel) / stride + 1;
        const OperandSizes sizes = operand_sizes(p);
        const Floats x = random(sizes.in[0]), w = random(sizes.weights[0]), dy = random(sizes.out[0]);
        Floats y(dy.size(), NAN), dx(x.size(), NAN), dw(w.size(), NAN);
        run(p, {.in = {x.data()}, .weights = {w.data()}, .out = {y.data()}});
        run(backward_data(p), {.in = {dy.data()}, .weights = {w.data()}, .out = {dx.data()}});
        run(ConvWeightsProblem{p}, {.in = {x.data(), dy.data()}, .out = {dw.data()}});
        expect_equal(y, dy, x, dx);
        expect_equal(y, dy, w, dw);
      }
}

TEST_F(Adjoint, AttentionInItsValues) {
  AttentionProblem p{.batch = 2,
                     .heads = 6,
                     .kv_heads = 2,
                     .q_len = 300,
                     .kv_len = 333,
                     .head_dim = 32,
                     .v_head_dim = 48,
                     .scale = 0.2f};
  p.q_stride = {300 * 6 * 32, 32, 6 * 32}, p.k_stride = {333 * 2 * 32, 32, 2 * 32};
  p.v_stride = {333 * 2 * 48, 48, 2 * 48}, p.out_stride = {300 * 6 * 48, 48, 6 * 48};
  p.causal = p.bottom_right = p.lse = true;
  p.dropout = 0.1f;
  const OperandSizes sizes = operand_sizes(p);
  const Floats q = random(sizes.in[0]), k = random(sizes.in[1]), v = random(sizes.in[2]), dout = random(sizes.out[0]);
  const uint64_t seed_and_offset[2] = {3, 12345678901};
  Floats out(dout.size(), NAN), lse(static_cast<size_t>(sizes.out[1]), NAN), dq(q.size(), NAN), dk(k.size(), NAN),
      dv(v.size(), NAN);
  Operands o{.in = {q.data(), k.data(), v.data()}, .out = {out.data(), lse.data()}};
  o.in[7] = seed_and_offset;
  run(p, o);
  p.pass = Pass::backward;
  o.in[8] = out.data(), o.in[9] = dout.data(), o.in[10] = lse.data();
  o.out[0] = dq.data(), o.out[1] = dk.data(), o.out[2] = dv.data();
  run(p, o);
  expect_equal(out, dout, v, dv);
}

}  // namespace
}  // namespace trine::dnn
