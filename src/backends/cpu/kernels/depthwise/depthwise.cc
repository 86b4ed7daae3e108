// Depthwise convolution, nhwc: bands of two output rows, tiles along a row, blocks of channels outermost so that the
// rows in work stay in L1.
#include "backends/cpu/kernels/depthwise/depthwise.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/gemm/operand.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {

namespace {

using namespace dnn;

constexpr int kMaxKernelRows = 16;                         // of the fast kernels' table
constexpr int kMaxPositions = 512;                         // of the general kernel's
alignas(64) constexpr float kZeros[kDepthwiseBlock] = {};  // of every format but those with zero points

bool is_fast(const ConvProblem& p) {
  int64_t kw = p.kernel[2];
  return (kw == 3 || kw == 5 || kw == 7) && p.kernel[0] == 1 && p.in[0] == 1 && p.out[0] == 1 && p.pad_begin[0] == 0 &&
         p.kernel[1] <= kMaxKernelRows && p.dilation[1] == 1 && p.dilation[2] == 1 && p.stride[1] == p.stride[2] &&
         p.stride[2] <= 2;
}

bool has_fast_tiles(const DepthwiseIsa& isa, const ConvProblem& p) {
  return is_fast(p) && isa.fast[(p.kernel[2] - 3) / 2][p.stride[2] - 1][0][1];
}

// A scale and shift of each channel.
bool is_one_tap(const ConvProblem& p) {
  const Extents ones{1, 1, 1}, zeros{0, 0, 0};
  return p.kernel == ones && p.stride == ones && p.pad_begin == zeros && p.in == p.out;
}

// The numbers by channel that sums of 8-bit integers meet, then a block of padding.
size_t workspace(const ConvProblem& p) {
  Carver carver;
  carver.take<char>(ColumnNumbers::bytes(p.types, 1, p.in_channels));
  if (p.types.are_integers()) carver.take<char>(kDepthwiseBlock);
  return carver.used();
}

class Depthwise {
 public:
  Depthwise(const DepthwiseIsa& isa, const ConvProblem& p, const Args& args)
      : isa_(isa),
        p_(p),
        bias_(p.epilogue.bias && isa.format == DType::f32 ? static_cast<const float*>(args.bias) : nullptr),
        x_(static_cast<const char*>(args.in[0])),
        y_(static_cast<char*>(args.out[0])),
        weights_(static_cast<const float*>(args.packed)),
        x_step_(pixel_stride(p.in_pixel_stride, p.in_channels) * isa.element_bytes()),
        y_element_(static_cast<int64_t>(byte_size(p.types.out))),
        y_step_(pixel_stride(p.out_pixel_stride, p.out_channels) * y_element_),
        zeros_(reinterpret_cast<const char*>(kZeros)),
        epilogue_(TileEpilogue::from(p.epilogue, args.bias, args.residual, y_, p.types.out)),
        fast_(has_fast_tiles(isa, p)),
        scales_(isa.scale_pixels && is_one_tap(p) && epilogue_.is_clamp && p.epilogue.residual == Residual::none) {
    if (!p.types.are_integers()) return;
    Carver carver(args.workspace);
    ColumnNumbers channels(p.types, args, 1, p.in_channels,
                           carver.take<char>(ColumnNumbers::bytes(p.types, 1, p.in_channels)));
    channels.fill(0, reinterpret_cast<const int32_t*>(weights_ + p.in_channels * volume(p.kernel)));
    channels.set(0, epilogue_);
    char* padding = carver.take<char>(kDepthwiseBlock);
    std::memset(padding, channels.padding(), kDepthwiseBlock);
    zeros_ = padding;
  }

  // Bands of output rows are the unit of work that threads share.
  int64_t bands() const { return p_.n * (fast_ ? (p_.out[1] + 1) / 2 : p_.out[0] * p_.out[1]); }

