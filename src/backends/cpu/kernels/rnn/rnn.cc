// LSTM, GRU and RNN. The input's part of the gates is one matrix product for many steps at once; what remains per step
// is the product of the state with the recurrent weights (which also adds the input's part) and the cell.
//
// Packed, per direction:  input panels [I x G*H], recurrent panels [H x first gates], gru: recurrent panels [H x H] of
// the h gate, bias [G*H] (input and recurrent summed, but for gru's h gate), recurrent bias of the h gate [H],
// peepholes.

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/rnn/rnn_problem.h"
#include "backends/cpu/kernels/workspace.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kProjectedFloats = 128 << 10;  // of the gates made ahead, per direction: they stay in L2

// The packed pieces of one direction.
template <class T>
struct Weights {
  T *input, *recurrent, *recurrent_h, *bias, *bias_h, *peephole;

  Weights(const RnnProblem& p, Carver& carver) {
    using Float = std::remove_const_t<T>;
    bool gru = p.kind == RnnKind::gru;
    input = carver.take<Float>(static_cast<size_t>(panels_floats(p.input, p.gates() * p.hidden)));
    recurrent = carver.take<Float>(static_cast<size_t>(panels_floats(p.hidden, joint_gates(p) * p.hidden)));
    recurrent_h = carver.take<Float>(gru ? static_cast<size_t>(panels_floats(p.hidden, p.hidden)) : 0);
    bias = carver.take<Float>(static_cast<size_t>(p.gates() * p.hidden));
    bias_h = carver.take<Float>(gru ? static_cast<size_t>(p.hidden) : 0);
    peephole = carver.take<Float>(p.peephole ? static_cast<size_t>(3 * p.hidden) : 0);
  }
};

int64_t steps_ahead(const RnnProblem& p) {
  int64_t floats = std::max<int64_t>(p.batch * p.gates() * p.hidden, 1);
  return std::clamp<int64_t>(kProjectedFloats / floats, 1, std::max<int64_t>(p.steps, 1));
}

struct Scratch {
  float *gates, *states[2], *cell, *side;
  char* tables;

  Scratch(const GemmIsa& isa, const RnnProblem& p, int threads, Carver& carver) {
    auto state = static_cast<size_t>(p.batch * p.hidden);
    gates = carver.take<float>(static_cast<size_t>(steps_ahead(p) * p.batch * p.gates() * p.hidden));
    states[0] = carver.take<float>(state);
    states[1] = carver.take<float>(state);
    cell = carver.take<float>(state);
    side = carver.take<float>(state);
    tables = carver.take<char>(2 * static_cast<size_t>(threads) * Product::table_bytes(isa, steps_ahead(p) * p.batch));
  }
};

// One direction of a call.
class Direction {
 public:
  Direction(CpuLevel level, const RnnProblem& p, const Args& args, int64_t index, Scratch scratch, ThreadPool& pool)
      : gemm_(gemm_isa(level)),
        isa_(rnn_isa(level)),
        p_(p),
        args_(args),
        index_(index),
        scratch_(scratch),
        pool_(pool),
        weights_(weights_of(p, args, index)),
        walk_(p, args),
        bounds_{p.clip > 0 ? p.clip : INFINITY, p.cell_min, p.cell_max} {
    const LstmBounds none{INFINITY, -INFINITY, INFINITY};
    fitted_ =
        p.peephole || bounds_.clip < none.clip || bounds_.cell_min > none.cell_min || bounds_.cell_max < none.cell_max;
    reverse_ = p.direction == RnnDirection::reverse || index == 1;
  }

  void run() {
    int64_t state = p_.batch * p_.hidden;
    begin_states(state);
    for (int64_t done = 0; done < p_.steps;) {
      int64_t count = std::min(steps_ahead(p_), p_.steps - done);
      project(done, count);
      for (int64_t i = 0; i < count; ++i) step(done + i, gates_at(done, count, i));
      done += count;
    }
    for (int i : {1, 2})
      if (args_.out[i] && (i == 1 || p_.kind == RnnKind::lstm))
        std::copy_n(i == 1 ? h_ : scratch_.cell, state, static_cast<float*>(args_.out[i]) + index_ * state);
  }

 private:
  static Weights<const float> weights_of(const RnnProblem& p, const Args& args, int64_t index) {
    Carver carver(const_cast<void*>(args.packed));
    Weights<const float> weights(p, carver);
    for (int64_t i = 0; i < index; ++i) weights = Weights<const float>(p, carver);
    return weights;
  }

  int64_t time(int64_t step) const { return reverse_ ? p_.steps - 1 - step : step; }
  int64_t width() const { return p_.gates() * p_.hidden; }

