// Convolution as a matrix product whose left rows are reached through pointers; nothing is copied but padding.
//
//   1x1       a row is an input pixel
//   indirect  a row is one pointer per kernel position, to an input pixel or to zeros; any stride, dilation, padding,
//             groups, one to three dimensions
//   rows      few input channels: the input is copied once into a padded nhwc image; a kernel row is then one run of
//             kernel width * channels floats, whatever the layout it came from
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv_pack.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/workspace.h"
#include "trine/base/thread_pool.h"
#include "dnn/kernel_row.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kFewChannels = 8;

// Walks output positions in order, starting at a row number.
struct OutputPosition {
  const ConvProblem& p;
  int64_t n, z, y, x;

  OutputPosition(const ConvProblem& problem, int64_t row) : p(problem) {
    x = row % p.out[2];
    row /= p.out[2];
    y = row % p.out[1];
    row /= p.out[1];
    z = row % p.out[0];
    n = row / p.out[0];
  }
  void next() {
    if (++x < p.out[2]) return;
    x = 0;
    if (++y < p.out[1]) return;
    y = 0;
    if (++z < p.out[0]) return;
    z = 0;
    ++n;
  }
};

// Of one group.
struct IndirectRows {
  const ConvProblem& p;
  const float* x;
  float* y;
  const float* zeros;
  int64_t ldx, ldy;

  static void fill(const void* context, int64_t row, int count, const float** a, float** c) {
    auto& rows = *static_cast<const IndirectRows*>(context);
    OutputPosition at(rows.p, row);
    for (int i = 0; i < count; ++i, at.next()) {
      c[i] = rows.y + (row + i) * rows.ldy;
      rows.fill_row(at, count, a + i);
    }
  }

  void fill_row(const OutputPosition& at, int count, const float** a) const {
    const Extents &in = p.in, &step = p.dilation;
    int64_t z = at.z * p.stride[0] - p.pad_begin[0], y0 = at.y * p.stride[1] - p.pad_begin[1];
    int64_t x0 = at.x * p.stride[2] - p.pad_begin[2];
    for (int64_t kz = 0; kz < p.kernel[0]; ++kz, z += step[0]) {
      int64_t yy = y0;
      for (int64_t ky = 0; ky < p.kernel[1]; ++ky, yy += step[1]) {
        bool row_inside = z >= 0 && z < in[0] && yy >= 0 && yy < in[1];
        const float* line = x + ((at.n * in[0] + z) * in[1] + yy) * in[2] * ldx;
        int64_t xx = x0;
        for (int64_t kx = 0; kx < p.kernel[2]; ++kx, xx += step[2], a += count)
          *a = row_inside && xx >= 0 && xx < in[2] ? line + xx * ldx : zeros;
      }
    }
  }
};

GemmJob job_of(const ConvProblem& p) {
  GemmJob job;
  job.rows = p.n * volume(p.out);
  job.columns = p.out_per_group();
  job.taps = static_cast<int>(volume(p.kernel));
  job.kc = p.in_per_group();
  job.row_stride = pixel_stride(p.in_pixel_stride, p.in_channels) * p.stride[2];
  return job;
}

bool is_pointwise(const ConvProblem& p) { return volume(p.kernel) == 1 && p.pad_begin == Extents{0, 0, 0}; }

struct ConvCall {
  const GemmIsa& isa;
  const ConvProblem& p;
  const Args& args;
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  const float* x = static_cast<const float*>(args.in[0]);
  float* y = static_cast<float*>(args.out[0]);
  int64_t ldx = pixel_stride(p.in_pixel_stride, p.in_channels);
  int64_t ldy = pixel_stride(p.out_pixel_stride, p.out_channels);

  // Completes `job` for group g and runs it; `rows` reach the group's first channels.
  void run_group(GemmJob job, const RowSource& rows, int64_t g, ThreadPool& threads, void* tables) const {
    job.source = rows;
    job.b = static_cast<const float*>(args.packed) + g * conv_group_floats(p);
    job.epilogue = TileEpilogue::from(p.epilogue, args.bias, args.residual, y);
    if (job.epilogue.bias) job.epilogue.bias += g * p.out_per_group();
    run_gemm(isa, job, &threads, tables);
  }
};

