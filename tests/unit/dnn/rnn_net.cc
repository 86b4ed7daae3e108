#include "rnn_net.h"

#include <algorithm>
#include <cmath>

#include "attention_rules.h"

namespace trine::dnn::test {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One layer and direction on one batch entry.
class Cell {
 public:
  Cell(const RnnProblem& p, const RnnNet& net, int64_t layer, int64_t d)
      : p_(p), net_(net), layer_(layer), cell_(layer * p.directions() + d) {
    const int64_t rows = p.gates() * p.hidden;
    for (int64_t l = p.skip_input ? 1 : 0; l < layer; ++l) w_ += p.directions() * rows * p.layer_input(l);
    w_ += d * rows * p.layer_input(layer);
  }

  void step(const double* x, Doubles& h, Doubles& c) const {
    const int64_t n = p_.hidden;
    Doubles next(static_cast<size_t>(n));
    for (int64_t u = 0; u < n; ++u) {
      const auto i = static_cast<size_t>(u);
      if (p_.kind == RnnKind::lstm) {
        const double before = c[i];
        const double in = sigmoid(clipped(sum(x, h, 0, u) + peephole(0, u) * before));
        const double forget = sigmoid(clipped(sum(x, h, 2, u) + peephole(2, u) * before));
        c[i] = forget * before + in * std::tanh(clipped(sum(x, h, 3, u)));
        c[i] = std::min(std::max(c[i], static_cast<double>(p_.cell_min)), static_cast<double>(p_.cell_max));
        next[i] = sigmoid(clipped(sum(x, h, 1, u) + peephole(1, u) * c[i])) * std::tanh(c[i]);
      } else if (p_.kind == RnnKind::gru) {
        const double z = sigmoid(clipped(sum(x, h, 0, u)));
        next[i] = (1 - z) * std::tanh(clipped(candidate(x, h, u))) + z * h[i];
      } else {
        const double a = clipped(sum(x, h, 0, u));
        next[i] = p_.kind == RnnKind::rnn_tanh ? std::tanh(a) : std::max(a, 0.0);
      }
    }
    h = p_.projection ? projected(next) : next;
  }

 private:
  double at(int operand, int64_t i) const { return net_.weights[operand][static_cast<size_t>(i)]; }
  double clipped(double a) const {
    return p_.clip > 0 ? std::min(std::max<double>(a, -p_.clip), static_cast<double>(p_.clip)) : a;
  }
  double peephole(int64_t gate, int64_t u) const { return p_.peephole ? at(3, (cell_ * 3 + gate) * p_.hidden + u) : 0; }

  double bias(bool of_state, int64_t row) const {
    if (net_.weights[2].empty()) return 0;
    const int64_t rows = p_.gates() * p_.hidden;
    if (p_.bias == RnnBias::both) return at(2, (cell_ * 2 + of_state) * rows + row);
    return (p_.bias == RnnBias::recurrent) == of_state ? at(2, cell_ * rows + row) : 0;
  }
  double of_input(const double* x, int64_t gate, int64_t u) const {
    const int64_t row = gate * p_.hidden + u, in = p_.layer_input(layer_);
    double sum = bias(false, row);
    if (layer_ == 0 && p_.skip_input) return sum + x[u];
    for (int64_t k = 0; k < in; ++k) sum += at(0, w_ + row * in + k) * x[k];
    return sum;
  }
  double of_state(const Doubles& h, int64_t gate, int64_t u) const {
    const int64_t row = gate * p_.hidden + u, width = p_.output();
    double sum = bias(true, row);
    for (int64_t k = 0; k < width; ++k)
      sum += at(1, (cell_ * p_.gates() * p_.hidden + row) * width + k) * h[static_cast<size_t>(k)];
    return sum;
  }
  double sum(const double* x, const Doubles& h, int64_t gate, int64_t u) const {
    return of_input(x, gate, u) + of_state(h, gate, u);
  }

