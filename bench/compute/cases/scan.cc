#include "cases.h"

namespace trine::bench_compute {

Case scan(std::mt19937& random, Sizes sizes) {
  const int n = sizes.of((1 << 24) + 5, 30'005);
  std::vector<int> x(static_cast<size_t>(n));
  for (int& v : x) v = static_cast<int>(random() % 100) - 40;
  const ArrayIndex in{0}, out{1}, told{2};
  constexpr uint32_t kEach = 8;
  return {.name = "scan",
          .size = fmt::format("{} elements", n),
          .arrays = {input(Type::i32, x), output(Type::i32, x.size()),
                     scratch(Type::u64, blocks_for(x.size(), 64 * kEach))},
          .numbers = {double(n)},
          .block = {256},
          .opencl_blocks = {{64}, {256}},
          // Groups of OpenCL may not wait for each other: sums of groups, their scan, and a scan of each group.
          .steps = [=](Language language, Dim3 block) -> std::vector<Step> {
            const Dim3 grid{blocks_for(static_cast<size_t>(n), block.x * kEach)};
            if (language == Language::cuda) return {zeros(told), {"scan", grid, block, {in, out, n, told}}};
            return {{"sum_groups", grid, block, {in, n, told}},
                    {"scan_sums", {1}, {1}, {told, int(grid.x)}},
                    {"scan", grid, block, {in, out, n, told}}};
          },
          .bytes = 8.0 * n};
}

}  // namespace trine::bench_compute
