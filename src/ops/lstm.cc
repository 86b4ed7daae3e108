// LSTM in ONNX's gate order i, o, f, c, with peepholes p [D, 3H] in the order i, o, f:
//   i = f(.. + p_i * c)   f = f(.. + p_f * c)  or 1 - i   c' = f * c + i * g(..)   o = f(.. + p_o * c')   h' = o * h(c')
#include "ops/recurrent.h"

namespace trine {
namespace {

constexpr int kInitialH = 5, kInitialC = 6, kPeepholes = 7;

void lstm_infer(InferContext& c) { infer_recurrent(c, 4, 2); }

void lstm_step(const Recurrent& cell, const std::vector<Activation>& f, const double* peephole, bool coupled, int64_t d,
               const double* x, State& h, State& memory) {
  const size_t n = h.size();
  std::vector<double> sums = cell.input_sums(d, x);
  const std::vector<double> back = cell.hidden_sums(d, h);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += back[i];
  const double *in = sums.data(), *out = in + n, *forget = in + 2 * n, *candidate = in + 3 * n;
  const double *p_in = peephole, *p_out = peephole + n, *p_forget = peephole + 2 * n;
  for (size_t i = 0; i < n; ++i) {
    const double gate_in = apply(f[0], cell.clipped(in[i] + p_in[i] * memory[i]));
    const double gate_forget = coupled ? 1 - gate_in : apply(f[0], cell.clipped(forget[i] + p_forget[i] * memory[i]));
    memory[i] = gate_forget * memory[i] + gate_in * apply(f[1], cell.clipped(candidate[i]));
    const double gate_out = apply(f[0], cell.clipped(out[i] + p_out[i] * memory[i]));
    h[i] = gate_out * apply(f[2], cell.clipped(memory[i]));
  }
}

void lstm_reference(EvalContext& c) {
  Recurrent cell(c, 4);
  const bool coupled = c.attrs().integer("input_forget") != 0;
  const std::vector<std::string_view> defaults = {"Sigmoid", "Tanh", "Tanh"};
  const std::vector<Activation> f[] = {cell.activations(0, defaults), cell.activations(cell.directions() - 1, defaults)};
  const std::vector<double> peepholes = cell.per_direction(kPeepholes, 3 * cell.hidden());
  cell.run({kInitialH, kInitialC}, [&](int64_t d, const double* x, std::vector<State>& states) {
    lstm_step(cell, f[d], peepholes.data() + d * 3 * cell.hidden(), coupled, d, x, states[0], states[1]);
  });
}

const OpDef op_lstm = {
    .name = "lstm",
    .onnx = "LSTM",
    .doc = "long short-term memory along time; gates i, o, f, c, optional peepholes",
    .min_inputs = 3,
    .max_inputs = 8,
    .min_outputs = 0,
    .max_outputs = 3,
    .infer = lstm_infer,
    .reference = lstm_reference,
};
const RegisterOp register_lstm(op_lstm);

}  // namespace
}  // namespace trine