void run_pointwise(const ConvCall& call) {
  const ConvProblem& p = call.p;
  bool is_linear = p.stride == Extents{1, 1, 1} && p.in == p.out;
  LinearRows linear{call.x, call.ldx, call.y, call.ldy};
  IndirectRows strided{p, call.x, call.y, nullptr, call.ldx, call.ldy};
  RowSource rows = is_linear ? linear.source() : RowSource{IndirectRows::fill, &strided};
  call.run_group(job_of(p), rows, 0, call.pool, call.args.workspace);
}

size_t indirect_workspace(const GemmIsa& isa, const ConvProblem& p, int threads) {
  Carver carver;
  carver.take<float>(static_cast<size_t>(p.in_per_group()));
  carver.take<char>(static_cast<size_t>(threads) * gemm_part_bytes(isa, job_of(p)));
  return carver.used();
}

void run_indirect(const ConvCall& call) {
  const ConvProblem& p = call.p;
  Carver carver(call.args.workspace);
  auto zeros = carver.take<float>(static_cast<size_t>(p.in_per_group()));
  auto tables = carver.take<char>(0);
  std::fill_n(zeros, p.in_per_group(), 0.f);
  GemmJob job = job_of(p);
  size_t table = gemm_part_bytes(call.isa, job);
  // Many groups are dealt to the threads whole.
  int parts = p.groups >= call.pool.threads() ? call.pool.threads() : 1;
  call.pool.run(parts, [&](int part, int) {
    for (int64_t g = p.groups * part / parts; g < p.groups * (part + 1) / parts; ++g) {
      IndirectRows rows{p, call.x + g * p.in_per_group(), call.y + g * p.out_per_group(), zeros, call.ldx, call.ldy};
      call.run_group(job, {IndirectRows::fill, &rows}, g, parts > 1 ? ThreadPool::serial() : call.pool,
                     tables + static_cast<size_t>(parts > 1 ? part : 0) * table);
    }
  });
}

// The padded image that the rows algorithm reads.
struct PaddedImage {
  const ConvProblem& p;
  Extents size;  // just what the kernel touches

  explicit PaddedImage(const ConvProblem& problem) : p(problem) {
    for (size_t i = 0; i < 3; ++i) size[i] = (p.out[i] - 1) * p.stride[i] + (p.kernel[i] - 1) * p.dilation[i] + 1;
  }
  int64_t line_floats() const { return size[2] * p.in_channels; }
  int64_t lines() const { return p.n * size[0] * size[1]; }

  void fill_line(const float* x, int64_t ldx, int64_t line, float* to) const {
    int64_t y = line % size[1] - p.pad_begin[1], z = line / size[1] % size[0] - p.pad_begin[0];
    int64_t n = line / size[1] / size[0], channels = p.in_channels;
    std::fill_n(to, line_floats(), 0.f);
    if (y < 0 || y >= p.in[1] || z < 0 || z >= p.in[0]) return;
    int64_t from = std::max<int64_t>(0, -p.pad_begin[2]), end = std::min(p.in[2], size[2] - p.pad_begin[2]);
    if (end <= from) return;
    to += (from + p.pad_begin[2]) * channels;
    if (p.in_layout == Layout::nhwc) {
      const float* source = x + (((n * p.in[0] + z) * p.in[1] + y) * p.in[2] + from) * ldx;
      if (ldx == channels) return (void)std::copy_n(source, (end - from) * channels, to);
      for (int64_t i = from; i < end; ++i, source += ldx)
        for (int64_t c = 0; c < channels; ++c) *to++ = source[c];
      return;
    }
    for (int64_t c = 0; c < channels; ++c) {
      const float* source = x + (((n * channels + c) * p.in[0] + z) * p.in[1] + y) * p.in[2];
      for (int64_t i = from; i < end; ++i) to[(i - from) * channels + c] = source[i];
    }
  }
};

struct PaddedRows {
  const ConvProblem& p;
  const float* image;
  Extents size;
  float* y;
  int64_t ldy;

