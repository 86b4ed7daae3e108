// Recurrent layers on devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "device_case.h"

namespace trine::dnn::test {
namespace {

constexpr RnnKind kKinds[] = {RnnKind::lstm, RnnKind::gru, RnnKind::rnn_tanh, RnnKind::rnn_relu};

// Weights so small that a step contracts: an error of one step does not grow, and the bound is that of one step's sums
// times a few. States are kept in f32 between steps, in the CPU's rows too.
void add(Cases& cases, RnnProblem p, DType type = DType::f32, bool bias = true, bool states = true) {
  p.type = type;
  CaseOptions options;
  const double bound = 0x1p-24 * 32 * static_cast<double>(p.input + p.hidden + 16);
  options.bound = [=](double) { return bound; };
  options.adjust = [=](CaseData& d) {
    const auto scale = [&](int i, double by) {
      for (int64_t e = 0; e < d.sizes.weights[i]; ++e)
        encode(type, by * decoded(type, d.weights[i].data(), e), d.weights[i].data(), e);
    };
    scale(0, 1 / std::sqrt(static_cast<double>(p.input))), scale(1, 0.5 / std::sqrt(static_cast<double>(p.hidden)));
    for (int64_t b = 0; p.sequence_lens && b < p.batch; ++b) {
      const int64_t length = std::max<int64_t>(p.steps - b, 0);  // past it x holds no number
      d.set(3, b, static_cast<double>(length));
      for (int64_t t = length; t < p.steps; ++t)
        for (int64_t i = 0; i < p.input; ++i) d.set(0, (t * p.batch + b) * p.input + i, NAN);
    }
    if (!bias) d.weights[2].clear();
    if (!states) d.in[1].clear(), d.in[2].clear();
  };
  cases.add(p, options);
}

TEST(DeviceRnn, Sizes) {
  Cases cases;
  for (RnnKind kind : kKinds)
    for (int64_t hidden : {1, 5, 40})
      for (int64_t batch : {1, 6}) {
        RnnProblem p{.kind = kind, .steps = 3, .batch = batch, .input = 9, .hidden = hidden};
        add(cases, p);
        p.linear_before_reset = true;
        if (kind == RnnKind::gru) add(cases, p);
      }
  add(cases, {.kind = RnnKind::lstm, .steps = 0, .batch = 2, .input = 6, .hidden = 7});
  cases.run();
}

TEST(DeviceRnn, DirectionsLengthsAndClips) {
  Cases cases;
  for (RnnKind kind : kKinds)
    for (RnnDirection direction : {RnnDirection::forward, RnnDirection::reverse, RnnDirection::bidirectional})
      for (bool lengths : {false, true}) {
        RnnProblem p{.kind = kind, .direction = direction, .steps = 4, .batch = 5, .input = 6, .hidden = 9};
        p.sequence_lens = lengths;
        add(cases, p);
        p.clip = 0.3f, p.linear_before_reset = lengths, p.joined = lengths;
        if (kind == RnnKind::lstm) p.peephole = true, p.cell_min = -0.2f, p.cell_max = 0.4f;
        add(cases, p);
      }
  cases.run();
}

TEST(DeviceRnn, AbsentBiasAndStatesAndSmallTypes) {
  Cases cases;
  for (RnnKind kind : kKinds) {
    const RnnProblem p{.kind = kind, .steps = 3, .batch = 2, .input = 8, .hidden = 16};
    add(cases, p, DType::f32, false, true);
    add(cases, p, DType::f32, true, false);
    for (DType type : {DType::f16, DType::bf16}) add(cases, p, type);
    for (RnnBias bias : {RnnBias::input, RnnBias::recurrent, RnnBias::none}) {
      RnnProblem q = p;
      q.bias = bias;
      add(cases, q);
    }
  }
  cases.run();
}

}  // namespace
}  // namespace trine::dnn::test
