// Where the training passes of recurrent networks find things: rows of `reserve` and `dgates`, steps of a direction,
// packed weights. A cell is one layer and direction.
#pragma once

#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/rnn/rnn_problem.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/dropout.h"

namespace trine::cpu {

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

// Weights of one cell as the passes multiply by them. Forward: panels of the transposed matrices; backward: as they
// are.
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