  static void fill(const void* context, int64_t row, int count, const float** a, float** c) {
    auto& rows = *static_cast<const PaddedRows*>(context);
    const ConvProblem& p = rows.p;
    OutputPosition at(p, row);
    for (int i = 0; i < count; ++i, at.next()) {
      c[i] = rows.y + (row + i) * rows.ldy;
      const float** pointer = a + i;
      for (int64_t kz = 0; kz < p.kernel[0]; ++kz) {
        int64_t z = at.n * rows.size[0] + at.z * p.stride[0] + kz * p.dilation[0];
        for (int64_t ky = 0; ky < p.kernel[1]; ++ky, pointer += count) {
          int64_t line = z * rows.size[1] + at.y * p.stride[1] + ky * p.dilation[1];
          *pointer = rows.image + (line * rows.size[2] + at.x * p.stride[2]) * p.in_channels;
        }
      }
    }
  }
};

GemmJob rows_job(const ConvProblem& p) {
  GemmJob job = job_of(p);
  job.taps = static_cast<int>(p.kernel[0] * p.kernel[1]);
  job.kc = p.kernel[2] * p.in_channels;
  job.row_stride = p.in_channels * p.stride[2];
  return job;
}

size_t rows_workspace(const GemmIsa& isa, const ConvProblem& p, int threads) {
  PaddedImage image(p);
  Carver carver;
  carver.take<float>(static_cast<size_t>(image.lines() * image.line_floats()));
  carver.take<char>(static_cast<size_t>(threads) * gemm_part_bytes(isa, rows_job(p)));
  return carver.used();
}

void run_rows(const ConvCall& call) {
  PaddedImage image(call.p);
  Carver carver(call.args.workspace);
  auto padded = carver.take<float>(static_cast<size_t>(image.lines() * image.line_floats()));
  auto tables = carver.take<char>(0);
  call.pool.parallel_for(image.lines(), std::max<int64_t>(1, 16384 / image.line_floats()),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i)
                             image.fill_line(call.x, call.ldx, i, padded + i * image.line_floats());
                         });
  PaddedRows rows{call.p, padded, image.size, call.y, call.ldy};
  call.run_group(rows_job(call.p), {PaddedRows::fill, &rows}, 0, call.pool, tables);
}

const ConvProblem& of(const Problem& problem) { return std::get<ConvProblem>(problem); }

const char* general_refusal(const ConvProblem& p) {
  if (p.transposed) return "a transposed convolution";
  return volume(p.kernel) > 4096 ? "more than 4096 kernel positions" : nullptr;
}

const char* fits_pointwise(const Problem& problem) {
  const ConvProblem& p = of(problem);
  if (const char* reason = general_refusal(p)) return reason;
  if (!is_pointwise(p)) return "a kernel larger than 1x1 or padding";
  if (p.groups != 1) return "groups";
  return p.in_layout == Layout::nchw ? "an nchw input" : nullptr;
}

const char* fits_indirect(const Problem& problem) {
  const ConvProblem& p = of(problem);
  if (const char* reason = general_refusal(p)) return reason;
  return p.in_layout == Layout::nchw ? "an nchw input" : nullptr;
}

const char* fits_rows(const Problem& problem) {
  const ConvProblem& p = of(problem);
  if (const char* reason = general_refusal(p)) return reason;
  if (p.groups != 1) return "groups";
  if (p.in_channels > kFewChannels && p.in_layout == Layout::nhwc) return "more than 8 input channels";
  return p.kernel[2] > 1 && p.dilation[2] != 1 ? "a horizontal dilation" : nullptr;
}

// Padded columns are computed too; every row and tap costs a pointer.
double seconds(const GemmIsa& isa, const Problem& problem, int threads, double pointers, double efficiency) {
  const ConvProblem& p = of(problem);
  double padded = static_cast<double>((p.out_per_group() + kPanel - 1) / kPanel * kPanel) /
                  static_cast<double>(std::max<int64_t>(p.out_per_group(), 1));
  double rows = static_cast<double>(p.n * volume(p.out) * p.groups);
  return gemm_seconds(isa, flops(problem) * padded, bytes(problem), threads, efficiency) +
         rows * pointers * 1.5e-9 / threads;
}

