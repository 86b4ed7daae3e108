// Where the window of one output position lies.
#pragma once

#include <algorithm>

#include "trine/dnn/problem.h"

namespace trine::cpu {

// One axis of one window: the positions inside the input, and how many count in an average.
struct PoolSpan {
  int64_t first = 0, count = 0, divisor = 0;

  PoolSpan(const dnn::PoolProblem& p, size_t axis, int64_t out) {
    int64_t dilation = p.dilation[axis], begin = out * p.stride[axis] - p.pad_begin[axis];
    const auto steps = [&](int64_t distance) { return dilation == 1 ? distance : distance / dilation; };  // no division
    int64_t skipped = begin < 0 ? steps(-begin + dilation - 1) : 0;
    first = begin + skipped * dilation;
    auto positions_before = [&](int64_t end) {  // of the window, those below `end`
      return std::clamp<int64_t>(end > begin ? steps(end - begin - 1) + 1 : 0, 0, p.kernel[axis]);
    };
    count = std::max<int64_t>(0, positions_before(p.in[axis]) - skipped);
    bool padding_counts = p.kind == dnn::PoolKind::average_with_pad;
    divisor = padding_counts ? positions_before(p.in[axis] + p.pad_end[axis]) : count;
  }
};

struct PoolPlace {
  PoolSpan z, y, x;

  PoolPlace(const dnn::PoolProblem& p, int64_t pixel)
      : z(p, 0, pixel / (p.out[1] * p.out[2])), y(p, 1, pixel / p.out[2] % p.out[1]), x(p, 2, pixel % p.out[2]) {}
  float scale() const { return 1.f / static_cast<float>(z.divisor * y.divisor * x.divisor); }
};

}  // namespace trine::cpu
