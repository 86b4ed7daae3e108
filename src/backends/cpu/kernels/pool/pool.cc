// Max and average pooling in one to three dimensions. Windows are clipped to the input once per axis; what is left is a
// box with constant strides.
#include "backends/cpu/kernels/pool/pool.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/conv_sizes.h"
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

constexpr int64_t kChannelBlock = 256;  // of one piece of work

void run_pixels(const PoolIsa& isa, const PoolProblem& p, const Args& args, int64_t begin, int64_t end) {
  int64_t ldx = pixel_stride(p.in_pixel_stride, p.channels), ldy = pixel_stride(p.out_pixel_stride, p.channels);
  int64_t blocks = (p.channels + kChannelBlock - 1) / kChannelBlock, pixels = volume(p.out);
  auto x = static_cast<const float*>(args.in[0]);
  auto y = static_cast<float*>(args.out[0]);
  for (int64_t unit = begin; unit < end; ++unit) {
    int64_t pixel = unit / blocks % pixels, n = unit / blocks / pixels, channel = unit % blocks * kChannelBlock;
    PoolPlace w(p, pixel);
    int64_t from = ((n * p.in[0] + w.z.first) * p.in[1] + w.y.first) * p.in[2] + w.x.first;
    PoolWindow window{w.z.count * w.y.count * w.x.count > 0 ? x + from * ldx + channel : x,
                      {w.z.count, w.y.count, w.x.count},
                      {p.dilation[0] * p.in[1] * p.in[2] * ldx, p.dilation[1] * p.in[2] * ldx, p.dilation[2] * ldx},
                      y + (n * pixels + pixel) * ldy + channel,
                      static_cast<int>(std::min(kChannelBlock, p.channels - channel)),
                      w.scale()};
    p.kind == PoolKind::max ? isa.max(window) : isa.average(window);
  }
}

double seconds(const Problem& problem, CpuLevel level, int threads) {
  return gemm_seconds(gemm_isa(level), flops(problem), bytes(problem), threads, 0.25);
}

void run_nhwc(CpuLevel level, const Problem& problem, const Args& args) {
  const auto& p = std::get<PoolProblem>(problem);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  int64_t units = p.n * volume(p.out) * ((p.channels + kChannelBlock - 1) / kChannelBlock);
  int64_t grain = seconds(problem, level, 1) < kMinForkSeconds ? units : 1;
  pool.parallel_for(units, grain,
                    [&](int64_t begin, int64_t end) { run_pixels(pool_isa(level), p, args, begin, end); });
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
