// A network that tests of engines on every machine run, and operands.
#pragma once

#include <random>

#include "trine/base/tensor.h"

namespace trine::test {

// A small network with a convolution, a matrix product, views, loops and a host step.
inline constexpr const char* kNetwork = R"(graph(%x: f32[N,8,8,3]) {
  %w: f32[16,3,3,3] = const f32[16,3,3,3] random(1)
  %b: f32[16] = const f32[16] random(2)
  %m: f32[16,10] = const f32[16,10] random(3)
  %axes: i64[2] = const i64[2]{1,2}
  %c: f32[N,8,8,16] = conv %x %w %b {layout="nhwc", pads=[1,1,1,1], activation="relu"}
  %t: f32[N,8,8,16] = tanh %c
  %p: f32[N,1,1,16] = global_average_pool %t {layout="nhwc"}
  %s: f32[N,16] = squeeze %p %axes
  %y: f32[N,10] = matmul %s %m
  return %y
})";

inline Tensor random_tensor(const Dims& dims, unsigned seed, DType dtype = DType::f32) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<size_t>(element_count(dims)));
  for (double& v : values) v = normal(random);
  return Tensor::from_f64(dtype, dims, values);
}

}  // namespace trine::test
