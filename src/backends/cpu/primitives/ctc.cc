// CTC loss and gradient by the forward-backward recursion over the labels with blanks between them,
//
//   z = blank l1 blank l2 ... lS blank      (2S + 1 states)
//   alpha[t][s] = p[t][z_s] * (alpha[t-1][s] + alpha[t-1][s-1] + alpha[t-1][s-2] if z_s is a label other than z_{s-2})
//   beta[t][s]  = the same from the end, without p[t][z_s];   occupancy[t][k] = sum of alpha beta over z_s = k, / P
//   d loss / d ln p[t][k] = -occupancy[t][k];   to logits: p[t][k] - occupancy[t][k]
//
// in logarithms and f64. A batch entry is one unit of work.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/error.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr double kNever = -INFINITY;

const CtcLossProblem& of(const Problem& problem) { return std::get<CtcLossProblem>(problem); }

double log_add(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  const double most = a > b ? a : b;
  return most + std::log1p(std::exp(-std::fabs(a - b)));
}

[[noreturn]] void fail(std::string_view what, int64_t got, int64_t least, int64_t most) {
  throw Error(ErrorCode::invalid_argument, "ctc_loss: " + std::string(what) + " " + std::to_string(got) + "; want " +
                                               std::to_string(least) + " to " + std::to_string(most));
}

struct Scratch {
  double *alpha, *beta, *next, *occupancy, *norm;  // [T][states], [states], [states], [C], [T]

  Scratch(const CtcLossProblem& p, Carver& carver) {
    const auto states = static_cast<size_t>(2 * p.max_label + 1);
    alpha = carver.take<double>(static_cast<size_t>(p.steps) * states);
    beta = carver.take<double>(states);
    next = carver.take<double>(states);
    occupancy = carver.take<double>(static_cast<size_t>(p.classes));
    norm = carver.take<double>(static_cast<size_t>(p.steps));
  }
};

// One batch entry.
class Entry {
 public:
  Entry(const CtcLossProblem& p, const Args& args, int64_t b, const Scratch& s)
      : p_(p),
        s_(s),
        b_(b),
        x_(static_cast<const float*>(args.in[0])),
        labels_(static_cast<const int32_t*>(args.in[1]) + b * p.max_label),
        steps_(static_cast<const int32_t*>(args.in[2])[b]),
        count_(static_cast<const int32_t*>(args.in[3])[b]),
        loss_(static_cast<float*>(args.out[0])),
        dx_(static_cast<float*>(args.out[1])) {
    if (steps_ < 0 || steps_ > p.steps) fail("input length", steps_, 0, p.steps);
    if (count_ < 0 || count_ > p.max_label) fail("label length", count_, 0, p.max_label);
    for (int64_t i = 0; i < count_; ++i)
      if (labels_[i] < 0 || labels_[i] >= p.classes || labels_[i] == p.blank)
        fail("label (which may not be the blank)", labels_[i], 0, p.classes - 1);
  }

  void run() {
    for (int64_t t = 0; t < steps_; ++t) s_.norm[t] = p_.softmax ? log_sum(row(t)) : 0;
    const double total = forward();
    const bool infeasible = total == kNever;
    loss_[b_] = infeasible && p_.zero_infinity ? 0 : static_cast<float>(-total);
    if (!dx_) return;
    for (int64_t t = infeasible ? 0 : steps_; t < p_.steps; ++t) std::fill_n(dx_ + (row(t) - x_), p_.classes, 0.f);
    if (!infeasible) backward(total);
  }

 private:
  int64_t states() const { return 2 * count_ + 1; }
  const float* row(int64_t t) const { return x_ + (t * p_.batch + b_) * p_.classes; }
  int64_t symbol(int64_t s) const { return s % 2 ? labels_[s / 2] : p_.blank; }
  bool may_skip_to(int64_t s) const { return s % 2 && s >= 2 && symbol(s) != symbol(s - 2); }

