// Gradients of pools. A piece of work is some channels of one image, whose windows are gone through in order: where
// they overlap, sums are made in that order for any number of threads.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/deal.h"
#include "backends/cpu/kernels/pool/pool.h"
#include "backends/cpu/kernels/pool/pool_window.h"

namespace trine::cpu {
namespace {

using namespace dnn;

constexpr int64_t kChannels = 64;  // of one piece of work

const PoolProblem& forward_of(const Problem& problem) { return std::get<PoolBackwardProblem>(problem).forward; }

int64_t first_pixel(const PoolProblem& p, const PoolPlace& w) {
  return (w.z.first * p.in[1] + w.y.first) * p.in[2] + w.x.first;
}

void add_image(const PoolIsa& isa, const PoolProblem& p, const float* x, const float* dy, float* dx, int channels) {
  const int64_t ldx = pixel_stride(p.in_pixel_stride, p.channels), ldy = pixel_stride(p.out_pixel_stride, p.channels);
  for (int64_t pixel = 0; pixel < volume(p.in); ++pixel) std::fill_n(dx + pixel * ldx, channels, 0.f);
  for (int64_t pixel = 0; pixel < volume(p.out); ++pixel) {
    const PoolPlace w(p, pixel);
    if (w.z.count * w.y.count * w.x.count <= 0) continue;
    const int64_t from = first_pixel(p, w) * ldx;
    const PoolGradientWindow window{
        x ? x + from : nullptr,
        dx + from,
        {w.z.count, w.y.count, w.x.count},
        {p.dilation[0] * p.in[1] * p.in[2] * ldx, p.dilation[1] * p.in[2] * ldx, p.dilation[2] * ldx},
        dy + pixel * ldy,
        channels,
        w.scale()};
    p.kind == PoolKind::max ? isa.max_gradient(window) : isa.average_gradient(window);
  }
}

void run_nhwc(CpuLevel level, const Problem& problem, const Args& args) {
  const PoolProblem& p = forward_of(problem);
  const int64_t blocks = pieces(p.channels, kChannels);
  const int64_t in_image = volume(p.in) * pixel_stride(p.in_pixel_stride, p.channels);
  const int64_t out_image = volume(p.out) * pixel_stride(p.out_pixel_stride, p.channels);
  deal(level, problem, args, p.n * blocks, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t n = unit / blocks, channel = unit % blocks * kChannels, at = n * in_image + channel;
      add_image(pool_isa(level), p, p.kind == PoolKind::max ? static_cast<const float*>(args.in[0]) + at : nullptr,
                static_cast<const float*>(args.in[1]) + n * out_image + channel, static_cast<float*>(args.out[0]) + at,
                static_cast<int>(std::min(kChannels, p.channels - channel)));
    }
  });
}

// The place in `plane` of a window's first maximum or first NaN.
int64_t place_of_max(const PoolProblem& p, const float* plane, const PoolPlace& w) {
  int64_t best = -1;
  for (int64_t z = 0; z < w.z.count; ++z)
    for (int64_t y = 0; y < w.y.count; ++y)
      for (int64_t x = 0; x < w.x.count; ++x) {
        const int64_t at =
            first_pixel(p, w) + (z * p.dilation[0] * p.in[1] + y * p.dilation[1]) * p.in[2] + x * p.dilation[2];
        if (best < 0 || plane[at] > plane[best] || (std::isnan(plane[at]) && !std::isnan(plane[best]))) best = at;
      }
  return best;
}

void add_plane(const PoolProblem& p, const float* x, const float* dy, float* dx) {
  std::fill_n(dx, volume(p.in), 0.f);
  for (int64_t pixel = 0; pixel < volume(p.out); ++pixel) {
    const PoolPlace w(p, pixel);
    if (p.kind == PoolKind::max) {
      if (const int64_t at = place_of_max(p, x, w); at >= 0) dx[at] += dy[pixel];
      continue;
    }
    const float share = dy[pixel] * w.scale();
    for (int64_t z = 0; z < w.z.count; ++z)
      for (int64_t y = 0; y < w.y.count; ++y)
        for (int64_t i = 0; i < w.x.count; ++i)
          dx[first_pixel(p, w) + (z * p.dilation[0] * p.in[1] + y * p.dilation[1]) * p.in[2] + i * p.dilation[2]] +=
              share;
  }
}

void run_nchw(CpuLevel level, const Problem& problem, const Args& args) {
  const PoolProblem& p = forward_of(problem);
  deal(level, problem, args, p.n * p.channels, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane)
      add_plane(p, p.kind == PoolKind::max ? static_cast<const float*>(args.in[0]) + plane * volume(p.in) : nullptr,
                static_cast<const float*>(args.in[1]) + plane * volume(p.out),
                static_cast<float*>(args.out[0]) + plane * volume(p.in));
  });
}

const char* fits_nhwc(const Problem& problem) { return forward_of(problem).layout == Layout::nhwc ? nullptr : "nchw"; }
const char* fits_nchw(const Problem& problem) { return forward_of(problem).layout == Layout::nchw ? nullptr : "nhwc"; }

const KernelRow kRows[] = {
#if defined(__x86_64__)
    stream_row<CpuLevel::avx512, run_nhwc>("pool_backward_f32_nhwc_avx512", OpKind::pool_backward, fits_nhwc),
    stream_row<CpuLevel::avx2, run_nhwc>("pool_backward_f32_nhwc_avx2", OpKind::pool_backward, fits_nhwc),
#endif
    stream_row<CpuLevel::baseline, run_nhwc>("pool_backward_f32_nhwc_baseline", OpKind::pool_backward, fits_nhwc),
    stream_row<CpuLevel::baseline, run_nchw>("pool_backward_f32_nchw_baseline", OpKind::pool_backward, fits_nchw),
};
const RegisterRows registered(kRows);

}  // namespace
}  // namespace trine::cpu
