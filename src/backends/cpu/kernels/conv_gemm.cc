// Convolution as a matrix product whose left rows are reached through pointers; nothing is copied but padding.
//
//   1x1       a row is an input pixel
//   indirect  a row is one pointer per kernel position, to an input pixel or to zeros; any stride, dilation, padding,
//             groups, one to three dimensions
//   rows      few input channels: the input is copied once into a padded nhwc image; a kernel row is then one run of
//             kernel width * channels elements, whatever the layout it came from
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels/conv_lines.h"
#include "backends/cpu/kernels/conv_rows.h"
#include "backends/cpu/kernels/gemm/operand.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kFewChannels = 8;

const ConvProblem& of(const Problem& problem) { return std::get<ConvProblem>(problem); }

// A job of `taps` taps of `depth` elements, whose rows are `row_step` elements apart.
GemmJob job_of(const GemmIsa& isa, const ConvProblem& p, int64_t taps, int64_t depth, int64_t row_step) {
  GemmJob job;
  job.rows = p.n * volume(p.out);
  job.columns = p.out_per_group();
  job.taps = static_cast<int>(taps);
  job.set_depth(isa, depth);
  job.row_stride = row_step * isa.element_bytes() / 4;
  job.epilogue.out = p.types.out;
  return job;
}
GemmJob job_of(const GemmIsa& isa, const ConvProblem& p) {
  int64_t row_step = pixel_stride(p.in_pixel_stride, p.in_channels) * p.stride[2];
  return job_of(isa, p, volume(p.kernel), p.in_per_group(), row_step);
}

bool is_pointwise(const ConvProblem& p) { return volume(p.kernel) == 1 && p.pad_begin == Extents{0, 0, 0}; }

struct ConvCall {
  const GemmIsa& isa;
  const ConvProblem& p;
  const Args& args;
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  const char* x = static_cast<const char*>(args.in[0]);
  char* y = static_cast<char*>(args.out[0]);
  int64_t in_bytes = static_cast<int64_t>(byte_size(p.types.in)),
          out_bytes = static_cast<int64_t>(byte_size(p.types.out));
  int64_t x_step = pixel_stride(p.in_pixel_stride, p.in_channels) * in_bytes;
  int64_t y_step = pixel_stride(p.out_pixel_stride, p.out_channels) * out_bytes;
  Carver carver{args.workspace};
  ColumnNumbers columns{p.types, args, p.groups, p.out_per_group(),
                        carver.take<char>(ColumnNumbers::bytes(p.types, p.groups, p.out_per_group()))};

  const char* x_of(int64_t g) const { return x + g * p.in_per_group() * in_bytes; }
  char* y_of(int64_t g) const { return y + g * p.out_per_group() * out_bytes; }

  // Gives `job` the weights and the epilogue of group g.
  void complete(GemmJob& job, const WeightShape& weights, int64_t g) const {
    const char* packed = static_cast<const char*>(args.packed) + g * packed_bytes(isa, weights);
    job.b = reinterpret_cast<const float*>(packed);
    job.epilogue = TileEpilogue::from(p.epilogue, args.bias, args.residual, y, p.types.out);
    columns.fill(g, isa, weights, packed);
    columns.set(g, job.epilogue);
  }

  // Completes `job` for group g and runs it; `rows` reach the group's first channels.
  void run_group(GemmJob job, const RowSource& rows, int64_t g, ThreadPool& threads, void* tables) const {
    job.source = rows;
    complete(job, filter_shape(p), g);
    run_gemm(isa, job, &threads, tables);
  }
};

// Of the parts of a workspace that every algorithm has: numbers by column first, tables of pointers last.
size_t workspace_of(const GemmIsa& isa, const ConvProblem& p, int threads, size_t own_bytes, const GemmJob& job) {
  Carver carver;
  carver.take<char>(ColumnNumbers::bytes(p.types, p.groups, p.out_per_group()));
  carver.take<char>(own_bytes);
  carver.take<char>(static_cast<size_t>(threads) * gemm_part_bytes(isa, job));
  return carver.used();
}

size_t pointwise_workspace(const GemmIsa& isa, const Problem& problem, int threads) {
  const ConvProblem& p = of(problem);
  return workspace_of(isa, p, threads, 0, job_of(isa, p));
}

void run_pointwise(const GemmIsa& isa, const Problem& problem, const Args& args) {
  const ConvProblem& p = of(problem);
  ConvCall call{isa, p, args};
  bool is_linear = p.stride == Extents{1, 1, 1} && p.in == p.out;
  LinearRows linear{call.x, call.x_step, call.y, call.y_step};
  IndirectRows strided{p, call.x, call.y, nullptr, call.x_step, call.y_step};
  RowSource rows = is_linear ? linear.source() : RowSource{IndirectRows::fill, &strided};
  call.run_group(job_of(call.isa, p), rows, 0, call.pool, call.carver.take<char>(0));
}