  void run(int64_t begin, int64_t end) const {
    if (scales_) return scale(begin * p_.out[2], end * p_.out[2]);
    for (int64_t channel = 0; channel < p_.in_channels; channel += kDepthwiseBlock) {
      // The last block is not left smaller than a vector.
      int64_t first = std::max<int64_t>(0, std::min(channel, p_.in_channels - isa_.vector));
      int size = static_cast<int>(std::min<int64_t>(kDepthwiseBlock, p_.in_channels - first));
      for (int64_t band = begin; band < end; ++band) fast_ ? run_band(band, first, size) : run_row(band, first, size);
    }
  }

 private:
  DepthwiseTile tile_at(int64_t channel, int size) const {
    DepthwiseTile t{};
    t.weights = weights_ + channel;
    t.weight_stride = p_.in_channels;
    t.channels = size;
    t.bias = bias_ ? bias_ + channel : nullptr;
    return t;
  }

  // Numbers by channel as a block beginning there sees them.
  TileEpilogue epilogue_at(int64_t channel) const {
    TileEpilogue e = epilogue_;
    if (e.bias) e.bias += channel;
    if (e.offsets) e.offsets += channel, e.scales += channel;
    return e;
  }

  void* output(int64_t pixel, int64_t channel) const { return y_ + pixel * y_step_ + channel * y_element_; }

  const char* pixel(int64_t n, int64_t z, int64_t y, int64_t x, int64_t channel) const {
    bool inside = z >= 0 && z < p_.in[0] && y >= 0 && y < p_.in[1] && x >= 0 && x < p_.in[2];
    if (!inside) return zeros_;
    return x_ + (((n * p_.in[0] + z) * p_.in[1] + y) * p_.in[2] + x) * x_step_ + channel * isa_.element_bytes();
  }

  void run_band(int64_t band, int64_t channel, int size) const {
    int64_t per_image = (p_.out[1] + 1) / 2;
    int64_t n = band / per_image, oy = band % per_image * 2;
    int rows = static_cast<int>(std::min<int64_t>(2, p_.out[1] - oy));
    auto stride = static_cast<int>(p_.stride[2]), kernel = static_cast<int>(p_.kernel[2]);
    auto& tiles = isa_.fast[(kernel - 3) / 2][stride - 1][rows - 1];
    DepthwiseTile t = tile_at(channel, size);
    t.positions = static_cast<int>(p_.kernel[1]);
    TileEpilogue epilogue = epilogue_at(channel);
    t.epilogue = &epilogue;
    const void* in[(kMaxKernelRows + 2) * 20];
    void* out[14];
    t.in = in;
    t.out = out;
    for (int64_t ox = 0; ox < p_.out[2];) {
      int choice = tile_columns(p_.out[2] - ox, tiles);
      int columns = kDepthwiseColumns[choice];
      fill_inputs(n, oy, ox, rows, columns, channel, in);
      for (int i = 0; i < rows * columns; ++i)
        out[i] = output((n * p_.out[1] + oy + i / columns) * p_.out[2] + ox + i % columns, channel);
      tiles[choice](t);
      ox += columns;
    }
  }

  // The widest tile that leaves no ragged end: 7s when they divide what is left, else 4s.
  static int tile_columns(int64_t left, const DepthwiseFunction (&tiles)[4]) {
    if (left % 7 == 0 && tiles[0]) return 0;
    return left >= 4 ? 1 : left >= 2 && tiles[2] ? 2 : 3;
  }

  void fill_inputs(int64_t n, int64_t oy, int64_t ox, int rows, int columns, int64_t channel, const void** in) const {
    int64_t height = (rows - 1) * p_.stride[1] + p_.kernel[1], width = (columns - 1) * p_.stride[2] + p_.kernel[2];
    int64_t y0 = oy * p_.stride[1] - p_.pad_begin[1], x0 = ox * p_.stride[2] - p_.pad_begin[2];
    bool inside = x0 >= 0 && x0 + width <= p_.in[2];
    for (int64_t y = y0; y < y0 + height; ++y, in += width) {
      if (y < 0 || y >= p_.in[1]) {
        std::fill_n(in, width, zeros_);
      } else if (inside) {
        const char* at = pixel(n, 0, y, x0, channel);
        for (int64_t x = 0; x < width; ++x) in[x] = at + x * x_step_;
      } else {
        for (int64_t x = 0; x < width; ++x) in[x] = pixel(n, 0, y, x0 + x, channel);
      }
    }
  }

