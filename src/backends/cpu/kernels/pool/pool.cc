// Max and average pooling in one to three dimensions. Windows are clipped to the input once per axis; what is left is a
// box with constant strides.
#include "backends/cpu/kernels/pool/pool.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/deal.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/pool/pool_window.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {

const PoolIsa& pool_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kPoolAvx512;
  if (level == CpuLevel::avx2) return kPoolAvx2;
#endif
  return kPoolBaseline;
}

namespace {

using namespace dnn;

constexpr int64_t kChannelBlock = 256, kWidthBlock = 128;  // of one piece of work
constexpr int64_t kBufferFloats = 4096;                    // of combined columns: they stay in L1

// One line of the output, a block of its channels.
class PoolLine {
 public:
  PoolLine(const PoolIsa& isa, const PoolProblem& p, const Args& args, int64_t line, int64_t channel)
      : isa_(isa),
        p_(p),
        ldx_(pixel_stride(p.in_pixel_stride, p.channels)),
        ldy_(pixel_stride(p.out_pixel_stride, p.channels)),
        channels_(std::min(kChannelBlock, p.channels - channel)),
        y_(p, 1, line % p.out[1]),
        z_(p, 0, line / p.out[1] % p.out[0]) {
    const int64_t n = line / p.out[1] / p.out[0];
    const int64_t first = ((n * p.in[0] + z_.first) * p.in[1] + y_.first) * p.in[2];
    x_ = static_cast<const float*>(args.in[0]);
    if (z_.count * y_.count > 0) x_ += first * ldx_ + channel;
    out_ = static_cast<float*>(args.out[0]) + line * p.out[2] * ldy_ + channel;
  }

  // Outputs [begin, end) of the line.
  void run(int64_t begin, int64_t end) const {
    const int64_t rows = z_.count * y_.count, width = p_.kernel[2];
    if (p_.kind != PoolKind::max || rows == 0 || std::max(rows, width) > kMostPoolRows) return run_windows(begin, end);
    if (shares_columns()) {
      const int64_t columns = kBufferFloats / channels_, outputs = (columns - width) / p_.stride[2] + 1;
      for (int64_t i = begin; i < end; i += outputs) run_by_columns(i, std::min(i + outputs, end));
      return;
    }
    // Windows that lie inside, then what is left on both sides.
    const int64_t from = std::clamp(first_inside(), begin, end), to = std::clamp(end_inside(), from, end);
    if (rows * width > kMostPoolRows || to == from) return run_windows(begin, end);
    run_inside(from, to);
    run_windows(begin, from);
    run_windows(to, end);
  }

 private:
  // Windows overlap: what a column comes to serves several of them.
  bool shares_columns() const {
    return p_.kernel[2] > p_.stride[2] && p_.dilation[2] == 1 && p_.kernel[2] * channels_ <= kBufferFloats;
  }

  // Outputs whose windows are not clipped at the ends of the line.
  int64_t first_inside() const { return p_.pad_begin[2] > 0 ? pieces(p_.pad_begin[2], p_.stride[2]) : 0; }
  int64_t end_inside() const {
    const int64_t last = p_.in[2] + p_.pad_begin[2] - (p_.kernel[2] - 1) * p_.dilation[2] - 1;
    return last < 0 ? 0 : last / p_.stride[2] + 1;
  }

  // Column `x` of the window's lines, and as many to its right; appended to `r`.
  void add_columns(PoolRows& r, int64_t x, int64_t count) const {
    for (int64_t z = 0; z < z_.count; ++z)
      for (int64_t y = 0; y < y_.count; ++y)
        for (int64_t i = 0; i < count; ++i)
          r.rows[r.count++] =
              x_ + ((z * p_.dilation[0] * p_.in[1] + y * p_.dilation[1]) * p_.in[2] + x + i * p_.dilation[2]) * ldx_;
  }

  void run_inside(int64_t begin, int64_t end) const {
    PoolRows r{{}, 0, end - begin, channels_, p_.stride[2] * ldx_, ldy_, out_ + begin * ldy_};
    add_columns(r, begin * p_.stride[2] - p_.pad_begin[2], p_.kernel[2]);
    isa_.max_of_rows(r);
  }

  void run_windows(int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; ++i) {
      const PoolSpan x(p_, 2, i);
      PoolWindow w{
          x.count > 0 ? x_ + x.first * ldx_ : x_,
          {z_.count, y_.count, x.count},
          {p_.dilation[0] * p_.in[1] * p_.in[2] * ldx_, p_.dilation[1] * p_.in[2] * ldx_, p_.dilation[2] * ldx_},
          out_ + i * ldy_,
          static_cast<int>(channels_),
          1};
      if (p_.kind == PoolKind::max) {
        isa_.max(w);
      } else {
        w.scale = 1.f / static_cast<float>(z_.divisor * y_.divisor * x.divisor);
        isa_.average(w);
      }
    }
  }

