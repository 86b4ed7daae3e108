#include "cases.h"

namespace trine::bench_compute {

Case rasteriser(std::mt19937&, Sizes sizes) {
  constexpr size_t kPixels = 800 * 600;
  const int pieces = sizes.of(256, 24);
  const size_t triangles = static_cast<size_t>(pieces) * static_cast<size_t>(pieces) * 4;
  const ArrayIndex pixels{0};
  return {.name = "rasteriser",
          .size = fmt::format("{} triangles", triangles),
          .arrays = {output(Type::u64, kPixels)},
          .numbers = {double(pieces)},
          .block = {128},
          .opencl_blocks = {{64}, {128}, {256}},
          .steps = [=](Language, Dim3 block) -> std::vector<Step> {
            return {{"clear", {blocks_for(kPixels, 256)}, {256}, {pixels}},
                    {"draw", {blocks_for(triangles, block.x)}, block, {pixels, pieces}}};
          },
          // Depth is the upper half: roundings move it, and at edges decide who is seen.
          .tolerance = {.relative = 1e-4, .share = 0.01}};
}

}  // namespace trine::bench_compute