size_t zeros_bytes(const ConvProblem& p) { return static_cast<size_t>(p.in_per_group()) * byte_size(p.types.in); }

size_t indirect_workspace(const GemmIsa& isa, const Problem& problem, int threads) {
  const ConvProblem& p = of(problem);
  return workspace_of(isa, p, threads, zeros_bytes(p), job_of(isa, p));
}

void run_indirect(const GemmIsa& isa, const Problem& problem, const Args& args) {
  const ConvProblem& p = of(problem);
  ConvCall call{isa, p, args};
  auto zeros = call.carver.take<char>(zeros_bytes(p));
  auto tables = call.carver.take<char>(0);
  std::memset(zeros, call.columns.padding(), zeros_bytes(p));
  GemmJob job = job_of(call.isa, p);
  size_t table = gemm_part_bytes(call.isa, job);
  // Many groups are dealt to the threads whole.
  int parts = p.groups >= call.pool.threads() ? call.pool.threads() : 1;
  call.pool.run(parts, [&](int part, int) {
    for (int64_t g = p.groups * part / parts; g < p.groups * (part + 1) / parts; ++g) {
      IndirectRows rows{p, call.x_of(g), call.y_of(g), zeros, call.x_step, call.y_step};
      call.run_group(job, {IndirectRows::fill, &rows}, g, parts > 1 ? ThreadPool::serial() : call.pool,
                     tables + static_cast<size_t>(parts > 1 ? part : 0) * table);
    }
  });
}

// A tap is a row of the kernel: its width * channels elements lie together in the image.
WeightShape rows_shape(const ConvProblem& p) {
  const int64_t taps = p.kernel[0] * p.kernel[1], depth = p.kernel[2] * p.in_channels;
  return {taps, depth, p.out_channels, depth, 1, taps * depth};
}

GemmJob rows_job(const GemmIsa& isa, const ConvProblem& p) {
  const WeightShape shape = rows_shape(p);
  GemmJob job = job_of(isa, p, shape.taps, shape.channels, p.in_channels * p.stride[2]);
  job.reads_on = true;
  if (isa.format == DType::i8) job.last_bytes = 4;  // integers beyond a row meet weights of 0
  return job;
}

size_t rows_workspace(const GemmIsa& isa, const Problem& problem, int threads) {
  const ConvProblem& p = of(problem);
  const GemmJob job = rows_job(isa, p);
  const PaddedImage image(isa, p);
  if (goes_by_lines(job, p)) {
    Carver carver;
    carver.take<char>(ColumnNumbers::bytes(p.types, p.groups, p.out_per_group()));
    carver.take<char>(lines_bytes(job, image, threads));
    return carver.used();
  }
  return workspace_of(isa, p, threads, image.is_input() ? 0 : image.bytes(image.lines()), job);
}

void run_rows(const GemmIsa& isa, const Problem& problem, const Args& args) {
  const ConvProblem& p = of(problem);
  ConvCall call{isa, p, args};
  PaddedImage image(isa, p);
  GemmJob job = rows_job(isa, p);
  call.complete(job, rows_shape(p), 0);
  if (goes_by_lines(job, p)) {
    const LinesCall lines{isa, job, image, call.x, call.y, call.y_step, call.columns.padding()};
    return lines.run(call.pool, call.carver.take<char>(0));
  }
  const bool copies = !image.is_input();
  auto padded = call.carver.take<char>(copies ? image.bytes(image.lines()) : 0);
  if (copies) image.fill(call.x, call.columns.padding(), call.pool, padded);
  PaddedRows rows{image, copies ? padded : call.x, call.y, call.y_step};
  job.source = {PaddedRows::fill, &rows};
  run_gemm(isa, job, &call.pool, call.carver.take<char>(0));
}

size_t rows_packed(const GemmIsa& isa, const Problem& problem) {
  return static_cast<size_t>(packed_bytes(isa, rows_shape(of(problem))));
}

// [M][C][kernel] to [M][kernel][C], then as any right operand.
template <class T>
void pack_rows(const GemmIsa& isa, const ConvProblem& p, const T* weights, void* packed) {
  const WeightShape shape = rows_shape(p);
  const int64_t positions = volume(p.kernel), channels = p.in_channels;
  std::vector<T> by_rows(static_cast<size_t>(p.out_channels * shape.column_step));
  for (int64_t m = 0; m < p.out_channels; ++m)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t k = 0; k < positions; ++k)
        by_rows[static_cast<size_t>((m * positions + k) * channels + c)] = weights[(m * channels + c) * positions + k];
  pack_weights(isa, by_rows.data(), shape, 0, shape.padded_columns() / kPanel, packed);
}

