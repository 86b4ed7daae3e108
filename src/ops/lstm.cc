// LSTM in ONNX's gate order i, o, f, c, with peepholes p [D, 3H] in the order i, o, f:
//   i = f(.. + p_i * c)   f = f(.. + p_f * c)  or 1 - i   c' = f * c + i * g(..)   o = f(.. + p_o * c')   h' = o *
//   h(c')
// `clip` bounds what enters the gates' activations. ONNX's words also fit c' before h; onnxruntime leaves it alone, and
// models were checked against that.
#include "ops/node_error.h"
#include "ops/quantized.h"
#include "ops/recurrent.h"

namespace trine {
namespace {

constexpr int kInitialH = 5, kInitialC = 6, kPeepholes = 7;

void lstm_infer(InferContext& c) { infer_recurrent(c, 4, 2); }

void lstm_step(const Recurrent& cell, const std::vector<Activation>& f, const double* peephole, bool coupled, int64_t d,
               bool quantised, const double* x, State& h, State& memory) {
  const size_t n = h.size();
  std::vector<double> sums = cell.input_sums(d, x);
  const std::vector<double> back = cell.hidden_sums(d, quantised ? through_u8(h) : h);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += back[i];
  const double *in = sums.data(), *out = in + n, *forget = in + 2 * n, *candidate = in + 3 * n;
  const double *p_in = peephole, *p_out = peephole + n, *p_forget = peephole + 2 * n;
  for (size_t i = 0; i < n; ++i) {
    const double gate_in = apply(f[0], cell.clipped(in[i] + p_in[i] * memory[i]));
    const double gate_forget = coupled ? 1 - gate_in : apply(f[0], cell.clipped(forget[i] + p_forget[i] * memory[i]));
    memory[i] = gate_forget * memory[i] + gate_in * apply(f[1], cell.clipped(candidate[i]));
    const double gate_out = apply(f[0], cell.clipped(out[i] + p_out[i] * memory[i]));
    h[i] = gate_out * apply(f[2], memory[i]);
  }
}

// `quantised`: h passes through 8 bits before its product.
void run_lstm(EvalContext& c, bool quantised) {
  Recurrent cell(c, 4);
  const bool coupled = c.attrs().integer("input_forget") != 0;
  const std::vector<std::string_view> defaults = {"Sigmoid", "Tanh", "Tanh"};
  const std::vector<Activation> f[] = {cell.activations(0, defaults),
                                       cell.activations(cell.directions() - 1, defaults)};
  const std::vector<double> peepholes = cell.per_direction(kPeepholes, 3 * cell.hidden());
  cell.run({kInitialH, kInitialC}, [&](int64_t d, const double* x, std::vector<State>& states) {
    lstm_step(cell, f[d], peepholes.data() + d * 3 * cell.hidden(), coupled, d, quantised, x, states[0], states[1]);
  });
}

void lstm_reference(EvalContext& c) { run_lstm(c, false); }

const OpDef op_lstm = {
    .name = "lstm",
    .onnx = "LSTM",
    .doc = "long short-term memory along time; gates i, o, f, c, optional peepholes",
    .types = "Tf T T T x T T T",
    .min_inputs = 3,
    .max_inputs = 8,
    .min_outputs = 0,
    .max_outputs = 3,
    .infer = lstm_infer,
    .reference = lstm_reference,
};
const RegisterOp register_lstm(op_lstm);

// com.microsoft:DynamicQuantizeLSTM: LSTM with 8-bit w [D,I,4H] and r [D,H,4H], inputs 8 w_scale, 9 w_zero_point, 10
// r_scale, 11 r_zero_point of [D] or [D,4H]. x as a whole and each row of h at each step are quantised to u8 by their
// own range. (onnxruntime takes several rows of h together, as many as its threads share a batch in: one with a batch
// of 1.)
Tensor dequantized_weight(EvalContext& c, int weight, int scale, int zero_point) {
  const Tensor& w = c.tensor(weight);
  require(c.node(), w.rank() == 3, fmt::format("input {} is {}; want three dimensions", weight, w.type_text()));
  const int64_t directions = w.dim(0), in = w.dim(1), rows = w.dim(2);
  const auto per_row = [&](int input) {
    const int64_t n = c.tensor(input).elements();
    require(c.node(), n == directions || n == directions * rows,
            fmt::format("input {} is {}; want [{}] or [{},{}]", input, c.tensor(input).type_text(), directions,
                        directions, rows));
    return c.tensor(input).f64_values();
  };
  const std::vector<double> s = per_row(scale), z = per_row(zero_point), from = w.f64_values();
  const auto at = [&](const std::vector<double>& p, int64_t d, int64_t row) {
    return p[static_cast<size_t>(static_cast<int64_t>(p.size()) == directions ? d : d * rows + row)];
  };
  std::vector<double> to(from.size());
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t i = 0; i < in; ++i)
      for (int64_t row = 0; row < rows; ++row)
        to[static_cast<size_t>((d * rows + row) * in + i)] =
            (from[static_cast<size_t>((d * in + i) * rows + row)] - at(z, d, row)) * at(s, d, row);
  return Tensor::from_f64(DType::f64, {directions, rows, in}, to);
}

void dynamic_quantize_lstm_infer(InferContext& c) {
  const bool known = c.shape(0).rank() == 3 && c.shape(2).rank() == 3;
  const Dim directions = c.attrs().string("direction", "forward") == "bidirectional" ? 2 : 1;
  const Dim hidden = known ? c.shape(2)[1] : c.fresh("hidden"), batch = known ? c.shape(0)[1] : c.fresh("batch");
  c.set(0, c.dtype(0), Shape{known ? c.shape(0)[0] : c.fresh("steps"), directions, batch, hidden});
  for (int i : {1, 2}) c.set(i, c.dtype(0), Shape{directions, batch, hidden});
}

void dynamic_quantize_lstm_reference(EvalContext& c) {
  std::vector<Datum> inputs;
  for (int i = 0; i < 8; ++i) inputs.push_back(c.has(i) ? c.datum(i) : Datum());
  inputs[1] = dequantized_weight(c, 1, 8, 9);
  inputs[2] = dequantized_weight(c, 2, 10, 11);
  inputs[0] = Tensor::from_f64(c.tensor(0).dtype(), c.tensor(0).dims(), through_u8(c.tensor(0).f64_values()));
  EvalContext real(c.node(), std::move(inputs), nullptr);
  run_lstm(real, true);
  for (int i : {0, 1, 2})
    if (c.wants(i)) c.set(i, real.outputs()[static_cast<size_t>(i)]);
}

const OpDef op_dynamic_quantize_lstm = {
    .name = "dynamic_quantize_lstm",
    .onnx = "com.microsoft:DynamicQuantizeLSTM",
    .doc = "lstm with 8-bit weights; x and h pass through u8",
    .types = "Tf Ui U T x T T T T U T U",
    .min_inputs = 12,
    .max_inputs = 12,
    .min_outputs = 0,
    .max_outputs = 3,
    .infer = dynamic_quantize_lstm_infer,
    .reference = dynamic_quantize_lstm_reference,
};
const RegisterOp register_dynamic_quantize_lstm(op_dynamic_quantize_lstm);

}  // namespace
}  // namespace trine