  void run_row(int64_t row, int64_t channel, int size) const {
    int64_t oy = row % p_.out[1], oz = row / p_.out[1] % p_.out[0], n = row / p_.out[1] / p_.out[0];
    DepthwiseTile t = tile_at(channel, size);
    t.positions = static_cast<int>(volume(p_.kernel));
    TileEpilogue epilogue = epilogue_at(channel);
    t.epilogue = &epilogue;
    const void* in[kMaxPositions * kGeneralOutputs];
    void* out[kGeneralOutputs];
    t.in = in;
    t.out = out;
    for (int64_t ox = 0; ox < p_.out[2]; ox += t.columns) {
      t.columns = p_.out[2] - ox >= kGeneralOutputs ? kGeneralOutputs : 1;
      const void** at = in;
      for (int64_t kz = 0; kz < p_.kernel[0]; ++kz)
        for (int64_t ky = 0; ky < p_.kernel[1]; ++ky)
          for (int64_t kx = 0; kx < p_.kernel[2]; ++kx)
            for (int i = 0; i < t.columns; ++i)
              *at++ = pixel(n, oz * p_.stride[0] + kz * p_.dilation[0] - p_.pad_begin[0],
                            oy * p_.stride[1] + ky * p_.dilation[1] - p_.pad_begin[1],
                            (ox + i) * p_.stride[2] + kx * p_.dilation[2] - p_.pad_begin[2], channel);
      for (int i = 0; i < t.columns; ++i) out[i] = output(row * p_.out[2] + ox + i, channel);
      isa_.general(t);
    }
  }

  void scale(int64_t begin, int64_t end) const {
    isa_.scale_pixels({.in = reinterpret_cast<const float*>(x_ + begin * x_step_),
                       .out = static_cast<float*>(output(begin, 0)),
                       .in_step = x_step_ / 4,
                       .out_step = y_step_ / 4,
                       .count = end - begin,
                       .weights = weights_,
                       .bias = bias_,
                       .channels = static_cast<int>(p_.in_channels),
                       .low = epilogue_.low,
                       .high = epilogue_.high});
  }

  const DepthwiseIsa& isa_;
  const ConvProblem& p_;
  const float* bias_;
  const char* x_;
  char* y_;
  const float* weights_;
  int64_t x_step_, y_element_, y_step_;  // in bytes
  const char* zeros_;
  TileEpilogue epilogue_;
  bool fast_, scales_;
};

const ConvProblem& of(const Problem& problem) { return std::get<ConvProblem>(problem); }

// The contraction kernels that take the same operands.
const GemmIsa& gemm_of(const DepthwiseIsa& isa) {
#if defined(__x86_64__)
  if (isa.format == DType::f32) return gemm_isa(isa.level);
  bool int8 = isa.format == DType::u8;
  if (isa.level == CpuLevel::avx512) return int8 ? kGemmAvx512Vnni : kGemmAvx512Bf16;
  if (isa.level == CpuLevel::avx2) return int8 ? kGemmInt8Avx2 : kGemmBf16Avx2;
#endif
  return isa.format == DType::f32 ? kGemmBaseline : isa.format == DType::u8 ? kGemmInt8Baseline : kGemmBf16Baseline;
}

const char* refusal(const DepthwiseIsa& isa, const ConvProblem& p) {
  if (p.transposed) return "a transposed convolution";
  if (const char* reason = types_refusal(gemm_of(isa), p.types, p.epilogue)) return reason;
  if (p.groups != p.in_channels || p.out_channels != p.in_channels) return "not depthwise with multiplier 1";
  if (p.in_channels < isa.vector) return "fewer channels than a vector has";
  if (p.in_layout == Layout::nchw) return "an nchw input";
  if (volume(p.kernel) > kMaxPositions) return "more than 512 kernel positions";
  // The last vector may overlap the one before: its outputs are computed twice, which a residual must not be.
  if (p.epilogue.residual != Residual::none && p.in_channels % isa.vector) return "a residual and a partial vector";
  return nullptr;
}

double seconds(const DepthwiseIsa& isa, const Problem& problem, int threads) {
  // Measured 50 to 90 % of a core's f32 peak in cache by kernel size; otherwise memory decides.
  double efficiency = has_fast_tiles(isa, of(problem)) ? 0.6 : 0.25;
  return gemm_seconds(gemm_isa(isa.level), flops(problem), bytes(problem), threads, efficiency);
}

void run(const DepthwiseIsa& isa, const Problem& problem, const Args& args) {
  Depthwise call(isa, of(problem), args);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  double work = seconds(isa, problem, 1);
  int64_t grain = work < kMinForkSeconds ? call.bands() : 1;
  pool.parallel_for(call.bands(), grain, [&](int64_t begin, int64_t end) { call.run(begin, end); });
}

size_t packed(const DepthwiseIsa& isa, const Problem& problem) {
  int64_t rows = volume(of(problem).kernel) + (isa.format == DType::u8 ? 1 : 0);
  return static_cast<size_t>(of(problem).in_channels * rows) * sizeof(float);
}

float as_float(float x) { return x; }
float as_float(int8_t x) { return x; }
float as_float(uint16_t bf16) { return std::bit_cast<float>(uint32_t{bf16} << 16); }

template <class T>
void widen(const T* from, int64_t channels, int64_t positions, float* to) {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t k = 0; k < positions; ++k) to[k * channels + c] = as_float(from[c * positions + k]);
}

