#include "backends/cpu/primitives/rnn/rnn_layout.h"

namespace trine::cpu {

using namespace dnn;

namespace {

// Offsets of a cell's weights in the operands.
struct Source {
  const float *w, *r, *bias, *peephole, *projection;
};

Source source_of(const RnnProblem& p, std::span<const void* const> weights, int64_t layer, int64_t direction) {
  const int64_t rows = p.gates() * p.hidden, cell = layer * p.directions() + direction;
  int64_t columns = 0;  // of w before this layer
  for (int64_t l = p.skip_input ? 1 : 0; l < layer; ++l) columns += p.layer_input(l);
  const auto at = [&](size_t i, int64_t offset) {
    const auto* data = i < weights.size() ? static_cast<const float*>(weights[i]) : nullptr;
    return data ? data + offset : nullptr;
  };
  const int64_t biases = p.bias == RnnBias::both ? 2 * rows : rows;
  return {at(0, rows * (p.directions() * columns + direction * p.layer_input(layer))), at(1, cell * rows * p.output()),
          p.bias == RnnBias::none ? nullptr : at(2, cell * biases), at(3, cell * 3 * p.hidden),
          at(4, cell * p.projection * p.hidden)};
}

void pack_bias(const RnnProblem& p, const float* bias, const RnnPanels<float>& to) {
  const int64_t rows = p.gates() * p.hidden, joint = joint_gates(p) * p.hidden;
  const bool apart = p.kind == RnnKind::gru && p.linear_before_reset;
  std::fill_n(to.candidate_bias, p.hidden, 0.f);
  for (int64_t i = 0; i < rows; ++i) {
    const float of_input = bias && p.bias != RnnBias::recurrent ? bias[i] : 0;
    const float of_state = !bias || p.bias == RnnBias::input ? 0 : bias[p.bias == RnnBias::both ? rows + i : i];
    to.bias[i] = of_input + (apart && i >= joint ? 0 : of_state);
    if (apart && i >= joint) to.candidate_bias[i - joint] = of_state;
  }
}

}  // namespace

size_t packed_cells_bytes(const Problem& problem) {
  const auto& p = std::get<RnnProblem>(problem);
  Carver carver;
  for (int64_t i = 0; i < p.layers * p.directions(); ++i)
    RnnPanels<float>(p, i / p.directions(), p.pass == RnnPass::backward_data, carver);
  return carver.used();
}

void pack_cells(const Problem& problem, std::span<const void* const> weights, void* packed) {
  const auto& p = std::get<RnnProblem>(problem);
  const GemmIsa& isa = gemm_isa(cpu_level());
  const bool backward = p.pass == RnnPass::backward_data;
  Carver carver(packed);
  // Of a matrix [rows][columns]: forward its transpose, [columns x rows].
  const auto pack = [&](const float* from, int64_t rows, int64_t columns, float* to) {
    backward ? pack_panels(isa, from, columns, false, rows, columns, to)
             : pack_panels(isa, from, columns, true, columns, rows, to);
  };
  for (int64_t i = 0; i < p.layers * p.directions(); ++i) {
    const int64_t layer = i / p.directions(), joint = joint_gates(p) * p.hidden, out = p.output();
    const RnnPanels<float> to(p, layer, backward, carver);
    const Source from = source_of(p, weights, layer, i % p.directions());
    if (layer > 0 || !p.skip_input) pack(from.w, p.gates() * p.hidden, p.layer_input(layer), to.input);
    pack(from.r, joint, out, to.recurrent);
    if (p.kind == RnnKind::gru) pack(from.r + joint * out, p.hidden, out, to.candidate);
    if (p.projection) pack(from.projection, p.projection, p.hidden, to.projection);
    pack_bias(p, from.bias, to);
    if (p.peephole) std::copy_n(from.peephole, 3 * p.hidden, to.peephole);
  }
}

RnnPanels<const float> panels_of(const RnnProblem& p, const void* packed, int64_t index) {
  Carver carver(const_cast<void*>(packed));
  const bool backward = p.pass == RnnPass::backward_data;
  RnnPanels<const float> panels(p, 0, backward, carver);
  for (int64_t i = 1; i <= index; ++i) panels = RnnPanels<const float>(p, i / p.directions(), backward, carver);
  return panels;
}

}  // namespace trine::cpu
