#include "cases.h"

namespace trine::bench_compute {

Case fft(std::mt19937& random, Sizes sizes) {
  constexpr size_t kSize = 1024;
  const uint32_t signals = static_cast<uint32_t>(sizes.of(2048, 5));
  const ArrayIndex in{0}, out{1};
  return {
      .name = "fft",
      .size = fmt::format("{} of {}", signals, kSize),
      .arrays = {input(Type::f32, normal(random, signals * kSize * 2)), output(Type::f32, signals * kSize * 2)},
      .numbers = {double(signals)},
      .block = {512},
      .opencl_blocks = {{512}},
      .steps = [=](Language, Dim3 block) -> std::vector<Step> { return {{"transform", {signals}, block, {in, out}}}; },
      .tolerance = {.absolute = 1e-3},
      .flops = 5.0 * kSize * 10 * signals};
}

}  // namespace trine::bench_compute