  // First what each column comes to, then what these come to.
  void run_by_columns(int64_t begin, int64_t end) const {
    alignas(64) float buffer[kBufferFloats];
    const int64_t first = std::max<int64_t>(begin * p_.stride[2] - p_.pad_begin[2], 0);
    const int64_t last = std::min((end - 1) * p_.stride[2] - p_.pad_begin[2] + p_.kernel[2], p_.in[2]);
    const int64_t from = std::clamp(first_inside(), begin, end), to = std::clamp(end_inside(), from, end);
    if (last > first) {
      PoolRows r{{}, 0, last - first, channels_, ldx_, channels_, buffer};
      add_columns(r, first, 1);
      r.merge();
      isa_.max_of_rows(r);
    }
    const auto run = [&](int64_t i, int64_t count, int64_t x, int64_t width) {
      PoolRows r{{}, 0, count, channels_, p_.stride[2] * channels_, ldy_, out_ + i * ldy_};
      for (; r.count < width; ++r.count) r.rows[r.count] = buffer + (x - first + r.count) * channels_;
      r.merge();
      isa_.max_of_rows(r);
    };
    if (to > from) run(from, to - from, from * p_.stride[2] - p_.pad_begin[2], p_.kernel[2]);
    for (int64_t i = begin; i < end; ++i) {
      if (i == from) i = to;
      if (i == end) break;
      const PoolSpan x(p_, 2, i);
      x.count > 0 ? run(i, 1, x.first, x.count) : run_windows(i, i + 1);
    }
  }

  const PoolIsa& isa_;
  const PoolProblem& p_;
  int64_t ldx_, ldy_, channels_;
  PoolSpan y_, z_;
  const float* x_;
  float* out_;
};

double seconds(const Problem& problem, CpuLevel level, int threads) {
  return gemm_seconds(gemm_isa(level), flops(problem), bytes(problem), threads, 0.25);
}

void run_nhwc(CpuLevel level, const Problem& problem, const Args& args) {
  const auto& p = std::get<PoolProblem>(problem);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  const int64_t blocks = pieces(p.channels, kChannelBlock), parts = pieces(p.out[2], kWidthBlock);
  const int64_t units = p.n * p.out[0] * p.out[1] * parts * blocks;
  const int64_t grain = seconds(problem, level, 1) < kMinForkSeconds ? units : 1;
  pool.parallel_for(units, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = i / blocks % parts * kWidthBlock;
      PoolLine(pool_isa(level), p, args, i / blocks / parts, i % blocks * kChannelBlock)
          .run(from, std::min(from + kWidthBlock, p.out[2]));
    }
  });
}

float pool_plane(const PoolProblem& p, const float* plane, const PoolPlace& w) {
  float result = p.kind == PoolKind::max ? -INFINITY : 0;
  for (int64_t z = 0; z < w.z.count; ++z)
    for (int64_t y = 0; y < w.y.count; ++y) {
      const float* in =
          plane + ((w.z.first + z * p.dilation[0]) * p.in[1] + w.y.first + y * p.dilation[1]) * p.in[2] + w.x.first;
      for (int64_t x = 0; x < w.x.count; ++x) {
        float v = in[x * p.dilation[2]];
        if (p.kind != PoolKind::max) result += v;
        if (p.kind == PoolKind::max && (v > result || std::isnan(v))) result = v;
        if (p.kind == PoolKind::max && std::isnan(result)) return result;
      }
    }
  return p.kind == PoolKind::max ? result : result * w.scale();
}

void run_nchw(const Problem& problem, const Args& args) {
  const auto& p = std::get<PoolProblem>(problem);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  int64_t planes = p.n * p.channels, pixels = volume(p.out), in_pixels = volume(p.in);
  int64_t grain = seconds(problem, CpuLevel::baseline, 1) < kMinForkSeconds ? planes : 1;
  pool.parallel_for(planes, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t pixel = 0; pixel < pixels; ++pixel)
        static_cast<float*>(args.out[0])[i * pixels + pixel] =
            pool_plane(p, static_cast<const float*>(args.in[0]) + i * in_pixels, PoolPlace(p, pixel));
  });
}

const char* fits_nhwc(const Problem& problem) {
  return std::get<PoolProblem>(problem).layout == Layout::nhwc ? nullptr : "nchw";
}
const char* fits_nchw(const Problem& problem) {
  return std::get<PoolProblem>(problem).layout == Layout::nchw ? nullptr : "nhwc";
}

template <CpuLevel kLevel>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::pool,
          .needs = kLevel,
          .fits = fits_nhwc,
          .cost = [](const Problem& p, int threads) { return seconds(p, kLevel, threads); },
          .run = [](const Problem& p, const Args& args) { run_nhwc(kLevel, p, args); }};
}

const KernelRow kPool[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512>("pool_f32_f32_nhwc_avx512"),
    row<CpuLevel::avx2>("pool_f32_f32_nhwc_avx2"),
#endif
    row<CpuLevel::baseline>("pool_f32_f32_nhwc_baseline"),
    {.name = "pool_f32_f32_nchw_baseline",
     .op = OpKind::pool,
     .needs = CpuLevel::baseline,
     .fits = fits_nchw,
     .cost = [](const Problem& p, int threads) { return 4 * seconds(p, CpuLevel::baseline, threads); },
     .run = run_nchw},
};
const RegisterRows registered(kPool);

}  // namespace
}  // namespace trine::cpu
