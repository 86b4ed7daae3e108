// Recurrent networks: LSTM, GRU, tanh and relu cells in layers, one or two directions, for inference and training.
#pragma once

#include <limits>

#include "trine/base/dtype.h"
#include "trine/dnn/layout.h"

namespace trine::dnn {

enum class RnnKind : uint8_t { lstm, gru, rnn_tanh, rnn_relu };
enum class RnnDirection : uint8_t { forward, reverse, bidirectional };
enum class RnnBias : uint8_t { both, input, recurrent, none };

// inference: y and the final states.  training: also `reserve`, what the backward passes need; dropout happens.
// backward_data: dx, gradients of the initial states, and `dgates` for backward_weights.
enum class RnnPass : uint8_t { inference, training, backward_data, backward_weights };

// One layer and direction, step by step, with the ONNX operators' default activations; P = projection or H:
//   sums    a_g = W_g x_t + bW_g + R_g h_{t-1} + bR_g      gates in ONNX order: lstm i o f c, gru z r h
//   lstm    i f o = sigmoid(a + peephole * c), o with the new c;  c_t = f c_{t-1} + i tanh(a_c), fitted into [cell_min,
//           cell_max];  h_t = o tanh(c_t), or with a projection V [P, H]: V (o tanh(c_t))
//   gru     h_t = (1 - z) tanh(a_h) + z h_{t-1}; R_h meets r h_{t-1}, or with linear_before_reset r (R_h h_{t-1} +
//   bR_h)
// clip > 0 fits what enters the gates' activations (peephole part included) into [-clip, clip], as onnxruntime reads
// ONNX; cell_min and cell_max are cuDNN's clip of the cell. Where a clip holds a value, at its bounds too, no gradient
// passes.
//
// Layers: layer l reads the outputs of both directions of layer l - 1, joined: [.., D*P]. With training and dropout > 0
// these are divided by 1 - dropout or become 0, by Philox, word e % 4 of counter offset + e / 4, e the index in [L-1,
// T, B, D*P], key seed: kept when word * 2^-32 >= dropout. skip_input: layer 0 has no W; x (I = H) is added to every
// gate. Lengths: entry b has lens[b] steps; a reverse direction begins at its last one; its y past them is 0, x there
// is not read, the final states are those of its own last step. Throws Error when a length is not in [0, T].
//
// Operands (may be absent: initial states, their gradients, y_h, y_c and their gradients):
//   inference, training  in 0 x [T,B,I], 1 initial_h [L*D,B,P], 2 initial_c [L*D,B,H] (lstm), 3 lens i32 [B], 4 seed
//   and offset,
//                           u64 each (training with dropout)
//                        out 0 y [T,D,B,P], or `joined` [T,B,D,P]; 1 y_h, 2 y_c (as the initial ones), 3 reserve
//                        (training)
//   backward_data        in 1-4 as above, 5 reserve, 6 dy, 7 dy_h, 8 dy_c;  out 0 dx, 1 dinitial_h, 2 dinitial_c, 3
//   dgates backward_weights     in 0-4 as above, 5 reserve, 6 dgates;  out 0 dw, 1 dr, 2 dbias, 3 dpeephole, 4
//   dprojection, each may
//                        be null, set or (`add`) added to
// Weights, layer after layer: 0 w [D, G*H, I or D*P] (none for a skipped input), 1 r [D, G*H, P], 2 bias [D, 2*G*H]
// (input's, recurrent's; one half only when RnnBias says so; `both` may be absent), 3 peephole [D, 3*H] (i o f), 4
// projection [D, P, H].
struct RnnProblem {
  RnnKind kind = RnnKind::lstm;
  RnnDirection direction = RnnDirection::forward;
  int64_t steps = 0, batch = 1, input = 0, hidden = 0;
  bool linear_before_reset = false;  // gru
  bool sequence_lens = false;
  bool peephole = false;  // lstm
  float clip = 0;         // 0: none
  float cell_min = -std::numeric_limits<float>::infinity(), cell_max = std::numeric_limits<float>::infinity();  // lstm
  int64_t projection = 0;  // lstm; 0: none
  RnnBias bias = RnnBias::both;
  int64_t layers = 1;
  bool skip_input = false;
  float dropout = 0;  // between layers, in [0, 1)
  bool joined = false;
  RnnPass pass = RnnPass::inference;
  bool add = false;  // backward_weights
  // Of everything but reserve and dgates, which are f32: f16 and bf16 too. Sums and states between steps are f32.
  DType type = DType::f32;

  int64_t directions() const { return direction == RnnDirection::bidirectional ? 2 : 1; }
  int64_t gates() const { return kind == RnnKind::lstm ? 4 : kind == RnnKind::gru ? 3 : 1; }
  int64_t output() const { return projection ? projection : hidden; }
  int64_t layer_input(int64_t layer) const { return layer ? directions() * output() : input; }
  // Floats of one step of one batch entry, layer and direction, in reserve: gate sums (clipped), gru: recurrent part of
  // the candidate or lstm: c, h before the projection, h; in dgates: of the gate sums, gru: of the recurrent candidate,
  // of h.
  int64_t reserve_row() const { return gates() * hidden + 2 * hidden + output(); }
  int64_t gradient_row() const { return (gates() + 1) * hidden + output(); }
  friend bool operator==(const RnnProblem&, const RnnProblem&) = default;
};

// Orders in which libraries keep the gates of weights and biases. In all of them a gate is H rows.
enum class GateOrder : uint8_t {
  onnx,    // lstm i o f c, gru z r h: that of RnnProblem
  cudnn,   // lstm i f c o, gru r z h: cuDNN's linear layers 0.. in order, and PyTorch's
  miopen,  // lstm i f o c, gru z r h
  keras,   // lstm i f c o, gru z r h
};

// Weights or gradients of operand `weight` (0 w, 1 r, 2 bias) of a whole problem, f32, from one order into another;
// `from` and `to` are different memory. cuDNN's and PyTorch's gru is that of linear_before_reset.
void reorder_gates(const RnnProblem& problem, int weight, GateOrder from_order, const float* from, GateOrder to_order,
                   float* to);

}  // namespace trine::dnn
