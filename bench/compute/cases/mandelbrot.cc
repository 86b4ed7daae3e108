#include "cases.h"

namespace trine::bench_compute {

Case mandelbrot(std::mt19937&, Sizes sizes) {
  const int width = sizes.of(1200, 96), height = width * 2 / 3;
  const ArrayIndex steps{0};
  return {.name = "mandelbrot",
          .size = fmt::format("{} x {}", width, height),
          .arrays = {output(Type::i32, static_cast<size_t>(width) * static_cast<size_t>(height))},
          .numbers = {double(width), double(height)},
          .block = {32, 8},
          .opencl_blocks = {{32, 8}, {64, 1}, {256, 1}},
          .steps = [=](Language, Dim3 block) -> std::vector<Step> {
            const Dim3 grid{blocks_for(static_cast<size_t>(width), block.x),
                            blocks_for(static_cast<size_t>(height), block.y)};
            return {{"draw", grid, block, {steps, width, height}}};
          },
          // Points of the border leave at other steps where products and sums are contracted differently.
          .tolerance = {.share = 0.03},
          .divergent = true};
}

}  // namespace trine::bench_compute