void prepack(const DepthwiseIsa& isa, const Problem& problem, const void* from, void* packed) {
  int64_t channels = of(problem).in_channels, positions = volume(of(problem).kernel);
  auto* to = static_cast<float*>(packed);
  if (isa.format == DType::f32) return widen(static_cast<const float*>(from), channels, positions, to);
  if (isa.format == DType::bf16) return widen(static_cast<const uint16_t*>(from), channels, positions, to);
  auto* weights = static_cast<const int8_t*>(from);
  widen(weights, channels, positions, to);
  auto* sums = reinterpret_cast<int32_t*>(to + channels * positions);
  for (int64_t c = 0; c < channels; ++c)
    sums[c] = std::accumulate(weights + c * positions, weights + (c + 1) * positions, 0);
}

template <const DepthwiseIsa& kIsa>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::conv,
          .needs = kIsa.level,
          .in = kIsa.format,
          .out = kIsa.format,
          .packing = kIsa.format == DType::u8 ? Packing::depthwise_int8 : Packing::depthwise,
          .fits = [](const Problem& p) { return refusal(kIsa, of(p)); },
          .cost = [](const Problem& p, int threads) { return seconds(kIsa, p, threads); },
          .workspace_bytes = [](const Problem& p, int) { return workspace(of(p)); },
          .packed_bytes = [](const Problem& p) { return packed(kIsa, p); },
          .prepack = [](const Problem& p, std::span<const void* const> weights,
                        void* to) { prepack(kIsa, p, weights[0], to); },
          .run = [](const Problem& p, const Args& args) { run(kIsa, p, args); }};
}

const KernelRow kDepthwise[] = {
#if defined(__x86_64__)
    row<kDepthwiseAvx512>("conv_f32_f32_depthwise_avx512"),
    row<kDepthwiseBf16Avx512>("conv_bf16_bf16_depthwise_avx512"),
    row<kDepthwiseInt8Avx512>("conv_int8_int8_depthwise_avx512"),
    row<kDepthwiseAvx2>("conv_f32_f32_depthwise_avx2"),
    row<kDepthwiseBf16Avx2>("conv_bf16_bf16_depthwise_avx2"),
    row<kDepthwiseInt8Avx2>("conv_int8_int8_depthwise_avx2"),
#endif
    row<kDepthwiseBaseline>("conv_f32_f32_depthwise_baseline"),
    row<kDepthwiseBf16Baseline>("conv_bf16_bf16_depthwise_baseline"),
    row<kDepthwiseInt8Baseline>("conv_int8_int8_depthwise_baseline"),
};
const RegisterRows registered(kDepthwise);

}  // namespace
}  // namespace trine::cpu
