// Transposed convolutions of 8-bit integers as plain ones: the input's pixels are set `stride` apart among pixels that
// stand for 0, the filters are turned around. So sums are exact and the epilogue is that of the plain rows; most of the
// multiplications are with zeros.
//
//   y[o] = sum of x[i] w[t],  o = i * stride + t * dilation - pad      is, with i' = i * stride and t' = kernel - 1 -
//   t, y[o] = sum of x'[o + t' * dilation - pad'] w'[t'],                 pad' = (kernel - 1) * dilation - pad
#include <cstring>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

ConvProblem plain(const ConvProblem& p) {
  ConvProblem q = p;
  q.transposed = false;
  q.in_pixel_stride = 0;
  q.stride = {1, 1, 1};
  for (size_t i = 0; i < 3; ++i) {
    q.in[i] = p.in[i] ? (p.in[i] - 1) * p.stride[i] + 1 : 0;
    q.pad_begin[i] = (p.kernel[i] - 1) * p.dilation[i] - p.pad_begin[i];
  }
  return q;
}

const ConvProblem& of(const Problem& problem) { return std::get<ConvProblem>(problem); }

// The plain row that the cost model prefers on such a machine.
const KernelRow* inner_row(const Problem& q, CpuLevel level, CpuFeatures features) {
  const KernelRow* best = nullptr;
  for (const KernelRow* row : rows_of(OpKind::conv))
    if (runs_on(*row, level, features) && !row->fits(q) && (!best || row->cost(q, 1) < best->cost(q, 1))) best = row;
  return best;
}

struct Scratch {
  uint8_t* x;
  char* inner;

  Scratch(Carver& carver, const ConvProblem& q, size_t inner_bytes) {
    x = carver.take<uint8_t>(static_cast<size_t>(q.n * volume(q.in) * q.in_channels));
    inner = carver.take<char>(inner_bytes);
  }
};

void set_apart(const ConvProblem& p, const ConvProblem& q, const uint8_t* x, int zero, ThreadPool& pool, uint8_t* to) {
  const int64_t channels = p.in_channels, ldx = pixel_stride(p.in_pixel_stride, channels);
  const int64_t lines = q.n * q.in[0] * q.in[1], line_bytes = q.in[2] * channels;
  pool.parallel_for(
      lines, std::max<int64_t>(1, 16384 / std::max<int64_t>(line_bytes, 1)), [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          uint8_t* out = to + line * line_bytes;
          std::memset(out, zero, static_cast<size_t>(line_bytes));
          const int64_t y = line % q.in[1], z = line / q.in[1] % q.in[0], n = line / q.in[1] / q.in[0];
          if (y % p.stride[1] || z % p.stride[0]) continue;
          const uint8_t* from = x + ((n * p.in[0] + z / p.stride[0]) * p.in[1] + y / p.stride[1]) * p.in[2] * ldx;
          for (int64_t i = 0; i < p.in[2]; ++i)
            std::memcpy(out + i * p.stride[2] * channels, from + i * ldx, static_cast<size_t>(channels));
        }
      });
}

// [C, M/groups, taps] -> [M, C/groups, taps backwards].
std::vector<int8_t> turned(const ConvProblem& p, const int8_t* w) {
  const int64_t taps = volume(p.kernel), in = p.in_per_group(), out = p.out_per_group();
  std::vector<int8_t> to(static_cast<size_t>(p.in_channels * out * taps));
  for (int64_t g = 0; g < p.groups; ++g)
    for (int64_t c = 0; c < in; ++c)
      for (int64_t m = 0; m < out; ++m)
        for (int64_t t = 0; t < taps; ++t)
          to[static_cast<size_t>(((g * out + m) * in + c) * taps + taps - 1 - t)] =
              w[((g * in + c) * out + m) * taps + t];
  return to;
}

template <CpuLevel kLevel, bool kVnni>
struct Row {
  static const KernelRow& inner(const Problem& q) { return *inner_row(q, kLevel, {.vnni = kVnni}); }

  static const char* fits(const Problem& problem) {
    const ConvProblem& p = of(problem);
    if (!p.transposed || !p.types.are_integers()) return "no transposed convolution of 8-bit integers";
    if (p.in_layout == Layout::nchw) return "an nchw input";
    return inner_row(plain(p), kLevel, {.vnni = kVnni}) ? nullptr : "no plain convolution like it";
  }
  static double seconds(const Problem& problem, int threads) {
    const ConvProblem q = plain(of(problem));
    return inner(q).cost(q, threads) + static_cast<double>(q.n * volume(q.in) * q.in_channels) * 1e-10;
  }
  static size_t workspace(const Problem& problem, int threads) {
    const ConvProblem q = plain(of(problem));
    Carver carver;
    Scratch(carver, q, dnn::workspace_bytes(inner(q), q, threads));
    return carver.used();
  }
  static size_t packed(const Problem& problem) {
    const ConvProblem q = plain(of(problem));
    return dnn::packed_bytes(inner(q), q);
  }
  static void prepack(const Problem& problem, std::span<const void* const> weights, void* to) {
    const ConvProblem q = plain(of(problem));
    const std::vector<int8_t> w = turned(of(problem), static_cast<const int8_t*>(weights[0]));
    const void* list[kMostWeights] = {w.data()};
    inner(q).prepack(q, std::span<const void* const>(list), to);
  }
  static void run(const Problem& problem, const Args& args) {
    const ConvProblem& p = of(problem);
    const ConvProblem q = plain(p);
    ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
    Carver carver(args.workspace);
    const Scratch s(carver, q, dnn::workspace_bytes(inner(q), q, pool.threads()));
    const int zero = args.quantization ? args.quantization->in_zero : 0;
    set_apart(p, q, static_cast<const uint8_t*>(args.in[0]), zero, pool, s.x);
    Args own = args;
    own.in[0] = s.x;
    own.workspace = s.inner;
    inner(q).run(q, own);
  }

  static KernelRow make(std::string_view name) {
    return {.name = name,
            .op = OpKind::conv,
            .needs = kLevel,
            .also_needs = {.vnni = kVnni},
            .in = DType::u8,
            .out = DType::u8,
            .packing = Packing::panels16_int8,
            .fits = fits,
            .cost = seconds,
            .workspace_bytes = workspace,
            .packed_bytes = packed,
            .prepack = prepack,
            .run = run};
  }
};

const KernelRow kRows[] = {
#if defined(__x86_64__)
    Row<CpuLevel::avx512, true>::make("conv_transposed_int8_int8_zeros_avx512_vnni"),
    Row<CpuLevel::avx2, false>::make("conv_transposed_int8_int8_zeros_avx2"),
#endif
    Row<CpuLevel::baseline, false>::make("conv_transposed_int8_int8_zeros_baseline"),
};
const RegisterRows registered(kRows);

}  // namespace
}  // namespace trine::cpu
