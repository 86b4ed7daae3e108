// What rows without a contraction share: what they cost, how their work is dealt among threads, how a row is written.
#pragma once

#include <algorithm>

#include "backends/cpu/kernels/gemm/gemm.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {

inline double stream_seconds(CpuLevel level, const dnn::Problem& problem, int threads) {
  return gemm_seconds(gemm_isa(level), dnn::flops(problem), dnn::bytes(problem), threads, 0.25);
}

inline ThreadPool& pool_of(const dnn::Args& args) { return args.pool ? *args.pool : ThreadPool::serial(); }

// Runs body(begin, end) over [0, units), in one piece when the problem is too small to be divided.
inline void deal(CpuLevel level, const dnn::Problem& problem, const dnn::Args& args, int64_t units,
                 FunctionRef<void(int64_t begin, int64_t end)> body) {
  const bool small = stream_seconds(level, problem, 1) < kMinForkSeconds;
  if (units > 0) pool_of(args).parallel_for(units, small ? units : 1, body);
}

// Pieces of `size` elements: what is dealt of a long run.
constexpr int64_t kPieceElements = 4096;
inline int64_t pieces(int64_t size, int64_t piece = kPieceElements) { return (size + piece - 1) / piece; }

inline const char* fits_always(const dnn::Problem&) { return nullptr; }

template <CpuLevel kLevel, void (*kRun)(CpuLevel, const dnn::Problem&, const dnn::Args&)>
dnn::KernelRow stream_row(std::string_view name, dnn::OpKind op,
                          const char* (*fits)(const dnn::Problem&) = fits_always) {
  return {.name = name,
          .op = op,
          .needs = kLevel,
          .fits = fits,
          .cost = [](const dnn::Problem& p, int threads) { return stream_seconds(kLevel, p, threads); },
          .run = [](const dnn::Problem& p, const dnn::Args& args) { kRun(kLevel, p, args); }};
}

}  // namespace trine::cpu
