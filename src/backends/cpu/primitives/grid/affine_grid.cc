// Grids of affine maps, and their gradient.
#include "backends/cpu/kernels/conv_sizes.h"
#include "dnn/kernel_row.h"
#include "trine/base/thread_pool.h"

namespace trine::cpu {
namespace {

using namespace dnn;

const AffineGridProblem& of(const Problem& problem) { return std::get<AffineGridProblem>(problem); }

// Where pixel i of `size` stands between -1 and 1.
double position(int64_t i, int64_t size, bool align_corners) {
  const auto x = static_cast<double>(i), n = static_cast<double>(size);
  if (align_corners) return size == 1 ? -1 : -1 + 2 * x / (n - 1);
  return (2 * x + 1) / n - 1;
}

// (x, y, 1) or (x, y, z, 1) of a point.
void homogeneous(const AffineGridProblem& p, int64_t point, double* to) {
  for (int k = 0; k < p.axes; ++k) {
    const int64_t size = p.out[static_cast<size_t>(2 - k)];
    to[k] = position(point % size, size, p.align_corners);
    point /= size;
  }
  to[p.axes] = 1;
}

void forward(const AffineGridProblem& p, const float* theta, float* grid, ThreadPool& pool) {
  const int64_t points = volume(p.out);
  pool.parallel_for(p.n * points, 256, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      double from[4];
      homogeneous(p, at % points, from);
      const float* map = theta + at / points * p.axes * (p.axes + 1);
      for (int i = 0; i < p.axes; ++i, map += p.axes + 1) {
        double sum = 0;
        for (int k = 0; k <= p.axes; ++k) sum += map[k] * from[k];
        grid[at * p.axes + i] = static_cast<float>(sum);
      }
    }
  });
}

void backward(const AffineGridProblem& p, const float* dgrid, float* dtheta, ThreadPool& pool) {
  const int64_t points = volume(p.out);
  pool.parallel_for(p.n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      double sums[3][4] = {}, from[4];
      for (int64_t point = 0; point < points; ++point) {
        homogeneous(p, point, from);
        for (int i = 0; i < p.axes; ++i)
          for (int k = 0; k <= p.axes; ++k) sums[i][k] += dgrid[(n * points + point) * p.axes + i] * from[k];
      }
      for (int i = 0; i < p.axes; ++i)
        for (int k = 0; k <= p.axes; ++k) dtheta[(n * p.axes + i) * (p.axes + 1) + k] = static_cast<float>(sums[i][k]);
    }
  });
}

const KernelRow kAffineGrid[] = {
    {.name = "affine_grid_f32_f32_baseline",
     .op = OpKind::affine_grid,
     .needs = CpuLevel::baseline,
     .fits = [](const Problem& problem) -> const char* {
       const AffineGridProblem& p = of(problem);
       if (p.axes != 2 && p.axes != 3) return "axes other than 2 or 3";
       return p.axes == 2 && p.out[0] != 1 ? "a depth with two axes" : nullptr;
     },
     .cost = [](const Problem& p, int threads) { return flops(p) / 2e9 / threads; },
     .run =
         [](const Problem& problem, const Args& args) {
           const AffineGridProblem& p = of(problem);
           ThreadPool& pool = args.pool ? *args.pool : ThreadPool::serial();
           (p.pass == Pass::forward ? forward : backward)(p, static_cast<const float*>(args.in[0]),
                                                          static_cast<float*>(args.out[0]), pool);
         }},
};
const RegisterRows registered(kAffineGrid);

}  // namespace
}  // namespace trine::cpu
