// Rows of the problems of one element at a time.
#include "backends/cpu/primitives/pointwise/pointwise.h"

#include <cmath>

#include "backends/cpu/kernels/deal.h"

namespace trine::cpu {

const PointwiseIsa& pointwise_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kPointwiseAvx512;
  if (level == CpuLevel::avx2) return kPointwiseAvx2;
#endif
  return kPointwiseBaseline;
}

namespace {

using namespace dnn;

// body(first, count) for each piece of [0, elements).
template <class Body>
void deal_pieces(CpuLevel level, const Problem& problem, const Args& args, int64_t elements, Body body) {
  deal(level, problem, args, pieces(elements), [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kPieceElements;
    body(first, std::min(end * kPieceElements, elements) - first);
  });
}

void run_activation(CpuLevel level, const Problem& problem, const Args& args) {
  const auto& p = std::get<ActivationProblem>(problem);
  const auto in = [&](int i) { return static_cast<const float*>(args.in[i]); };
  const PointwiseIsa& isa = pointwise_isa(level);
  deal_pieces(level, problem, args, p.elements, [&](int64_t first, int64_t count) {
    UnaryRun run{p.function, p.alpha, p.beta, in(0) + first, nullptr, nullptr, static_cast<float*>(args.out[0]) + first,
                 count};
    if (p.pass == Pass::forward) return isa.unary(run);
    run.y = in(1) + first, run.dy = in(2) + first;
    isa.unary_gradient(run);
  });
}

void run_dropout(CpuLevel level, const Problem& problem, const Args& args) {
  const auto& p = std::get<DropoutProblem>(problem);
  auto x = static_cast<const float*>(args.in[0]);
  auto y = static_cast<float*>(args.out[0]);
  const auto threshold = static_cast<uint64_t>(std::nearbyint(p.rate * 0x1p32));
  if (threshold > UINT32_MAX) {
    std::fill_n(y, p.elements, 0.f);
    return;
  }
  const auto scale = static_cast<float>(1 / (1 - p.rate));
  deal_pieces(level, problem, args, p.elements, [&](int64_t first, int64_t count) {
    pointwise_isa(level).dropout(
        {p.seed, p.offset, static_cast<uint32_t>(threshold), scale, first, x + first, y + first, count});
  });
}

// The dimensions of a binary problem, neighbours joined where b allows it, the run innermost.
struct BinaryAxes {
  struct Axis {
    int64_t size, b;  // b: stride of b, 0 where it repeats
  };
  Axis axis[kMaxRank + 1];
  int count = 0;

  explicit BinaryAxes(const BinaryProblem& p) {
    const size_t missing = p.dims.size() - p.b_dims.size();
    int64_t b_stride = 1;
    for (size_t i = p.dims.size(); i-- > 0;) {
      const int64_t size = p.dims[i], b_size = i < missing ? 1 : p.b_dims[i - missing];
      if (size != 1) put({size, b_size == 1 ? 0 : b_stride});
      b_stride *= b_size;
    }
    if (count == 0) put({1, 0});
    std::reverse(axis, axis + count);
  }
  const Axis& run() const { return axis[count - 1]; }

 private:
  void put(Axis a) {  // from the inside out
    if (count && axis[count - 1].b * axis[count - 1].size == a.b) {
      axis[count - 1].size *= a.size;
    } else {
      axis[count++] = a;
    }
  }
};

void run_binary(CpuLevel level, const Problem& problem, const Args& args) {
  const auto& p = std::get<BinaryProblem>(problem);
  const int64_t elements = element_count(p.dims);
  if (elements == 0) return;
  const BinaryAxes axes(p);
  const auto a = static_cast<const float*>(args.in[0]), b = static_cast<const float*>(args.in[1]);
  const auto c = p.reads_c() ? static_cast<const float*>(args.in[2]) : nullptr;
  const int64_t run = axes.run().size, per_run = pieces(run);
  deal(level, problem, args, elements / run * per_run, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t position = unit / per_run, b_at = 0;
      const int64_t inside = unit % per_run * kPieceElements, first = position * run + inside;
      for (int i = axes.count - 2; i >= 0; position /= axes.axis[i--].size)
        b_at += position % axes.axis[i].size * axes.axis[i].b;
      pointwise_isa(level).binary({p.op, p.alpha1, p.alpha2, p.beta, a + first, b + b_at + inside * axes.run().b,
                                   c ? c + first : nullptr, axes.run().b == 0, static_cast<float*>(args.out[0]) + first,
                                   std::min(kPieceElements, run - inside)});
    }
  });
}

const char* fits_binary(const Problem& problem) {
  const auto& p = std::get<BinaryProblem>(problem);
  if (p.dims.size() > kMaxRank) return "more than 16 dimensions";
  if (p.b_dims.size() > p.dims.size()) return "b has more dimensions than a";
  for (size_t i = 0; i < p.b_dims.size(); ++i)
    if (const int64_t b = p.b_dims[i]; b != 1 && b != p.dims[p.dims.size() - p.b_dims.size() + i])
      return "b does not broadcast to a";
  return nullptr;
}

const char* fits_dropout(const Problem& problem) {
  const double rate = std::get<DropoutProblem>(problem).rate;
  return rate >= 0 && rate <= 1 ? nullptr : "a rate outside [0, 1]";
}

const KernelRow kRows[] = {
#if defined(__x86_64__)
    stream_row<CpuLevel::avx512, run_activation>("activation_f32_avx512", OpKind::activation),
    stream_row<CpuLevel::avx512, run_binary>("binary_f32_avx512", OpKind::binary, fits_binary),
    stream_row<CpuLevel::avx512, run_dropout>("dropout_f32_avx512", OpKind::dropout, fits_dropout),
    stream_row<CpuLevel::avx2, run_activation>("activation_f32_avx2", OpKind::activation),
    stream_row<CpuLevel::avx2, run_binary>("binary_f32_avx2", OpKind::binary, fits_binary),
    stream_row<CpuLevel::avx2, run_dropout>("dropout_f32_avx2", OpKind::dropout, fits_dropout),
#endif
    stream_row<CpuLevel::baseline, run_activation>("activation_f32_baseline", OpKind::activation),
    stream_row<CpuLevel::baseline, run_binary>("binary_f32_baseline", OpKind::binary, fits_binary),
    stream_row<CpuLevel::baseline, run_dropout>("dropout_f32_baseline", OpKind::dropout, fits_dropout),
};
const RegisterRows registered(kRows);

}  // namespace
}  // namespace trine::cpu
