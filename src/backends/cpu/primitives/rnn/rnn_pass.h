// What the passes of rnn_layers.cc, rnn_backward.cc and rnn_weights.cc have in common: their state and their kernel
// rows.
#pragma once

#include <algorithm>
#include <climits>

#include "backends/cpu/primitives/rnn/rnn_layout.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {

inline const dnn::RnnProblem& rnn_of(const dnn::Problem& problem) { return std::get<dnn::RnnProblem>(problem); }

template <class Scratch>
class RnnPassState {
 protected:
  RnnPassState(CpuLevel level, const dnn::RnnProblem& p, const dnn::Args& args, ThreadPool& pool, float dropout)
      : isa_(rnn_isa(level)),
        p_(p),
        args_(args),
        walk_(p, args),
        carver_(args.workspace),
        s_(gemm_isa(level), p, pool.threads(), carver_),
        product_(gemm_isa(level), &pool, s_.tables),
        dropout_(dropout, args.in[4]) {}

  // Dropout of what `layer` hands to the next, or of its gradients: [T, B, D*P].
  void drop(int64_t layer, float* values) const {
    const int64_t n = p_.steps * p_.batch * p_.directions() * p_.output();
    dropout_.for_factors(static_cast<uint64_t>(layer * n), n, [&](int64_t i, float factor) { values[i] *= factor; });
  }

  const RnnIsa& isa_;
  const dnn::RnnProblem& p_;
  const dnn::Args& args_;
  RnnWalk walk_;
  Carver carver_;
  Scratch s_;
  Product product_;
  dnn::Dropout dropout_;
};

// A row of `Pass`, a class with
//   Scratch; Pass(level, problem, args, pool); run(); fits(problem)
//   kEfficiency, kMostThreads   of the cost model
//   kReadsWeights               whether it takes them packed
template <class Pass, CpuLevel kLevel>
dnn::KernelRow rnn_row(std::string_view name) {
  using dnn::Args, dnn::Problem;
  dnn::KernelRow row = {.name = name,
                        .op = dnn::OpKind::rnn,
                        .needs = kLevel,
                        .fits = Pass::fits,
                        .cost =
                            [](const Problem& p, int threads) {
                              return gemm_seconds(gemm_isa(kLevel), flops(p), bytes(p),
                                                  std::min(threads, Pass::kMostThreads), Pass::kEfficiency);
                            },
                        .workspace_bytes =
                            [](const Problem& p, int threads) {
                              Carver carver;
                              typename Pass::Scratch(gemm_isa(kLevel), rnn_of(p), threads, carver);
                              return carver.used();
                            },
                        .run =
                            [](const Problem& p, const Args& args) {
                              check_lengths(rnn_of(p), args);
                              Pass(kLevel, rnn_of(p), args, args.pool ? *args.pool : ThreadPool::serial()).run();
                            }};
  if (Pass::kReadsWeights) {
    row.packing = dnn::Packing::recurrent_layers;
    row.packed_bytes = packed_cells_bytes;
    row.prepack = pack_cells;
  }
  return row;
}

}  // namespace trine::cpu
