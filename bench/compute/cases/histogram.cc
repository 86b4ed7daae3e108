#include "cases.h"

namespace trine::bench_compute {

Case histogram(std::mt19937& random, Sizes sizes) {
  const size_t n = static_cast<size_t>(sizes.of(1 << 22, 5003));
  std::vector<uint32_t> words(n);
  for (uint32_t& w : words) w = static_cast<uint32_t>(random() & random());  // bytes with few bits are more frequent
  const ArrayIndex in{0}, bins{1};
  const uint64_t count = n;
  return {.name = "histogram",
          .size = fmt::format("{} bytes", 4 * n),
          .arrays = {input(Type::u32, words), output(Type::u32, 256)},
          .numbers = {double(n)},
          .block = {256},
          .opencl_blocks = {{64}, {256}},
          .steps = [=](Language, Dim3 block) -> std::vector<Step> {
            return {zeros(bins), {"count", {64}, block, {in, count, bins}}};
          },
          .bytes = 4.0 * double(n),
          .divergent = true};
}

}  // namespace trine::bench_compute
