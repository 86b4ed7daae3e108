#include "cases.h"

namespace trine::bench_compute {

Case nbody(std::mt19937& random, Sizes sizes) {
  const int n = sizes.of(8192, 300);
  const size_t count = static_cast<size_t>(n);
  std::vector<float> bodies = normal(random, 4 * count), velocity = normal(random, 4 * count);
  for (size_t i = 3; i < bodies.size(); i += 4) bodies[i] = 1.0f / float(n), velocity[i] = 0;
  const ArrayIndex from{0}, to{1}, v{2};
  const float dt = 1e-3f;
  return {.name = "nbody",
          .size = fmt::format("{} bodies", n),
          .arrays = {input(Type::f32, bodies), output(Type::f32, 4 * count), in_out(Type::f32, velocity)},
          .numbers = {double(n), dt},
          .block = {256},
          .opencl_blocks = {{64}, {128}, {256}},
          .steps = [=](Language language, Dim3 block) -> std::vector<Step> {
            return {{language == Language::cuda ? "step" : "advance",  // step() is OpenCL's own
                     {blocks_for(count, block.x)},
                     block,
                     {from, to, v, n, dt}}};
          },
          .tolerance = {.absolute = 1e-5, .relative = 1e-4},
          .flops = 20.0 * n * n};
}

}  // namespace trine::bench_compute
