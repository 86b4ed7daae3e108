// Where the training passes of recurrent networks find things: rows of `reserve` and `dgates`, steps of a direction, packed
// weights. A cell is one layer and direction.
#pragma once

#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/rnn/rnn.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/dropout.h"
#include "dnn/kernel_row.h"

namespace trine::cpu {

const RnnIsa& rnn_isa(CpuLevel level);

// Gates whose recurrent part is one product with h_{t-1}; gru's candidate stands apart.
inline int64_t joint_gates(const dnn::RnnProblem& p) { return p.kind == dnn::RnnKind::gru ? 2 : p.gates(); }

// Throws Error when a sequence length is not in [0, steps].
void check_lengths(const dnn::RnnProblem& p, const dnn::Args& args);
// Null, or why no row can compute the problem.
const char* invalid(const dnn::RnnProblem& p);

// A row of `reserve`: one step of one batch entry in a cell.
struct ReserveRow {
  float *sums, *aside, *unprojected, *h;

  ReserveRow(const dnn::RnnProblem& p, float* row)
      : sums(row), aside(row + p.gates() * p.hidden), unprojected(aside + p.hidden), h(unprojected + p.hidden) {}
};

// A row of `dgates`.
struct GradientRow {
  float *sums, *candidate, *h;

  GradientRow(const dnn::RnnProblem& p, float* row)
      : sums(row), candidate(row + p.gates() * p.hidden), h(candidate + p.hidden) {}
};

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
    const int64_t at = p_.joined ? (t * p_.batch + b) * p_.directions() + direction
                                 : (t * p_.directions() + direction) * p_.batch + b;
    return at * p_.output();
  }
  int64_t joined_at(int64_t direction, int64_t t, int64_t b) const {
    return ((t * p_.batch + b) * p_.directions() + direction) * p_.output();
  }

 private:
  const dnn::RnnProblem& p_;
  const int32_t* lengths_;
};

// Weights of one cell as the passes multiply by them. Forward: panels of the transposed matrices; backward: as they are.
template <class T>
struct RnnPanels {
  T *input, *recurrent, *candidate, *projection;
  T *bias, *candidate_bias, *peephole;  // of the sums; of gru's R_h h alone, with linear_before_reset

  RnnPanels(const dnn::RnnProblem& p, int64_t layer, bool backward, Carver& carver) {
    const auto take = [&](int64_t floats) { return carver.take<std::remove_const_t<T>>(static_cast<size_t>(floats)); };
    const auto panels = [&](int64_t rows, int64_t columns) {
      return backward ? panels_floats(rows, columns) : panels_floats(columns, rows);
    };
    const bool skipped = layer == 0 && p.skip_input;
    input = take(skipped ? 0 : panels(p.gates() * p.hidden, p.layer_input(layer)));
    recurrent = take(panels(joint_gates(p) * p.hidden, p.output()));
    candidate = take(p.kind == dnn::RnnKind::gru ? panels(p.hidden, p.output()) : 0);
    projection = take(p.projection ? panels(p.projection, p.hidden) : 0);
    bias = take(p.gates() * p.hidden);
    candidate_bias = take(p.hidden);
    peephole = take(p.peephole ? 3 * p.hidden : 0);
  }
};

size_t packed_cells_bytes(const dnn::Problem& problem);
void pack_cells(const dnn::Problem& problem, std::span<const void* const> weights, void* packed);

// The panels of cell `index`.
RnnPanels<const float> panels_of(const dnn::RnnProblem& p, const void* packed, int64_t index);

}  // namespace trine::cpu