void prepack_rows(const GemmIsa& isa, const Problem& problem, const void* weights, void* packed) {
  const ConvProblem& p = of(problem);
  if (isa.format == DType::f32) return pack_filters(isa, p, weights, packed);  // which is the same
  if (isa.format == DType::bf16) return pack_rows(isa, p, static_cast<const uint16_t*>(weights), packed);
  pack_rows(isa, p, static_cast<const int8_t*>(weights), packed);
}

const char* general_refusal(const GemmIsa& isa, const ConvProblem& p) {
  if (p.transposed) return "a transposed convolution";
  if (volume(p.kernel) > 4096) return "more than 4096 kernel positions";
  return types_refusal(isa, p.types, p.epilogue);
}

const char* pointwise_refusal(const GemmIsa& isa, const Problem& problem) {
  const ConvProblem& p = of(problem);
  if (const char* reason = general_refusal(isa, p)) return reason;
  if (!is_pointwise(p)) return "a kernel larger than 1x1 or padding";
  if (p.groups != 1) return "groups";
  return p.in_layout == Layout::nchw ? "an nchw input" : nullptr;
}

const char* indirect_refusal(const GemmIsa& isa, const Problem& problem) {
  const ConvProblem& p = of(problem);
  if (const char* reason = general_refusal(isa, p)) return reason;
  return p.in_layout == Layout::nchw ? "an nchw input" : nullptr;
}

const char* rows_refusal(const GemmIsa& isa, const Problem& problem) {
  const ConvProblem& p = of(problem);
  if (const char* reason = general_refusal(isa, p)) return reason;
  if (p.groups != 1) return "groups";
  if (p.in_channels > kFewChannels && p.in_layout == Layout::nhwc) return "more than 8 input channels";
  return p.kernel[2] > 1 && p.dilation[2] != 1 ? "a horizontal dilation" : nullptr;
}

// Padded columns and words are computed too, `depth` elements a tap; every row and tap costs a pointer.
double seconds(const GemmIsa& isa, const Problem& problem, int threads, int64_t depth, double pointers,
               double efficiency) {
  const ConvProblem& p = of(problem);
  auto padding = [](int64_t n, int64_t unit) {
    return static_cast<double>((n + unit - 1) / unit * unit) / static_cast<double>(std::max<int64_t>(n, 1));
  };
  double padded = padding(p.out_per_group(), kPanel) * padding(depth * isa.element_bytes(), 4);
  double rows = static_cast<double>(p.n * volume(p.out) * p.groups);
  return gemm_seconds(isa, flops(problem) * padded, bytes(problem), threads, efficiency) +
         rows * pointers * 1.5e-9 / threads;
}

double rows_seconds(const GemmIsa& isa, const Problem& problem, int threads) {
  const ConvProblem& p = of(problem);
  const WeightShape shape = rows_shape(p);
  const PaddedImage image(isa, p);
  const double copied = image.is_input() ? 0 : static_cast<double>(image.lines() * image.line_bytes());
  const double pointers = goes_by_lines(rows_job(isa, p), p) ? 0 : static_cast<double>(shape.taps);
  return seconds(isa, problem, threads, shape.channels, pointers, 0.88) + copied * 0.05e-9 / threads;
}

Packing rows_packing(const GemmIsa& isa) {
  return isa.format == DType::f32    ? Packing::panels16
         : isa.format == DType::bf16 ? Packing::rows16_bf16
                                     : Packing::rows16_int8;
}

size_t packed_filters(const GemmIsa& isa, const Problem& p) { return filter_bytes(isa, of(p)); }
void prepack_filters(const GemmIsa& isa, const Problem& p, const void* weights, void* packed) {
  pack_filters(isa, of(p), weights, packed);
}

// One algorithm on one GemmIsa; functions of rows forward to those, so that each is compiled once.
struct Algorithm {
  const char* (*refusal)(const GemmIsa&, const Problem&);
  double (*cost)(const GemmIsa&, const Problem&, int threads);
  size_t (*workspace)(const GemmIsa&, const Problem&, int threads);
  void (*run)(const GemmIsa&, const Problem&, const Args&);
  size_t (*packed)(const GemmIsa&, const Problem&) = packed_filters;
  void (*prepack)(const GemmIsa&, const Problem&, const void* weights, void* packed) = prepack_filters;
  Packing (*packing)(const GemmIsa&) = packing_of;
};

constexpr Algorithm kPointwise = {pointwise_refusal,
                                  [](const GemmIsa& isa, const Problem& p, int threads) {
                                    return seconds(isa, p, threads, of(p).in_per_group(), 1, 0.92);
                                  },
                                  pointwise_workspace, run_pointwise};

constexpr Algorithm kRows = {rows_refusal, rows_seconds, rows_workspace, run_rows,
                             rows_packed,  prepack_rows, rows_packing};

