// What the forward pass of recurrent networks shares with their training passes.
#pragma once

#include "backends/cpu/kernels/rnn/rnn.h"
#include "dnn/kernel_row.h"

namespace trine::cpu {

const RnnIsa& rnn_isa(CpuLevel level);

// Gates whose recurrent part is one product with h_{t-1}; gru's candidate stands apart.
inline int64_t joint_gates(const dnn::RnnProblem& p) { return p.kind == dnn::RnnKind::gru ? 2 : p.gates(); }

// Throws Error when a sequence length is not in [0, steps].
void check_lengths(const dnn::RnnProblem& p, const dnn::Args& args);
// Null, or why no row can compute the problem.
const char* invalid(const dnn::RnnProblem& p);

// The order of the steps of a direction.
class RnnWalk {
 public:
  RnnWalk(const dnn::RnnProblem& p, const dnn::Args& args)
      : p_(p), lengths_(p.sequence_lens ? static_cast<const int32_t*>(args.in[3]) : nullptr) {}

  bool reverse(int64_t direction) const { return direction == 1 || p_.direction == dnn::RnnDirection::reverse; }
  int64_t time(int64_t direction, int64_t step) const { return reverse(direction) ? p_.steps - 1 - step : step; }
  int64_t length(int64_t b) const { return lengths_ ? lengths_[b] : p_.steps; }
  bool is_active(int64_t t, int64_t b) const { return t < length(b); }
  // The step whose state step t continues; -1: the initial state.
  int64_t previous(int64_t direction, int64_t t, int64_t b) const {
    if (!reverse(direction)) return t - 1;
    return t + 1 < length(b) ? t + 1 : -1;
  }
  int64_t cell(int64_t layer, int64_t direction) const { return layer * p_.directions() + direction; }
  // Of the row of (t, b) in the cells' tables of `row` floats.
  int64_t row_at(int64_t cell, int64_t t, int64_t b, int64_t row) const {
    return ((cell * p_.steps + t) * p_.batch + b) * row;
  }
  // Of (t, b) in the output of the last layer; in that of others, which are joined.
  int64_t y_at(int64_t direction, int64_t t, int64_t b) const {
    const int64_t at =
        p_.joined ? (t * p_.batch + b) * p_.directions() + direction : (t * p_.directions() + direction) * p_.batch + b;
    return at * p_.output();
  }
  int64_t joined_at(int64_t direction, int64_t t, int64_t b) const {
    return ((t * p_.batch + b) * p_.directions() + direction) * p_.output();
  }

 private:
  const dnn::RnnProblem& p_;
  const int32_t* lengths_;
};

}  // namespace trine::cpu
