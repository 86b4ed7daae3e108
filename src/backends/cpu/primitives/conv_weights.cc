// Gradients of convolution weights: for each kernel position one product  dW[t] += dY^T X[t],  a block of pixels at a
// time. dY is transposed once per block; X[t], the input pixels that the position meets, is laid into panels. Pixels
// are never divided among threads, so the bits do not depend on their number.
//
// The gradient of a transposed convolution's weights is that of its backward_data, with x and dy exchanged.
//
//   gemm     any groups of at least 8 channels
//   direct   depthwise and narrow groups: sums over pixels, channel by channel
#include <algorithm>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kBlockPixels = 256;
constexpr int64_t kLeastWidth = 8;  // channels of a group worth a product

const ConvWeightsProblem& of(const Problem& problem) { return std::get<ConvWeightsProblem>(problem); }

ConvProblem plain(const ConvWeightsProblem& w) { return w.forward.transposed ? backward_data(w.forward) : w.forward; }

// The operands of a run, those of a transposed convolution exchanged.
struct Operands {
  const float *x, *dy;
  float* dw;

  Operands(const ConvWeightsProblem& w, const Args& args)
      : x(static_cast<const float*>(args.in[w.forward.transposed ? 1 : 0])),
        dy(static_cast<const float*>(args.in[w.forward.transposed ? 0 : 1])),
        dw(static_cast<float*>(args.out[0])) {}
};

int64_t channel_stride(const ConvProblem& p) { return p.in_layout == Layout::nchw ? volume(p.in) : 1; }

// The input pixel that output pixel `row` meets at kernel position `tap`, or null in the padding. Its channels are
// channel_stride apart.
const float* met_pixel(const ConvProblem& p, const float* x, int64_t row, int64_t tap) {
  const int64_t ldx = pixel_stride(p.in_pixel_stride, p.in_channels);
  int64_t at[3], n = row / volume(p.out);
  for (size_t i = 3; i-- > 0;) {
    at[i] = row % p.out[i] * p.stride[i] + tap % p.kernel[i] * p.dilation[i] - p.pad_begin[i];
    row /= p.out[i];
    tap /= p.kernel[i];
    if (at[i] < 0 || at[i] >= p.in[i]) return nullptr;
  }
  const int64_t pixel = (at[0] * p.in[1] + at[1]) * p.in[2] + at[2];
  if (p.in_layout == Layout::nchw) return x + n * p.in_channels * volume(p.in) + pixel;
  return x + (n * volume(p.in) + pixel) * ldx;
}

GemmJob job_of(const ConvProblem& p, int64_t pixels) {
  GemmJob job;
  job.rows = p.out_per_group();
  job.columns = p.in_per_group();
  job.kc = pixels;
  job.row_stride = pixels;
  return job;
}

struct Scratch {
  float *dy, *x, *sums;  // [M/g][pixels], panels of [pixels][16], [tap][M/g][C/g]
  char* tables;

  Scratch(const GemmIsa& isa, const ConvProblem& p, int threads, Carver& carver) {
    dy = carver.take<float>(static_cast<size_t>(p.out_per_group() * kBlockPixels));
    x = carver.take<float>(static_cast<size_t>(panels_floats(kBlockPixels, p.in_per_group())));
    sums = carver.take<float>(static_cast<size_t>(volume(p.kernel) * p.out_per_group() * p.in_per_group()));
    // The last block may have fewer pixels, and so taller blocks of rows with longer tables.
    tables = carver.take<char>(static_cast<size_t>(threads) * Product::table_bytes(isa, p.out_per_group()));
  }
};

class WeightsGradient {
 public:
  WeightsGradient(CpuLevel level, const ConvWeightsProblem& problem, const Args& args)
      : isa_(gemm_isa(level)),
        p_(plain(problem)),
        adds_(problem.add),
        o_(problem, args),
        pool_(args.pool ? *args.pool : ThreadPool::serial()),
        carver_(args.workspace),
        s_(isa_, p_, pool_.threads(), carver_) {}

  void run() {
    for (int64_t g = 0; g < p_.groups; ++g) {
      const int64_t pixels = p_.n * volume(p_.out);
      for (int64_t first = 0; first < pixels || first == 0; first += kBlockPixels)
        add_block(g, first, std::min(kBlockPixels, pixels - first));
      write(g);
    }
  }

