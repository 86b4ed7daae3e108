// Contractions of f16, bf16 and f32 in any mixture by the f32 kernels: inputs are widened into the workspace, the
// output is rounded from there. Slower than f32, but every such problem has a row.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/half/half.h"
#include "backends/cpu/kernels/workspace.h"
#include "base/float_formats.h"
#include "dnn/kernel_row.h"
#include "dnn/operands.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {

const HalfIsa& half_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx2) return kHalfAvx2;
#endif
  return kHalfBaseline;
}

namespace {

using namespace dnn;

constexpr int64_t kGrain = 16384;

const char* types_refusal(const ElementTypes& t) {
  if (t.are_f32()) return "operands of f32 throughout";
  bool fits = is_half_or_f32(t.in) && is_half_or_f32(t.weights) && is_half_or_f32(t.out) && t.bias == DType::f32 &&
              !t.scale_per_channel;
  return fits ? nullptr : "operands other than f16, bf16 and f32";
}

// The same problem in f32, its output and residual dense.
Problem in_f32(const Problem& problem) {
  Problem f32 = problem;
  if (auto* conv = std::get_if<ConvProblem>(&f32)) conv->types = {}, conv->out_pixel_stride = 0;
  if (auto* matmul = std::get_if<MatmulProblem>(&f32)) matmul->types = {}, matmul->out_row_stride = 0;
  return f32;
}

// Rows of the output: where the problem wants them, and how long they are.
struct OutputRows {
  int64_t count, length, stride;

  explicit OutputRows(const Problem& problem) {
    if (const auto* p = std::get_if<ConvProblem>(&problem)) {
      count = p->n * volume(p->out), length = p->out_channels, stride = pixel_stride(p->out_pixel_stride, length);
    } else {
      const auto& m = std::get<MatmulProblem>(problem);
      count = element_count(batch_of(m)) * m.m, length = m.n, stride = pixel_stride(m.out_row_stride, length);
    }
  }
};

// Operands in f32, where they are not already.
struct Scratch {
  float *in[2], *out, *residual;
  char* inner;

  Scratch(Carver& carver, const Problem& problem, size_t inner_bytes) {
    OperandSizes sizes = operand_sizes(problem), dense = operand_sizes(in_f32(problem));
    for (int i = 0; i < 2; ++i) in[i] = carver.take<float>(static_cast<size_t>(sizes.in[i]));
    out = carver.take<float>(static_cast<size_t>(dense.out[0]));
    residual = carver.take<float>(static_cast<size_t>(dense.residual));
    inner = carver.take<char>(inner_bytes);
  }
};

struct Call {
  const HalfIsa& isa;
  const Problem& problem;
  const Args& args;
  ElementTypes types = types_of(problem);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();

  const float* widened(DType type, const void* from, int64_t n, float* to) const {
    if (type == DType::f32 || !from) return static_cast<const float*>(from);
    pool.parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
      isa.widen(type, static_cast<const uint16_t*>(from) + begin, end - begin, to + begin);
    });
    return to;
  }

  // body(dense, strided, n) for every row of the output.
  template <class Body>
  void for_rows(float* dense, const void* strided, Body body) const {
    OutputRows rows(problem);
    auto bytes = static_cast<int64_t>(byte_size(types.out));
    pool.parallel_for(
        rows.count, std::max<int64_t>(1, kGrain / std::max<int64_t>(rows.length, 1)), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            body(dense + i * rows.length,
                 const_cast<char*>(static_cast<const char*>(strided)) + i * rows.stride * bytes, rows.length);
        });
  }

  void run(const KernelRow& row) const {
    Carver carver(args.workspace);
    Problem f32 = in_f32(problem);
    Scratch s(carver, problem, 0);
    OperandSizes sizes = operand_sizes(problem);
    Args inner;
    inner.in[0] = widened(types.in, args.in[0], sizes.in[0], s.in[0]);
    inner.in[1] = widened(types.weights, args.in[1], sizes.in[1], s.in[1]);
    if (sizes.residual) {
      for_rows(s.residual, args.residual, [&](float* to, const void* from, int64_t n) {
        types.out == DType::f32 ? (void)std::memcpy(to, from, static_cast<size_t>(n) * 4)
                                : isa.widen(types.out, from, n, to);
      });
      inner.residual = s.residual;
    }
    inner.out[0] = s.out;
    inner.packed = args.packed;
    inner.bias = args.bias;
    inner.workspace = s.inner;
    inner.pool = args.pool;
    row.run(f32, inner);
    for_rows(s.out, args.out[0], [&](const float* from, void* to, int64_t n) {
      types.out == DType::f32 ? (void)std::memcpy(to, from, static_cast<size_t>(n) * 4)
                              : isa.narrow(types.out, from, n, to);
    });
  }
};

