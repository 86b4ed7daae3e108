#include <algorithm>

#include "cases.h"

namespace trine::bench_compute {

Case radix_sort(std::mt19937& random, Sizes sizes) {
  const int n = sizes.of((1 << 22) + 11, 10'011);
  std::vector<uint32_t> keys(static_cast<size_t>(n));
  for (uint32_t& k : keys) k = static_cast<uint32_t>(random());
  constexpr uint32_t kStretch = 2048, kDigits = 16, kGroups = 32;
  const uint32_t blocks = blocks_for(keys.size(), kStretch);
  const ArrayIndex in{0}, a{1}, b{2}, counts{3};
  return {.name = "radix_sort",
          .size = fmt::format("{} keys", n),
          .arrays = {input(Type::u32, keys), output(Type::u32, keys.size()), scratch(Type::u32, keys.size()),
                     scratch(Type::i32, kDigits * std::max(blocks, kGroups * 64))},
          .numbers = {double(n)},
          .block = {256},
          .opencl_blocks = {{16}, {64}},
          // In OpenCL each item counts and moves a stretch of its own, as there are no ballots.
          .steps = [=](Language language, Dim3 block) -> std::vector<Step> {
            const bool cuda = language == Language::cuda;
            const uint32_t grid = cuda ? blocks : kGroups, stretches = cuda ? blocks : kGroups * block.x;
            std::vector<Step> steps{copied(a, in)};
            for (int shift = 0; shift < 32; shift += 4) {
              const ArrayIndex from = shift / 4 % 2 ? b : a, to = shift / 4 % 2 ? a : b;
              steps.push_back({"count", {grid}, block, {from, n, shift, counts}});
              steps.push_back({"places", {1}, {cuda ? 256u : 1u}, {counts, int(kDigits * stretches)}});
              steps.push_back({"move", {grid}, block, {from, to, n, shift, counts}});
            }
            return steps;
          },
          .bytes = 96.0 * n};
}

}  // namespace trine::bench_compute
