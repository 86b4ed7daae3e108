// 3x3 convolution of stride 1 by Winograd's F(2x2, 3x3) and F(4x4, 3x3): 2.25 and 4 times fewer multiplications.
//
//   V_q = B^T d B of every tile      M_q = V_q U_q   a product [tiles x C] [C x K] for each of the a*a planes q
//   y = A^T M A, epilogue            a = m + 2
//
// The transformed filters U are made at build, or by each run from the plain filters (rows named _panels): then they
// take 1.8 or 4 times less memory and bandwidth, and the part of U in work stays in L2.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/gemm/operand.h"
#include "backends/cpu/kernels/winograd/winograd_run.h"
#include "base/float_formats.h"

namespace trine::cpu {

void winograd_filter(int m, const double* w, double* u) {
  constexpr double kTwo[4][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
  const double al = std::sqrt(0.5), be = std::sqrt(2.0), third = -2.0 / 3, sixth = 1.0 / 6;
  const double four[6][3] = {{1, 0, 0},
                             {third, third * al, third / 2},
                             {third, -third * al, third / 2},
                             {sixth, sixth * be, sixth * 2},
                             {sixth, -sixth * be, sixth * 2},
                             {0, 0, 1}};
  const double (*g)[3] = m == 2 ? kTwo : four;
  int a = m + 2;
  double rows[kMaxWinogradTile][3];  // G w
  for (int i = 0; i < a; ++i)
    for (int x = 0; x < 3; ++x) rows[i][x] = g[i][0] * w[x] + g[i][1] * w[3 + x] + g[i][2] * w[6 + x];
  for (int i = 0; i < a; ++i)
    for (int j = 0; j < a; ++j) u[i * a + j] = rows[i][0] * g[j][0] + rows[i][1] * g[j][1] + rows[i][2] * g[j][2];
}

#if defined(__x86_64__)
namespace {

using namespace dnn;

constexpr double kFilterBytesPerSecond = 20e9;
constexpr double kLargeFilters = 128 * 128;  // inputs by outputs: F(2x2)'s transformed ones leave L2

const ConvProblem& of(const Problem& problem) { return std::get<ConvProblem>(problem); }

const char* refusal(const WinogradWay& way, const Problem& problem) {
  const ConvProblem& p = of(problem);
  bool plain = p.kernel == Extents{1, 3, 3} && p.stride == Extents{1, 1, 1} && p.dilation == Extents{1, 1, 1};
  if (!plain || p.in[0] != 1 || p.out[0] != 1 || p.pad_begin[0] != 0) return "not 3x3 with stride and dilation 1";
  if (p.transposed || p.groups != 1) return "transposed or grouped";
  const DType type = way.isa.pixels;
  if (p.types.in != type || p.types.weights != type || p.types.out != type || p.types.bias != DType::f32)
    return type == DType::f32 ? "operands other than f32" : "operands other than bf16";
  if (p.in_layout == Layout::nchw) return "an nchw input";
  if (way.gemm.words(p.in_channels) * 4 != p.in_channels * way.gemm.element_bytes()) return "an odd number of channels";
  return p.in_channels < 16 || p.out_channels < 16 ? "fewer than 16 channels" : nullptr;
}

// Multiplications, or the stream of filters if that takes longer; and the transforms.
double seconds(const WinogradWay& way, const Problem& problem, int threads) {
  const ConvProblem& p = of(problem);
  WinogradPlan plan(way, p, threads);
  const int m = plan.m;
  const bool plain = way.filters == WinogradFilters::plain;
  auto tiles = static_cast<double>(plan.tiles), in = static_cast<double>(p.in_channels);
  auto out = static_cast<double>(plan.panels * kPanel);
  double products = 2 * plan.planes() * tiles * in * out;
  double filters = static_cast<double>((plain ? 9 : plan.planes()) * plan.filter_words()) * 4;
  double efficiency = plan.block_tiles < 9 ? 0.75 : 0.9;
  // Sums of a tile in registers: too few of them wait for each other.
  const int64_t panels = plain ? plan.panels / plan.chunks : kMaxPanels;
  efficiency *= static_cast<double>(std::clamp<int64_t>(plan.block_tiles * panels, 1, kMaxTileRows)) / kMaxTileRows;
  // The fewer words of bf16 are summed, the more of the time goes to storing sums.
  const double depth = static_cast<double>(plan.words);
  if (way.gemm.format == DType::bf16) efficiency *= depth / (depth + 4);
  double compute = gemm_seconds(way.gemm, products, 0, 1, efficiency);
  double lanes = way.gemm.level == CpuLevel::avx512 ? 16 : 8;
  double transforms = tiles / lanes * (m == 4 ? in * 60e-9 + out * 50e-9 : in * 25e-9 + out * 18e-9);
  if (way.gemm.level == CpuLevel::avx512 && cpu_info().wide_fma) transforms *= 0.7;
  if (plain)
    transforms += static_cast<double>(plan.blocks) * in * out / lanes *
                  (m == 4                     ? 30e-9
                   : in * out < kLargeFilters ? 14e-9
                                              : 40e-9);
  double total = std::max(compute, filters / kFilterBytesPerSecond) + transforms;
  return threads > 1 && total > kMinForkSeconds ? total / threads + 3e-6 : total;
}

size_t packed(const WinogradWay& way, const Problem& problem) {
  WinogradPlan plan(way, of(problem), 1);
  return static_cast<size_t>(plan.planes() * plan.filter_words()) * 4;
}

double number(DType type, const void* from, int64_t i) {
  return type == DType::f32 ? static_cast<const float*>(from)[i]
                            : small_float_value(type, static_cast<const uint16_t*>(from)[i]);
}
void set_number(DType type, void* to, int64_t i, double x) {
  if (type == DType::f32) static_cast<float*>(to)[i] = static_cast<float>(x);
  else static_cast<uint16_t*>(to)[i] = small_float_bits(type, x);
}

void prepack(const WinogradWay& way, const Problem& problem, const void* weights, void* to) {
  const ConvProblem& p = of(problem);
  WinogradPlan plan(way, p, 1);
  std::memset(to, 0, packed(way, problem));
  const int64_t elements = 4 / way.gemm.element_bytes();  // of a word
  for (int64_t out = 0; out < p.out_channels; ++out)
    for (int64_t c = 0; c < p.in_channels; ++c) {
      double w[9], u[kMaxWinogradTile * kMaxWinogradTile];
      for (int i = 0; i < 9; ++i) w[i] = number(p.types.weights, weights, (out * p.in_channels + c) * 9 + i);
      winograd_filter(plan.m, w, u);
      const int64_t word = (out / kPanel * plan.words + c / elements) * kPanel + out % kPanel;
      for (int q = 0; q < plan.planes(); ++q)
        set_number(way.gemm.format, to, (q * plan.filter_words() + word) * elements + c % elements, u[q]);
    }
}

Packing packing(const WinogradWay& way) {
  if (way.gemm.format == DType::bf16) return Packing::winograd2_bf16;
  return way.isa.m == 2 ? Packing::winograd2 : Packing::winograd4;
}

// One way; functions of rows forward to those above, so that each is compiled once.
template <const WinogradWay& kWay>
KernelRow row(std::string_view name) {
  KernelRow row{
      .name = name,
      .op = OpKind::conv,
      .needs = kWay.gemm.level,
      .also_needs = kWay.needs,
      .in = kWay.isa.pixels,
      .out = kWay.isa.pixels,
      .numerics = kWay.gemm.format == DType::bf16 ? Numerics::winograd_bf16 : Numerics::winograd,
      .packing = packing(kWay),
      .fits = [](const Problem& p) { return refusal(kWay, p); },
      .cost = [](const Problem& p, int threads) { return seconds(kWay, p, threads); },
      .workspace_bytes = [](const Problem& p, int threads) { return winograd_workspace(kWay, of(p), threads); },
      .packed_bytes = [](const Problem& p) { return packed(kWay, p); },
      .prepack = [](const Problem& p, std::span<const void* const> weights,
                    void* to) { prepack(kWay, p, weights[0], to); },
      .run = [](const Problem& p, const Args& args) { run_winograd(kWay, of(p), args); }};
  if (kWay.filters == WinogradFilters::transformed) return row;
  row.packing = Packing::panels16;
  row.packed_bytes = [](const Problem& p) { return filter_bytes(kGemmBaseline, of(p)); };
  row.prepack = [](const Problem& p, std::span<const void* const> weights, void* to) {
    pack_filters(kGemmBaseline, of(p), weights[0], to);
  };
  return row;
}

constexpr auto kPlain = WinogradFilters::plain;
constexpr WinogradWay kFourAvx512{kWinograd4Avx512, kGemmAvx512}, kTwoAvx512{kWinograd2Avx512, kGemmAvx512},
    kFourPanelsAvx512{kWinograd4Avx512, kGemmAvx512, kPlain}, kTwoPanelsAvx512{kWinograd2Avx512, kGemmAvx512, kPlain},
    kFourAvx2{kWinograd4Avx2, kGemmAvx2}, kTwoAvx2{kWinograd2Avx2, kGemmAvx2},
    kFourPanelsAvx2{kWinograd4Avx2, kGemmAvx2, kPlain}, kTwoPanelsAvx2{kWinograd2Avx2, kGemmAvx2, kPlain};
constexpr auto kTransformed = WinogradFilters::transformed;
constexpr WinogradWay kTwoBf16{kWinograd2Avx512Bf16, kGemmAvx512Bf16, kTransformed, {.bf16 = true}},
    kFourByF32Avx512{kWinograd4Bf16Avx512, kGemmAvx512, kTransformed, {.bf16 = true}};

const KernelRow kWinograd[] = {
    row<kFourAvx512>("conv_f32_f32_winograd4x3_avx512"),
    row<kFourPanelsAvx512>("conv_f32_f32_winograd4x3_panels_avx512"),
    row<kTwoAvx512>("conv_f32_f32_winograd2x3_avx512"),
    row<kTwoPanelsAvx512>("conv_f32_f32_winograd2x3_panels_avx512"),
    row<kTwoBf16>("conv_bf16_bf16_winograd2x3_avx512_bf16"),
    row<kFourByF32Avx512>("conv_bf16_bf16_winograd4x3_by_f32_avx512_bf16"),
    row<kFourAvx2>("conv_f32_f32_winograd4x3_avx2"),
    row<kFourPanelsAvx2>("conv_f32_f32_winograd4x3_panels_avx2"),
    row<kTwoAvx2>("conv_f32_f32_winograd2x3_avx2"),
    row<kTwoPanelsAvx2>("conv_f32_f32_winograd2x3_panels_avx2"),
};
const RegisterRows registered(kWinograd);

}  // namespace
#endif

}  // namespace trine::cpu