  double log_sum(const float* x) const {
    const double most = *std::max_element(x, x + p_.classes);
    double sum = 0;
    for (int64_t k = 0; k < p_.classes; ++k) sum += std::exp(x[k] - most);
    return most + std::log(sum);
  }
  double log_p(int64_t t, int64_t k) const {
    const double x = row(t)[k];
    return p_.softmax ? x - s_.norm[t] : std::log(x);
  }

  double forward() {
    const int64_t n = states();
    if (steps_ == 0) return count_ == 0 ? 0 : kNever;
    double* now = s_.alpha;
    std::fill_n(now, n, kNever);
    now[0] = log_p(0, p_.blank);
    if (n > 1) now[1] = log_p(0, symbol(1));
    for (int64_t t = 1; t < steps_; ++t, now += n)
      for (int64_t s = 0; s < n; ++s) {
        double sum = now[s];
        if (s >= 1) sum = log_add(sum, now[s - 1]);
        if (may_skip_to(s)) sum = log_add(sum, now[s - 2]);
        now[n + s] = sum + log_p(t, symbol(s));
      }
    return n > 1 ? log_add(now[n - 1], now[n - 2]) : now[0];
  }

  // s_.beta of step t from that of step t + 1.
  void step_back(int64_t t) {
    const int64_t n = states();
    for (int64_t s = 0; s < n; ++s) s_.next[s] = s_.beta[s] + log_p(t + 1, symbol(s));
    for (int64_t s = 0; s < n; ++s) {
      double sum = s_.next[s];
      if (s + 1 < n) sum = log_add(sum, s_.next[s + 1]);
      if (s + 2 < n && may_skip_to(s + 2)) sum = log_add(sum, s_.next[s + 2]);
      s_.beta[s] = sum;
    }
  }

  void backward(double total) {
    const int64_t n = states();
    std::fill_n(s_.beta, n, kNever);
    s_.beta[n - 1] = 0;
    if (n > 1) s_.beta[n - 2] = 0;
    for (int64_t t = steps_; t-- > 0;) {
      if (t + 1 < steps_) step_back(t);
      std::fill_n(s_.occupancy, p_.classes, 0.0);
      for (int64_t s = 0; s < n; ++s) s_.occupancy[symbol(s)] += std::exp(s_.alpha[t * n + s] + s_.beta[s] - total);
      write(t);
    }
  }

  void write(int64_t t) {
    const float* x = row(t);
    float* dx = dx_ + (x - x_);
    for (int64_t k = 0; k < p_.classes; ++k) {
      const double o = s_.occupancy[k];
      dx[k] = static_cast<float>(p_.softmax ? std::exp(x[k] - s_.norm[t]) - o : x[k] == 0 ? 0 : -o / x[k]);
    }
  }

  const CtcLossProblem& p_;
  const Scratch& s_;
  int64_t b_;
  const float* x_;
  const int32_t* labels_;
  int64_t steps_, count_;
  float *loss_, *dx_;
};

size_t workspace(const Problem& problem, int threads) {
  Carver carver;
  Scratch(of(problem), carver);
  return carver.used() * static_cast<size_t>(threads);
}

void run(const Problem& problem, const Args& args) {
  const CtcLossProblem& p = of(problem);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  const size_t each = workspace(problem, 1);
  pool.run(static_cast<int>(p.batch), [&](int b, int thread) {
    Carver carver(static_cast<char*>(args.workspace) + static_cast<size_t>(thread) * each);
    Entry(p, args, b, Scratch(p, carver)).run();
  });
}

const char* fits(const Problem& problem) {
  const CtcLossProblem& p = of(problem);
  if (p.blank < 0 || p.blank >= p.classes) return "the blank is no class";
  return p.batch > 1 << 30 ? "more than 2^30 sequences" : nullptr;
}

const KernelRow kCtc[] = {
    {.name = "ctc_loss_f32_f32_baseline",
     .op = OpKind::ctc_loss,
     .needs = CpuLevel::baseline,
     .fits = fits,
     .cost = [](const Problem& p, int threads) { return flops(p) / 5e8 / threads; },
     .workspace_bytes = workspace,
     .run = run},
};
const RegisterRows registered(kCtc);

}  // namespace
}  // namespace trine::cpu
