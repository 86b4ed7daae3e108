#include "cases.h"

namespace trine::bench_compute {

Case heat(std::mt19937& random, Sizes sizes) {
  const int n = sizes.of(512, 70);
  constexpr int kSteps = 100;
  const size_t count = static_cast<size_t>(n) * static_cast<size_t>(n);
  const ArrayIndex a{0}, b{1};
  return {.name = "heat",
          .size = fmt::format("{0} x {0}, {1} steps", n, kSteps),
          .arrays = {in_out(Type::f32, uniform(random, count, 0, 1)), scratch(Type::f32, count)},
          .numbers = {double(n), kSteps},
          .block = {32, 8},
          .opencl_blocks = {{32, 8}, {64, 4}, {256, 1}},
          // step() is OpenCL's own.
          .steps = [=](Language language, Dim3 block) -> std::vector<Step> {
            const char* name = language == Language::cuda ? "step" : "advance";
            const Dim3 grid{blocks_for(static_cast<size_t>(n), block.x), blocks_for(static_cast<size_t>(n), block.y)};
            std::vector<Step> steps;
            for (int i = 0; i < kSteps / 2; ++i) {
              steps.push_back({name, grid, block, {a, b, n}});
              steps.push_back({name, grid, block, {b, a, n}});
            }
            return steps;
          },
          .tolerance = {.absolute = 1e-5},
          .flops = 7.0 * n * n * kSteps};
}

}  // namespace trine::bench_compute
