// Transposed convolution without inserted zeros: the outputs whose position has the same remainder by the stride in
// every axis (a phase) are reached by the same kernel positions. Each phase is a dense convolution over the input:
//
//   o = phase + stride * q;   kernel position k reaches o from  i = (o + pad - k * dilation) / stride, when whole.
#include <algorithm>
#include <numeric>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

// One axis of a phase. The kernel positions that reach it are kernel + t * kernel_step for t < taps, each from input
// index first + t * first_step for q = 0 (q adds to it).
struct PhaseAxis {
  int64_t phase, count = 0, taps = 0;
  int64_t kernel = 0, kernel_step, first = 0, first_step;

  PhaseAxis(const ConvProblem& p, size_t axis, int64_t phase_) : phase(phase_) {
    int64_t stride = p.stride[axis], common = std::gcd(stride, p.dilation[axis]);
    kernel_step = stride / common;
    first_step = -(p.dilation[axis] / common);
    count = p.out[axis] > phase ? (p.out[axis] - phase - 1) / stride + 1 : 0;
    for (; kernel < std::min(kernel_step, p.kernel[axis]); ++kernel) {
      int64_t from = phase + p.pad_begin[axis] - kernel * p.dilation[axis];
      if (from % stride) continue;
      first = from / stride;
      taps = (p.kernel[axis] - kernel - 1) / kernel_step + 1;
      break;
    }
  }
};

struct Phase {
  PhaseAxis z, y, x;

  int64_t taps() const { return z.taps * y.taps * x.taps; }
  int64_t outputs() const { return z.count * y.count * x.count; }
};

template <class F>
void for_each_phase(const ConvProblem& p, F visit) {
  for (int64_t z = 0; z < p.stride[0]; ++z)
    for (int64_t y = 0; y < p.stride[1]; ++y)
      for (int64_t x = 0; x < p.stride[2]; ++x) visit(Phase{{p, 0, z}, {p, 1, y}, {p, 2, x}});
}

struct PhaseRows {
  const ConvProblem& p;
  const Phase& phase;
  const float* x;
  float* y;
  const float* zeros;
  int64_t ldx, ldy;

  static void fill(const void* context, int64_t row, int count, const void** a, void** c) {
    auto& rows = *static_cast<const PhaseRows*>(context);
    const Phase& f = rows.phase;
    for (int i = 0; i < count; ++i) {
      int64_t at = row + i;
      int64_t qx = at % f.x.count, qy = at / f.x.count % f.y.count;
      int64_t qz = at / (f.x.count * f.y.count) % f.z.count, n = at / f.outputs();
      const ConvProblem& p = rows.p;
      int64_t oz = f.z.phase + qz * p.stride[0], oy = f.y.phase + qy * p.stride[1], ox = f.x.phase + qx * p.stride[2];
      c[i] = rows.y + (((n * p.out[0] + oz) * p.out[1] + oy) * p.out[2] + ox) * rows.ldy;
      rows.fill_row(n, qz, qy, qx, count, a + i);
    }
  }

  void fill_row(int64_t n, int64_t qz, int64_t qy, int64_t qx, int count, const void** a) const {
    for (int64_t tz = 0; tz < phase.z.taps; ++tz)
      for (int64_t ty = 0; ty < phase.y.taps; ++ty)
        for (int64_t tx = 0; tx < phase.x.taps; ++tx, a += count) {
          int64_t iz = phase.z.first + tz * phase.z.first_step + qz;
          int64_t iy = phase.y.first + ty * phase.y.first_step + qy;
          int64_t ix = phase.x.first + tx * phase.x.first_step + qx;
          bool inside = iz >= 0 && iz < p.in[0] && iy >= 0 && iy < p.in[1] && ix >= 0 && ix < p.in[2];
          *a = inside ? x + (((n * p.in[0] + iz) * p.in[1] + iy) * p.in[2] + ix) * ldx : zeros;
        }
  }
};

GemmJob job_of(const ConvProblem& p, const Phase& phase) {
  GemmJob job;
  job.rows = p.n * phase.outputs();
  job.columns = p.out_per_group();
  // A phase that no kernel position reaches is bias only: one tap of no channels.
  job.taps = static_cast<int>(std::max<int64_t>(phase.taps(), 1));
  job.kc = phase.taps() ? p.in_per_group() : 0;
  job.row_stride = pixel_stride(p.in_pixel_stride, p.in_channels);
  return job;
}

int64_t phase_floats(const ConvProblem& p, const Phase& phase) {
  return panels_floats(phase.taps() * p.in_per_group(), p.out_per_group());
}

// The largest table of pointers that a phase needs.
size_t table_bytes(const GemmIsa& isa, const ConvProblem& p) {
  size_t most = 0;
  for_each_phase(p, [&](const Phase& f) { most = std::max(most, gemm_part_bytes(isa, job_of(p, f))); });
  return most;
}

