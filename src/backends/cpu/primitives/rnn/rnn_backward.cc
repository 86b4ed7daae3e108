// Gradients of recurrent layers to their inputs and initial states, from the last layer and the last step back. On the
// way the gradients of the gates' sums are written to `dgates`, from which rnn_weights.cc makes those of the weights.
//
// Of one step (primes: the step before, dh: of h_t from outputs and from the step after):
//   lstm    do = dh tanh(c) o(1-o);  dc += dh o (1 - tanh(c)^2) + p_o do;  di = dc g i(1-i);  df = dc c' f(1-f);
//           dg = dc i (1-g^2);  dc' = dc f + p_i di + p_f df
//   gru     dn = dh (1-z)(1-n^2);  dz = dh (h' - n) z(1-z);  dr = dn q r(1-r), q = R_h h' + b with linear_before_reset,
//           else ds = R_h^T dn, dr = ds h' r(1-r);  dh' = dh z + (R_h^T (dn r) or ds r)
//   and dh' += R^T of the gates' gradients, dx = W^T of them
#include <algorithm>
#include <cmath>

#include "backends/cpu/primitives/rnn/rnn_pass.h"

namespace trine::cpu {
namespace {

using namespace dnn;

struct BackwardScratch {
  float* joined[2];  // gradients of the outputs of a layer and of the one before, in turn
  float *dh, *dh_next, *dc, *dfull, *gates;
  char* tables;

  BackwardScratch(const GemmIsa& isa, const RnnProblem& p, int threads, Carver& carver) {
    const auto floats = [&](int64_t n) { return carver.take<float>(static_cast<size_t>(n)); };
    const int64_t items = p.steps * p.batch;
    for (float*& j : joined) j = floats(p.layers > 1 ? items * p.directions() * p.output() : 0);
    dh = floats(p.batch * p.output());
    dh_next = floats(p.batch * p.output());
    dc = floats(p.batch * p.hidden);
    dfull = floats(p.batch * p.hidden);
    gates = floats(5 * p.hidden);
    tables = carver.take<char>(static_cast<size_t>(threads) * Product::table_bytes(isa, std::max(items, p.batch)));
  }
};

class BackwardData : RnnPassState<BackwardScratch> {
 public:
  using Scratch = BackwardScratch;
  static constexpr double kEfficiency = 0.2;
  static constexpr int kMostThreads = INT_MAX;
  static constexpr bool kReadsWeights = true;

  static const char* fits(const Problem& problem) {
    return rnn_of(problem).pass == RnnPass::backward_data ? invalid(rnn_of(problem))
                                                          : "another pass than backward_data";
  }

  BackwardData(CpuLevel level, const RnnProblem& p, const Args& args, ThreadPool& pool)
      : RnnPassState(level, p, args, pool, p.dropout) {}

  void run() {
    if (p_.batch == 0) return;  // every output is empty
    for (int64_t layer = p_.layers; layer-- > 0;) {
      dy_ = layer + 1 < p_.layers ? s_.joined[layer % 2] : nullptr;
      float* dx = layer ? s_.joined[(layer - 1) % 2] : static_cast<float*>(args_.out[0]);
      for (int64_t d = 0; d < p_.directions(); ++d) run_cell(layer, d, dx);
      if (layer > 0 && dropout_.any()) drop(layer - 1, dx);
    }
  }

 private:
  float* gradient(int64_t cell, int64_t t, int64_t b) const {
    return static_cast<float*>(args_.out[3]) + walk_.row_at(cell, t, b, p_.gradient_row());
  }
  ReserveRow reserve(int64_t cell, int64_t t, int64_t b) const {
    auto* rows = const_cast<float*>(static_cast<const float*>(args_.in[5]));  // read only
    return {p_, rows + walk_.row_at(cell, t, b, p_.reserve_row())};
  }
  // The state that step t continues, of [L*D, B, width] or of a row; null: zeros.
  const float* previous(int64_t cell, int64_t d, int64_t t, int64_t b, bool of_cell) const {
    if (const int64_t before = walk_.previous(d, t, b); before >= 0) {
      const ReserveRow row = reserve(cell, before, b);
      return of_cell ? row.aside : row.h;
    }
    const auto* initial = static_cast<const float*>(args_.in[of_cell ? 2 : 1]);
    return initial ? initial + (cell * p_.batch + b) * (of_cell ? p_.hidden : p_.output()) : nullptr;
  }

  void run_cell(int64_t layer, int64_t d, float* dx) {
    const int64_t cell = walk_.cell(layer, d);
    const RnnPanels<const float> w = panels_of(p_, args_.packed, cell);
    begin(7, cell, p_.output(), s_.dh);
    begin(8, cell, p_.hidden, s_.dc);
    for (int64_t step = p_.steps; step-- > 0;) run_step(cell, d, walk_.time(d, step), w);
    end(1, cell, p_.output(), s_.dh);
    if (p_.kind == RnnKind::lstm) end(2, cell, p_.hidden, s_.dc);
    if (dx && p_.steps > 0) to_inputs(layer, d, cell, w, dx);
  }

