#include "cases.h"

namespace trine::bench_compute {

Case black_scholes(std::mt19937& random, Sizes sizes) {
  const int n = sizes.of(4'000'000, 1003);
  const size_t count = static_cast<size_t>(n);
  const ArrayIndex stock{0}, strike{1}, years{2}, call{3}, put{4};
  return {.name = "black_scholes",
          .size = fmt::format("{} options", n),
          .arrays = {input(Type::f32, uniform(random, count, 5, 30)), input(Type::f32, uniform(random, count, 1, 100)),
                     input(Type::f32, uniform(random, count, 0.25f, 10)), output(Type::f32, count),
                     output(Type::f32, count)},
          .numbers = {double(n)},
          .block = {128},
          .opencl_blocks = {{64}, {256}, {1024}},
          .steps = [=](Language, Dim3 block) -> std::vector<Step> {
            return {{"price_all", {blocks_for(count, block.x)}, block, {stock, strike, years, call, put, n}}};
          },
          .tolerance = {.absolute = 1e-4},
          .bytes = 20.0 * n};
}

}  // namespace trine::bench_compute
