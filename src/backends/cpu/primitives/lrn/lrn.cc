// Local response normalisation, run by run. Where the window runs along other dimensions than the run, its taps are the
// neighbours inside the tensor, read where they lie; where it runs along the run, they are laid between zeros first.
#include "backends/cpu/primitives/lrn/lrn.h"

#include <vector>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/deal.h"
#include "backends/cpu/kernels/workspace.h"

namespace trine::cpu {
namespace {

using namespace dnn;

const LrnIsa& lrn_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kLrnAvx512;
  if (level == CpuLevel::avx2) return kLrnAvx2;
#endif
  return kLrnBaseline;
}

// Runs: the channels of a pixel (nhwc), a plane (nchw, across), a row of a plane (nchw, within).
int64_t run_length(const LrnProblem& p) {
  return p.layout == Layout::nhwc ? p.channels : p.within ? p.image[2] : volume(p.image);
}
int64_t elements(const LrnProblem& p) { return p.n * p.channels * volume(p.image); }

// Windows of the elements of a run; mirrored: those elements whose windows hold it.
class Windows {
 public:
  Windows(const LrnProblem& p, bool mirrored)
      : p_(p), before_((p.size - 1) / 2), after_(p.size / 2), length_(run_length(p)) {
    if (mirrored) std::swap(before_, after_);
  }

  // Sets the window and the taps of `run`, whose first element is base[number * length].
  void place(const float* base, int64_t number, LrnRun& run) {
    taps_.clear();
    run.window = base + number * length_;
    const bool channels_last = p_.layout == Layout::nhwc;
    if (channels_last && !p_.within) {
      lay_channels(run.window);
    } else if (!channels_last && p_.within) {
      lay_rows(run.window, number % p_.image[1]);
    } else if (channels_last) {
      near_pixels(number / p_.image[2] % p_.image[1], number % p_.image[2]);
    } else {
      near_channels(number % p_.channels);
    }
    if (channels_last != p_.within) run.window = laid_.data();
    run.taps = taps_.data(), run.taps_count = static_cast<int>(taps_.size());
  }

 private:
  void near_channels(int64_t c) {
    for (int64_t o = std::max(-before_, -c); o <= std::min(after_, p_.channels - 1 - c); ++o)
      taps_.push_back(o * length_);
  }
  void near_pixels(int64_t y, int64_t x) {
    for (int64_t j = std::max(-before_, -y); j <= std::min(after_, p_.image[1] - 1 - y); ++j)
      for (int64_t i = std::max(-before_, -x); i <= std::min(after_, p_.image[2] - 1 - x); ++i)
        taps_.push_back((j * p_.image[2] + i) * length_);
  }
  void lay_channels(const float* pixel) {
    laid_.assign(static_cast<size_t>(length_ + p_.size - 1), 0.f);
    std::copy_n(pixel, length_, laid_.begin() + before_);
    for (int64_t i = 0; i < p_.size; ++i) taps_.push_back(i);
  }
  void lay_rows(const float* row, int64_t y) {
    const int64_t width = length_ + p_.size - 1;
    laid_.assign(static_cast<size_t>(width * p_.size), 0.f);
    for (int64_t j = 0; j < p_.size; ++j) {
      const int64_t from = y - before_ + j;
      if (from >= 0 && from < p_.image[1])
        std::copy_n(row + (from - y) * length_, length_, laid_.begin() + j * width + before_);
      for (int64_t i = 0; i < p_.size; ++i) taps_.push_back(j * width + i);
    }
  }

  const LrnProblem& p_;
  int64_t before_, after_, length_;
  std::vector<int64_t> taps_;
  std::vector<float> laid_;
};

LrnRun run_of(const LrnProblem& p) {
  const auto window = static_cast<float>(p.within ? p.size * p.size : p.size);
  LrnRun run{};
  run.count = run_length(p);
  run.scale = p.alpha / window, run.beta = p.beta, run.k = p.k;
  return run;
}

// body(run, windows, number) for every run; windows are the range's own.
template <class Body>
void for_runs(CpuLevel level, const Problem& problem, const Args& args, bool mirrored, Body body) {
  const auto& p = std::get<LrnProblem>(problem);
  deal(level, problem, args, elements(p) / run_length(p), [&](int64_t begin, int64_t end) {
    Windows windows(p, mirrored);
    for (int64_t number = begin; number < end; ++number) {
      LrnRun run = run_of(p);
      body(run, windows, number);
    }
  });
}

struct Scratch {  // of gradients
  float *d, *terms;
  Scratch(const LrnProblem& p, Carver& carver) {
    d = carver.take<float>(static_cast<size_t>(elements(p)));
    terms = carver.take<float>(static_cast<size_t>(elements(p)));
  }
};

void run_backward(CpuLevel level, const Problem& problem, const Args& args) {
  const LrnIsa& isa = lrn_isa(level);
  const auto x = static_cast<const float*>(args.in[0]), dy = static_cast<const float*>(args.in[1]);
  const auto dx = static_cast<float*>(args.out[0]);
  Carver carver(args.workspace);
  const Scratch s(std::get<LrnProblem>(problem), carver);
  for_runs(level, problem, args, false, [&](LrnRun run, Windows& windows, int64_t number) {
    const int64_t at = number * run.count;
    windows.place(x, number, run);
    run.out = s.d + at;
    isa.denominators(run);
    run.x = x + at, run.dy = dy + at, run.d = s.d + at, run.out = s.terms + at;
    isa.terms(run);
  });
  for_runs(level, problem, args, true, [&](LrnRun run, Windows& windows, int64_t number) {
    const int64_t at = number * run.count;
    windows.place(s.terms, number, run);
    run.x = x + at, run.dy = dy + at, run.d = s.d + at, run.out = dx + at;
    isa.gradient(run);
  });
}

void run(CpuLevel level, const Problem& problem, const Args& args) {
  const auto& p = std::get<LrnProblem>(problem);
  if (elements(p) == 0) return;
  if (p.pass == Pass::backward) return run_backward(level, problem, args);
  const auto x = static_cast<const float*>(args.in[0]);
  for_runs(level, problem, args, false, [&](LrnRun run, Windows& windows, int64_t number) {
    windows.place(x, number, run);
    run.x = x + number * run.count, run.out = static_cast<float*>(args.out[0]) + number * run.count;
    lrn_isa(level).forward(run);
  });
}

size_t workspace(const Problem& problem, int) {
  const auto& p = std::get<LrnProblem>(problem);
  Carver carver;
  if (p.pass == Pass::backward) Scratch(p, carver);
  return carver.used();
}

const char* fits(const Problem& problem) {
  const auto& p = std::get<LrnProblem>(problem);
  return p.size >= 1 && p.k > 0 ? nullptr : "a window of nothing, or k not above 0";
}

template <CpuLevel kLevel>
KernelRow row(std::string_view name) {
  KernelRow row = stream_row<kLevel, run>(name, OpKind::lrn, fits);
  row.workspace_bytes = workspace;
  return row;
}

const KernelRow kRows[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512>("lrn_f32_avx512"),
    row<CpuLevel::avx2>("lrn_f32_avx2"),
#endif
    row<CpuLevel::baseline>("lrn_f32_baseline"),
};
const RegisterRows registered(kRows);

}  // namespace
}  // namespace trine::cpu
