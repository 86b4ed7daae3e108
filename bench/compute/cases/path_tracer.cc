#include "cases.h"

namespace trine::bench_compute {

Case path_tracer(std::mt19937&, Sizes sizes) {
  const int width = sizes.of(640, 64), height = width * 5 / 8, samples = sizes.of(16, 2);
  const ArrayIndex picture{0};
  return {.name = "path_tracer",
          .size = fmt::format("{} x {}, {} samples", width, height, samples),
          .arrays = {output(Type::f32, static_cast<size_t>(width) * static_cast<size_t>(height) * 3)},
          .numbers = {double(width), double(height), double(samples)},
          .block = {16, 16},
          .opencl_blocks = {{16, 16}, {64, 1}},
          .steps = [=](Language, Dim3 block) -> std::vector<Step> {
            const Dim3 grid{blocks_for(static_cast<size_t>(width), block.x),
                            blocks_for(static_cast<size_t>(height), block.y)};
            return {{"trace", grid, block, {picture, width, height, samples}}};
          },
          // Where a ray just meets or misses a sphere, roundings decide on the rest of its path.
          .tolerance = {.absolute = 1e-2, .share = 0.02},
          .divergent = true};
}

}  // namespace trine::bench_compute