size_t packed(const Problem& problem) {
  return static_cast<size_t>(of(problem).groups * conv_group_floats(of(problem))) * sizeof(float);
}
void prepack(const Problem& problem, std::span<const void* const> weights, void* dst) {
  pack_conv(of(problem), static_cast<const float*>(weights[0]), static_cast<float*>(dst));
}

template <CpuLevel kLevel>
KernelRow pointwise_row(std::string_view name) {
  return {.name = name,
          .op = OpKind::conv,
          .needs = kLevel,
          .packing = Packing::panels16,
          .fits = fits_pointwise,
          .cost = [](const Problem& p, int threads) { return seconds(gemm_isa(kLevel), p, threads, 1, 0.92); },
          .workspace_bytes =
              [](const Problem& p, int threads) {
                return static_cast<size_t>(threads) * gemm_part_bytes(gemm_isa(kLevel), job_of(of(p)));
              },
          .packed_bytes = packed,
          .prepack = prepack,
          .run =
              [](const Problem& p, const Args& args) {
                run_pointwise({gemm_isa(kLevel), of(p), args});
              }};
}

template <CpuLevel kLevel>
KernelRow rows_row(std::string_view name) {
  return {
      .name = name,
      .op = OpKind::conv,
      .needs = kLevel,
      .packing = Packing::panels16,
      .fits = fits_rows,
      .cost =
          [](const Problem& p, int threads) {
            const ConvProblem& c = of(p);
            double copied = static_cast<double>(PaddedImage(c).lines() * PaddedImage(c).line_floats());
            return seconds(gemm_isa(kLevel), p, threads, static_cast<double>(c.kernel[0] * c.kernel[1]), 0.88) +
                   copied * 0.3e-9 / threads;
          },
      .workspace_bytes = [](const Problem& p, int threads) { return rows_workspace(gemm_isa(kLevel), of(p), threads); },
      .packed_bytes = packed,
      .prepack = prepack,
      .run =
          [](const Problem& p, const Args& args) {
            run_rows({gemm_isa(kLevel), of(p), args});
          }};
}

template <CpuLevel kLevel>
KernelRow indirect_row(std::string_view name) {
  return {.name = name,
          .op = OpKind::conv,
          .needs = kLevel,
          .packing = Packing::panels16,
          .fits = fits_indirect,
          .cost =
              [](const Problem& p, int threads) {
                return seconds(gemm_isa(kLevel), p, threads, static_cast<double>(volume(of(p).kernel)), 0.9);
              },
          .workspace_bytes = [](const Problem& p,
                                int threads) { return indirect_workspace(gemm_isa(kLevel), of(p), threads); },
          .packed_bytes = packed,
          .prepack = prepack,
          .run =
              [](const Problem& p, const Args& args) {
                run_indirect({gemm_isa(kLevel), of(p), args});
              }};
}

const KernelRow kConv[] = {
#if defined(__x86_64__)
    pointwise_row<CpuLevel::avx512>("conv_f32_f32_1x1_gemm_avx512"),
    rows_row<CpuLevel::avx512>("conv_f32_f32_rows_gemm_avx512"),
    indirect_row<CpuLevel::avx512>("conv_f32_f32_indirect_gemm_avx512"),
    pointwise_row<CpuLevel::avx2>("conv_f32_f32_1x1_gemm_avx2"),
    rows_row<CpuLevel::avx2>("conv_f32_f32_rows_gemm_avx2"),
    indirect_row<CpuLevel::avx2>("conv_f32_f32_indirect_gemm_avx2"),
#endif
    pointwise_row<CpuLevel::baseline>("conv_f32_f32_1x1_gemm_baseline"),
    rows_row<CpuLevel::baseline>("conv_f32_f32_rows_gemm_baseline"),
    indirect_row<CpuLevel::baseline>("conv_f32_f32_indirect_gemm_baseline"),
};
const RegisterRows registered(kConv);

}  // namespace
}  // namespace trine::cpu
