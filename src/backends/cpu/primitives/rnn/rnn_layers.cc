// Recurrent layers in general: what the rows of rnn.cc leave out (several layers, projection, joined outputs), and the
// training pass, which keeps the sums of the gates and the states in `reserve`. Layers and directions run one after the
// other; threads share the products.
#include <algorithm>
#include <cmath>

#include "backends/cpu/primitives/rnn/rnn_pass.h"

namespace trine::cpu {
namespace {

using namespace dnn;

struct LayersScratch {
  float* rows;                           // of one cell, when there is no reserve
  float* inputs[2];                      // of the layers after the first, joined: read and written in turn
  float *h, *h_next, *c, *side, *gates;  // states of the batch; reset states; activated gates
  char* tables;

  LayersScratch(const GemmIsa& isa, const RnnProblem& p, int threads, Carver& carver) {
    const auto floats = [&](int64_t n) { return carver.take<float>(static_cast<size_t>(n)); };
    const int64_t items = p.steps * p.batch;
    rows = floats(p.pass == RnnPass::training ? 0 : items * p.reserve_row());
    for (float*& input : inputs) input = floats(p.layers > 1 ? items * p.directions() * p.output() : 0);
    h = floats(p.batch * p.output());
    h_next = floats(p.batch * p.output());
    c = floats(p.batch * p.hidden);
    side = floats(p.batch * p.hidden);
    gates = floats(5 * p.hidden);
    tables = carver.take<char>(static_cast<size_t>(threads) * Product::table_bytes(isa, std::max(items, p.batch)));
  }
};

class Layers : RnnPassState<LayersScratch> {
 public:
  using Scratch = LayersScratch;
  static constexpr double kEfficiency = 0.2;
  static constexpr int kMostThreads = 2;
  static constexpr bool kReadsWeights = true;

  static const char* fits(const Problem& problem) {
    const RnnPass pass = rnn_of(problem).pass;
    return pass == RnnPass::inference || pass == RnnPass::training ? invalid(rnn_of(problem)) : "a backward pass";
  }

  Layers(CpuLevel level, const RnnProblem& p, const Args& args, ThreadPool& pool)
      : RnnPassState(level, p, args, pool, p.pass == RnnPass::training ? p.dropout : 0) {}

  void run() {
    if (p_.batch == 0) return;  // every output is empty
    for (int64_t layer = 0; layer < p_.layers; ++layer) {
      const float* x = layer ? s_.inputs[layer % 2] : static_cast<const float*>(args_.in[0]);
      float* joined = layer + 1 < p_.layers ? s_.inputs[(layer + 1) % 2] : nullptr;
      for (int64_t d = 0; d < p_.directions(); ++d) run_cell(layer, d, x, joined);
      if (joined && dropout_.any()) drop(layer, joined);
    }
  }

 private:
  int64_t width() const { return p_.gates() * p_.hidden; }

  float* row_of(int64_t cell, int64_t t, int64_t b) const {
    auto* reserve = static_cast<float*>(args_.out[3]);
    return reserve ? reserve + walk_.row_at(cell, t, b, p_.reserve_row())
                   : s_.rows + walk_.row_at(0, t, b, p_.reserve_row());
  }

  void run_cell(int64_t layer, int64_t d, const float* x, float* joined) {
    const int64_t cell = walk_.cell(layer, d);
    const RnnPanels<const float> w = panels_of(p_, args_.packed, cell);
    begin_state(1, cell, p_.output(), s_.h);
    if (p_.kind == RnnKind::lstm) begin_state(2, cell, p_.hidden, s_.c);
    if (p_.steps > 0) sum_inputs(layer, cell, x, w);
    for (int64_t step = 0; step < p_.steps; ++step) {
      const int64_t t = walk_.time(d, step);
      run_step(cell, t, w);
      for (int64_t b = 0; b < p_.batch; ++b) keep(cell, d, t, b, joined);
    }
    end_state(1, cell, p_.output(), s_.h);
    if (p_.kind == RnnKind::lstm) end_state(2, cell, p_.hidden, s_.c);
  }

  void begin_state(int operand, int64_t cell, int64_t width, float* to) const {
    const int64_t n = p_.batch * width;
    const auto* from = static_cast<const float*>(args_.in[operand]);
    from ? (void)std::copy_n(from + cell * n, n, to) : (void)std::fill_n(to, n, 0.f);
  }
  void end_state(int operand, int64_t cell, int64_t width, const float* from) const {
    const int64_t n = p_.batch * width;
    if (args_.out[operand]) std::copy_n(from, n, static_cast<float*>(args_.out[operand]) + cell * n);
  }

  // The inputs' part of the sums, for all steps.
  void sum_inputs(int64_t layer, int64_t cell, const float* x, const RnnPanels<const float>& w) {
    const int64_t items = p_.steps * p_.batch, in = p_.layer_input(layer);
    float* rows = row_of(cell, 0, 0);
    if (layer > 0 || !p_.skip_input) {
      product_({x, in}, items, in, w.input, width(), {rows, p_.reserve_row(), false, 1, w.bias});
      return;
    }
    for (int64_t i = 0; i < items; ++i)
      for (int64_t j = 0; j < width(); ++j) rows[i * p_.reserve_row() + j] = x[i * in + j % p_.hidden] + w.bias[j];
  }

