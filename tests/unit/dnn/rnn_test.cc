#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "check_rows.h"

namespace trine::dnn::test {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One direction in f64, straight from the ONNX definition.
class Reference {
 public:
  Reference(const RnnProblem& p, const Data& data, int64_t d) : p_(p), data_(data), d_(d) {
    for (Floats* v : {&h_, &c_}) v->assign(static_cast<size_t>(p.batch * p.hidden), 0);
  }

  // gate g of unit u: input part, and recurrent part of state s.
  double input(int64_t t, int64_t b, int64_t g, int64_t u) const {
    int64_t row = (d_ * p_.gates() + g) * p_.hidden + u;
    double sum = data_.weights[2].empty()
                     ? 0
                     : data_.weights[2][static_cast<size_t>(((d_ * 2) * p_.gates() + g) * p_.hidden + u)];
    for (int64_t k = 0; k < p_.input; ++k)
      sum += static_cast<double>(data_.in[0][static_cast<size_t>((t * p_.batch + b) * p_.input + k)]) *
             data_.weights[0][static_cast<size_t>(row * p_.input + k)];
    return sum;
  }
  double recurrent(const std::vector<double>& s, int64_t b, int64_t g, int64_t u) const {
    int64_t row = (d_ * p_.gates() + g) * p_.hidden + u;
    double sum = data_.weights[2].empty()
                     ? 0
                     : data_.weights[2][static_cast<size_t>(((d_ * 2 + 1) * p_.gates() + g) * p_.hidden + u)];
    for (int64_t k = 0; k < p_.hidden; ++k)
      sum += s[static_cast<size_t>(b * p_.hidden + k)] * data_.weights[1][static_cast<size_t>(row * p_.hidden + k)];
    return sum;
  }

  void run(Expected& e) {
    int64_t state = p_.batch * p_.hidden;
    std::vector<double> h(static_cast<size_t>(state)), c(h);
    for (int64_t i = 0; i < state; ++i) {
      auto at = static_cast<size_t>(d_ * state + i);
      if (!data_.in[1].empty()) h[static_cast<size_t>(i)] = data_.in[1][at];
      if (!data_.in[2].empty()) c[static_cast<size_t>(i)] = data_.in[2][at];
    }
    bool reverse = d_ == 1 || p_.direction == RnnDirection::reverse;
    for (int64_t s = 0; s < p_.steps; ++s) {
      int64_t t = reverse ? p_.steps - 1 - s : s;
      step(t, h, c);
      std::copy(h.begin(), h.end(), e.out[0].begin() + (t * p_.directions() + d_) * state);
    }
    std::copy(h.begin(), h.end(), e.out[1].begin() + d_ * state);
    if (p_.kind == RnnKind::lstm) std::copy(c.begin(), c.end(), e.out[2].begin() + d_ * state);
  }

 private:
  void step(int64_t t, std::vector<double>& h, std::vector<double>& c) {
    std::vector<double> next = h, reset = h;
    auto each = [&](auto body) {
      for (int64_t b = 0; b < p_.batch; ++b)
        for (int64_t u = 0; u < p_.hidden; ++u) body(b, u, static_cast<size_t>(b * p_.hidden + u));
    };
    auto gate = [&](int64_t b, int64_t g, int64_t u) { return input(t, b, g, u) + recurrent(h, b, g, u); };
    if (p_.kind == RnnKind::gru)
      each([&](int64_t b, int64_t u, size_t i) { reset[i] = sigmoid(gate(b, 1, u)) * h[i]; });
    each([&](int64_t b, int64_t u, size_t i) {
      if (p_.kind == RnnKind::lstm) {
        c[i] = sigmoid(gate(b, 2, u)) * c[i] + sigmoid(gate(b, 0, u)) * std::tanh(gate(b, 3, u));
        next[i] = sigmoid(gate(b, 1, u)) * std::tanh(c[i]);
      } else if (p_.kind == RnnKind::gru) {
        double z = sigmoid(gate(b, 0, u)), r = sigmoid(gate(b, 1, u));
        double fresh = p_.linear_before_reset ? input(t, b, 2, u) + r * recurrent(h, b, 2, u)
                                              : input(t, b, 2, u) + recurrent(reset, b, 2, u);
        next[i] = (1 - z) * std::tanh(fresh) + z * h[i];
      } else {
        double x = gate(b, 0, u);
        next[i] = p_.kind == RnnKind::rnn_tanh ? std::tanh(x) : std::max(0.0, x);
      }
    });
    h = next;
  }

  const RnnProblem& p_;
  const Data& data_;
  int64_t d_;
  Floats h_, c_;
};

}  // namespace

// The data is scaled so that a step contracts: an error made in one step does not grow in later ones, and the bound is
// that of one step's sums times a few.
Expected rnn_oracle(const Problem& problem, const Data& data) {
  const auto& p = std::get<RnnProblem>(problem);
  Expected e;
  OperandSizes sizes = operand_sizes(problem);
  for (int i = 0; i < 3; ++i) e.out[i].resize(static_cast<size_t>(sizes.out[i]));
  for (int64_t d = 0; d < p.directions(); ++d) Reference(p, data, d).run(e);
  double bound = 0x1p-24 * 32 * static_cast<double>(p.input + p.hidden + 16);
  for (int i = 0; i < 3; ++i) e.bound[i].assign(e.out[i].size(), bound);
  return e;
}

namespace {

void check(const RnnProblem& p, bool bias = true, bool states = true) {
  check_rows(p, rnn_oracle, {.integers = false, .adjust = [&](Data& d) {
                               float scale = 0.5f / std::sqrt(static_cast<float>(p.hidden));
                               for (float& w : d.weights[1]) w *= scale;
                               for (float& w : d.weights[0]) w /= std::sqrt(static_cast<float>(p.input));
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

TEST(Rnn, RefusesWhatItCannotDo) {
  RnnProblem p{.kind = RnnKind::lstm, .steps = 2, .batch = 1, .input = 4, .hidden = 4};
  for (auto change : {+[](RnnProblem& q) { q.clip = 1; }, +[](RnnProblem& q) { q.peephole = true; },
                      +[](RnnProblem& q) { q.sequence_lens = true; }}) {
    RnnProblem q = p;
    change(q);
    for (const KernelRow* row : rows_of(OpKind::rnn)) EXPECT_NE(row->fits(q), nullptr) << row->name;
  }
}

}  // namespace
}  // namespace trine::dnn::test