  double reset(const double* x, const Doubles& h, int64_t u) const { return sigmoid(clipped(sum(x, h, 1, u))); }
  double candidate(const double* x, const Doubles& h, int64_t u) const {
    if (p_.linear_before_reset) return of_input(x, 2, u) + reset(x, h, u) * of_state(h, 2, u);
    Doubles r = h;
    for (int64_t k = 0; k < p_.hidden; ++k) r[static_cast<size_t>(k)] *= reset(x, h, k);
    return of_input(x, 2, u) + of_state(r, 2, u);
  }
  Doubles projected(const Doubles& full) const {
    Doubles h(static_cast<size_t>(p_.projection));
    for (int64_t i = 0; i < p_.projection; ++i)
      for (int64_t k = 0; k < p_.hidden; ++k)
        h[static_cast<size_t>(i)] += at(4, (cell_ * p_.projection + i) * p_.hidden + k) * full[static_cast<size_t>(k)];
    return h;
  }

  const RnnProblem& p_;
  const RnnNet& net_;
  int64_t layer_, cell_, w_ = 0;
};

// State `width` wide of (cell, b), or zeros.
Doubles state_of(const Doubles& all, int64_t at, int64_t width) {
  if (all.empty()) return Doubles(static_cast<size_t>(width), 0);
  return Doubles(all.begin() + at * width, all.begin() + (at + 1) * width);
}

}  // namespace

RnnNet::RnnNet(const RnnProblem& p, const Data& data) : lengths(data.integers[3]), random(data.integers[4]) {
  const auto wide = [](const Floats& v) { return Doubles(v.begin(), v.end()); };
  x = wide(data.in[0]), h = wide(data.in[1]), c = wide(data.in[2]);
  for (int i = 0; i < kMostWeights; ++i) weights[i] = wide(data.weights[i]);
}

RnnNet::Result RnnNet::run(const RnnProblem& p) const {
  const int64_t cells = p.layers * p.directions(), out = p.output(), joined = p.directions() * out;
  Result result;
  result.h.resize(static_cast<size_t>(cells * p.batch * out));
  result.c.resize(p.kind == RnnKind::lstm ? static_cast<size_t>(cells * p.batch * p.hidden) : 0);
  Doubles in = x;
  for (int64_t layer = 0; layer < p.layers; ++layer) {
    Doubles outputs(static_cast<size_t>(p.steps * p.batch * joined), 0);
    for (int64_t d = 0; d < p.directions(); ++d)
      for (int64_t b = 0; b < p.batch; ++b) {
        const int64_t at = (layer * p.directions() + d) * p.batch + b, width = p.layer_input(layer);
        const int64_t length = lengths.empty() ? p.steps : lengths[static_cast<size_t>(b)];
        Doubles hidden = state_of(h, at, out), memory = state_of(c, at, p.hidden);
        for (int64_t s = 0; s < length; ++s) {
          const int64_t t = d == 1 || p.direction == RnnDirection::reverse ? length - 1 - s : s;
          Cell(p, *this, layer, d).step(in.data() + (t * p.batch + b) * width, hidden, memory);
          std::copy(hidden.begin(), hidden.end(), outputs.begin() + (t * p.batch + b) * joined + d * out);
        }
        std::copy(hidden.begin(), hidden.end(), result.h.begin() + at * out);
        if (p.kind == RnnKind::lstm) std::copy(memory.begin(), memory.end(), result.c.begin() + at * p.hidden);
      }
    for (size_t i = 0; layer + 1 < p.layers && p.pass != RnnPass::inference && i < outputs.size(); ++i)
      outputs[i] *=
          dropout_factor(p.dropout, random, static_cast<int64_t>(static_cast<size_t>(layer) * outputs.size() + i));
    in = std::move(outputs);
  }
  result.y.resize(in.size());
  for (int64_t i = 0; i < static_cast<int64_t>(in.size()); ++i) {
    const int64_t u = i % out, d = i / out % p.directions(), b = i / joined % p.batch, t = i / joined / p.batch;
    const int64_t to = p.joined ? i : ((t * p.directions() + d) * p.batch + b) * out + u;
    result.y[static_cast<size_t>(to)] = in[static_cast<size_t>(i)];
  }
  return result;
}

}  // namespace trine::dnn::test
