// One call of a normalisation: its operands by name, and its statistics.
#pragma once

#include <cmath>

#include "backends/cpu/kernels/deal.h"
#include "backends/cpu/kernels/workspace.h"
#include "backends/cpu/primitives/norm/norm.h"

namespace trine::cpu {

inline const NormIsa& norm_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kNormAvx512;
  if (level == CpuLevel::avx2) return kNormAvx2;
#endif
  return kNormBaseline;
}

struct NormCall {
  CpuLevel level;
  const dnn::Problem& problem;
  const dnn::NormProblem& p;
  const dnn::Args& args;
  const NormIsa& isa;
  float *mean, *inverse;  // [sets]

  NormCall(CpuLevel at, const dnn::Problem& what, const dnn::Args& with, Carver& carver)
      : level(at), problem(what), p(std::get<dnn::NormProblem>(what)), args(with), isa(norm_isa(at)) {
    mean = carver.take<float>(static_cast<size_t>(p.sets()));
    inverse = carver.take<float>(static_cast<size_t>(p.sets()));
  }

  bool forward() const { return p.pass == dnn::Pass::forward; }
  const float* in(int i) const { return static_cast<const float*>(args.in[i]); }
  float* out(int i) const { return static_cast<float*>(args.out[i]); }
  const float* scale() const { return p.scale ? in(forward() ? 1 : 2) : nullptr; }
  const float* shift() const { return p.shift ? in(2) : nullptr; }
  int64_t set_elements() const { return p.channels_per_set() * p.pixels * (p.kind == dnn::NormKind::batch ? p.n : 1); }

  // A tile at `at` elements from the beginning of every operand.
  NormTile tile(int64_t at) const {
    NormTile t;
    t.x = in(0) + at, t.out = out(0) + at, t.scale = scale();
    t.relu = p.relu;
    if (forward()) {
      t.z = p.add ? static_cast<const float*>(args.residual) + at : nullptr;
      t.shift = shift();
    } else {
      t.dy = in(1) + at;
      t.y = p.relu ? in(4) + at : nullptr;
      t.dz = p.add && out(3) ? out(3) + at : nullptr;
    }
    return t;
  }

  // Statistics that the caller has: running ones for inference, saved ones for gradients.
  void take_given() const {
    const float* given = in(3);
    for (int64_t set = 0; set < p.sets(); ++set) {
      const float second = given[p.sets() + set];
      mean[set] = given[set];
      inverse[set] =
          p.uses_running() ? static_cast<float>(1 / std::sqrt(static_cast<double>(second) + p.epsilon)) : second;
    }
  }

  // Of no elements: mean and variance are 0, and running ones stay.
  void put(int64_t set, double average, double sum_of_squares) const {
    const auto count = static_cast<double>(set_elements());
    const double variance = count > 0 ? sum_of_squares / count : 0;
    if (count == 0) average = 0;
    mean[set] = static_cast<float>(average);
    inverse[set] = static_cast<float>(1 / std::sqrt(variance + p.epsilon));
    if (float* saved = out(1)) saved[set] = mean[set], saved[p.sets() + set] = inverse[set];
    if (p.kind != dnn::NormKind::batch || !out(2) || !in(3)) return;
    const double unbiased = count > 1 ? sum_of_squares / (count - 1) : variance, f = count > 0 ? p.momentum : 0;
    out(2)[set] = static_cast<float>((1 - f) * in(3)[set] + f * average);
    out(2)[p.channels + set] = static_cast<float>((1 - f) * in(3)[p.channels + set] + f * unbiased);
  }

  // The gradients of a channel's scale and shift.
  void put_gradient(int64_t channel, double sum, double sum_x) const {
    if (p.scale && out(1)) out(1)[channel] = static_cast<float>(sum_x);
    if (p.shift && out(2)) out(2)[channel] = static_cast<float>(sum);
  }
};

// Images whose channels lie together are taken column by column; runs of a channel, or of all channels of a pixel
// that stand alone, one by one.
inline bool norm_by_runs(const dnn::NormProblem& p) {
  return p.pixels == 1 ? p.kind != dnn::NormKind::batch : p.layout == dnn::Layout::nchw;
}

// A row for sets that are runs of memory, or for the others. `kWorkspace` is a function of problem and threads.
template <CpuLevel kLevel, auto kRun, auto kWorkspace, bool kRuns>
dnn::KernelRow norm_row(std::string_view name) {
  dnn::KernelRow row =
      stream_row<kLevel, kRun>(name, dnn::OpKind::norm, [](const dnn::Problem& problem) -> const char* {
        const auto& p = std::get<dnn::NormProblem>(problem);
        if (p.kind == dnn::NormKind::group && (p.groups < 1 || p.channels % p.groups))
          return "groups that do not divide the channels";
        return norm_by_runs(p) == kRuns ? nullptr : kRuns ? "sets that are no runs" : "sets that are runs";
      });
  row.workspace_bytes = kWorkspace;
  return row;
}

}  // namespace trine::cpu
