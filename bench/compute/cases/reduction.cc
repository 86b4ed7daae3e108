#include "cases.h"

namespace trine::bench_compute {

Case reduction(std::mt19937& random, Sizes sizes) {
  const size_t n = static_cast<size_t>(sizes.of((1 << 24) + 3, 1003));
  const ArrayIndex in{0}, out{1}, partial{2};
  const uint64_t count = n;
  constexpr uint32_t kBlocks = 256;
  return {.name = "reduction",
          .size = fmt::format("{} elements", n),
          .arrays = {input(Type::f32, uniform(random, n, -1, 1)), output(Type::f64, 1), scratch(Type::f64, kBlocks)},
          .numbers = {double(n)},
          .instances = {"sum<256, double>"},
          .block = {256},
          .opencl_blocks = {{64}, {256}},
          // OpenCL C 1.2 adds no doubles atomically: a second kernel adds the sums of groups.
          .steps = [=](Language language, Dim3 block) -> std::vector<Step> {
            if (language == Language::cuda)
              return {zeros(out), {"sum<256, double>", {kBlocks}, block, {in, count, out}}};
            return {{"sum", {kBlocks}, block, {in, count, partial}},
                    {"add_sums", {1}, {1}, {partial, int(kBlocks), out}}};
          },
          .tolerance = {.absolute = 1e-9 * double(n)},
          .bytes = 4.0 * n};
}

}  // namespace trine::bench_compute
