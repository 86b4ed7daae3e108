// Softmax and its gradient: rows one by one, or blocks of columns when the axis is not the innermost.
#include "backends/cpu/primitives/softmax/softmax.h"

#include "backends/cpu/kernels/deal.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kColumns = 64;  // of one piece of work

const SoftmaxIsa& softmax_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kSoftmaxAvx512;
  if (level == CpuLevel::avx2) return kSoftmaxAvx2;
#endif
  return kSoftmaxBaseline;
}

void run_softmax(CpuLevel level, const Problem& problem, const Args& args) {
  const auto& p = std::get<SoftmaxProblem>(problem);
  if (p.axis * p.inner == 0) return;
  const SoftmaxIsa& isa = softmax_isa(level);
  const bool forward = p.pass == Pass::forward, rows = p.inner == 1;
  const auto kernel = rows ? (forward ? isa.row : isa.row_gradient) : (forward ? isa.columns : isa.columns_gradient);
  const auto x = static_cast<const float*>(args.in[0]), dy = static_cast<const float*>(args.in[1]);
  const int64_t blocks = pieces(p.inner, kColumns);
  deal(level, problem, args, p.outer * blocks, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t column = unit % blocks * kColumns, at = unit / blocks * p.axis * p.inner + column;
      kernel({p.kind, x + at, forward ? nullptr : dy + at, static_cast<float*>(args.out[0]) + at, p.axis, p.inner,
              static_cast<int>(std::min(kColumns, p.inner - column))});
    }
  });
}

const KernelRow kRows[] = {
#if defined(__x86_64__)
    stream_row<CpuLevel::avx512, run_softmax>("softmax_f32_avx512", OpKind::softmax),
    stream_row<CpuLevel::avx2, run_softmax>("softmax_f32_avx2", OpKind::softmax),
#endif
    stream_row<CpuLevel::baseline, run_softmax>("softmax_f32_baseline", OpKind::softmax),
};
const RegisterRows registered(kRows);

}  // namespace
}  // namespace trine::cpu