  void begin_states(int64_t state) {
    auto initial = [&](int i, float* to) {
      auto from = static_cast<const float*>(args_.in[i]);
      from ? (void)std::copy_n(from + index_ * state, state, to) : (void)std::fill_n(to, state, 0.f);
    };
    initial(1, scratch_.states[0]);
    h_ = scratch_.states[0];
    if (p_.kind == RnnKind::lstm) initial(2, scratch_.cell);
  }

  // Gates of the input for steps [done, done + count); rows are in the order of time.
  void project(int64_t done, int64_t count) {
    int64_t first = reverse_ ? time(done + count - 1) : done;
    auto x = static_cast<const float*>(args_.in[0]) + first * p_.batch * p_.input;
    multiply(x, p_.input, count * p_.batch, weights_.input, width(), {weights_.bias, nullptr, scratch_.gates, width()});
  }

  float* gates_at(int64_t, int64_t count, int64_t i) const {
    return scratch_.gates + (reverse_ ? count - 1 - i : i) * p_.batch * width();
  }

  struct Target {
    const float* bias;
    const float* added;  // like c
    float* c;
    int64_t stride;
    bool backwards = false;
  };

  void multiply(const float* a, int64_t k, int64_t rows, const float* b, int64_t columns, const Target& to) {
    GemmJob job;
    job.rows = rows;
    job.columns = columns;
    job.kc = k;
    job.row_stride = k;
    job.b = b;
    job.backwards = to.backwards;
    auto linear = LinearRows::of_floats(a, k, to.c, to.stride);
    job.source = linear.source();
    job.epilogue.bias = to.bias;
    if (to.added) {
      job.epilogue.residual = Residual::before_activation;
      job.epilogue.residual_offset = to.added - to.c;
    }
    run_gemm(gemm_, job, &pool_, scratch_.tables);
  }

  void step(int64_t step, float* gates) {
    // Every other step reads the weights from the end: where they exceed a cache, a good part of them stays in it.
    multiply(h_, p_.hidden, p_.batch, weights_.recurrent, joint_gates(p_) * p_.hidden,
             {nullptr, gates, gates, width(), step % 2 == 1});
    const int64_t t = time(step);
    float* next = h_ == scratch_.states[0] ? scratch_.states[1] : scratch_.states[0];
    auto* y = static_cast<float*>(args_.out[0]);
    if (y) y += (t * p_.directions() + index_) * p_.batch * p_.hidden;
    if (y && !p_.sequence_lens) next = y;
    p_.kind == RnnKind::gru ? gru(gates, next) : simple(t, gates, next);
    if (p_.sequence_lens) hold(t, next, y);
    h_ = next;
  }

  // Entries that have no step t keep their state; their y is 0.
  void hold(int64_t t, float* next, float* y) const {
    const int64_t n = p_.hidden;
    for (int64_t b = 0; b < p_.batch; ++b) {
      const bool active = walk_.is_active(t, b);
      if (!active) std::copy_n(h_ + b * n, n, next + b * n);
      if (y) active ? (void)std::copy_n(next + b * n, n, y + b * n) : (void)std::fill_n(y + b * n, n, 0.f);
    }
  }

  void simple(int64_t t, float* gates, float* next) {
    for (int64_t b = 0; b < p_.batch; ++b, gates += width(), next += p_.hidden) {
      if (!walk_.is_active(t, b)) continue;
      float* c = scratch_.cell + b * p_.hidden;
      if (p_.kind == RnnKind::lstm) {
        fitted_ ? isa_.lstm_fitted(gates, p_.hidden, p_.peephole ? weights_.peephole : nullptr, bounds_, c, c, next)
                : isa_.lstm(gates, p_.hidden, c, c, next);
        continue;
      }
      if (p_.clip > 0) isa_.clip(gates, p_.hidden, p_.clip);
      (p_.kind == RnnKind::rnn_tanh ? isa_.tanh : isa_.relu)(gates, p_.hidden, next);
    }
  }

  void clip(float* gates, int64_t first, int64_t count) const {
    for (int64_t b = 0; b < p_.batch && p_.clip > 0; ++b) isa_.clip(gates + b * width() + first, count, p_.clip);
  }

  void gru(float* gates, float* next) {
    int64_t n = p_.hidden;
    clip(gates, 0, 2 * n);
    for (int64_t b = 0; b < p_.batch; ++b) isa_.gru_reset(gates + b * width(), n, h_ + b * n, scratch_.side + b * n);
    if (p_.linear_before_reset) {
      multiply(h_, n, p_.batch, weights_.recurrent_h, n, {weights_.bias_h, nullptr, scratch_.side, n});
      for (int64_t b = 0; b < p_.batch; ++b) isa_.gru_linear(gates + b * width(), n, scratch_.side + b * n);
    } else {
      float* fresh = gates + 2 * n;
      multiply(scratch_.side, n, p_.batch, weights_.recurrent_h, n, {weights_.bias_h, fresh, fresh, width()});
    }
    clip(gates, 2 * n, n);
    for (int64_t b = 0; b < p_.batch; ++b) isa_.gru_output(gates + b * width(), n, h_ + b * n, next + b * n);
  }

