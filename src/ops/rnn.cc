// RNN and GRU: h' = f(W x + R h + b), and the gated form of Cho et al. 2014 in ONNX's order z, r, h.
#include "ops/recurrent.h"

namespace trine {
namespace {

constexpr int kInitialH = 5;

void rnn_infer(InferContext& c) { infer_recurrent(c, 1, 1); }

void rnn_reference(EvalContext& c) {
  Recurrent cell(c, 1);
  const std::vector<Activation> f[] = {cell.activations(0, {"Tanh"}),
                                       cell.activations(cell.directions() - 1, {"Tanh"})};
  cell.run({kInitialH}, [&](int64_t d, const double* x, std::vector<State>& states) {
    State& h = states[0];
    const std::vector<double> in = cell.input_sums(d, x), back = cell.hidden_sums(d, h);
    for (size_t i = 0; i < h.size(); ++i) h[i] = apply(f[d][0], cell.clipped(in[i] + back[i]));
  });
}

const OpDef op_rnn = {
    .name = "rnn",
    .onnx = "RNN",
    .doc = "h' = f(W x + R h + b) along time",
    .types = "Tf T T T x T",
    .min_inputs = 3,
    .max_inputs = 6,
    .min_outputs = 0,
    .max_outputs = 2,
    .infer = rnn_infer,
    .reference = rnn_reference,
};
const RegisterOp register_rnn(op_rnn);

void gru_infer(InferContext& c) { infer_recurrent(c, 3, 1); }

// Gates: 0 z (update), 1 r (reset), 2 candidate. linear_before_reset multiplies r after R h + b instead of before.
void gru_step(const Recurrent& cell, const std::vector<Activation>& f, bool linear_before_reset, int64_t d,
              const double* x, State& h) {
  const size_t n = h.size();
  const std::vector<double> in = cell.input_sums(d, x), back = cell.hidden_sums(d, h);
  State z(n), r(n), candidate(n);
  for (size_t i = 0; i < n; ++i) {
    z[i] = apply(f[0], cell.clipped(in[i] + back[i]));
    r[i] = apply(f[0], cell.clipped(in[n + i] + back[n + i]));
  }
  if (linear_before_reset) {
    for (size_t i = 0; i < n; ++i) candidate[i] = r[i] * back[2 * n + i];
  } else {
    State reset(n);
    for (size_t i = 0; i < n; ++i) reset[i] = r[i] * h[i];
    candidate = cell.hidden_product(d, 2, reset);
    for (size_t i = 0; i < n; ++i) candidate[i] += cell.hidden_bias(d, static_cast<int64_t>(2 * n + i));
  }
  for (size_t i = 0; i < n; ++i) {
    const double value = apply(f[1], cell.clipped(in[2 * n + i] + candidate[i]));
    h[i] = (1 - z[i]) * value + z[i] * h[i];
  }
}

void gru_reference(EvalContext& c) {
  Recurrent cell(c, 3);
  const bool linear = c.attrs().integer("linear_before_reset") != 0;
  const std::vector<std::string_view> defaults = {"Sigmoid", "Tanh"};
  const std::vector<Activation> f[] = {cell.activations(0, defaults),
                                       cell.activations(cell.directions() - 1, defaults)};
  cell.run({kInitialH}, [&](int64_t d, const double* x, std::vector<State>& states) {
    gru_step(cell, f[d], linear, d, x, states[0]);
  });
}

const OpDef op_gru = {
    .name = "gru",
    .onnx = "GRU",
    .doc = "h' = (1 - z) * g(W x + r * (R h) + b) + z * h along time; gates z, r, h",
    .types = "Tf T T T x T",
    .min_inputs = 3,
    .max_inputs = 6,
    .min_outputs = 0,
    .max_outputs = 2,
    .infer = gru_infer,
    .reference = gru_reference,
};
const RegisterOp register_gru(op_gru);

}  // namespace
}  // namespace trine