  void begin(int operand, int64_t cell, int64_t width, float* to) const {
    const int64_t n = p_.batch * width;
    const auto* from = static_cast<const float*>(args_.in[operand]);
    from ? (void)std::copy_n(from + cell * n, n, to) : (void)std::fill_n(to, n, 0.f);
  }
  void end(int operand, int64_t cell, int64_t width, const float* from) const {
    const int64_t n = p_.batch * width;
    if (args_.out[operand]) std::copy_n(from, n, static_cast<float*>(args_.out[operand]) + cell * n);
  }

  void to_inputs(int64_t layer, int64_t d, int64_t cell, const RnnPanels<const float>& w, float* dx) {
    const int64_t items = p_.steps * p_.batch, in = p_.layer_input(layer), stride = p_.gradient_row();
    const float* sums = gradient(cell, 0, 0);
    if (layer > 0 || !p_.skip_input) {
      product_({sums, stride}, items, p_.gates() * p_.hidden, w.input, in, {dx, in, d > 0});
      return;
    }
    for (int64_t i = 0; i < items; ++i)
      for (int64_t j = 0; j < in; ++j) {
        float sum = d > 0 ? dx[i * in + j] : 0;
        for (int64_t g = 0; g < p_.gates(); ++g) sum += sums[i * stride + g * in + j];
        dx[i * in + j] = sum;
      }
  }

  void run_step(int64_t cell, int64_t d, int64_t t, const RnnPanels<const float>& w) {
    const int64_t n = p_.hidden, out = p_.output(), stride = p_.gradient_row(), joint = joint_gates(p_) * n;
    const GradientRow first(p_, gradient(cell, t, 0));
    for (int64_t b = 0; b < p_.batch; ++b) receive(GradientRow(p_, first.sums + b * stride), d, t, b);
    if (p_.projection) product_({first.h, stride}, p_.batch, out, w.projection, n, {s_.dfull, n});
    for (int64_t b = 0; b < p_.batch; ++b)
      if (walk_.is_active(t, b)) cell_gradients(cell, d, t, b, GradientRow(p_, first.sums + b * stride), w);
    if (p_.kind == RnnKind::gru) candidate_to_state(cell, d, t, first, w);
    product_({first.sums, stride}, p_.batch, joint, w.recurrent, out, {s_.dh_next, out});
    for (int64_t b = 0; b < p_.batch; ++b) {
      if (!walk_.is_active(t, b)) continue;
      // Of gru, dh holds what passes beside the gates by now; of the others nothing does.
      float *dh = s_.dh + b * out, *next = s_.dh_next + b * out;
      for (int64_t i = 0; i < out; ++i) dh[i] = p_.kind == RnnKind::gru ? dh[i] + next[i] : next[i];
    }
  }

  // dh of the step: what came from the step after, and from the outputs.
  void receive(const GradientRow& row, int64_t d, int64_t t, int64_t b) {
    const int64_t out = p_.output();
    std::fill_n(row.sums, p_.gradient_row(), 0.f);
    if (!walk_.is_active(t, b)) return;
    const float* dy =
        dy_ ? dy_ + walk_.joined_at(d, t, b) : static_cast<const float*>(args_.in[6]) + walk_.y_at(d, t, b);
    for (int64_t i = 0; i < out; ++i) row.h[i] = s_.dh[b * out + i] += dy[i];
  }

  void cell_gradients(int64_t cell, int64_t d, int64_t t, int64_t b, const GradientRow& to,
                      const RnnPanels<const float>& w) {
    const ReserveRow row = reserve(cell, t, b);
    if (p_.kind == RnnKind::lstm) {
      lstm(row, previous(cell, d, t, b, true), p_.projection ? s_.dfull + b * p_.hidden : to.h, s_.dc + b * p_.hidden,
           to, w);
    } else if (p_.kind == RnnKind::gru) {
      gru(row, previous(cell, d, t, b, false), s_.dh + b * p_.hidden, to);
    } else {
      for (int64_t i = 0; i < p_.hidden; ++i) {
        const float h = row.h[i], slope = p_.kind == RnnKind::rnn_tanh ? 1 - h * h : h > 0 ? 1 : 0;
        to.sums[i] = passed(row.sums[i], to.h[i] * slope);
      }
    }
  }

  // The gradient of a sum that `clip` may hold.
  float passed(float sum, float gradient) const { return p_.clip > 0 && std::fabs(sum) >= p_.clip ? 0 : gradient; }

