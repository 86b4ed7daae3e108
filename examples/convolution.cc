// A convolution forward and backward with trine::dnn alone: three primitives over the same tensors.
#include <cmath>
#include <cstdio>
#include <random>

#include "trine/dnn/primitive.h"
using namespace trine;

std::vector<float> random_floats(size_t count) {
  static std::mt19937 random(7);
  std::vector<float> values(count);
  for (float& v : values) v = std::normal_distribution<float>()(random);
  return values;
}

int main() {
  // y = x * w: 8 pictures of 56x56 pixels and 64 channels (channels last), 128 filters of 3x3, stride 2.
  dnn::ConvProblem conv{.n = 8, .in_channels = 64, .out_channels = 128, .in = {1, 56, 56}, .out = {1, 28, 28}};
  conv.kernel = {1, 3, 3}, conv.stride = {1, 2, 2}, conv.pad_begin = {0, 1, 1};
  const auto x = random_floats(8 * 56 * 56 * 64), w = random_floats(128 * 64 * 3 * 3),
             dy = random_floats(8 * 28 * 28 * 128);
  std::vector<float> y(dy.size()), dx(x.size()), dw(w.size()), db(128);

  ThreadPool pool;
  const dnn::Limits limits{.threads = pool.threads()};
  const dnn::Primitive forward(conv, limits), data(dnn::backward_data(conv), limits);
  const dnn::Primitive weights(dnn::ConvWeightsProblem{conv, true}, limits);
  forward.run({.in = {x.data()}, .weights = {w.data()}, .out = {y.data()}}, pool);
  data.run({.in = {dy.data()}, .weights = {w.data()}, .out = {dx.data()}}, pool);
  weights.run({.in = {x.data(), dy.data()}, .out = {dw.data(), db.data()}}, pool);

  for (const dnn::Primitive* p : {&forward, &data, &weights}) std::printf("%s\n", p->choice().text().c_str());
  double through_y = 0, through_w = 0;  // <y, dy> = <w, dw>
  for (size_t i = 0; i < y.size(); ++i) through_y += static_cast<double>(y[i]) * dy[i];
  for (size_t i = 0; i < w.size(); ++i) through_w += static_cast<double>(w[i]) * dw[i];
  std::printf("<y, dy> = %.6g, <w, dw> = %.6g\n", through_y, through_w);
  return std::abs(through_y - through_w) < 1e-3 * std::abs(through_y) ? 0 : 1;
}
