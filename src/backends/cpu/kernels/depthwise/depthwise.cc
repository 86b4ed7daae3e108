// Depthwise convolution, nhwc: bands of two output rows, tiles along a row, blocks of channels outermost so that the
// rows in work stay in L1.
#include "backends/cpu/kernels/depthwise/depthwise.h"

#include <algorithm>

#include "backends/cpu/kernels/conv_pack.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "trine/base/thread_pool.h"
#include "dnn/kernel_row.h"

namespace trine::cpu {

const DepthwiseIsa& depthwise_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kDepthwiseAvx512;
  if (level == CpuLevel::avx2) return kDepthwiseAvx2;
#endif
  return kDepthwiseBaseline;
}

namespace {

using namespace dnn;

constexpr int kMaxKernelRows = 16;  // of the fast kernels' table
constexpr int kMaxPositions = 512;  // of the general kernel's
alignas(64) constexpr float kZeros[kDepthwiseBlock] = {};

bool is_fast(const ConvProblem& p) {
  int64_t kw = p.kernel[2];
  return (kw == 3 || kw == 5 || kw == 7) && p.kernel[0] == 1 && p.in[0] == 1 && p.out[0] == 1 && p.pad_begin[0] == 0 &&
         p.kernel[1] <= kMaxKernelRows && p.dilation[1] == 1 && p.dilation[2] == 1 && p.stride[1] == p.stride[2] &&
         p.stride[2] <= 2;
}

class Depthwise {
 public:
  Depthwise(const DepthwiseIsa& isa, const ConvProblem& p, const Args& args)
      : isa_(isa),
        p_(p),
        bias_(p.epilogue.bias ? args.bias : nullptr),
        x_(static_cast<const float*>(args.in[0])),
        y_(static_cast<float*>(args.out[0])),
        weights_(static_cast<const float*>(args.packed)),
        ldx_(pixel_stride(p.in_pixel_stride, p.in_channels)),
        ldy_(pixel_stride(p.out_pixel_stride, p.out_channels)),
        epilogue_(TileEpilogue::from(p.epilogue, nullptr, args.residual, y_)),
        fast_(isa.fast[0][0][0][0] && is_fast(p)) {}

  // Bands of output rows are the unit of work that threads share.
  int64_t bands() const { return p_.n * (fast_ ? (p_.out[1] + 1) / 2 : p_.out[0] * p_.out[1]); }

  void run(int64_t begin, int64_t end) const {
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
    t.epilogue = &epilogue_;
    return t;
  }

  const float* pixel(int64_t n, int64_t z, int64_t y, int64_t x, int64_t channel) const {
    bool inside = z >= 0 && z < p_.in[0] && y >= 0 && y < p_.in[1] && x >= 0 && x < p_.in[2];
    return inside ? x_ + (((n * p_.in[0] + z) * p_.in[1] + y) * p_.in[2] + x) * ldx_ + channel : kZeros;
  }

  void run_band(int64_t band, int64_t channel, int size) const {
    int64_t per_image = (p_.out[1] + 1) / 2;
    int64_t n = band / per_image, oy = band % per_image * 2;
    int rows = static_cast<int>(std::min<int64_t>(2, p_.out[1] - oy));
    auto stride = static_cast<int>(p_.stride[2]), kernel = static_cast<int>(p_.kernel[2]);
    auto& tiles = isa_.fast[(kernel - 3) / 2][stride - 1][rows - 1];
    DepthwiseTile t = tile_at(channel, size);
    t.positions = static_cast<int>(p_.kernel[1]);
    const float* in[(kMaxKernelRows + 2) * 20];
    float* out[14];
    t.in = in;
    t.out = out;
    for (int64_t ox = 0; ox < p_.out[2];) {
      int choice = tile_columns(p_.out[2] - ox);
      int columns = kDepthwiseColumns[choice];
      fill_inputs(n, oy, ox, rows, columns, channel, in);
      for (int i = 0; i < rows * columns; ++i)
        out[i] = y_ + ((n * p_.out[1] + oy + i / columns) * p_.out[2] + ox + i % columns) * ldy_ + channel;
      tiles[choice](t);
      ox += columns;
    }
  }

  // The widest tile that leaves no ragged end: 7s when they divide what is left, else 4s.
  static int tile_columns(int64_t left) {
    if (left % 7 == 0) return 0;
    return left >= 4 ? 1 : left >= 2 ? 2 : 3;
  }

  void fill_inputs(int64_t n, int64_t oy, int64_t ox, int rows, int columns, int64_t channel, const float** in) const {
    int64_t height = (rows - 1) * p_.stride[1] + p_.kernel[1], width = (columns - 1) * p_.stride[2] + p_.kernel[2];
    int64_t y0 = oy * p_.stride[1] - p_.pad_begin[1], x0 = ox * p_.stride[2] - p_.pad_begin[2];
    bool inside = x0 >= 0 && x0 + width <= p_.in[2];
    for (int64_t y = y0; y < y0 + height; ++y, in += width) {
      if (y < 0 || y >= p_.in[1]) {
        std::fill_n(in, width, kZeros);
      } else if (inside) {
        const float* at = pixel(n, 0, y, x0, channel);
        for (int64_t x = 0; x < width; ++x) in[x] = at + x * ldx_;
      } else {
        for (int64_t x = 0; x < width; ++x) in[x] = pixel(n, 0, y, x0 + x, channel);
      }
    }
  }

