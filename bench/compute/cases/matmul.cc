#include "cases.h"

namespace trine::bench_compute {

Case matmul(std::mt19937& random, Sizes sizes) {
  const int n = sizes.of(1024, 99);
  const size_t count = static_cast<size_t>(n) * static_cast<size_t>(n);
  const ArrayIndex a{0}, b{1}, c{2};
  return {.name = "matmul",
          .size = fmt::format("{0} x {0}", n),
          .arrays = {input(Type::f32, normal(random, count)), input(Type::f32, normal(random, count)),
                     output(Type::f32, count)},
          .numbers = {double(n)},
          .block = {32, 8},
          .opencl_blocks = {{32, 8}, {32, 4}, {16, 4}},
          .steps = [=](Language, Dim3 block) -> std::vector<Step> {
            const uint32_t tiles = blocks_for(static_cast<size_t>(n), block.x);
            return {{"multiply", {tiles, tiles}, block, {a, b, c, n}}};
          },
          .tolerance = {.absolute = 1e-5 * n},
          .flops = 2.0 * n * n * n};
}

}  // namespace trine::bench_compute
