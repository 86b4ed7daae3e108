#include "cases.h"

namespace trine::bench_compute {

Case filters(std::mt19937& random, Sizes sizes) {
  const int width = sizes.of(1024, 97), height = sizes.of(768, 50);
  const size_t count = static_cast<size_t>(width) * static_cast<size_t>(height);
  const ArrayIndex picture{0}, across{1}, blurred{2}, edges{3}, smooth{4};
  return {.name = "filters",
          .size = fmt::format("{} x {}, four", width, height),
          .arrays = {input(Type::f32, uniform(random, count, 0, 1)), output(Type::f32, count), output(Type::f32, count),
                     output(Type::f32, count), output(Type::f32, count)},
          .numbers = {double(width), double(height)},
          .instances = {"apply<Rows>", "apply<Columns>", "apply<Sobel>", "apply<Bilateral>"},
          .block = {32, 8},
          .opencl_blocks = {{32, 8}, {64, 1}, {256, 1}},
          .steps = [=](Language language, Dim3 block) -> std::vector<Step> {
            const Dim3 grid{blocks_for(static_cast<size_t>(width), block.x),
                            blocks_for(static_cast<size_t>(height), block.y)};
            const bool cuda = language == Language::cuda;
            return {{cuda ? "apply<Rows>" : "blur_rows", grid, block, {picture, across, width, height}},
                    {cuda ? "apply<Columns>" : "blur_columns", grid, block, {across, blurred, width, height}},
                    {cuda ? "apply<Sobel>" : "sobel", grid, block, {picture, edges, width, height}},
                    {cuda ? "apply<Bilateral>" : "bilateral", grid, block, {picture, smooth, width, height}}};
          },
          .tolerance = {.absolute = 1e-5}};
}

}  // namespace trine::bench_compute