  void run_row(int64_t row, int64_t channel, int size) const {
    int64_t oy = row % p_.out[1], oz = row / p_.out[1] % p_.out[0], n = row / p_.out[1] / p_.out[0];
    DepthwiseTile t = tile_at(channel, size);
    t.positions = static_cast<int>(volume(p_.kernel));
    const float* in[kMaxPositions * kGeneralOutputs];
    float* out[kGeneralOutputs];
    t.in = in;
    t.out = out;
    for (int64_t ox = 0; ox < p_.out[2]; ox += t.columns) {
      t.columns = p_.out[2] - ox >= kGeneralOutputs ? kGeneralOutputs : 1;
      const float** at = in;
      for (int64_t kz = 0; kz < p_.kernel[0]; ++kz)
        for (int64_t ky = 0; ky < p_.kernel[1]; ++ky)
          for (int64_t kx = 0; kx < p_.kernel[2]; ++kx)
            for (int i = 0; i < t.columns; ++i)
              *at++ = pixel(n, oz * p_.stride[0] + kz * p_.dilation[0] - p_.pad_begin[0],
                            oy * p_.stride[1] + ky * p_.dilation[1] - p_.pad_begin[1],
                            (ox + i) * p_.stride[2] + kx * p_.dilation[2] - p_.pad_begin[2], channel);
      for (int i = 0; i < t.columns; ++i) out[i] = y_ + (row * p_.out[2] + ox + i) * ldy_ + channel;
      isa_.general(t);
    }
  }

  const DepthwiseIsa& isa_;
  const ConvProblem& p_;
  const float* bias_;
  const float* x_;
  float* y_;
  const float* weights_;
  int64_t ldx_, ldy_;
  TileEpilogue epilogue_;
  bool fast_;
};

const ConvProblem& of(const Problem& problem) { return std::get<ConvProblem>(problem); }

const char* refusal(const ConvProblem& p, int vector) {
  if (p.transposed) return "a transposed convolution";
  if (p.groups != p.in_channels || p.out_channels != p.in_channels) return "not depthwise with multiplier 1";
  if (p.in_channels < vector) return "fewer channels than a vector has";
  if (p.in_layout == Layout::nchw) return "an nchw input";
  if (volume(p.kernel) > kMaxPositions) return "more than 512 kernel positions";
  // The last vector may overlap the one before: its outputs are computed twice, which a residual must not be.
  if (p.epilogue.residual != Residual::none && p.in_channels % vector) return "a residual and a partial vector";
  return nullptr;
}

double seconds(const Problem& problem, CpuLevel level, int threads) {
  // Measured 50 to 90 % of a core's peak in cache by kernel size; otherwise memory decides.
  double efficiency = is_fast(of(problem)) ? 0.6 : 0.25;
  return gemm_seconds(gemm_isa(level), flops(problem), bytes(problem), threads, efficiency);
}

void run(const DepthwiseIsa& isa, const ConvProblem& p, const Args& args) {
  Depthwise call(isa, p, args);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  double work = seconds(p, isa.level, 1);
  int64_t grain = work < kMinForkSeconds ? call.bands() : 1;
  pool.parallel_for(call.bands(), grain, [&](int64_t begin, int64_t end) { call.run(begin, end); });
}

size_t packed(const Problem& problem) {
  return static_cast<size_t>(of(problem).in_channels * volume(of(problem).kernel)) * sizeof(float);
}
void prepack(const Problem& problem, std::span<const void* const> weights, void* dst) {
  int64_t channels = of(problem).in_channels, positions = volume(of(problem).kernel);
  auto from = static_cast<const float*>(weights[0]);
  auto to = static_cast<float*>(dst);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t k = 0; k < positions; ++k) to[k * channels + c] = from[c * positions + k];
}

template <CpuLevel kLevel>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::conv,
          .needs = kLevel,
          .packing = Packing::depthwise,
          .fits = [](const Problem& p) { return refusal(of(p), depthwise_isa(kLevel).vector); },
          .cost = [](const Problem& p, int threads) { return seconds(p, kLevel, threads); },
          .packed_bytes = packed,
          .prepack = prepack,
          .run = [](const Problem& p, const Args& args) { run(depthwise_isa(kLevel), of(p), args); }};
}

const KernelRow kDepthwise[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512>("conv_f32_f32_depthwise_avx512"),
    row<CpuLevel::avx2>("conv_f32_f32_depthwise_avx2"),
#endif
    row<CpuLevel::baseline>("conv_f32_f32_depthwise_baseline"),
};
const RegisterRows registered(kDepthwise);

}  // namespace
}  // namespace trine::cpu
