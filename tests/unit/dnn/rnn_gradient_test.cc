// Gradients of recurrent networks against central differences of the f64 network.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "rnn_net.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
namespace {

Floats random_floats(int64_t n, double scale, std::mt19937& random) {
  std::normal_distribution<float> normal;
  Floats v(static_cast<size_t>(n));
  for (float& x : v) x = static_cast<float>(scale) * normal(random);
  return v;
}

// A training step: its operands, what the training pass and backward_data leave for the next pass, the loss's gradient.
class Step {
 public:
  Step(RnnProblem p, bool states, unsigned seed) : p_(p), random_(seed) {
    p_.pass = RnnPass::training;
    const OperandSizes sizes = operand_sizes(p_);
    d_.in[0] = random_floats(sizes.in[0], 1, random_);
    for (int i : {1, 2}) d_.in[i] = random_floats(states ? sizes.in[i] : 0, 0.5, random_);
    for (int i = 0; i < kMostWeights; ++i) d_.weights[i] = random_floats(sizes.weights[i], 0.5, random_);
    d_.integers[4].assign(static_cast<size_t>(sizes.in[4]), 3);
    for (int64_t b = 0; p.sequence_lens && b < p.batch; ++b)
      d_.integers[3].push_back(static_cast<int32_t>(std::max<int64_t>(p.steps - b, 0)));
    for (int64_t b = 0; p.sequence_lens && b < p.batch; ++b)
      for (int64_t t = p.steps - b; t < p.steps; ++t)
        if (t >= 0) std::fill_n(d_.in[0].begin() + (t * p.batch + b) * p.input, p.input, NAN);
    for (int i : {0, 1, 2}) dy_[i] = random_floats(sizes.out[i], 1, random_);
    reserve_.resize(static_cast<size_t>(sizes.out[3]));
    Floats y(static_cast<size_t>(sizes.out[0]));
    Operands o = operands(d_);
    o.out[0] = y.data(), o.out[3] = reserve_.data();
    Primitive(p_).run(o);
  }

  double loss(const RnnNet& net) const {
    const RnnNet::Result r = net.run(p_);
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      const Doubles& values = k == 0 ? r.y : k == 1 ? r.h : r.c;
      for (size_t i = 0; i < values.size(); ++i) sum += values[i] * dy_[k][i];
    }
    return sum;
  }

  // Central differences by every element of `of`, a member of `net`. Where the loss has a corner within the step, as
  // clips make them, there is no derivative to compare with.
  Doubles differences(RnnNet& net, Doubles& of) const {
    constexpr double kStep = 1e-6;
    const double here = loss(net);
    Doubles out(of.size());
    for (size_t i = 0; i < of.size(); ++i) {
      const double was = of[i];
      of[i] = was + kStep;
      const double above = loss(net);
      of[i] = was - kStep;
      const double below = loss(net);
      out[i] = (above - below) / (2 * kStep);
      at_a_corner_ = at_a_corner_ || std::abs(above + below - 2 * here) > 5e-5 * kStep;
      of[i] = was;
    }
    return out;
  }

  Expected expect(std::vector<Doubles> values, int64_t gradients) const {
    Expected e;
    const double terms = static_cast<double>((p_.steps * p_.batch + 4) * p_.layers * (p_.input + p_.hidden + 8));
    for (size_t k = 0; k < values.size(); ++k) {
      e.out[k] = std::move(values[k]);
      for (double v : e.out[k]) e.bound[k].push_back(4 * 0x1p-24 * terms * (1 + std::abs(v)));
    }
    if (gradients)
      e.out[3].assign(static_cast<size_t>(gradients), 0), e.bound[3].assign(static_cast<size_t>(gradients), INFINITY);
    return e;
  }

  bool at_a_corner() const { return at_a_corner_; }

  void check_data() const {
    RnnProblem p = p_;
    p.pass = RnnPass::backward_data;
    RnnNet net(p_, d_);
    const OperandSizes sizes = operand_sizes(p);
    if (net.h.empty()) net.h.resize(static_cast<size_t>(sizes.out[1]));
    if (net.c.empty()) net.c.resize(static_cast<size_t>(sizes.out[2]));
    const Expected e =
        expect({differences(net, net.x), differences(net, net.h), differences(net, net.c)}, sizes.out[3]);
    if (at_a_corner_) return;
    check_rows(p, [&](const Problem&, const Data&) { return e; },
               {.integers = false, .adjust = [&](Data& d) { d = backward_data(); }, .narrow = false});
  }

  void check_weights() const {
    RnnProblem p = p_;
    p.pass = RnnPass::backward_weights;
    RnnNet net(p_, d_);
    std::vector<Doubles> values;
    for (Doubles& w : net.weights) values.push_back(differences(net, w));
    const Expected e = expect(values, 0);
    if (at_a_corner_) return;
    const Data data = backward_weights();
    check_rows(p, [&](const Problem&, const Data&) { return e; },
               {.integers = false, .adjust = [&](Data& d) { d = data; }, .narrow = false});
    check_adding(p, data);
  }

