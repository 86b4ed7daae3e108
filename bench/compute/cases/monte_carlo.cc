#include "cases.h"

namespace trine::bench_compute {

Case monte_carlo(std::mt19937&, Sizes sizes) {
  const uint32_t blocks = static_cast<uint32_t>(sizes.of(1024, 4));
  const ArrayIndex sums{0};
  return {.name = "monte_carlo",
          .size = fmt::format("{} paths of 64", blocks * 256),
          .arrays = {output(Type::f64, blocks)},
          .numbers = {double(blocks)},
          .block = {256},
          .opencl_blocks = {{256}},
          .steps = [=](Language, Dim3 block) -> std::vector<Step> { return {{"simulate", {blocks}, block, {sums}}}; },
          .tolerance = {.relative = 1e-5}};
}

}  // namespace trine::bench_compute
