// Gradients of recurrent weights: of each cell a few products over all steps and batch entries at once,
//
//   dW = dsums^T x    dR = dsums^T h_{t-1}    (gru's candidate: (dn r)^T h_{t-1}, or dn^T (r h_{t-1}))    dV = dh^T (o
//   tanh c)
//
// and sums over them for biases and peepholes. Steps past an entry's length count as zeros, whatever x holds there.
#include <algorithm>
#include <cmath>

#include "backends/cpu/primitives/rnn/rnn_pass.h"

namespace trine::cpu {
namespace {

using namespace dnn;

int64_t widest(const RnnProblem& p) {
  return std::max({p.input, p.hidden, p.layers > 1 ? p.directions() * p.output() : p.output()});
}

struct WeightsScratch {
  float *turned, *gathered, *panels, *sums,
      *gate;  // dgates [row][items], a right side, the same in panels, sums of rows
  char* tables;

  WeightsScratch(const GemmIsa& isa, const RnnProblem& p, int threads, Carver& carver) {
    const auto floats = [&](int64_t n) { return carver.take<float>(static_cast<size_t>(n)); };
    const int64_t items = p.steps * p.batch;
    turned = floats(items * p.gradient_row());
    gathered = floats(items * widest(p));
    panels = floats(panels_floats(items, widest(p)));
    sums = floats(p.gradient_row());
    gate = floats(p.hidden);
    tables = carver.take<char>(static_cast<size_t>(threads) * Product::table_bytes(isa, p.gradient_row()));
  }
};

class Weights : RnnPassState<WeightsScratch> {
 public:
  using Scratch = WeightsScratch;
  static constexpr double kEfficiency = 0.5;
  static constexpr int kMostThreads = INT_MAX;
  static constexpr bool kReadsWeights = false;

  static const char* fits(const Problem& problem) {
    return rnn_of(problem).pass == RnnPass::backward_weights ? invalid(rnn_of(problem))
                                                             : "another pass than backward_weights";
  }

  Weights(CpuLevel level, const RnnProblem& p, const Args& args, ThreadPool& pool)
      : RnnPassState(level, p, args, pool, p.dropout) {}

  void run() {
    float* dw = static_cast<float*>(args_.out[0]);
    for (int64_t layer = 0; layer < p_.layers; ++layer)
      for (int64_t d = 0; d < p_.directions(); ++d) {
        const int64_t cell = walk_.cell(layer, d);
        product_.isa().transpose(gradients(cell), p_.gradient_row(), s_.turned, items(), items(), p_.gradient_row());
        if (dw && (layer > 0 || !p_.skip_input)) {
          gather_inputs(layer);
          multiply(0, sums_width(), p_.layer_input(layer), dw);
          dw += sums_width() * p_.layer_input(layer);
        }
        recurrent(cell, d);
        biases(cell);
        peepholes(cell, d);
        projection(cell);
      }
  }

 private:
  int64_t items() const { return p_.steps * p_.batch; }
  int64_t sums_width() const { return p_.gates() * p_.hidden; }
  const float* gradients(int64_t cell) const {
    return static_cast<const float*>(args_.in[6]) + walk_.row_at(cell, 0, 0, p_.gradient_row());
  }
  ReserveRow reserve(int64_t cell, int64_t t, int64_t b) const {
    auto* rows = const_cast<float*>(static_cast<const float*>(args_.in[5]));  // read only
    return {p_, rows + walk_.row_at(cell, t, b, p_.reserve_row())};
  }
  float* out(int operand, int64_t offset) const {
    auto* data = static_cast<float*>(args_.out[operand]);
    return data ? data + offset : nullptr;
  }

  // to [rows][columns] (+)= turned[first, first + rows) * gathered [items][columns]
  void multiply(int64_t first, int64_t rows, int64_t columns, float* to) {
    pack_panels(product_.isa(), s_.gathered, columns, false, items(), columns, s_.panels);
    product_({s_.turned + first * items(), items()}, rows, items(), s_.panels, columns, {to, columns, p_.add});
  }

  // gathered rows from `source(t, b)`, zeros where that is null or no step is.
  template <class Source>
  void gather(int64_t width, Source source) {
    for (int64_t t = 0; t < p_.steps; ++t)
      for (int64_t b = 0; b < p_.batch; ++b) {
        float* to = s_.gathered + (t * p_.batch + b) * width;
        const float* from = walk_.is_active(t, b) ? source(t, b) : nullptr;
        from ? (void)std::copy_n(from, width, to) : (void)std::fill_n(to, width, 0.f);
      }
  }