 private:
  void add_block(int64_t g, int64_t first, int64_t count) {
    const int64_t ldy = pixel_stride(p_.out_pixel_stride, p_.out_channels), width = p_.out_per_group();
    const float* dy = o_.dy + first * ldy + g * width;
    pool_.parallel_for(width, 16, [&](int64_t begin, int64_t end) {
      isa_.transpose(dy + begin, ldy, s_.dy + begin * count, count, count, end - begin);
    });
    for (int64_t tap = 0; tap < volume(p_.kernel); ++tap) {
      pool_.parallel_for(count, 32, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) fill_pixel(met_pixel(p_, o_.x, first + i, tap), g, i, count);
      });
      float* sums = s_.sums + tap * width * p_.in_per_group();
      auto rows = LinearRows::of_floats(s_.dy, count, sums, p_.in_per_group());
      GemmJob job = job_of(p_, count);
      job.source = rows.source();
      job.b = s_.x;
      job.accumulate = first > 0;
      run_gemm(isa_, job, &pool_, s_.tables);
    }
  }

  void fill_pixel(const float* pixel, int64_t g, int64_t i, int64_t count) {
    const int64_t width = p_.in_per_group(), step = channel_stride(p_);
    for (int64_t c = 0; c < width; c += kPanel) {
      float* to = s_.x + c * count + i * kPanel;
      const int64_t has = pixel ? std::min<int64_t>(kPanel, width - c) : 0;
      for (int64_t j = 0; j < has; ++j) to[j] = pixel[(g * width + c + j) * step];
      std::fill(to + has, to + kPanel, 0.f);
    }
  }

  // [tap][m][c] -> [m][c][tap]
  void write(int64_t g) {
    const int64_t taps = volume(p_.kernel), size = p_.out_per_group() * p_.in_per_group();
    float* dw = o_.dw + g * size * taps;
    if (!adds_) return isa_.transpose(s_.sums, size, dw, taps, taps, size);
    for (int64_t i = 0; i < size; ++i)
      for (int64_t tap = 0; tap < taps; ++tap) dw[i * taps + tap] += s_.sums[tap * size + i];
  }

  const GemmIsa& isa_;
  const ConvProblem p_;
  const bool adds_;
  const Operands o_;
  ThreadPool& pool_;
  Carver carver_;
  Scratch s_;
};

void sum_bias(const ConvWeightsProblem& w, const Args& args) {
  const ConvProblem& p = w.forward;
  const auto* dy = static_cast<const float*>(args.in[1]);
  auto* db = static_cast<float*>(args.out[1]);
  if (!db) return;
  const int64_t ldy = pixel_stride(p.out_pixel_stride, p.out_channels);
  if (!w.add) std::fill_n(db, p.out_channels, 0.f);
  for (int64_t i = 0; i < p.n * volume(p.out); ++i)
    for (int64_t m = 0; m < p.out_channels; ++m) db[m] += dy[i * ldy + m];
}

void run_gemm_row(CpuLevel level, const Problem& problem, const Args& args) {
  WeightsGradient(level, of(problem), args).run();
  sum_bias(of(problem), args);
}

// dw[m][c][tap] of the channels [begin, end); plain loops over pixels.
void run_direct(const Problem& problem, const Args& args) {
  const ConvProblem p = plain(of(problem));
  const Operands o(of(problem), args);
  const int64_t taps = volume(p.kernel), ldy = pixel_stride(p.out_pixel_stride, p.out_channels),
                width = p.in_per_group(), step = channel_stride(p);
  if (!of(problem).add) std::fill_n(o.dw, p.out_channels * width * taps, 0.f);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  pool.run(static_cast<int>(taps), [&](int tap, int) {
    for (int64_t i = 0; i < p.n * volume(p.out); ++i) {
      const float* pixel = met_pixel(p, o.x, i, tap);
      if (!pixel) continue;
      for (int64_t m = 0; m < p.out_channels; ++m)
        for (int64_t c = 0; c < width; ++c)
          o.dw[(m * width + c) * taps + tap] += o.dy[i * ldy + m] * pixel[(m / p.out_per_group() * width + c) * step];
    }
  });
  sum_bias(of(problem), args);
}

const char* refusal(const Problem& problem) {
  const ConvProblem& p = of(problem).forward;
  if (p.transposed && p.in_layout == Layout::nchw) return "an nchw input of a transposed convolution";
  return volume(p.kernel) > 0xffff ? "more than 65535 kernel positions" : nullptr;
}
const char* gemm_refusal(const Problem& problem) {
  const ConvProblem& p = of(problem).forward;
  if (p.in_per_group() < kLeastWidth || p.out_per_group() < kLeastWidth) return "groups narrower than 8 channels";
  return refusal(problem);
}

size_t workspace(CpuLevel level, const Problem& problem, int threads) {
  const ConvProblem p = plain(of(problem));
  Carver carver;
  Scratch(gemm_isa(level), p, threads, carver);
  return carver.used();
}

template <CpuLevel kLevel>
KernelRow gemm_row(std::string_view name) {
  return {.name = name,
          .op = OpKind::conv_weights,
          .needs = kLevel,
          .fits = gemm_refusal,
          .cost = [](const Problem& p,
                     int threads) { return gemm_seconds(gemm_isa(kLevel), flops(p), bytes(p), threads, 0.6); },
          .workspace_bytes = [](const Problem& p, int threads) { return workspace(kLevel, p, threads); },
          .run = [](const Problem& p, const Args& args) { run_gemm_row(kLevel, p, args); }};
}

const KernelRow kRows[] = {
#if defined(__x86_64__)
    gemm_row<CpuLevel::avx512>("conv_weights_f32_f32_gemm_avx512"),
    gemm_row<CpuLevel::avx2>("conv_weights_f32_f32_gemm_avx2"),
#endif
    gemm_row<CpuLevel::baseline>("conv_weights_f32_f32_gemm_baseline"),
    {.name = "conv_weights_f32_f32_direct_baseline",
     .op = OpKind::conv_weights,
     .needs = CpuLevel::baseline,
     .fits = refusal,
     .cost = [](const Problem& p, int) { return flops(p) / 2e9; },
     .run = run_direct},
};
const RegisterRows registered(kRows);

}  // namespace
}  // namespace trine::cpu
