// Strided copies with scaling and conversion. The last dimension is the run.
#include "backends/cpu/primitives/transform/transform.h"

#include "backends/cpu/kernels/deal.h"

namespace trine::cpu {

TransformKernel transform_kernel(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kTransformAvx512;
  if (level == CpuLevel::avx2) return kTransformAvx2;
#endif
  return kTransformBaseline;
}

namespace {

using namespace dnn;

struct Axis {
  int64_t size, in, out;
};

// Dimensions from the outside in, neighbours that are one run on both sides joined.
struct Axes {
  Axis axis[kMaxRank];
  int count = 0;

  explicit Axes(const TransformProblem& p) {
    for (size_t i = 0; i < p.dims.size(); ++i) {
      const Axis a{p.dims[i], p.in_strides[i], p.out_strides[i]};
      if (a.size == 1) continue;
      if (count && axis[count - 1].in == a.in * a.size && axis[count - 1].out == a.out * a.size) {
        axis[count - 1] = {axis[count - 1].size * a.size, a.in, a.out};
      } else {
        axis[count++] = a;
      }
    }
    if (count == 0) axis[count++] = {1, 1, 1};
  }
};

void run(CpuLevel level, const Problem& problem, const Args& args) {
  const auto& p = std::get<TransformProblem>(problem);
  if (element_count(p.dims) == 0) return;
  const Axes axes(p);
  const Axis run = axes.axis[axes.count - 1];
  const int64_t per_run = pieces(run.size);
  const auto in_bytes = static_cast<int64_t>(byte_size(p.in)), out_bytes = static_cast<int64_t>(byte_size(p.out));
  deal(level, problem, args, element_count(p.dims) / run.size * per_run, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % per_run * kPieceElements;
      int64_t position = unit / per_run, from = first * run.in, to = first * run.out;
      for (int i = axes.count - 2; i >= 0; position /= axes.axis[i--].size) {
        from += position % axes.axis[i].size * axes.axis[i].in;
        to += position % axes.axis[i].size * axes.axis[i].out;
      }
      transform_kernel(level)({p.in, p.out, static_cast<const char*>(args.in[0]) + from * in_bytes,
                               static_cast<char*>(args.out[0]) + to * out_bytes, run.in, run.out,
                               std::min(kPieceElements, run.size - first), p.alpha, p.beta});
    }
  });
}

bool is_known(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16 || type == DType::i8 || type == DType::u8 ||
         type == DType::i32;
}

const char* fits(const Problem& problem) {
  const auto& p = std::get<TransformProblem>(problem);
  if (p.dims.size() > kMaxRank) return "more than 16 dimensions";
  if (p.in_strides.size() != p.dims.size() || p.out_strides.size() != p.dims.size())
    return "a stride for each dimension is needed";
  return is_known(p.in) && is_known(p.out) ? nullptr : "a type other than f32, f16, bf16, i8, u8, i32";
}

template <CpuLevel kLevel>
KernelRow row(std::string_view name) {
  KernelRow row = stream_row<kLevel, run>(name, OpKind::transform, fits);
  row.in = row.out = DType::none;
  return row;
}

const KernelRow kRows[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512>("transform_strided_avx512"),
    row<CpuLevel::avx2>("transform_strided_avx2"),
#endif
    row<CpuLevel::baseline>("transform_strided_baseline"),
};
const RegisterRows registered(kRows);

}  // namespace
}  // namespace trine::cpu