 private:
  static Operands operands(const Data& d) {
    Operands o;
    for (int i = 0; i < kMostOperands; ++i)
      o.in[i] = !d.integers[i].empty() ? static_cast<const void*>(d.integers[i].data())
                : d.in[i].empty()      ? nullptr
                                       : d.in[i].data();
    for (int i = 0; i < kMostWeights; ++i) o.weights[i] = d.weights[i].empty() ? nullptr : d.weights[i].data();
    return o;
  }

  Data backward_data() const {
    Data d = d_;
    d.in[0].clear();
    d.in[5] = reserve_;
    for (int k : {0, 1, 2}) d.in[6 + k] = dy_[k];
    return d;
  }

  Data backward_weights() const {
    RnnProblem p = p_;
    p.pass = RnnPass::backward_data;
    const Data before = backward_data();
    Data d = d_;
    d.in[5] = reserve_;
    d.in[6].resize(static_cast<size_t>(operand_sizes(p).out[3]));
    Operands o = operands(before);
    o.out[3] = d.in[6].data();
    Primitive(p).run(o);
    for (Floats& w : d.weights) w.clear();
    return d;
  }

  // What stood there plus what is set without `add`.
  static void check_adding(RnnProblem p, const Data& data) {
    const OperandSizes sizes = operand_sizes(p);
    Floats set[kMostWeights], added[kMostWeights];
    for (bool add : {false, true}) {
      p.add = add;
      Operands o = operands(data);
      for (int i = 0; i < kMostWeights; ++i) {
        Floats& to = add ? added[i] : set[i];
        to.assign(static_cast<size_t>(sizes.out[i]), 1000);
        if (!to.empty()) o.out[i] = to.data();
      }
      Primitive(p).run(o);
    }
    for (int i = 0; i < kMostWeights; ++i)
      for (size_t k = 0; k < set[i].size(); ++k) EXPECT_NEAR(added[i][k] - 1000, set[i][k], 1e-3) << text(p);
  }

  RnnProblem p_;
  std::mt19937 random_;
  Data d_;
  Floats dy_[3], reserve_;
  mutable bool at_a_corner_ = false;
};

void check(const RnnProblem& p, bool states = true) {
  for (int tries = 0; tries < 10; ++tries) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed << " " << text(p));
    const Step step(p, states, seed);
    step.check_data();
    step.check_weights();
    if (!step.at_a_corner()) return;
  }
  ADD_FAILURE() << "corners everywhere: " << text(p);
}

constexpr RnnKind kKinds[] = {RnnKind::lstm, RnnKind::gru, RnnKind::rnn_tanh, RnnKind::rnn_relu};

TEST(RnnGradient, EveryCellAndDirection) {
  for (RnnKind kind : kKinds)
    for (RnnDirection direction : {RnnDirection::forward, RnnDirection::reverse, RnnDirection::bidirectional})
      for (bool lengths : {false, true})
        check({.kind = kind,
               .direction = direction,
               .steps = 4,
               .batch = 3,
               .input = 3,
               .hidden = 5,
               .sequence_lens = lengths},
              lengths);
}

TEST(RnnGradient, Options) {
  const auto with = [](RnnKind kind, auto change) {
    RnnProblem p{.kind = kind, .steps = 4, .batch = 2, .input = 3, .hidden = 5, .sequence_lens = true};
    change(p);
    check(p);
  };
  for (bool linear : {false, true})
    for (float clip : {0.f, 0.6f})
      with(RnnKind::gru, [&](RnnProblem& p) { p.linear_before_reset = linear, p.clip = clip; });
  for (float clip : {0.f, 0.6f}) with(RnnKind::lstm, [&](RnnProblem& p) { p.peephole = true, p.clip = clip; });
  with(RnnKind::lstm, [](RnnProblem& p) { p.cell_min = -0.3f, p.cell_max = 0.2f, p.peephole = true; });
  with(RnnKind::lstm, [](RnnProblem& p) { p.projection = 2; });
  for (RnnBias bias : {RnnBias::input, RnnBias::recurrent, RnnBias::none}) {
    with(RnnKind::gru, [&](RnnProblem& p) { p.bias = bias, p.linear_before_reset = true; });
    with(RnnKind::lstm, [&](RnnProblem& p) { p.bias = bias; });
  }
}

TEST(RnnGradient, Layers) {
  for (RnnKind kind : kKinds) {
    RnnProblem p{.kind = kind,
                 .direction = RnnDirection::bidirectional,
                 .steps = 3,
                 .batch = 2,
                 .input = 4,
                 .hidden = 4,
                 .sequence_lens = true,
                 .layers = 2,
                 .dropout = 0.3f,
                 .joined = true};
    check(p);
    p.skip_input = true, p.layers = 3;
    check(p);
    p.projection = 3, p.peephole = true, p.joined = false;
    if (kind == RnnKind::lstm) check(p);
  }
}

TEST(RnnGradient, NoStepsNoBatch) {
  check({.steps = 0, .batch = 2, .input = 3, .hidden = 4});
  check({.kind = RnnKind::gru, .steps = 2, .batch = 0, .input = 3, .hidden = 4});
}

TEST(RnnGradient, LargerThanTiles) { check({.steps = 3, .batch = 2, .input = 20, .hidden = 17}); }

}  // namespace
}  // namespace trine::dnn::test
