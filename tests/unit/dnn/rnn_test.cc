#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rnn_net.h"
#include "trine/base/error.h"
#include "trine/dnn/primitive.h"

namespace trine::dnn::test {
// The data is scaled so that a step contracts: an error made in one step does not grow in later ones, and the bound is
// that of one step's sums times a few.
Expected rnn_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<RnnProblem>(problem);
  Expected e;
  RnnNet::Result result = RnnNet(p, data).run(p);
  e.out[0] = std::move(result.y), e.out[1] = std::move(result.h), e.out[2] = std::move(result.c);
  const double bound = 0x1p-24 * 32 * static_cast<double>(p.layers * (p.input + p.hidden + 16));
  for (int i = 0; i < 3; ++i) e.bound[i].assign(e.out[i].size(), bound);
  e.out[3].resize(static_cast<size_t>(operand_sizes(problem).out[3]));  // reserve: what it must be, the gradients say
  e.bound[3].assign(e.out[3].size(), INFINITY);
  return e;
}

namespace {

// Entry b has b steps fewer; there x holds no number.
void shorten(const RnnProblem& p, Data& d) {
  for (int64_t b = 0; p.sequence_lens && b < p.batch; ++b) {
    const int64_t length = std::max<int64_t>(p.steps - b, 0);
    d.integers[3][static_cast<size_t>(b)] = static_cast<int32_t>(length);
    for (int64_t t = length; t < p.steps; ++t) std::fill_n(d.in[0].begin() + (t * p.batch + b) * p.input, p.input, NAN);
  }
}

void check(const RnnProblem& p, bool bias = true, bool states = true) {
  check_rows(p, rnn_oracle, {.integers = false, .adjust = [&](Data& d) {
                               float scale = 0.5f / std::sqrt(static_cast<float>(p.hidden));
                               for (float& w : d.weights[1]) w *= scale;
                               for (float& w : d.weights[0]) w /= std::sqrt(static_cast<float>(p.input));
                               for (float& w : d.weights[4]) w *= scale;
                               shorten(p, d);
                               if (!bias) d.weights[2].clear();
                               if (!states) d.in[1].clear(), d.in[2].clear();
                             }});
}

constexpr RnnKind kKinds[] = {RnnKind::lstm, RnnKind::gru, RnnKind::rnn_tanh, RnnKind::rnn_relu};

TEST(Rnn, Sizes) {
  for (RnnKind kind : kKinds)
    for (int64_t hidden : {1, 5, 16, 20, 33})
      for (int64_t batch : {1, 3}) {
        RnnProblem p{.kind = kind, .steps = 7, .batch = batch, .input = 9, .hidden = hidden};
        check(p);
        p.linear_before_reset = true;
        if (kind == RnnKind::gru) check(p);
      }
}

TEST(Rnn, Directions) {
  for (RnnKind kind : kKinds)
    for (RnnDirection direction : {RnnDirection::reverse, RnnDirection::bidirectional})
      check({.kind = kind, .direction = direction, .steps = 5, .batch = 2, .input = 6, .hidden = 18});
}

TEST(Rnn, AbsentBiasAndStates) {
  for (RnnKind kind : kKinds) {
    check({.kind = kind, .steps = 4, .batch = 2, .input = 6, .hidden = 18}, false, true);
    check({.kind = kind, .steps = 4, .batch = 2, .input = 6, .hidden = 18}, true, false);
  }
}

TEST(Rnn, LongEnoughForSeveralProjectionsAndThreads) {
  check({.kind = RnnKind::lstm, .steps = 70, .batch = 4, .input = 40, .hidden = 130});
  check(
      {.kind = RnnKind::lstm, .direction = RnnDirection::reverse, .steps = 70, .batch = 4, .input = 40, .hidden = 130});
  check({.kind = RnnKind::gru, .steps = 1, .batch = 1, .input = 300, .hidden = 200});
}

TEST(Rnn, NoSteps) { check({.kind = RnnKind::lstm, .steps = 0, .batch = 2, .input = 6, .hidden = 18}); }

// Each option alone and with lengths, for every cell and direction; `pass` decides which rows run.
void check_options(RnnPass pass) {
  for (RnnKind kind : kKinds)
    for (RnnDirection direction : {RnnDirection::forward, RnnDirection::reverse, RnnDirection::bidirectional})
      for (bool lengths : {false, true}) {
        const RnnProblem plain{.kind = kind,
                               .direction = direction,
                               .steps = 5,
                               .batch = 7,
                               .input = 6,
                               .hidden = 18,
                               .sequence_lens = lengths,
                               .pass = pass};
        const auto with = [&](auto change) {
          RnnProblem p = plain;
          change(p);
          check(p);
        };
        with([](RnnProblem&) {});
        with([](RnnProblem& p) { p.clip = 0.3f; });
        if (kind == RnnKind::gru) with([](RnnProblem& p) { p.linear_before_reset = true, p.clip = 0.3f; });
        if (kind != RnnKind::lstm) continue;
        with([](RnnProblem& p) { p.peephole = true; });
        with([](RnnProblem& p) { p.peephole = true, p.clip = 0.5f, p.cell_min = -0.2f, p.cell_max = 0.4f; });
      }
}

TEST(Rnn, LengthsPeepholesAndClips) { check_options(RnnPass::inference); }
TEST(Rnn, Training) { check_options(RnnPass::training); }

TEST(Rnn, LayersProjectionBiasesSkippedInput) {
  for (RnnKind kind : kKinds)
    for (RnnPass pass : {RnnPass::inference, RnnPass::training}) {
      const RnnProblem plain{.kind = kind,
                             .direction = RnnDirection::bidirectional,
                             .steps = 4,
                             .batch = 3,
                             .input = 18,
                             .hidden = 18,
                             .sequence_lens = true,
                             .layers = 3,
                             .joined = true,
                             .pass = pass};
      check(plain);
      const auto with = [&](auto change) {
        RnnProblem p = plain;
        change(p);
        check(p);
      };
      with([](RnnProblem& p) { p.skip_input = true, p.dropout = 0.25f; });
      with([](RnnProblem& p) { p.direction = RnnDirection::reverse, p.joined = false, p.input = 5; });
      for (RnnBias bias : {RnnBias::input, RnnBias::recurrent, RnnBias::none})
        with([&](RnnProblem& p) { p.bias = bias, p.linear_before_reset = true; });
      if (kind == RnnKind::lstm) with([](RnnProblem& p) { p.projection = 7, p.peephole = true; });
    }
}

TEST(Rnn, FastRowsTakeWhatOnnxHas) {
  RnnProblem p{.steps = 2, .input = 4, .hidden = 4, .sequence_lens = true, .peephole = true, .clip = 1};
  const Primitive lstm(p);
  EXPECT_EQ(lstm.algorithm().find("layers"), std::string_view::npos) << lstm.choice().text();
}

TEST(Rnn, RefusesWhatHasNoMeaning) {
  const RnnProblem plain{.kind = RnnKind::gru, .steps = 2, .batch = 1, .input = 4, .hidden = 5};
  for (auto change : {+[](RnnProblem& q) { q.projection = 1; }, +[](RnnProblem& q) { q.peephole = true; },
                      +[](RnnProblem& q) { q.skip_input = true; }, +[](RnnProblem& q) { q.dropout = 1; },
                      +[](RnnProblem& q) { q.layers = 0; }})
    for (RnnPass pass : {RnnPass::inference, RnnPass::training, RnnPass::backward_data, RnnPass::backward_weights}) {
      RnnProblem p = plain;
      change(p);
      p.pass = pass;
      for (const KernelRow* row : rows_of(OpKind::rnn)) EXPECT_NE(row->fits(p), nullptr) << row->name;
    }
}

TEST(Rnn, LengthsOutOfRangeThrow) {
  const RnnProblem p{.steps = 2, .input = 1, .hidden = 1, .sequence_lens = true};
  const Floats x(2), w(4), r(4);
  Floats y(2);
  for (int32_t bad : {-1, 3})
    EXPECT_THROW(Primitive(p).run(
                     {.in = {x.data(), nullptr, nullptr, &bad}, .weights = {w.data(), r.data()}, .out = {y.data()}}),
                 Error);
}

}  // namespace
}  // namespace trine::dnn::test