void prepack(const KernelRow& row, const Problem& problem, const void* weights, void* packed) {
  const HalfIsa& isa = half_isa(std::min(row.needs, cpu_level()));
  DType type = types_of(problem).weights;
  std::vector<float> f32(static_cast<size_t>(type == DType::f32 ? 0 : operand_sizes(problem).weights[0]));
  if (type != DType::f32) isa.widen(type, weights, static_cast<int64_t>(f32.size()), f32.data());
  const void* list[kMostWeights] = {type == DType::f32 ? weights : f32.data()};
  row.prepack(in_f32(problem), std::span<const void* const>(list), packed);
}

enum class Kind { conv, transposed, matmul };

// The f32 rows that do the work. The registry is complete once programs run.
const KernelRow& inner_row(Kind kind, CpuLevel level) {
  constexpr std::string_view kNames[] = {"conv_f32_f32_indirect_gemm_", "conv_transposed_f32_f32_phases_",
                                         "matmul_f32_f32_panels_"};
  static const auto rows = [&] {
    std::array<std::array<const KernelRow*, 3>, 3> found{};
    for (size_t k = 0; k < 3; ++k)
      for (size_t l = 0; l < 3; ++l)
        found[k][l] = find_row(std::string(kNames[k]) + std::string(trine::name(static_cast<CpuLevel>(l))));
    return found;
  }();
  return *rows[static_cast<size_t>(kind)][static_cast<size_t>(level)];
}

const char* refusal(const KernelRow& inner, const Problem& p) {
  if (const char* reason = types_refusal(types_of(p))) return reason;
  return inner.fits(in_f32(p));
}

double seconds(const KernelRow& inner, const Problem& p, int threads) {
  OperandSizes s = operand_sizes(p);
  double converted = static_cast<double>(s.in[0] + s.in[1] + s.out[0] + s.residual);
  return inner.cost(in_f32(p), threads) + converted * 0.3e-9 / threads;
}

size_t workspace(const KernelRow& inner, const Problem& p, int threads) {
  Carver carver;
  Scratch(carver, p, workspace_bytes(inner, in_f32(p), threads));
  return carver.used();
}

size_t packed(const KernelRow& inner, const Problem& p) { return packed_bytes(inner, in_f32(p)); }

void run(const KernelRow& inner, const Problem& p, const Args& args) {
  Call{half_isa(inner.needs), p, args}.run(inner);
}

template <Kind kKind, CpuLevel kLevel>
const KernelRow& inner() {
  return inner_row(kKind, kLevel);
}

template <Kind kKind, CpuLevel kLevel>
KernelRow row(std::string_view name) {
  return {
      .name = name,
      .op = kKind == Kind::matmul ? OpKind::matmul : OpKind::conv,
      .needs = kLevel,
      .in = DType::f16,
      .out = DType::f16,
      .packing = kKind == Kind::transposed ? Packing::panels16_by_phase : Packing::panels16,
      .fits = [](const Problem& p) { return refusal(inner<kKind, kLevel>(), p); },
      .cost = [](const Problem& p, int threads) { return seconds(inner<kKind, kLevel>(), p, threads); },
      .workspace_bytes = [](const Problem& p, int threads) { return workspace(inner<kKind, kLevel>(), p, threads); },
      .packed_bytes = [](const Problem& p) { return packed(inner<kKind, kLevel>(), p); },
      .prepack = [](const Problem& p, std::span<const void* const> weights,
                    void* to) { prepack(inner<kKind, kLevel>(), p, weights[0], to); },
      .run = [](const Problem& p, const Args& args) { run(inner<kKind, kLevel>(), p, args); }};
}

const KernelRow kByF32[] = {
#if defined(__x86_64__)
    row<Kind::conv, CpuLevel::avx512>("conv_f16_f16_by_f32_avx512"),
    row<Kind::transposed, CpuLevel::avx512>("conv_transposed_f16_f16_by_f32_avx512"),
    row<Kind::matmul, CpuLevel::avx512>("matmul_f16_f16_by_f32_avx512"),
    row<Kind::conv, CpuLevel::avx2>("conv_f16_f16_by_f32_avx2"),
    row<Kind::transposed, CpuLevel::avx2>("conv_transposed_f16_f16_by_f32_avx2"),
    row<Kind::matmul, CpuLevel::avx2>("matmul_f16_f16_by_f32_avx2"),
#endif
    row<Kind::conv, CpuLevel::baseline>("conv_f16_f16_by_f32_baseline"),
    row<Kind::transposed, CpuLevel::baseline>("conv_transposed_f16_f16_by_f32_baseline"),
    row<Kind::matmul, CpuLevel::baseline>("matmul_f16_f16_by_f32_baseline"),
};
const RegisterRows registered(kByF32);

}  // namespace
}  // namespace trine::cpu