  void lstm(const ReserveRow& row, const float* before, const float* dh, float* dc, const GradientRow& to,
            const RnnPanels<const float>& w) {
    const int64_t n = p_.hidden;
    float *in = s_.gates, *out = in + n, *forget = out + n, *fresh = forget + n, *tanh_c = fresh + n;
    isa_.sigmoid(row.sums, 3 * n, in);
    isa_.tanh(row.sums + 3 * n, n, fresh);
    isa_.tanh(row.aside, n, tanh_c);
    for (int64_t i = 0; i < n; ++i) {
      const float p_in = p_.peephole ? w.peephole[i] : 0, p_out = p_.peephole ? w.peephole[n + i] : 0;
      const float p_forget = p_.peephole ? w.peephole[2 * n + i] : 0, c = row.aside[i],
                  c_before = before ? before[i] : 0;
      const float d_out = passed(row.sums[n + i], dh[i] * tanh_c[i] * out[i] * (1 - out[i]));
      float d_cell = dc[i] + dh[i] * out[i] * (1 - tanh_c[i] * tanh_c[i]) + p_out * d_out;
      if (c <= p_.cell_min || c >= p_.cell_max) d_cell = 0;
      const float d_in = passed(row.sums[i], d_cell * fresh[i] * in[i] * (1 - in[i]));
      const float d_forget = passed(row.sums[2 * n + i], d_cell * c_before * forget[i] * (1 - forget[i]));
      to.sums[i] = d_in;
      to.sums[n + i] = d_out;
      to.sums[2 * n + i] = d_forget;
      to.sums[3 * n + i] = passed(row.sums[3 * n + i], d_cell * in[i] * (1 - fresh[i] * fresh[i]));
      dc[i] = d_cell * forget[i] + p_in * d_in + p_forget * d_forget;
    }
  }

  // Leaves dh z in dh. Without linear_before_reset the gradient of r waits for R_h^T.
  void gru(const ReserveRow& row, const float* before, float* dh, const GradientRow& to) {
    const int64_t n = p_.hidden;
    float *z = s_.gates, *r = z + n, *fresh = r + n;
    isa_.sigmoid(row.sums, 2 * n, z);
    isa_.tanh(row.sums + 2 * n, n, fresh);
    for (int64_t i = 0; i < n; ++i) {
      const float h = before ? before[i] : 0;
      const float d_fresh = passed(row.sums[2 * n + i], dh[i] * (1 - z[i]) * (1 - fresh[i] * fresh[i]));
      to.sums[i] = passed(row.sums[i], dh[i] * (h - fresh[i]) * z[i] * (1 - z[i]));
      to.sums[2 * n + i] = d_fresh;
      to.candidate[i] = p_.linear_before_reset ? d_fresh * r[i] : d_fresh;
      if (p_.linear_before_reset) to.sums[n + i] = passed(row.sums[n + i], d_fresh * row.aside[i] * r[i] * (1 - r[i]));
      dh[i] *= z[i];
    }
  }

  void candidate_to_state(int64_t cell, int64_t d, int64_t t, const GradientRow& first,
                          const RnnPanels<const float>& w) {
    const int64_t n = p_.hidden, stride = p_.gradient_row();
    product_({first.candidate, stride}, p_.batch, n, w.candidate, n, {s_.dfull, n});
    for (int64_t b = 0; b < p_.batch; ++b) {
      if (!walk_.is_active(t, b)) continue;
      const ReserveRow row = reserve(cell, t, b);
      const GradientRow to(p_, first.sums + b * stride);
      const float* before = previous(cell, d, t, b, false);
      float *ds = s_.dfull + b * n, *dh = s_.dh + b * n, *r = s_.gates;
      if (!p_.linear_before_reset) isa_.sigmoid(row.sums + n, n, r);
      for (int64_t i = 0; i < n; ++i) {
        if (p_.linear_before_reset) {
          dh[i] += ds[i];
          continue;
        }
        to.sums[n + i] = passed(row.sums[n + i], ds[i] * (before ? before[i] : 0) * r[i] * (1 - r[i]));
        dh[i] += ds[i] * r[i];
      }
    }
  }

  const float* dy_ = nullptr;  // of a layer that another reads; null: the operand
};

const KernelRow kRnnBackward[] = {
#if defined(__x86_64__)
    rnn_row<BackwardData, CpuLevel::avx512>("rnn_backward_data_f32_f32_avx512"),
    rnn_row<BackwardData, CpuLevel::avx2>("rnn_backward_data_f32_f32_avx2"),
#endif
    rnn_row<BackwardData, CpuLevel::baseline>("rnn_backward_data_f32_f32_baseline"),
};
const RegisterRows registered(kRnnBackward);

}  // namespace
}  // namespace trine::cpu
