#include "cases.h"

namespace trine::bench_compute {

Case vector_add(std::mt19937& random, Sizes sizes) {
  const size_t n = static_cast<size_t>(sizes.of((1 << 24) + 7, 1007));
  const ArrayIndex a{0}, b{1}, c{2};
  const uint64_t count = n;
  return {.name = "vector_add",
          .size = fmt::format("{} elements", n),
          .arrays = {input(Type::f32, uniform(random, n, -1, 1)), input(Type::f32, uniform(random, n, -1, 1)),
                     output(Type::f32, n)},
          .numbers = {double(n)},
          .block = {256},
          .opencl_blocks = {{64}, {256}, {1024}},
          .steps = [=](Language, Dim3 block) -> std::vector<Step> {
            return {{"add", {blocks_for(n, block.x)}, block, {a, b, c, count}}};
          },
          .bytes = 12.0 * n};
}

}  // namespace trine::bench_compute