  void gather_inputs(int64_t layer) {
    const int64_t in = p_.layer_input(layer), out = p_.output();
    if (layer == 0)
      return gather(
          in, [&](int64_t t, int64_t b) { return static_cast<const float*>(args_.in[0]) + (t * p_.batch + b) * in; });
    for (int64_t t = 0; t < p_.steps; ++t)
      for (int64_t b = 0; b < p_.batch; ++b)
        for (int64_t d = 0; d < p_.directions(); ++d)
          std::copy_n(reserve(walk_.cell(layer - 1, d), t, b).h, out, s_.gathered + walk_.joined_at(d, t, b));
    const int64_t n = items() * in;
    if (dropout_.any())
      dropout_.for_factors(static_cast<uint64_t>((layer - 1) * n), n, [&](int64_t i, float f) { s_.gathered[i] *= f; });
  }

  const float* previous(int64_t cell, int64_t d, int64_t t, int64_t b, bool of_cell) const {
    if (const int64_t before = walk_.previous(d, t, b); before >= 0) {
      const ReserveRow row = reserve(cell, before, b);
      return of_cell ? row.aside : row.h;
    }
    const auto* initial = static_cast<const float*>(args_.in[of_cell ? 2 : 1]);
    return initial ? initial + (cell * p_.batch + b) * (of_cell ? p_.hidden : p_.output()) : nullptr;
  }

  void recurrent(int64_t cell, int64_t d) {
    const int64_t n = p_.hidden, width = p_.output(), joint = joint_gates(p_) * n;
    float* dr = out(1, cell * sums_width() * width);
    if (!dr) return;
    gather(width, [&](int64_t t, int64_t b) { return previous(cell, d, t, b, false); });
    multiply(0, joint, width, dr);
    if (p_.kind != RnnKind::gru) return;
    if (!p_.linear_before_reset) reset(cell);
    multiply(sums_width(), n, width, dr + joint * width);
  }

  // gathered h_{t-1} becomes r h_{t-1}.
  void reset(int64_t cell) {
    const int64_t n = p_.hidden;
    for (int64_t t = 0; t < p_.steps; ++t)
      for (int64_t b = 0; b < p_.batch; ++b) {
        isa_.sigmoid(reserve(cell, t, b).sums + n, n, s_.gate);
        float* h = s_.gathered + (t * p_.batch + b) * n;
        for (int64_t i = 0; i < n; ++i) h[i] *= s_.gate[i];
      }
  }

  void set(float* to, const float* from, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) to[i] = p_.add ? to[i] + from[i] : from[i];
  }

  void biases(int64_t cell) {
    const int64_t rows = sums_width(), n = p_.hidden, parts = p_.bias == RnnBias::both ? 2 : 1;
    float* to = p_.bias == RnnBias::none ? nullptr : out(2, cell * parts * rows);
    if (!to) return;
    std::fill_n(s_.sums, rows + n, 0.f);
    const float* from = gradients(cell);
    for (int64_t i = 0; i < items(); ++i, from += p_.gradient_row())
      for (int64_t j = 0; j < rows + n; ++j) s_.sums[j] += from[j];
    if (p_.bias != RnnBias::recurrent) set(to, s_.sums, rows);
    if (p_.bias == RnnBias::input) return;
    float* of_state = p_.bias == RnnBias::both ? to + rows : to;
    const bool apart = p_.kind == RnnKind::gru;
    set(of_state, s_.sums, apart ? 2 * n : rows);
    if (apart) set(of_state + 2 * n, s_.sums + rows, n);
  }

  void peepholes(int64_t cell, int64_t d) {
    const int64_t n = p_.hidden;
    float* to = p_.peephole ? out(3, cell * 3 * n) : nullptr;
    if (!to) return;
    std::fill_n(s_.sums, 3 * n, 0.f);
    for (int64_t t = 0; t < p_.steps; ++t)
      for (int64_t b = 0; b < p_.batch; ++b) {
        if (!walk_.is_active(t, b)) continue;
        const float* gates = gradients(cell) + (t * p_.batch + b) * p_.gradient_row();
        const float *before = previous(cell, d, t, b, true), *c = reserve(cell, t, b).aside;
        for (int64_t i = 0; i < n; ++i) {
          if (before) s_.sums[i] += gates[i] * before[i], s_.sums[2 * n + i] += gates[2 * n + i] * before[i];
          s_.sums[n + i] += gates[n + i] * c[i];
        }
      }
    set(to, s_.sums, 3 * n);
  }

  void projection(int64_t cell) {
    float* to = p_.projection ? out(4, cell * p_.projection * p_.hidden) : nullptr;
    if (!to) return;
    gather(p_.hidden, [&](int64_t t, int64_t b) { return reserve(cell, t, b).unprojected; });
    multiply(sums_width() + p_.hidden, p_.projection, p_.hidden, to);
  }
};

const KernelRow kRnnWeights[] = {
#if defined(__x86_64__)
    rnn_row<Weights, CpuLevel::avx512>("rnn_backward_weights_f32_f32_avx512"),
    rnn_row<Weights, CpuLevel::avx2>("rnn_backward_weights_f32_f32_avx2"),
#endif
    rnn_row<Weights, CpuLevel::baseline>("rnn_backward_weights_f32_f32_baseline"),
};
const RegisterRows registered(kRnnWeights);

}  // namespace
}  // namespace trine::cpu