constexpr Algorithm kIndirect = {indirect_refusal,
                                 [](const GemmIsa& isa, const Problem& p, int threads) {
                                   return seconds(isa, p, threads, of(p).in_per_group(),
                                                  static_cast<double>(volume(of(p).kernel)), 0.9);
                                 },
                                 indirect_workspace, run_indirect};

void run(const Algorithm& algorithm, const GemmIsa& isa, const Problem& problem, const Args& args) {
  const ConvProblem& p = of(problem);
  if (p.n * volume(p.out) * p.out_channels == 0) return;  // operands may be null
  algorithm.run(isa, problem, args);
}

template <const GemmIsa& kIsa, const Algorithm& kAlgorithm>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::conv,
          .needs = kIsa.level,
          .also_needs = kIsa.features,
          .in = kIsa.format,
          .out = kIsa.format,
          .packing = kAlgorithm.packing(kIsa),
          .fits = [](const Problem& p) { return kAlgorithm.refusal(kIsa, p); },
          .cost = [](const Problem& p, int threads) { return kAlgorithm.cost(kIsa, p, threads); },
          .workspace_bytes = [](const Problem& p, int threads) { return kAlgorithm.workspace(kIsa, p, threads); },
          .packed_bytes = [](const Problem& p) { return kAlgorithm.packed(kIsa, p); },
          .prepack = [](const Problem& p, std::span<const void* const> weights,
                        void* packed) { kAlgorithm.prepack(kIsa, p, weights[0], packed); },
          .run = [](const Problem& p, const Args& args) { run(kAlgorithm, kIsa, p, args); }};
}

const KernelRow kConv[] = {
#if defined(__x86_64__)
    row<kGemmAvx512, kPointwise>("conv_f32_f32_1x1_gemm_avx512"),
    row<kGemmAvx512, kRows>("conv_f32_f32_rows_gemm_avx512"),
    row<kGemmAvx512, kIndirect>("conv_f32_f32_indirect_gemm_avx512"),
    row<kGemmAvx512Bf16, kPointwise>("conv_bf16_bf16_1x1_gemm_avx512_bf16"),
    row<kGemmAvx512Bf16, kRows>("conv_bf16_bf16_rows_gemm_avx512_bf16"),
    row<kGemmAvx512Bf16, kIndirect>("conv_bf16_bf16_indirect_gemm_avx512_bf16"),
    row<kGemmAvx512Vnni, kPointwise>("conv_int8_int8_1x1_gemm_avx512_vnni"),
    row<kGemmAvx512Vnni, kRows>("conv_int8_int8_rows_gemm_avx512_vnni"),
    row<kGemmAvx512Vnni, kIndirect>("conv_int8_int8_indirect_gemm_avx512_vnni"),
    row<kGemmAvx2, kPointwise>("conv_f32_f32_1x1_gemm_avx2"),
    row<kGemmAvx2, kRows>("conv_f32_f32_rows_gemm_avx2"),
    row<kGemmAvx2, kIndirect>("conv_f32_f32_indirect_gemm_avx2"),
    row<kGemmBf16Avx2, kPointwise>("conv_bf16_bf16_1x1_gemm_avx2"),
    row<kGemmBf16Avx2, kRows>("conv_bf16_bf16_rows_gemm_avx2"),
    row<kGemmBf16Avx2, kIndirect>("conv_bf16_bf16_indirect_gemm_avx2"),
    row<kGemmInt8Avx2, kPointwise>("conv_int8_int8_1x1_gemm_avx2"),
    row<kGemmInt8Avx2, kRows>("conv_int8_int8_rows_gemm_avx2"),
    row<kGemmInt8Avx2, kIndirect>("conv_int8_int8_indirect_gemm_avx2"),
#endif
    row<kGemmBaseline, kPointwise>("conv_f32_f32_1x1_gemm_baseline"),
    row<kGemmBaseline, kRows>("conv_f32_f32_rows_gemm_baseline"),
    row<kGemmBaseline, kIndirect>("conv_f32_f32_indirect_gemm_baseline"),
    row<kGemmBf16Baseline, kPointwise>("conv_bf16_bf16_1x1_gemm_baseline"),
    row<kGemmBf16Baseline, kRows>("conv_bf16_bf16_rows_gemm_baseline"),
    row<kGemmBf16Baseline, kIndirect>("conv_bf16_bf16_indirect_gemm_baseline"),
    row<kGemmInt8Baseline, kPointwise>("conv_int8_int8_1x1_gemm_baseline"),
    row<kGemmInt8Baseline, kRows>("conv_int8_int8_rows_gemm_baseline"),
    row<kGemmInt8Baseline, kIndirect>("conv_int8_int8_indirect_gemm_baseline"),
};
const RegisterRows registered(kConv);

}  // namespace
}  // namespace trine::cpu