  void run_step(int64_t cell, int64_t t, const RnnPanels<const float>& w) {
    const int64_t n = p_.hidden, joint = joint_gates(p_) * n, stride = p_.reserve_row();
    const ReserveRow first(p_, row_of(cell, t, 0));
    product_({s_.h, p_.output()}, p_.batch, p_.output(), w.recurrent, joint, {first.sums, stride, true});
    if (p_.kind == RnnKind::gru) return gru(first, w);
    for (int64_t b = 0; b < p_.batch; ++b) {
      const ReserveRow row(p_, first.sums + b * stride);
      std::fill(row.aside, row.sums + stride, 0.f);
      if (!walk_.is_active(t, b)) std::fill_n(row.sums, stride, 0.f);
      else p_.kind == RnnKind::lstm ? lstm(row, b, w) : simple(row);
    }
    if (p_.projection)
      product_({first.unprojected, stride}, p_.batch, n, w.projection, p_.projection, {first.h, stride});
  }

  void lstm(const ReserveRow& row, int64_t b, const RnnPanels<const float>& w) {
    const LstmBounds bounds{p_.clip > 0 ? p_.clip : INFINITY, p_.cell_min, p_.cell_max};
    float* h = p_.projection ? row.unprojected : row.h;
    isa_.lstm_fitted(row.sums, p_.hidden, p_.peephole ? w.peephole : nullptr, bounds, s_.c + b * p_.hidden, row.aside,
                     h);
  }

  void simple(const ReserveRow& row) {
    if (p_.clip > 0) isa_.clip(row.sums, p_.hidden, p_.clip);
    (p_.kind == RnnKind::rnn_tanh ? isa_.tanh : isa_.relu)(row.sums, p_.hidden, row.h);
  }

  // The candidate's sum waits for r; `aside` keeps R_h h + bias with linear_before_reset.
  void gru(const ReserveRow& first, const RnnPanels<const float>& w) {
    const int64_t n = p_.hidden, stride = p_.reserve_row();
    for (int64_t b = 0; b < p_.batch; ++b) {
      const ReserveRow row(p_, first.sums + b * stride);
      std::fill(row.aside, row.sums + stride, 0.f);
      if (p_.clip > 0) isa_.clip(row.sums, 2 * n, p_.clip);
      isa_.sigmoid(row.sums + n, n, s_.gates);
      for (int64_t i = 0; i < n; ++i) s_.side[b * n + i] = s_.gates[i] * s_.h[b * n + i];
    }
    if (p_.linear_before_reset) {
      product_({s_.h, n}, p_.batch, n, w.candidate, n, {first.aside, stride, false, 1, w.candidate_bias});
    } else {
      product_({s_.side, n}, p_.batch, n, w.candidate, n, {first.sums + 2 * n, stride, true});
    }
    for (int64_t b = 0; b < p_.batch; ++b) finish_gru(ReserveRow(p_, first.sums + b * stride), b);
  }

  void finish_gru(const ReserveRow& row, int64_t b) {
    const int64_t n = p_.hidden;
    float *z = s_.gates, *r = z + n, *fresh = r + n;
    isa_.sigmoid(row.sums, 2 * n, z);
    float* sum = row.sums + 2 * n;
    if (p_.linear_before_reset)
      for (int64_t i = 0; i < n; ++i) sum[i] += r[i] * row.aside[i];
    if (p_.clip > 0) isa_.clip(sum, n, p_.clip);
    isa_.tanh(sum, n, fresh);
    for (int64_t i = 0; i < n; ++i) row.h[i] = (1 - z[i]) * fresh[i] + z[i] * s_.h[b * n + i];
  }

  // The new states become the current ones, and outputs; past an entry's length they stay, and the outputs are 0.
  void keep(int64_t cell, int64_t d, int64_t t, int64_t b, float* joined) {
    const ReserveRow row(p_, row_of(cell, t, b));
    if (walk_.is_active(t, b)) {
      std::copy_n(row.h, p_.output(), s_.h + b * p_.output());
      if (p_.kind == RnnKind::lstm) std::copy_n(row.aside, p_.hidden, s_.c + b * p_.hidden);
    } else {
      std::fill_n(row.sums, p_.reserve_row(), 0.f);
    }
    if (joined) std::copy_n(row.h, p_.output(), joined + walk_.joined_at(d, t, b));
    else if (auto* y = static_cast<float*>(args_.out[0])) std::copy_n(row.h, p_.output(), y + walk_.y_at(d, t, b));
  }
};

const KernelRow kRnnLayers[] = {
#if defined(__x86_64__)
    rnn_row<Layers, CpuLevel::avx512>("rnn_f32_f32_layers_avx512"),
    rnn_row<Layers, CpuLevel::avx2>("rnn_f32_f32_layers_avx2"),
#endif
    rnn_row<Layers, CpuLevel::baseline>("rnn_f32_f32_layers_baseline"),
};
const RegisterRows registered(kRnnLayers);

}  // namespace
}  // namespace trine::cpu
