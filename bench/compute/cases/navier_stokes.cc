#include "cases.h"

namespace trine::bench_compute {

struct Grid {
  int width, height;
};

Case navier_stokes(std::mt19937& random, Sizes sizes) {
  const Grid g{sizes.of(256, 64), sizes.of(384, 48)};
  constexpr int kIterations = 40;
  const size_t count = static_cast<size_t>(g.width) * static_cast<size_t>(g.height);
  const ArrayIndex a{0}, b{1}, p{2}, q{3};
  return {.name = "navier_stokes",
          .size = fmt::format("{} x {}, a step", g.width, g.height),
          .arrays = {in_out(Type::f32, uniform(random, 3 * count, -1, 1)), scratch(Type::f32, 3 * count),
                     output(Type::f32, count), scratch(Type::f32, count)},
          .numbers = {double(g.width), double(g.height), kIterations},
          .block = {32, 8},
          .opencl_blocks = {{32, 8}, {64, 4}, {64, 1}},
          .steps = [=](Language, Dim3 block) -> std::vector<Step> {
            const Dim3 grid{static_cast<uint32_t>(g.width) / block.x, static_cast<uint32_t>(g.height) / block.y};
            std::vector<Step> steps{{"carry", grid, block, {a, b, g}}, zeros(p)};
            for (int i = 0; i < kIterations; i += 2) {
              steps.push_back({"relax", grid, block, {b, p, q, g}});
              steps.push_back({"relax", grid, block, {b, q, p, g}});
            }
            steps.push_back({"project", grid, block, {b, p, g}});
            steps.push_back(copied(a, b));
            return steps;
          },
          .tolerance = {.absolute = 1e-4},
          .flops = 10.0 * double(count) * kIterations};
}

}  // namespace trine::bench_compute