  const GemmIsa& gemm_;
  const RnnIsa& isa_;
  const RnnProblem& p_;
  const Args& args_;
  int64_t index_;
  Scratch scratch_;
  ThreadPool& pool_;
  Weights<const float> weights_;
  RnnWalk walk_;
  LstmBounds bounds_;
  bool fitted_;  // peepholes or a bound
  bool reverse_;
  const float* h_ = nullptr;
};

const RnnProblem& of(const Problem& problem) { return std::get<RnnProblem>(problem); }

const char* fits(const Problem& problem) {
  const RnnProblem& p = of(problem);
  if (p.pass != RnnPass::inference) return "a pass of training";
  if (p.layers != 1 || p.projection || p.skip_input || p.joined)
    return "layers, a projection, a skipped input or joined outputs";
  return p.bias != RnnBias::both ? "less than both biases" : invalid(p);
}

size_t packed(const Problem& problem) {
  Carver carver;
  for (int64_t d = 0; d < of(problem).directions(); ++d) Weights<float>(of(problem), carver);
  return carver.used();
}

void prepack(const Problem& problem, std::span<const void* const> weights, void* dst) {
  const RnnProblem& p = of(problem);
  const GemmIsa& isa = gemm_isa(cpu_level());
  Carver carver(dst);
  int64_t h = p.hidden, rows = p.gates() * h, joint = joint_gates(p) * h;
  for (int64_t d = 0; d < p.directions(); ++d) {
    Weights<float> to(p, carver);
    auto w = static_cast<const float*>(weights[0]) + d * rows * p.input;
    auto r = static_cast<const float*>(weights[1]) + d * rows * h;
    pack_panels(isa, w, p.input, true, p.input, rows, to.input);
    pack_panels(isa, r, h, true, h, joint, to.recurrent);
    if (p.kind == RnnKind::gru) pack_panels(isa, r + joint * h, h, true, h, h, to.recurrent_h);
    auto bias = static_cast<const float*>(weights[2]);
    for (int64_t i = 0; i < rows; ++i) {
      float wb = bias ? bias[d * 2 * rows + i] : 0, rb = bias ? bias[(d * 2 + 1) * rows + i] : 0;
      to.bias[i] = i < joint ? wb + rb : wb;
      if (i >= joint) to.bias_h[i - joint] = rb;
    }
    if (p.peephole) std::copy_n(static_cast<const float*>(weights[3]) + d * 3 * h, 3 * h, to.peephole);
  }
}

size_t workspace(CpuLevel level, const Problem& problem, int threads) {
  Carver carver;
  for (int64_t d = 0; d < of(problem).directions(); ++d) Scratch(gemm_isa(level), of(problem), threads, carver);
  return carver.used();
}

void run(CpuLevel level, const Problem& problem, const Args& args) {
  const RnnProblem& p = of(problem);
  check_lengths(p, args);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  auto run_direction = [&](int64_t index, ThreadPool& threads) {
    Carver carver(args.workspace);
    Scratch scratch(gemm_isa(level), p, pool.threads(), carver);
    for (int64_t i = 0; i < index; ++i) scratch = Scratch(gemm_isa(level), p, pool.threads(), carver);
    Direction(level, p, args, index, scratch, threads).run();
  };
  if (p.directions() == 1) return run_direction(0, pool);
  pool.run(2, [&](int part, int) { run_direction(part, ThreadPool::serial()); });
}

template <CpuLevel kLevel>
KernelRow row(std::string_view name) {
  return {
      .name = name,
      .op = OpKind::rnn,
      .needs = kLevel,
      .packing = Packing::recurrent,
      .fits = fits,
      .cost = [](const Problem& p,
                 int threads) { return gemm_seconds(gemm_isa(kLevel), flops(p), bytes(p), std::min(threads, 2), 0.3); },
      .workspace_bytes = [](const Problem& p, int threads) { return workspace(kLevel, p, threads); },
      .packed_bytes = packed,
      .prepack = prepack,
      .run = [](const Problem& p, const Args& args) { run(kLevel, p, args); }};
}

const KernelRow kRnn[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512>("rnn_f32_f32_avx512"),
    row<CpuLevel::avx2>("rnn_f32_f32_avx2"),
#endif
    row<CpuLevel::baseline>("rnn_f32_f32_baseline"),
};
const RegisterRows registered(kRnn);

}  // namespace
}  // namespace trine::cpu