size_t workspace(const GemmIsa& isa, const ConvProblem& p, int threads) {
  Carver carver;
  carver.take<float>(static_cast<size_t>(p.in_per_group()));
  carver.take<char>(static_cast<size_t>(threads) * table_bytes(isa, p));
  return carver.used();
}

void run(const GemmIsa& isa, const ConvProblem& p, const Args& args) {
  Carver carver(args.workspace);
  auto zeros = carver.take<float>(static_cast<size_t>(p.in_per_group()));
  auto tables = carver.take<char>(0);
  std::fill_n(zeros, p.in_per_group(), 0.f);
  auto x = static_cast<const float*>(args.in[0]);
  auto y = static_cast<float*>(args.out[0]);
  auto b = static_cast<const float*>(args.packed);
  int64_t ldx = pixel_stride(p.in_pixel_stride, p.in_channels), ldy = pixel_stride(p.out_pixel_stride, p.out_channels);
  for_each_phase(p, [&](const Phase& phase) {
    for (int64_t g = 0; g < p.groups; ++g, b += phase_floats(p, phase)) {
      PhaseRows rows{p, phase, x + g * p.in_per_group(), y + g * p.out_per_group(), zeros, ldx, ldy};
      GemmJob job = job_of(p, phase);
      job.source = {PhaseRows::fill, &rows};
      job.b = b;
      job.epilogue = TileEpilogue::from(p.epilogue, args.bias, args.residual, y);
      if (job.epilogue.bias) job.epilogue.bias += g * p.out_per_group();
      run_gemm(isa, job, args.pool, tables);
    }
  });
}

const ConvProblem& of(const Problem& problem) { return std::get<ConvProblem>(problem); }

const char* fits(const Problem& problem) {
  const ConvProblem& p = of(problem);
  if (!p.transposed) return "not a transposed convolution";
  if (!p.types.are_f32()) return "operands other than f32";
  if (p.in_layout == Layout::nchw) return "an nchw input";
  if (volume(p.kernel) > 4096) return "more than 4096 kernel positions";
  return volume(p.stride) > 4096 ? "more than 4096 phases" : nullptr;
}

size_t packed(const Problem& problem) {
  const ConvProblem& p = of(problem);
  int64_t floats = 0;
  for_each_phase(p, [&](const Phase& f) { floats += p.groups * phase_floats(p, f); });
  return static_cast<size_t>(floats) * sizeof(float);
}

// ONNX weights [C, M/g, taps] -> [phase][group][M/g / 16][(tap of the phase, channel)][16].
void prepack(const Problem& problem, std::span<const void* const> weights, void* dst) {
  const ConvProblem& p = of(problem);
  auto w = static_cast<const float*>(weights[0]);
  auto to = static_cast<float*>(dst);
  int64_t taps = volume(p.kernel), outs = p.out_per_group(), channels = p.in_per_group();
  for_each_phase(p, [&](const Phase& phase) {
    int64_t k = phase.taps() * channels;
    for (int64_t g = 0; g < p.groups; ++g, to += phase_floats(p, phase)) {
      std::fill_n(to, phase_floats(p, phase), 0.f);
      int64_t at = 0;
      for (int64_t tz = 0; tz < phase.z.taps; ++tz)
        for (int64_t ty = 0; ty < phase.y.taps; ++ty)
          for (int64_t tx = 0; tx < phase.x.taps; ++tx) {
            int64_t kz = phase.z.kernel + tz * phase.z.kernel_step, ky = phase.y.kernel + ty * phase.y.kernel_step;
            int64_t kx = phase.x.kernel + tx * phase.x.kernel_step;
            int64_t tap = (kz * p.kernel[1] + ky) * p.kernel[2] + kx;
            for (int64_t c = 0; c < channels; ++c, ++at)
              for (int64_t m = 0; m < outs; ++m)
                to[(m / kPanel * k + at) * kPanel + m % kPanel] = w[((g * channels + c) * outs + m) * taps + tap];
          }
    }
  });
}

template <CpuLevel kLevel>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::conv,
          .needs = kLevel,
          .packing = Packing::panels16_by_phase,
          .fits = fits,
          .cost = [](const Problem& p,
                     int threads) { return gemm_seconds(gemm_isa(kLevel), flops(p), bytes(p), threads, 0.85); },
          .workspace_bytes = [](const Problem& p, int threads) { return workspace(gemm_isa(kLevel), of(p), threads); },
          .packed_bytes = packed,
          .prepack = prepack,
          .run = [](const Problem& p, const Args& args) { run(gemm_isa(kLevel), of(p), args); }};
}

const KernelRow kTransposed[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512>("conv_transposed_f32_f32_phases_avx512"),
    row<CpuLevel::avx2>("conv_transposed_f32_f32_phases_avx2"),
#endif
    row<CpuLevel::baseline>("conv_transposed_f32_f32_phases_baseline"),
};
const RegisterRows registered(kTransposed);

}  // namespace
}  // namespace trine::cpu
