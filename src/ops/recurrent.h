// What RNN, GRU and LSTM share: shapes, directions, sequence lengths, layouts, activations and the walk over time.
//
//   x [T,B,I]   w [D, G*H, I]   r [D, G*H, H]   bias [D, 2*G*H] = (w bias, r bias)   y [T,D,B,H]   final state [D,B,H]
// with layout = 1 the batch comes first: x [B,T,I], y [B,T,D,H], states [B,D,H]. A sequence shorter than T ends at its
// own last step (a reverse pass starts there); its remaining outputs are 0.
#pragma once

#include <functional>

#include "graph/eval.h"
#include "graph/infer.h"
#include "ops/activation.h"

namespace trine {

// Outputs 0: y, 1..states: final states.
void infer_recurrent(InferContext& c, int gates, int states);

using State = std::vector<double>;  // [H]

class Recurrent {
 public:
  // Reads and checks inputs 0..4 (x, w, r, bias, sequence_lens).
  Recurrent(EvalContext& c, int gates);

  int64_t hidden() const { return hidden_; }
  int64_t directions() const { return directions_; }
  // Activation functions of direction d, in the order of the ONNX attribute; `defaults` when it is absent.
  std::vector<Activation> activations(int64_t d, const std::vector<std::string_view>& defaults) const;
  // Values of a [D, count] input, or zeros.
  std::vector<double> per_direction(int input, int64_t count) const;

  // Gate sums [G*H] of one step: w x + w_bias, and r h + r_bias.
  std::vector<double> input_sums(int64_t d, const double* x) const;
  std::vector<double> hidden_sums(int64_t d, const State& h) const;
  // Rows [gate*H, (gate+1)*H) of r times h, without bias.
  std::vector<double> hidden_product(int64_t d, int64_t gate, const State& h) const;
  double hidden_bias(int64_t d, int64_t row) const {
    return bias_[static_cast<size_t>((d * 2 + 1) * gates_ * hidden_ + row)];
  }
  double clipped(double v) const;

  // Calls step(direction, x row, states) for every step; states[0] afterwards is that step's y. `initial` holds the
  // input number of each initial state. Sets outputs 0 .. initial.size().
  void run(const std::vector<int>& initial,
           const std::function<void(int64_t, const double*, std::vector<State>&)>& step);

 private:
  int64_t x_row(int64_t t, int64_t b) const { return (batch_first_ ? b * steps_ + t : t * batch_ + b) * input_; }
  int64_t y_row(int64_t t, int64_t d, int64_t b) const;
  int64_t state_row(int64_t d, int64_t b) const;
  std::vector<double> initial_state(int input) const;

  EvalContext& c_;
  int64_t gates_, steps_, batch_, input_, hidden_, directions_;
  bool batch_first_;
  std::string direction_;
  double clip_;
  std::vector<double> x_, w_, r_, bias_;
  std::vector<int64_t> lengths_;
};

}  // namespace trine
