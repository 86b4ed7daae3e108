// Nearest and linear resizing in one to three dimensions. What an output position reads along each axis is put into
// tables once; an output pixel is then a weighted sum of up to eight input pixels.
#include "backends/cpu/kernels/resize/resize.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/conv_sizes.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/workspace.h"
#include "dnn/kernel_row.h"
#include "dnn/resize_reading.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

const ResizeIsa& resize_isa(CpuLevel level) {
#if defined(__x86_64__)
  if (level == CpuLevel::avx512) return kResizeAvx512;
  if (level == CpuLevel::avx2) return kResizeAvx2;
#endif
  return kResizeBaseline;
}

using Reading = ResizeReading;

struct Tables {
  Reading* axis[3];

  Tables(const ResizeProblem& p, Carver& carver) {
    for (size_t i = 0; i < 3; ++i) axis[i] = carver.take<Reading>(static_cast<size_t>(p.out[i]));
  }
  void fill(const ResizeProblem& p) {
    for (size_t i = 0; i < 3; ++i)
      for (int64_t o = 0; o < p.out[i]; ++o) axis[i][o] = resize_reading(p, i, o);
  }
};

// The input pixels of one output pixel with their weights; those without weight are left out.
struct Taps {
  int64_t pixel[8];
  float weight[8];
  int count = 0;

  Taps(const ResizeProblem& p, const Reading& z, const Reading& y, const Reading& x) {
    for_ends(z, [&](int64_t iz, float wz) {
      for_ends(y, [&](int64_t iy, float wy) {
        for_ends(x, [&](int64_t ix, float wx) {
          pixel[count] = (iz * p.in[1] + iy) * p.in[2] + ix;
          weight[count++] = wz * wy * wx;
        });
      });
    });
  }

 private:
  template <class F>
  static void for_ends(const Reading& r, F f) {
    if (r.weight == 0 || r.low == r.high) return f(r.low, 1.f);
    f(r.low, 1 - r.weight);
    f(r.high, r.weight);
  }
};

void run_rows(CpuLevel level, const ResizeProblem& p, const Args& args, const Tables& tables, int64_t begin,
              int64_t end) {
  bool nhwc = p.layout == Layout::nhwc;
  int64_t channels = nhwc ? p.channels : 1;
  int64_t ldx = pixel_stride(p.in_pixel_stride, channels), ldy = pixel_stride(p.out_pixel_stride, channels);
  for (int64_t row = begin; row < end; ++row) {
    int64_t oy = row % p.out[1], oz = row / p.out[1] % p.out[0], image = row / p.out[1] / p.out[0];
    auto x = static_cast<const float*>(args.in[0]) + image * volume(p.in) * ldx;
    float* y = static_cast<float*>(args.out[0]) + row * p.out[2] * ldy;
    for (int64_t ox = 0; ox < p.out[2]; ++ox, y += ldy) {
      Taps taps(p, tables.axis[0][oz], tables.axis[1][oy], tables.axis[2][ox]);
      if (taps.count == 1) {
        std::copy_n(x + taps.pixel[0] * ldx, channels, y);
      } else if (nhwc) {
        const float* from[8];
        for (int k = 0; k < taps.count; ++k) from[k] = x + taps.pixel[k] * ldx;
        resize_isa(level).blend(from, taps.weight, taps.count, channels, y);
      } else {
        float sum = 0;
        for (int k = 0; k < taps.count; ++k) sum += taps.weight[k] * x[taps.pixel[k]];
        *y = sum;
      }
    }
  }
}

const ResizeProblem& of(const Problem& problem) { return std::get<ResizeProblem>(problem); }

double seconds(const Problem& problem, CpuLevel level, int threads) {
  double pixels = static_cast<double>(of(problem).n * volume(of(problem).out));
  if (of(problem).layout == Layout::nchw) pixels *= static_cast<double>(of(problem).channels);
  return gemm_seconds(gemm_isa(level), flops(problem) + pixels * 40, bytes(problem), threads, 0.2);
}

void run(CpuLevel level, const Problem& problem, const Args& args) {
  const ResizeProblem& p = of(problem);
  ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
  Carver carver(args.workspace);
  Tables tables(p, carver);
  tables.fill(p);
  int64_t rows = p.n * (p.layout == Layout::nchw ? p.channels : 1) * p.out[0] * p.out[1];
  int64_t grain = seconds(problem, level, 1) < kMinForkSeconds ? rows : 1;
  pool.parallel_for(rows, grain, [&](int64_t begin, int64_t end) { run_rows(level, p, args, tables, begin, end); });
}

size_t workspace(const Problem& problem, int) {
  Carver carver;
  Tables(of(problem), carver);
  return carver.used();
}

template <CpuLevel kLevel>
KernelRow row(std::string_view name) {
  return {.name = name,
          .op = OpKind::resize,
          .needs = kLevel,
          .fits = [](const Problem&) -> const char* { return nullptr; },
          .cost = [](const Problem& p, int threads) { return seconds(p, kLevel, threads); },
          .workspace_bytes = workspace,
          .run = [](const Problem& p, const Args& args) { run(kLevel, p, args); }};
}

const KernelRow kResize[] = {
#if defined(__x86_64__)
    row<CpuLevel::avx512>("resize_f32_f32_avx512"),
    row<CpuLevel::avx2>("resize_f32_f32_avx2"),
#endif
    row<CpuLevel::baseline>("resize_f32_f32_baseline"),
};
const RegisterRows registered(kResize);

}  // namespace
}  // namespace trine::cpu
